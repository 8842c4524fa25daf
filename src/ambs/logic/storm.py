"""Formulas in the part of the syntax that Storm reads, to compare with it.

Storm's parser has no `G<=n`, `W`, `R`, `=>` or `<=>`. Every path operator becomes an until (`as_until`), a
negated one by asking for the complement: `P>=p [ G<=n a ]` is `P<=1-p [ true U<=n !a ]`.
"""

from __future__ import annotations

from fractions import Fraction

from ambs.logic import syntax

_COMPLEMENT: dict[syntax.Comparison, syntax.Comparison] = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_OPPOSITE = {"min": "max", "max": "min", None: None}


def storm_text(formula: syntax.Formula) -> tuple[str, bool]:
    """`formula` for Storm, and whether the number Storm answers has to be taken from one."""
    if isinstance(formula, syntax.ProbabilityQuery):
        path, negated = _path(formula.path)
        optimum = _OPPOSITE[formula.optimum] if negated else formula.optimum
        return f"P{optimum or ''}=? [ {path} ]", negated
    return _state(formula), False


def _state(formula: syntax.Formula) -> str:
    """The text of a state formula; constants only by themselves, as Storm takes `!(true)` for a label."""
    match formula:
        case syntax.Not(operand):
            text = _state(operand)
            return {"true": "false", "false": "true"}.get(text, f"!({text})")
        case syntax.And(parts):
            return _join(" & ", "true", [_state(part) for part in parts])
        case syntax.Or(parts):
            return _join(" | ", "false", [_state(part) for part in parts])
        case syntax.Implies(left, right):
            return _state(syntax.Or((syntax.Not(left), right)))
        case syntax.Iff(left, right):
            both, neither = syntax.And((left, right)), syntax.And((syntax.Not(left), syntax.Not(right)))
            return _state(syntax.Or((both, neither)))
        case syntax.ProbabilityBound(comparison, threshold, path, optimum):
            text, negated = _path(path)
            if negated:
                comparison, optimum = _COMPLEMENT[comparison], _OPPOSITE[optimum]  # type: ignore[assignment]
            # As a fraction: 1 - 0.9 is not 0.1 in floating point.
            bound = 1 - Fraction(threshold) if negated else Fraction(threshold)
            # Storm reads 64-bit integers.
            number = f"{bound.numerator}/{bound.denominator}" if bound.denominator < 2**63 else repr(float(bound))
            return f"P{optimum or ''}{comparison}{number} [ {text} ]"
    return str(formula)


def _join(symbol: str, neutral: str, texts: list[str]) -> str:
    absorbing = "false" if neutral == "true" else "true"
    if absorbing in texts:
        return absorbing
    return symbol.join(f"({text})" for text in texts if text != neutral) or neutral


def _path(path: syntax.PathFormula) -> tuple[str, bool]:
    if isinstance(path, syntax.Next):
        return f"X ({_state(path.operand)})", False
    until, negated = syntax.as_until(path)
    return f"({_state(until.left)}) U{until.steps} ({_state(until.right)})", negated
