"""Text to formula, in the syntax of PRISM and Storm; a mistake is answered with its column and what could follow."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import NoReturn, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ambs.errors import FormulaError
from ambs.logic import syntax

# Deep enough for any formula a person writes, shallow enough for Python's recursion limit.
_MAX_DEPTH = 150

_TERMINAL_NAMES = {
    "NAME": "an atom",
    "LABEL": "an atom",
    "NUMBER": "a number",
    "P": "P",
    "PMIN": "P",
    "PMAX": "P",
    "_IMPLIES": "=>",
    "_IFF": "<=>",
    "GE": ">=",
    "GT": ">",
    "LE": "<=",
    "LT": "<",
    "TRUE": "true",
    "FALSE": "false",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "VBAR": "|",
    "AMPERSAND": "&",
    "BANG": "!",
    "EQUAL": "=",
    "QMARK": "?",
    "COMMA": ",",
    "PLUS": "+",
    "MINUS": "-",
    "STAR": "*",
    "SLASH": "/",
    "$END": "the end",
}
# What people write who come from another language.
_HABITS = {
    "&&": "write & for 'and'",
    "||": "write | for 'or'",
    "==": "write <=> for 'if and only if'",
    "=": "write <=> for 'if and only if'",
    "~": "write ! for 'not'",
    "¬": "write ! for 'not'",
    "∧": "write & for 'and'",
    "∨": "write | for 'or'",
    "-": 'a name with a hyphen goes in double quotes, as in "out-of-oxygen"',
    "'": "labels are quoted with double quotes",
    "≤": "write <=",
    "≥": "write >=",
}
_WORDS = dict.fromkeys(("and", "or", "not"), "write & for 'and', | for 'or', ! for 'not'")
_TEMPORAL = {"X", "F", "G", "U", "W", "R"}


def as_formula(formula: str | syntax.Formula) -> syntax.Formula:
    """Text or formula, as a formula."""
    return parse(formula) if isinstance(formula, str) else formula


def parse(text: str) -> syntax.Formula:
    """The formula that `text` says: a state formula, a query `P=? [ ... ]`, or a bare path formula.

    `parse(str(formula)) == formula`. Raises `FormulaError`, and nothing else, for text that is no formula.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula is parsed from text, not from {type(text).__name__}.")
    if not text.strip():
        raise FormulaError(_point(text, 0, "the formula is empty; a small one is !hit"))
    try:
        formula = cast(syntax.Formula, _lark().parse(text))
    except UnexpectedInput as error:
        _explain(text, error)
    except _Misplaced as error:
        raise FormulaError(_point(text, error.position, error.reason)) from None
    _check_depth(text, formula)
    return formula


@cache
def _lark() -> Lark:
    grammar = files("ambs.logic").joinpath("grammar.lark").read_text(encoding="utf-8")
    # The basic lexer, so that a keyword is one everywhere: `F` is never an atom in one place and an
    # operator in another. Inline transformer: no parse tree, and no recursion over one.
    return Lark(grammar, parser="lalr", lexer="basic", transformer=_Build(), maybe_placeholders=True)


class _Misplaced(Exception):
    """Well-formed text with an impossible meaning, at a position of the text."""

    def __init__(self, token: Token, reason: str) -> None:
        super().__init__(reason)
        self.position = token.start_pos or 0
        self.reason = reason


