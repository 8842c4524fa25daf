"""What a bound is: a relation between quantities that can be solved for any one of them."""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ambs.bounds import search
from ambs.bounds.quantities import ALMOST_ONE, WHOLE, checked, listed, lowest, names
from ambs.errors import AmbsError

Condition = Callable[..., bool]


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A bound, what it assumes, and what may be claimed from it.

    A bound holds when all its `conditions` do. A condition is a function from quantities to yes or no, and
    the names of its arguments are the names of the quantities it relates. All solving goes through the
    conditions, so the answers for different unknowns cannot contradict each other.

    Attributes:
        key: How programs call the bound.
        title: How people call it.
        statement: Its formula, in one line.
        source: Where it comes from: a theorem as the paper prints it, or a correction of one.
        sound: Whether it is true. What is unsound is here to be compared with, not to be used.
        assumes: What has to be the case before the bound says anything.
        claims: What may be said once its conditions hold.
        warning: For an unsound bound, why it is false.
        smallest: Quantities of which more is easier; the answer is the smallest value that is enough.
        largest: Quantities of which less is easier; the answer is the largest value that is admissible.
        conditions: What has to hold between the quantities.
        precondition: Raises if what is given makes the question itself senseless; called once its arguments
            are all given.
    """

    key: str
    title: str
    statement: str
    source: str
    sound: bool
    assumes: str
    claims: str
    smallest: tuple[str, ...]
    conditions: tuple[Condition, ...]
    largest: tuple[str, ...] = ()
    warning: str | None = None
    precondition: Callable[..., None] | None = None

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that the bound relates, each of which it can be solved for."""
        return self.smallest + self.largest

    @property
    def parameters(self) -> tuple[str, ...]:
        """What else the bound has to be told, such as the number of states."""
        every = [name for condition in self.conditions for name in _arguments(condition)]
        return tuple(name for name in dict.fromkeys(every) if name not in self.quantities)

    def has(self, name: str) -> bool:
        """Whether the bound relates the quantity of this name, or one that the paper gives this letter."""
        return any(meaning in self.quantities for meaning in names(name))

    def solve(self, unknown: str, **known: float | None) -> float | int:
        """The best value of `unknown`: the smallest that is enough, or the largest that is admissible.

        The quantities go by their names (`traces`, `epsilon`, ...) or by the paper's letters (`m`, `n`,
        `alpha`). Of a bound with several conditions, those about which too little is given are taken for
        granted: `theorem-2-paper` without a `tv` is Eq. (5), for a model that is as good as Eq. (4) asks.

        Args:
            unknown: The quantity to solve for.
            **known: The other quantities and parameters; None is the same as not given.

        Raises:
            AmbsError: If too little is given, or if no value of the unknown would do.
        """
        unknown = self._canonical(unknown)
        given = self._checked(unknown, known)
        used = [each for each in self.conditions if _required(each) <= given.keys() | {unknown}]
        if not any(unknown in _arguments(each) for each in used):
            raise AmbsError(f"{self.key} needs {listed(self._missing(unknown, given))} to be solved for {unknown}.")
        self._possible(unknown, given, used)

        def holds(value: float) -> bool:
            return all(condition(**_pick(condition, {**given, unknown: value})) for condition in used)

        answer = _best(unknown, holds, largest=unknown in self.largest)
        if answer is None:
            raise AmbsError(
                f"{self.key}: {_none_will_do(unknown)} with {_shown(given)}; the bound is {self.statement}."
            )
        if answer == math.inf:
            raise AmbsError(f"{self.key}: with {_shown(given)} there is no longest {unknown}, every one is admissible.")
        return answer

    def _canonical(self, name: str) -> str:
        for meaning in names(name):
            if meaning in self.quantities + self.parameters:
                return meaning
        raise AmbsError(
            f"{self.key} has no {name}: it relates {listed(self.quantities)}"
            + (f", and takes {listed(self.parameters)}." if self.parameters else ".")
        )

    def _checked(self, unknown: str, known: Mapping[str, float | None]) -> dict[str, float]:
        if unknown not in self.quantities:
            raise AmbsError(f"{self.key} can be solved for {listed(self.quantities)}, not for {unknown}.")
        given = {self._canonical(name): value for name, value in known.items()}
        values = {name: checked(name, value) for name, value in given.items() if value is not None}
        if unknown in values:
            raise AmbsError(f"{unknown} is both given and asked for; leave one out.")
        return values

    def _possible(self, unknown: str, given: Mapping[str, float], used: list[Condition]) -> None:
        if self.precondition and _required(self.precondition) <= given.keys():
            self.precondition(**_pick(self.precondition, given))
        for condition in used:
            decided = _pick(condition, given)
            if unknown not in _arguments(condition) and not condition(**decided):
                raise AmbsError(
                    f"{self.key} does not hold with {_shown(decided)}, whatever {unknown} is; the bound is "
                    f"{self.statement}."
                )

    def _missing(self, unknown: str, given: Mapping[str, float]) -> list[str]:
        about = next(each for each in self.conditions if unknown in _arguments(each))
        return [name for name in _arguments(about) if name in _required(about) - given.keys() - {unknown}]


def _best(unknown: str, holds: Callable[[float], bool], *, largest: bool) -> float | int | None:
    if unknown in WHOLE:
        return search.largest_integer(holds) if largest else search.smallest_integer(holds)
    best = search.largest_float if largest else search.smallest_float
    return best(holds, lowest(unknown), ALMOST_ONE)


def _none_will_do(unknown: str) -> str:
    if unknown in ("traces", "visits"):
        return f"no number of {unknown} is enough"
    return f"no {unknown} will do" if unknown in WHOLE else f"no {unknown} below 1 will do"


def _shown(given: Mapping[str, float]) -> str:
    return listed([f"{name} {value:g}" for name, value in given.items() if value is not False])


@functools.cache
def _arguments(condition: Callable[..., object]) -> tuple[str, ...]:
    return tuple(inspect.signature(condition).parameters)


@functools.cache
def _required(condition: Callable[..., object]) -> frozenset[str]:
    arguments = inspect.signature(condition).parameters.values()
    return frozenset(each.name for each in arguments if each.default is inspect.Parameter.empty)


def _pick(condition: Callable[..., object], values: Mapping[str, float]) -> dict[str, float]:
    return {name: values[name] for name in _arguments(condition) if name in values}
