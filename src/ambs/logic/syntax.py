"""The formulas of PCTL as values: what they are made of, and how they print.

    Φ ::= true | a | !Φ | Φ & Φ | Φ "|" Φ | Φ => Φ | Φ <=> Φ | P~p [ φ ]         state formulas
    φ ::= X Φ | Φ U Φ | Φ U<=n Φ | F Φ | G Φ | Φ W Φ | Φ R Φ   (all but X with step bounds)   path formulas

Formulas are frozen dataclasses, compared by structure. Printing gives text with labels quoted, as PRISM and Storm
want them, that `ambs.parse` reads back as the same formula: parentheses that a reader wrote around
equal operators are kept, because `a & (b & c)` and `a & b & c` are different trees.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from ambs.errors import FormulaError

Comparison = Literal[">=", ">", "<=", "<"]
Optimum = Literal["min", "max"]


class Formula:
    """Any PCTL formula. Abstract: see `StateFormula` and `PathFormula`."""

    # How tightly the operator binds when printed; a looser child gets parentheses.
    _binding: ClassVar[int] = 6

    @property
    def children(self) -> tuple[Formula, ...]:
        """The direct sub-formulas, left to right."""
        parts: list[Formula] = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Formula):
                parts.append(value)
            elif isinstance(value, tuple):
                parts.extend(value)
        return tuple(parts)

    def walk(self) -> Iterator[Formula]:
        """This formula and every formula inside it."""
        stack: list[Formula] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    @property
    def atoms(self) -> frozenset[str]:
        """The atomic propositions that occur in the formula."""
        return frozenset(node.name for node in self.walk() if isinstance(node, Atom))

    def _wrap(self, child: Formula, *, tighter_than: int) -> str:
        text = str(child)
        return text if child._binding > tighter_than else f"({text})"


class StateFormula(Formula):
    """Φ: true or false in a state. `&`, `|` and `~` build new ones in Python."""

    def __and__(self, other: StateFormula) -> StateFormula:
        return And((self, other))

    def __or__(self, other: StateFormula) -> StateFormula:
        return Or((self, other))

    def __invert__(self) -> StateFormula:
        return Not(self)


class PathFormula(Formula):
    """φ: true or false of a path; it stands inside `P~p [ ... ]`."""

    _binding = 0


@dataclass(frozen=True)
class Constant(StateFormula):
    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Atom(StateFormula):
    """An atomic proposition: a label that a state has or has not."""

    name: str

    def __post_init__(self) -> None:
        if not self.name or '"' in self.name or not self.name.isprintable():
            raise FormulaError(f"{self.name!r} cannot name an atom: it has to be printable text without double quotes.")

    def __str__(self) -> str:
        return f'"{self.name}"'


@dataclass(frozen=True)
class Not(StateFormula):
    operand: StateFormula
    _binding = 5

    def __str__(self) -> str:
        return f"!{self._wrap(self.operand, tighter_than=4)}"


@dataclass(frozen=True)
class _Chain(StateFormula):
    """`a & b & c`: one node for the whole chain, so that a long conjunction is not a deep tree."""

    parts: tuple[StateFormula, ...]
    _symbol: ClassVar[str]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise FormulaError(f"'{self._symbol}' joins at least two formulas, and got {len(self.parts)}.")

    def __str__(self) -> str:
        return f" {self._symbol} ".join(self._wrap(part, tighter_than=self._binding) for part in self.parts)


@dataclass(frozen=True)
class And(_Chain):
    _symbol = "&"
    _binding = 4

    __str__ = _Chain.__str__


@dataclass(frozen=True)
class Or(_Chain):
    _symbol = "|"
    _binding = 3

    __str__ = _Chain.__str__


@dataclass(frozen=True)
class Iff(StateFormula):
    left: StateFormula
    right: StateFormula
    _binding = 2

    def __str__(self) -> str:
        return f"{self._wrap(self.left, tighter_than=1)} <=> {self._wrap(self.right, tighter_than=2)}"


@dataclass(frozen=True)
class Implies(StateFormula):
    """Groups to the left, as in PRISM: `a => b => c` is `(a => b) => c`; always printed with parentheses."""

    left: StateFormula
    right: StateFormula
    _binding = 1

    def __str__(self) -> str:
        return f"{self._wrap(self.left, tighter_than=1)} => {self._wrap(self.right, tighter_than=1)}"


@dataclass(frozen=True)
class ProbabilityBound(StateFormula):
    """`P>=p [ φ ]`: the probability of φ from this state compares so with p.

    On an MDP, `P>=p` and `P>p` speak of every policy (so of the minimum), `P<=p` and `P<p` likewise of the
    maximum, as in PRISM and Storm; `Pmin` and `Pmax` say it explicitly, so `Pmax>=p` is "some policy can".
    """

    comparison: Comparison
    threshold: float
    path: PathFormula
    optimum: Optimum | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))
        if not 0 <= self.threshold <= 1:
            raise FormulaError(f"the probability {self.threshold:g} does not lie in [0, 1].")

    def __str__(self) -> str:
        return f"P{self.optimum or ''}{self.comparison}{self.threshold!r} [ {self.path} ]"


@dataclass(frozen=True)
class ProbabilityQuery(Formula):
    """`P=? [ φ ]`, `Pmin=? [ φ ]`, `Pmax=? [ φ ]`: asks for a number, so it only stands outermost."""

    path: PathFormula
    optimum: Optimum | None = None

    def __str__(self) -> str:
        return f"P{self.optimum or ''}=? [ {self.path} ]"


@dataclass(frozen=True)
class Steps:
    """The step bound of a path operator: `lower` to `upper` transitions, both included, None for no end."""

    lower: int = 0
    upper: int | None = None

    def __post_init__(self) -> None:
        if self.lower < 0 or (self.upper is not None and self.upper < self.lower):
            raise FormulaError(f"no number of steps lies in [{self.lower}, {self.upper}].")

    def __str__(self) -> str:
        if self.upper is None:
            return f">={self.lower}" if self.lower else ""
        return f"[{self.lower},{self.upper}]" if self.lower else f"<={self.upper}"


@dataclass(frozen=True)
class Next(PathFormula):
    """`X Φ`: Φ after one step."""

    operand: StateFormula

    def __str__(self) -> str:
        return f"X {self.operand}"


@dataclass(frozen=True)
class _Unary(PathFormula):
    operand: StateFormula
    steps: Steps = Steps()
    _symbol: ClassVar[str]

    def __str__(self) -> str:
        return f"{self._symbol}{self.steps} {self.operand}"


@dataclass(frozen=True)
class Eventually(_Unary):
    """`F Φ`: Φ at some step within the bound."""

    _symbol = "F"
    __str__ = _Unary.__str__


@dataclass(frozen=True)
class Globally(_Unary):
    """`G Φ`: Φ at every step within the bound. The paper's bounded safety □^{<=n} Ψ is `G<=n Ψ`."""

    _symbol = "G"
    __str__ = _Unary.__str__