@v_args(inline=True)
class _Build(Transformer):
    """Grammar rules to syntax nodes."""

    def constant(self, token: Token) -> syntax.StateFormula:
        return syntax.Constant(token == "true")

    def atom(self, token: Token) -> syntax.StateFormula:
        return syntax.Atom(str(token))

    def quoted_atom(self, token: Token) -> syntax.StateFormula:
        try:
            return syntax.Atom(token[1:-1])
        except FormulaError as error:
            raise _Misplaced(token, str(error).rstrip(".")) from None

    def negation(self, operand: syntax.StateFormula) -> syntax.StateFormula:
        return syntax.Not(operand)

    def conjunction(self, *parts: syntax.StateFormula) -> syntax.StateFormula:
        return syntax.And(parts)

    def disjunction(self, *parts: syntax.StateFormula) -> syntax.StateFormula:
        return syntax.Or(parts)

    def implies(self, left: syntax.StateFormula, right: syntax.StateFormula) -> syntax.StateFormula:
        return syntax.Implies(left, right)

    def iff(self, left: syntax.StateFormula, right: syntax.StateFormula) -> syntax.StateFormula:
        return syntax.Iff(left, right)

    def quantifier(self, token: Token) -> Token:
        return token

    def comparison(self, token: Token) -> Token:
        return token

    def query(self, quantifier: Token, path: syntax.PathFormula) -> syntax.Formula:
        return syntax.ProbabilityQuery(path, _OPTIMUM[quantifier])

    def bound(
        self, quantifier: Token, comparison: Token, value: tuple[Fraction, Token], path: syntax.PathFormula
    ) -> syntax.StateFormula:
        number, token = value
        if not 0 <= number <= 1:
            raise _Misplaced(token, f"the probability {_brief(number)} does not lie in [0, 1]")
        return syntax.ProbabilityBound(str(comparison), float(number), path, _OPTIMUM[quantifier])  # type: ignore[arg-type]

    def next(self, _x: Token, operand: syntax.StateFormula) -> syntax.PathFormula:
        return syntax.Next(operand)

    def eventually(self, _f: Token, steps: syntax.Steps | None, operand: syntax.StateFormula) -> syntax.PathFormula:
        return syntax.Eventually(operand, steps or syntax.Steps())

    def globally(self, _g: Token, steps: syntax.Steps | None, operand: syntax.StateFormula) -> syntax.PathFormula:
        return syntax.Globally(operand, steps or syntax.Steps())

    def until(
        self, left: syntax.StateFormula, _u: Token, steps: syntax.Steps | None, right: syntax.StateFormula
    ) -> syntax.PathFormula:
        return syntax.Until(left, right, steps or syntax.Steps())

    def weak_until(
        self, left: syntax.StateFormula, w: Token, steps: syntax.Steps | None, right: syntax.StateFormula
    ) -> syntax.PathFormula:
        try:
            return syntax.WeakUntil(left, right, steps or syntax.Steps())
        except FormulaError as error:
            raise _Misplaced(w, str(error)) from None

    def release(
        self, left: syntax.StateFormula, _r: Token, steps: syntax.Steps | None, right: syntax.StateFormula
    ) -> syntax.PathFormula:
        return syntax.Release(left, right, steps or syntax.Steps())

    def at_most(self, _op: Token, number: Token) -> syntax.Steps:
        return syntax.Steps(0, _whole(number))

    def fewer_than(self, _op: Token, number: Token) -> syntax.Steps:
        if _whole(number) == 0:
            raise _Misplaced(number, "fewer than 0 steps is impossible")
        return syntax.Steps(0, _whole(number) - 1)

    def at_least(self, _op: Token, number: Token) -> syntax.Steps:
        return syntax.Steps(_whole(number), None)

    def more_than(self, _op: Token, number: Token) -> syntax.Steps:
        return syntax.Steps(_whole(number) + 1, None)

    def exactly(self, number: Token) -> syntax.Steps:
        return syntax.Steps(_whole(number), _whole(number))

    def between(self, low: Token, high: Token) -> syntax.Steps:
        if _whole(high) < _whole(low):
            raise _Misplaced(high, f"the step bound [{low},{high}] is empty")
        return syntax.Steps(_whole(low), _whole(high))

    # Thresholds are rational until the end, so that 1/6 and 1-0.1 are rounded once.
    def number(self, token: Token) -> tuple[Fraction, Token]:
        if len(token) > 40 or not math.isfinite(float(token)) or abs(_exponent(token)) > 400:
            raise _Misplaced(token, "this number has too many digits for a probability")
        return Fraction(str(token)), token

    def add(self, a: tuple[Fraction, Token], b: tuple[Fraction, Token]) -> tuple[Fraction, Token]:
        return a[0] + b[0], a[1]

    def subtract(self, a: tuple[Fraction, Token], b: tuple[Fraction, Token]) -> tuple[Fraction, Token]:
        return a[0] - b[0], a[1]

    def multiply(self, a: tuple[Fraction, Token], b: tuple[Fraction, Token]) -> tuple[Fraction, Token]:
        return a[0] * b[0], a[1]

    def divide(self, a: tuple[Fraction, Token], b: tuple[Fraction, Token]) -> tuple[Fraction, Token]:
        if b[0] == 0:
            raise _Misplaced(b[1], "division by zero")
        return a[0] / b[0], a[1]


