"""Models as PRISM's explicit files: transitions (`.tra`), labels (`.lab`) and state values (`.sta`).

    .tra of a chain      "states transitions",         then   source target probability
    .tra of an MDP       "states choices transitions", then   source choice target probability [action]
    .lab                 0="init" 1="goal",            then   state: label label ...
    .sta                 (x,y),                        then   state:(0,1)

Storm's explicit files differ only in their heads (`dtmc` or `mdp` for the counts, `#DECLARATION` for the
label list), so they are read too, as are comments (`#`) and the action names that newer PRISM versions write for
chains. A mistake is named by file and line.
"""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
from jaxtyping import Bool
from scipy import sparse

from ambs.errors import ModelError
from ambs.files import write_text
from ambs.logic.model import FiniteModel

PathLike = str | os.PathLike[str]


def read_prism(transitions: PathLike, labels: PathLike | None = None, states: PathLike | None = None) -> FiniteModel:
    """The model in a `.tra` file, with its labels and state values if their files are given.

    The initial state is the one labelled `init`, else state 0. A Boolean variable of the state values can
    be used in formulas like a label.
    """
    path = Path(transitions)
    kernel, choice_start, actions = _read_transitions(path)
    count = len(choice_start) - 1
    masks = _read_labels(Path(labels), count) if labels is not None else {}
    variables, valuations = _read_states(Path(states), count) if states is not None else (None, None)
    if variables is not None and valuations is not None:
        masks = {**_boolean_variables(variables, valuations), **masks}
    starts = np.flatnonzero(masks["init"]) if "init" in masks else np.array([0])
    if len(starts) != 1:
        raise ModelError(f'{labels}: {len(starts)} states are labelled "init", and exactly one has to be.')
    try:
        return FiniteModel(kernel, choice_start, masks, int(starts[0]), actions, valuations, variables)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def write_prism(
    model: FiniteModel, transitions: PathLike, labels: PathLike | None = None, states: PathLike | None = None
) -> None:
    """Writes the model so that `read_prism` gives it back, probabilities to the last digit."""
    owner, kernel = model.choice_state, model.kernel
    rows = np.repeat(np.arange(model.choices), np.diff(kernel.indptr)).tolist()
    if model.is_chain:
        head = f"{model.states} {model.transitions}"
        place = [f"{owner[row]}" for row in rows]
    else:
        head = f"{model.states} {model.choices} {model.transitions}"
        place = [f"{owner[row]} {row - model.choice_start[owner[row]]}" for row in rows]
    name = [f" {model.actions[row]}" if model.actions and model.actions[row] else "" for row in rows]
    entries = zip(place, kernel.indices.tolist(), kernel.data.tolist(), name, strict=True)
    _write(Path(transitions), [head, *(f"{where} {to} {p!r}{act}" for where, to, p, act in entries)])
    if labels is not None:
        masks = {**model.labels, "init": np.arange(model.states) == model.initial}
        names = ["init", *sorted(set(masks) - {"init"})]
        unwritable = [name for name in names if '"' in name or not name.isprintable()]
        if unwritable:
            raise ModelError(f"a label file cannot hold the label {unwritable[0]!r}: no quotes, nothing unprintable.")
        table = np.stack([masks[label] for label in names], axis=1)
        listed = [f"{s}: {' '.join(map(str, np.flatnonzero(table[s])))}" for s in np.flatnonzero(table.any(1))]
        _write(Path(labels), [" ".join(f'{i}="{label}"' for i, label in enumerate(names)), *listed])
    if states is not None:
        if model.valuations is None or model.variables is None:
            raise ModelError("the model has no state values to write.")
        values = [f"{s}:{value}" for s, value in enumerate(model.valuations)]
        _write(Path(states), [f"({','.join(model.variables)})", *values])


def _write(path: Path, lines: list[str]) -> None:
    write_text(path, "\n".join(lines) + "\n")


# A line and its number in the file.
Numbered = list[tuple[int, str]]