@dataclass(frozen=True)
class _Binary(PathFormula):
    left: StateFormula
    right: StateFormula
    steps: Steps = Steps()
    _symbol: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.left} {self._symbol}{self.steps} {self.right}"


@dataclass(frozen=True)
class Until(_Binary):
    """`Φ1 U Φ2`: Φ2 at some step within the bound, and Φ1 at every step before that one."""

    _symbol = "U"
    __str__ = _Binary.__str__


@dataclass(frozen=True)
class WeakUntil(_Binary):
    """`Φ1 W Φ2`: like until, but Φ2 need never come if Φ1 holds throughout. Only from step 0 on."""

    _symbol = "W"

    def __post_init__(self) -> None:
        if self.steps.lower:
            raise FormulaError("W takes an upper step bound only, such as W<=5: tools differ on what another one means")

    __str__ = _Binary.__str__


@dataclass(frozen=True)
class Release(_Binary):
    """`Φ1 R Φ2`: Φ2 up to and including the step at which Φ1 first holds, for ever if it never does."""

    _symbol = "R"
    __str__ = _Binary.__str__


@functools.lru_cache(maxsize=512)
def as_until(path: PathFormula) -> tuple[Until, bool]:
    """Every bounded or unbounded path operator but `X` as one until, and whether that until is negated.

        F Φ = true U Φ        G Φ = !(true U !Φ)
        Φ1 R Φ2 = !(!Φ1 U !Φ2)        Φ1 W Φ2 = !((Φ1 & !Φ2) U (!Φ1 & !Φ2))

    One operator to evaluate on traces, to check exactly and to send to Storm, instead of five. The step
    bound goes along unchanged; `W` has none from below, for which its form would not hold.
    """
    true = Constant(True)
    match path:
        case Until():
            return path, False
        case Eventually(operand, steps):
            return Until(true, operand, steps), False
        case Globally(operand, steps):
            return Until(true, Not(operand), steps), True
        case Release(left, right, steps):
            return Until(Not(left), Not(right), steps), True
        case WeakUntil(left, right, steps):
            return Until(And((left, Not(right))), And((Not(left), Not(right))), steps), True
    raise FormulaError(f"'{path}' has no until form.")
