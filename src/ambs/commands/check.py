"""`ambs check`: a PCTL formula on a finite model, exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from ambs.commands.output import console, print_json, short
from ambs.errors import AmbsError, ModelError
from ambs.logic import CheckResult, FiniteModel, check, parse, read_prism


@dataclass(frozen=True)
class Check:
    """Check a PCTL formula on a finite Markov chain or MDP, exactly, in PRISM's explicit format.

    On an MDP, P>=p and P>p speak of every policy, P<=p and P<p likewise; Pmin=? and Pmax=? give the numbers.
    """

    model: tyro.conf.Positional[Path]
    """The transitions, MODEL.tra."""

    formula: str
    """The formula, such as 'P>=0.9 [ G<=30 !acid ]' or 'P=? [ F "goal" ]'."""

    labels: Path | None = None
    """The labels, MODEL.lab; the file of that name beside the model if there is one."""

    states: Path | None = None
    """The state values, MODEL.sta; the file of that name beside the model if there is one."""

    state: str | None = None
    """The state to answer for: its number, or its values such as '(0,3)'. The initial state if not given."""

    precision: float = 1e-8
    """How exact unbounded operators have to be proved."""

    all: bool = False
    """Answer for every state."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print one JSON object."""

    def run(self) -> None:
        formula = parse(self.formula)
        labels = self._beside(self.labels, ".lab")
        model = read_prism(self.model, labels, self._beside(self.states, ".sta"))
        if formula.atoms and labels is None and not model.labels:
            raise AmbsError(f"there are no labels: {self.model.with_suffix('.lab')} does not exist; give --labels.")
        state = self._state(model)
        result = check(model, formula, precision=self.precision)
        answer: dict[str, Any] = {
            "model": str(self.model),
            "kind": "chain" if model.is_chain else "mdp",
            "states": model.states,
            "transitions": model.transitions,
            "formula": str(formula),
            "state": state,
            **_answer(result, state),
            "error": result.error,
            "borderline": result.borderline,
        }
        if self.all:
            answer["answers"] = [{"state": s, **_answer(result, s)} for s in range(model.states)]
        if self.json:
            print_json(answer)
        else:
            self._show(answer, model)

    def _beside(self, given: Path | None, suffix: str) -> Path | None:
        if given is not None:
            return given
        beside = self.model.with_suffix(suffix)
        return beside if beside != self.model and beside.is_file() else None

    def _state(self, model: FiniteModel) -> int:
        if self.state is None:
            return model.initial
        if re.fullmatch("[0-9]{1,12}", self.state):
            if int(self.state) < model.states:
                return int(self.state)
            raise ModelError(f"there is no state {self.state}; the model has states 0 to {model.states - 1}.")
        wanted = self.state.replace(" ", "")
        if model.valuations is None:
            raise AmbsError(f"--state {self.state} is not a number, and there are no state values (--states).")
        matching = [s for s, values in enumerate(model.valuations) if values.replace(" ", "") == wanted]
        if not matching:
            raise ModelError(f"no state has the values {self.state}; an example is {model.valuations[0]}.")
        return matching[0]

    def _show(self, answer: dict[str, Any], model: FiniteModel) -> None:
        out = console()
        kind = "Markov chain" if model.is_chain else f"MDP with {model.choices:,} choices"
        out.print(f"{kind}, {model.states:,} states, {model.transitions:,} transitions", style="dim")
        out.print(str(answer["formula"]), markup=False)
        rows = answer.get("answers") or [{key: answer[key] for key in ("state", "value", "satisfied")}]
        table = Table("state", "probability", "satisfied")
        for row in rows:
            values = f"  {model.valuations[row['state']]}" if model.valuations else ""
            probability = "–" if isinstance(row["value"], bool) else f"{row['value']:.12g}"
            satisfied = {True: "yes", False: "no", None: "–"}[row["satisfied"]]
            table.add_row(f"{row['state']}{values}", probability, satisfied)
        out.print(table)
        if answer["error"]:
            out.print(f"certified to ±{short(answer['error'])}", style="dim")
        if answer["borderline"]:
            out.print(
                f"In all states, {answer['borderline']} comparisons with a threshold were closer than the error, and "
                "count as equal.",
                style="yellow",
            )


def _answer(result: CheckResult, state: int) -> dict[str, float | bool | None]:
    """The number of the outermost P, else the truth value; and whether a state formula holds."""
    satisfied = None if result.satisfied is None else bool(result.satisfied[state])
    value = satisfied if result.values is None else float(result.values[state])
    return {"value": value, "satisfied": satisfied}
