"""`ambs bounds`: what the paper's theorems, and the sound ones, ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro
from rich.markup import escape
from rich.table import Table

from ambs import bounds
from ambs.commands.output import console, print_json, short
from ambs.errors import AmbsError, probability


@dataclass(frozen=True)
class Bounds:
    """Solve the paper's bounds and their sound and tighter versions for any of their quantities.

    The defaults are the paper's numbers. Bounds on experience need --states and --actions.
    """

    solve: Literal["m", "epsilon", "delta", "alpha", "n", "error"] = "m"
    """The quantity to solve for; m is traces or visits, whatever the bound counts."""

    epsilon: float = 0.09
    """ε: how far the estimate of the probability may be from the truth."""

    delta: float = 0.01
    """δ: the probability with which the bound may fail."""

    Delta: Annotated[float, tyro.conf.arg(aliases=["--safety-level"])] = 0.1
    """Δ: the violation probability that the shield tolerates."""

    horizon: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 30
    """n: how many steps are to be safe."""

    traces: Annotated[int | None, tyro.conf.arg(aliases=["-m"])] = None
    """m: how many traces are sampled. If not given: the paper's 512 to solve for ε or δ, as many as Theorem 2 asks for
    to solve for α or n."""

    visits: int | None = None
    """m: how often every state and action has been visited."""

    tv: Annotated[float | None, tyro.conf.arg(aliases=["--alpha"])] = None
    """α: total variation between model and truth, a step; the largest that leaves --error if not given."""

    error: float | None = None
    """How far the model's probability of staying safe may be off; ε/2 if not given."""

    states: int | None = None
    """How many states there are."""

    actions: int | None = None
    """How many actions there are."""

    successors: int | None = None
    """How many states can follow a state and action at most; all of them if not given."""

    mu: float | None = None
    """The probability of staying safe, for the variance-aware bound; the worst case if not given."""

    sides: Literal[1, 2] = 2
    """2: the estimate may be neither too high nor too low; 1: only too high matters, as for a shield."""

    negligible_actions: bool = False
    """Whether actions that the policy hardly takes may be left unvisited."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print a JSON list, one object a bound."""

    def run(self) -> None:
        probability("Delta", self.Delta)
        probability("epsilon", self.epsilon)
        if self.epsilon > self.Delta and self.solve != "epsilon":
            raise AmbsError(
                f"epsilon {self.epsilon:g} is larger than Delta {self.Delta:g}: then 1-Delta+epsilon is above 1 "
                "and the shield never accepts; choose epsilon <= Delta."
            )
        rows = bounds.rows(
            self.solve,
            epsilon=self.epsilon,
            delta=self.delta,
            safety_level=self.Delta,
            horizon=self.horizon,
            traces=self._traces(),
            visits=self.visits,
            tv=self._tv(),
            error=self.error,
            states=self.states,
            actions=self.actions,
            successors=self.successors,
            mu=self.mu,
            sides=self.sides,
            negligible_actions=self.negligible_actions,
        )
        if self.json:
            print_json(rows)
        else:
            self._show(rows)

    def _traces(self) -> int | None:
        if self.traces is not None or self.solve not in ("alpha", "n"):
            return 512 if self.traces is None else self.traces
        probability("delta", self.delta)
        return bounds.traces_required(self.epsilon, self.delta, model="learned", sides=self.sides)

    def _tv(self) -> float | None:
        """To solve for n or ε, α has to be given: by default what the corrected Theorem 2 allows for the other."""
        if self.tv is not None or self.solve not in ("n", "epsilon"):
            return self.tv
        return bounds.tv_budget(self.epsilon, self.horizon)

    def _show(self, rows: list[dict[str, object]]) -> None:
        table = Table(title=f"solved for {self.solve}", show_lines=True)
        table.add_column("bound", min_width=20, ratio=2)
        table.add_column("says", min_width=10, ratio=1)
        table.add_column("what it assumes, and what may be claimed", ratio=5)
        for row in rows:
            sound = "[green]sound[/green]" if row["sound"] else "[red]not sound[/red]"
            says = "no answer" if row["value"] is None else f"{row['symbol']} = {short(row['value'])}"
            text = [f"[bold]{escape(str(row['statement']))}[/bold]"]
            for key, style in (("reason", "magenta"), ("assumes", ""), ("claims", ""), ("warning", "yellow")):
                if row[key]:
                    paragraph = escape(f"{_HEADS[key]}{row[key]}")
                    text.append(f"[{style}]{paragraph}[/{style}]" if style else paragraph)
            table.add_row(f"{escape(str(row['title']))}\n{sound}", says, "\n".join(text))
        console().print(table)


_HEADS = {"reason": "No answer: ", "assumes": "Assumes: ", "claims": "Claim: ", "warning": "Warning: "}