_OPTIMUM: dict[str, syntax.Optimum | None] = {"P": None, "Pmin": "min", "Pmax": "max"}


def _exponent(token: str) -> int:
    _, _, exponent = token.lower().partition("e")
    return int(exponent or 0)


def _brief(number: Fraction) -> str:
    """A number for a message: never an overflow, whatever was multiplied together."""
    try:
        return f"{float(number):g}"
    except OverflowError:
        return "given"


def _whole(token: Token) -> int:
    if not token.isdigit():
        raise _Misplaced(token, f"a step bound is a whole number, and {token} is not")
    if len(token) > 9:
        raise _Misplaced(token, "a step bound has at most 9 digits")
    return int(token)


def _check_depth(text: str, formula: syntax.Formula) -> None:
    level, depth = [formula], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise FormulaError(_point(text, 0, f"operators are nested more than {_MAX_DEPTH} deep"))
        level = [child for node in level for child in node.children]


def _explain(text: str, error: UnexpectedInput) -> NoReturn:
    if isinstance(error, UnexpectedToken):
        ended = error.token.type == "$END"
        position = len(text.rstrip()) if ended else error.token.start_pos or 0
        found = "the formula ends here" if ended else f"did not expect '{error.token}'"
        token = str(error.token)
    else:
        assert isinstance(error, UnexpectedCharacters)
        position = error.pos_in_stream or 0
        token = text[position]
        found = "this quoted label has no end" if token == '"' else f"did not expect {token!r}"
    expected = _acceptable(text[:position])
    hint = _hint(text, position, token, expected)
    reason = f"{found}; expected {_alternatives(expected)}"
    raise FormulaError(_point(text, position, f"{reason} ({hint})" if hint else reason)) from None


def _acceptable(prefix: str) -> set[str]:
    """The terminals that may follow `prefix`, asked before the parser reduces anything for the wrong one."""
    parser = _lark().parse_interactive(prefix)
    parser.exhaust_lexer()
    return parser.accepts()


def _hint(text: str, position: int, token: str, expected: set[str]) -> str:
    doubled = text[position - 1 : position + 1]
    if len(doubled) == 2 and doubled in _HABITS:
        return _HABITS[doubled]
    if token == "-":
        return _HABITS["-"] if re.search(r"[A-Za-z_]\w*$", text[:position]) else ""
    if token in ("=", "==") and "_IFF" not in expected and not {"GE", "LE"} & expected:
        return ""
    if token in _WORDS:
        return _WORDS[token]
    if re.search(r"\b(and|or|not)\s*$", text[:position]):
        return "write & for 'and', | for 'or', ! for 'not'"
    if token in _TEMPORAL and "NAME" in expected:
        alone = "path formulas are not nested or combined without a P around each"
        return f'{alone}; an atom named {token} is written "{token}"'
    if token == "=" and {"GE", "LE"} & expected:
        return "P=? asks for a number, so it only stands outermost; inside, write P>=p [ ... ]"
    if token == "]" and {"U", "W", "R"} <= expected:
        return "P is taken of a path formula, such as F a, G<=30 a or a U b"
    return _HABITS.get(token, "")


def _alternatives(expected: set[str]) -> str:
    """The expected terminals in words; what begins or joins formulas before the rest, nothing twice."""
    names = {_TERMINAL_NAMES.get(terminal, terminal) for terminal in expected}
    order = ["an atom", "a number", "true", "false", "!", "(", "P", "X", "F", "G", "[", "]", ")", "the end"]
    listed = [name for name in order if name in names] + sorted(names - set(order))
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]


def _point(text: str, position: int, reason: str) -> str:
    """`reason` with its place: line (when there are several) and column, and the text with a caret under it."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    where = f"line {text.count(chr(10), 0, position) + 1}, column" if "\n" in text.strip() else "column"
    shown = "".join(character if character.isprintable() else " " for character in line)
    # A window around the caret, so that a formula of a thousand characters still shows where.
    left = max(0, column - 70)
    window = ("…" if left else "") + shown[left : left + 110] + ("…" if len(shown) > left + 110 else "")
    caret = " " * (column - left + (1 if left else 0)) + "^"
    return f"formula, {where} {column + 1}: {reason}\n  {window}\n  {caret}"
