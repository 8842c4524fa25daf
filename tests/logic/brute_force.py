"""PCTL straight from its definition, one state and one path at a time: slow, and too simple to be wrong.

Shares nothing with ambs but the syntax tree: no until form, no vectorisation, no early stopping.
"""

import itertools

from ambs.logic import syntax


def holds(formula, has) -> bool:
    """Truth of a propositional formula, where `has(atom)` tells the labels."""
    match formula:
        case syntax.Constant(value):
            return value
        case syntax.Atom(name):
            return bool(has(name))
        case syntax.Not(operand):
            return not holds(operand, has)
        case syntax.And(parts):
            return all(holds(part, has) for part in parts)
        case syntax.Or(parts):
            return any(holds(part, has) for part in parts)
        case syntax.Implies(left, right):
            return not holds(left, has) or holds(right, has)
        case syntax.Iff(left, right):
            return holds(left, has) == holds(right, has)
    raise AssertionError(formula)


def satisfies(path, length: int, true_at) -> bool:
    """Truth of a path formula on states 0..length-1, where `true_at(formula, i)` tells the state formulas.

    The trace has to be long enough to decide.
    """
    if isinstance(path, syntax.Next):
        return true_at(path.operand, 1)
    low, high = path.steps.lower, path.steps.upper
    assert high is not None
    assert high < length
    window = range(low, high + 1)
    match path:
        case syntax.Eventually():
            return any(true_at(path.operand, i) for i in window)
        case syntax.Globally():
            return all(true_at(path.operand, i) for i in window)
        case syntax.Until():
            return _until(path.left, path.right, window, true_at)
        case syntax.Release():
            # Φ2 holds at every step of the window that no earlier Φ1 has released.
            return all(true_at(path.right, i) or any(true_at(path.left, j) for j in range(i)) for i in window)
        case syntax.WeakUntil():
            # An until, or Φ1 throughout.
            return _until(path.left, path.right, window, true_at) or all(true_at(path.left, i) for i in window)
    raise AssertionError(path)


def _until(left, right, window, true_at) -> bool:
    return any(true_at(right, i) and all(true_at(left, j) for j in range(i)) for i in window)


def path_probability(model, path, satisfied_states, steps: int):
    """P(path) from every state of a small chain, by listing all paths of `steps` transitions."""
    kernel = model.kernel.toarray()
    result = []
    for first in range(model.states):
        total = 0.0
        for rest in itertools.product(range(model.states), repeat=steps):
            trace = (first, *rest)
            weight = 1.0
            for i in range(steps):
                weight *= kernel[trace[i], trace[i + 1]]
                if weight == 0:
                    break
            if weight and satisfies(path, steps + 1, lambda f, i, trace=trace: satisfied_states(f)[trace[i]]):
                total += weight
        result.append(total)
    return result