def _lines(path: Path) -> Numbered:
    """The lines that say something: no blank ones, no comments (but the heads of Storm's label files)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is not a text file.") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
    heads = ("#DECLARATION", "#END")
    kept = [(n, line) for n, line in enumerate(lines, start=1) if line.strip()]
    kept = [(n, line) for n, line in kept if not line.startswith("#") or line.strip() in heads]
    if not kept:
        raise ModelError(f"{path}: the file is empty.")
    return kept


def _read_transitions(path: Path) -> tuple[sparse.csr_array, np.ndarray, list[str] | None]:
    lines = _lines(path)
    is_chain, counts = _head(path, lines[0])
    if len(lines) == 1:
        raise ModelError(f"{path}: there are no transitions after the first line.")
    number = [n for n, _ in lines[1:]]
    source, choice, target, probability, actions = _columns(path, lines, is_chain)
    states = counts[0] if counts else int(max(source.max(), target.max())) + 1
    head = f"{path}, line {lines[0][0]}"
    if counts and counts[-1] != len(source):
        raise ModelError(f"{head}: announces {counts[-1]} transitions, and {len(source)} follow.")
    if states > len(source):
        raise ModelError(
            f"{path}: {states} states cannot all have a transition, as there are only {len(source)}; give states "
            "without one a self-loop."
        )
    for what, index in (("source", source), ("target", target)):
        outside = np.flatnonzero(index >= states)
        if len(outside):
            raise ModelError(
                f"{path}, line {number[outside[0]]}: the {what} state {index[outside[0]]} does not exist; there are "
                f"states 0 to {states - 1}."
            )
    # Choices numbered anew from 0 in order of (state, choice): files may list them in any order.
    pair = source * (int(choice.max()) + 1) + choice
    used, row = np.unique(pair, return_inverse=True)
    per_state = np.bincount(used // (int(choice.max()) + 1), minlength=states)
    choice_start = np.concatenate([[0], np.cumsum(per_state)])
    if counts and not is_chain and counts[1] != len(used):
        raise ModelError(f"{head}: announces {counts[1]} choices, and {len(used)} follow.")
    kernel = sparse.csr_array((probability, (row, target)), shape=(len(used), states))
    kernel.sum_duplicates()
    kernel.eliminate_zeros()
    if actions is None:
        return kernel, choice_start, None
    names = [""] * len(used)
    for index, action in zip(row.tolist(), actions, strict=True):
        names[index] = action
    return kernel, choice_start, names


def _head(path: Path, first: tuple[int, str]) -> tuple[bool, list[int]]:
    """Whether the file is a chain's, and the counts it announces."""
    number, line = first
    words = line.split()
    if words in (["dtmc"], ["mdp"]):
        return words == ["dtmc"], []
    if len(words) in (2, 3) and all(re.fullmatch("[0-9]{1,12}", word) for word in words):
        return len(words) == 2, [int(word) for word in words]
    raise ModelError(
        f"{path}, line {number}: '{line.strip()[:60]}' is neither 'states transitions' (a chain) nor 'states choices "
        "transitions' (an MDP)."
    )


def _columns(
    path: Path, lines: Numbered, is_chain: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str] | None]:
    """Source, choice, target, probability and, if any, action of every line after the first."""
    width = 3 if is_chain else 4
    body = [line for _, line in lines[1:]]
    try:
        # Compiled, for millions of lines; anything unusual goes the slow way, which can name the line.
        table = np.loadtxt(body, dtype=float, ndmin=2, comments=None)
        whole = table[:, : width - 1]
        if table.shape != (len(body), width) or not np.all((whole % 1 == 0) & (whole < 2**31) & (whole >= 0)):
            raise ValueError
        if not np.all((table[:, -1] >= 0) & (table[:, -1] <= 1)):
            raise ValueError
        index, probability, actions = table[:, :-1].astype(np.int64), table[:, -1], None
    except ValueError:
        rows = [_row(path, number, line, width) for number, line in lines[1:]]
        index = np.array([row[0] for row in rows], np.int64)
        probability = np.array([row[1] for row in rows])
        actions = [row[2] for row in rows] if any(row[2] for row in rows) else None
    choice = np.zeros(len(body), np.int64) if is_chain else index[:, 1]
    return index[:, 0], choice, index[:, -1], probability, actions


