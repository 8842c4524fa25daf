"""Your own environment with labels: `labelled(env, labels={"fast": fn, ...}, formula="!fast")`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium

from ambs.envs.encoding import require_encodable
from ambs.envs.labels import Costs, as_labels, truth
from ambs.errors import AmbsError
from ambs.logic.syntax import Formula


def labelled(
    env: Any,
    labels: Any = None,
    *,
    formula: str | Formula,
    cost: float = 10.0,
    atoms: Iterable[str] | None = None,
) -> Labelled:
    """Any environment, with the labels and the cost that a shield and its training need in `info`.

    Its observations have to be some that ambs can learn from (`ambs.envs.encoding`).

    Args:
        env: The environment; a step of it may also return six values, with a cost after the reward.
        labels: Atom → function of `(observation, info)` that returns a bool. Or one such function for all atoms, that
            returns a dictionary from atom to bool, or the names of the true atoms. Or None, if `info["labels"]` has
            either of these already.
        formula: Ψ, propositional: what has to hold in every state.
        cost: C, the cost of a state where it does not.
        atoms: All atoms, if labels come as the names of the true ones.
    """
    if not isinstance(env, gymnasium.Env):
        raise AmbsError(f"env is {env!r}, and has to be a Gymnasium environment; make it with gymnasium.make first.")
    require_encodable(env.observation_space)
    if labels is None:
        return Labelled(env, formula, cost, atoms=atoms)
    if callable(labels):
        _require_two_arguments("the labeller", labels)
        return Labelled(env, formula, cost, atoms=atoms, labelling=labels)
    if not isinstance(labels, Mapping):
        raise AmbsError(f"labels is {labels!r}, and has to be a dictionary from atom to function, or a function.")
    if atoms is not None:
        raise AmbsError(
            "atoms= is for labels that name only the true atoms; with a dictionary of functions leave it out."
        )
    for name, function in labels.items():
        if not callable(function):
            raise AmbsError(
                f'the labeller of "{name}" is {function!r}, and has to be a function of (observation, info).'
            )
        _require_two_arguments(f'the labeller of "{name}"', function)
    return Labelled(env, formula, cost, atoms=labels, labelling=_EachAtom(labels))


class Labelled(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """The wrapper itself, with one function for all labels; `labelled` checks more and takes one for each.

    Args:
        env: The environment.
        formula: Ψ, propositional: what has to hold in every state.
        cost: C, the cost of a state where it does not.
        atoms: All atoms, if the labels are names of the true ones only.
        labelling: The labels, from an observation and its `info`. If not given they are in `info["labels"]` already.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        formula: str | Formula,
        cost: float = 10.0,
        *,
        atoms: Iterable[str] | None = None,
        labelling: Callable[[Any, dict[str, Any]], Any] | None = None,
    ) -> None:
        self._atoms = None if atoms is None else list(atoms)
        self._labelling = labelling
        self._costs = Costs(formula, cost, atoms=self._atoms)
        self._steps = 0
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, formula=str(self._costs.formula), cost=cost, atoms=self._atoms, labelling=labelling
        )
        gymnasium.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._steps = 0
        return observation, self._with_cost(observation, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = five_tuple(self.env.step(action))
        self._steps += 1
        return observation, reward, terminated, truncated, self._with_cost(observation, info)

    def _with_cost(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        try:
            labels = as_labels(self._given(observation, info), self._atoms)
        except AmbsError as error:
            when = f"after step {self._steps} of the episode" if self._steps else "at reset"
            raise AmbsError(f"{when}, {error}") from error.__cause__
        return {**info, "labels": labels, "cost": self._costs(labels)}

    def _given(self, observation: Any, info: dict[str, Any]) -> Any:
        if self._labelling is not None:
            return _called("the labeller", self._labelling, observation, info)
        if "labels" in info:
            return info["labels"]
        raise AmbsError(
            f"{self.env} puts no labels into its info, and '{self._costs.formula}' is about them; give labels={{...}}."
        )


class _EachAtom:
    """One function for each atom as one function for all."""

    def __init__(self, functions: Mapping[str, Callable[[Any, dict[str, Any]], Any]]) -> None:
        self._functions = dict(functions)

    def __call__(self, observation: Any, info: dict[str, Any]) -> dict[str, bool]:
        return {
            name: truth(name, _called(f'the labeller of "{name}"', function, observation, info))
            for name, function in self._functions.items()
        }


def five_tuple(result: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
    """What a step returns, as Gymnasium has it; a cost after the reward (Safety-Gymnasium's habit) goes into `info`."""
    if len(result) == 6:
        observation, reward, cost, terminated, truncated, info = result
        return observation, reward, terminated, truncated, {**info, "cost": cost}
    if len(result) != 5:
        raise AmbsError(
            f"the environment's step returned {len(result)} values, and has to return 5: observation, reward, "
            "terminated, truncated, info (or 6, with a cost after the reward)."
        )
    return result


def _called(who: str, function: Callable[[Any, dict[str, Any]], Any], observation: Any, info: dict[str, Any]) -> Any:
    """What the user's function returns; whatever it raises becomes a sentence that says whose it was."""
    try:
        return function(observation, info)
    except AmbsError:
        raise
    except Exception as error:
        raise AmbsError(f"{who} raised {type(error).__name__}: {error}; mend that function.") from error


def _require_two_arguments(who: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return  # Some functions written in C do not tell; those are found out when they are called.
    try:
        signature.bind(None, None)
    except TypeError:
        raise AmbsError(
            f"{who} takes {signature}, and has to take (observation, info); write e.g. lambda observation, info: ..."
        ) from None