def _row(path: Path, number: int, line: str, width: int) -> tuple[list[int], float, str]:
    words = line.split(maxsplit=width)
    shape = f"source {'choice ' if width == 4 else ''}target probability [action]"
    if len(words) < width:
        raise ModelError(f"{path}, line {number}: '{line.strip()[:60]}' is not of the form '{shape}'.")
    for word in words[: width - 1]:
        if not re.fullmatch("[0-9]{1,9}", word):
            raise ModelError(f"{path}, line {number}: '{word}' is not the number of a state or choice.")
    try:
        # PRISM's exact engine writes fractions.
        value = float(Fraction(words[width - 1])) if "/" in words[width - 1] else float(words[width - 1])
    except (ValueError, ZeroDivisionError):
        raise ModelError(f"{path}, line {number}: '{words[width - 1]}' is not a probability.") from None
    if not 0 <= value <= 1 + 1e-9:
        raise ModelError(f"{path}, line {number}: the probability {value:g} does not lie in [0, 1].")
    return [int(word) for word in words[: width - 1]], value, words[width] if len(words) > width else ""


def _read_labels(path: Path, states: int) -> dict[str, Bool[np.ndarray, " states"]]:
    lines = _lines(path)
    first, head = lines[0]
    if head.strip() == "#DECLARATION":
        end = next((i for i, (_, line) in enumerate(lines) if line.strip() == "#END"), None)
        if end is None:
            raise ModelError(f"{path}, line {first}: #DECLARATION is never closed by #END.")
        declared = [(name, name) for _, line in lines[1:end] for name in line.split()]
        body, separator = lines[end + 1 :], " "
    else:
        declared = re.findall(r'(\d+)\s*=\s*"([^"]+)"', head)
        if not declared or re.sub(r'\d+\s*=\s*"[^"]+"', "", head).strip():
            raise ModelError(f'{path}, line {first}: \'{head.strip()[:60]}\' is not of the form 0="init" 1="goal".')
        body, separator = lines[1:], ":"
    names = dict(declared)
    if len(names) < len(declared) or len(set(names.values())) < len(declared):
        raise ModelError(f"{path}, line {first}: a number or a name is declared twice.")
    masks = {name: np.zeros(states, bool) for name in names.values()}
    for number, line in body:
        state, found, listed = line.strip().partition(separator)
        if not re.fullmatch(r"[0-9]{1,12}\s*", state) or not found:
            raise ModelError(f"{path}, line {number}: '{line.strip()[:60]}' is not of the form 'state: label ...'.")
        if int(state) >= states:
            raise ModelError(
                f"{path}, line {number}: labels state {int(state)}, and the model has states 0 to {states - 1}."
            )
        for word in listed.split():
            if word not in names:
                raise ModelError(f"{path}, line {number}: the label {word} is not declared in the first line.")
            masks[names[word]][int(state)] = True
    return masks


def _read_states(path: Path, states: int) -> tuple[list[str], list[str]]:
    lines = _lines(path)
    first, text = lines[0]
    head = re.fullmatch(r"\s*\((.*)\)\s*", text)
    if not head:
        raise ModelError(f"{path}, line {first}: '{text.strip()[:60]}' is not a list of variables such as (x,y).")
    variables = [name.strip() for name in head[1].split(",")]
    valuations: list[str | None] = [None] * states
    for number, line in lines[1:]:
        match = re.fullmatch(r"\s*([0-9]{1,12})\s*:\s*(\(.*\))\s*", line)
        if not match or match[2].count(",") + 1 != len(variables):
            raise ModelError(
                f"{path}, line {number}: '{line.strip()[:60]}' is not of the form state:(value,...) with "
                f"{len(variables)} values."
            )
        if int(match[1]) >= states:
            raise ModelError(f"{path}, line {number}: state {match[1]} does not exist in the model.")
        valuations[int(match[1])] = match[2]
    missing = [state for state, value in enumerate(valuations) if value is None]
    if missing:
        raise ModelError(f"{path}: state {missing[0]} of the model is not listed.")
    return variables, [str(value) for value in valuations]


def _boolean_variables(variables: list[str], valuations: list[str]) -> dict[str, Bool[np.ndarray, " states"]]:
    columns = zip(*(value.strip("()").split(",") for value in valuations), strict=True)
    return {
        name: np.array([value.strip() == "true" for value in column])
        for name, column in zip(variables, columns, strict=True)
        if {value.strip() for value in column} <= {"true", "false"}
    }
