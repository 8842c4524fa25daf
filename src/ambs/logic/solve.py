"""Unbounded reachability with a certificate: the value, and a proved bound on its error.

The problem, after the graph has removed every state whose value is 0 or 1 and end components have been
merged, is the fixed point of

    x = T x,    (T x)(s) = opt_a  b(s, a) + sum_t A(s, a, t) x(t),

where under *every* policy the process leaves the remaining states with probability one. Then some w > 0 has
`w - A_a w >= c > 0` for all choices a (the longest expected time to leave, say), and for any x whatsoever

    |x - x*| <= r w / c,    r = max |T x - x|,

because x + (r/c) w is a pre-fixed point of the monotone T and x - (r/c) w a post-fixed point. So x and w may
come from any solver, good or bad: what is returned is checked, not believed. Small changes between two
sweeps of value iteration prove nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.sparse import csgraph, linalg

from ambs.errors import ModelError
from ambs.logic.graph import Graph, StateSet
from ambs.logic.syntax import Optimum

Vector = Float[np.ndarray, " states"]

# An LU decomposition of this many states, or of this many bytes within the band, always fits.
_DIRECT_LIMIT = 5_000
_DIRECT_BYTES = 2**30
_SWEEPS = 200
_POLICIES = 200


@dataclass(frozen=True)
class _Equations:
    """x = opt(A x + b) over merged states, in extended precision; `start` holds each one's first row."""

    a: sparse.csr_array
    b: np.ndarray
    start: Int[np.ndarray, " states"]
    optimum: Optimum
    # The most terms that any sum of these coefficients and a state's value has: what rounding grows with.
    width: int

    def reduce(self, per_choice: np.ndarray, optimum: Optimum | None = None) -> np.ndarray:
        ufunc = np.maximum if (optimum or self.optimum) == "max" else np.minimum
        return ufunc.reduceat(per_choice, self.start)


def until_probability(graph: Graph, left: StateSet, right: StateSet, optimum: Optimum) -> tuple[Vector, float]:
    """The probability of `left U right` in every state, and a bound on the error of all of them."""
    zero = graph.prob0(left, right, optimum)
    one = graph.prob1(left, right, optimum, zero)
    value = one.astype(float)
    unknown = ~zero & ~one
    if not unknown.any():
        return value, 0.0
    equations, merged = _equations(graph, unknown, one, optimum)
    solution, error = _solve(equations)
    # Strictly inside, whatever rounding says: 0 and 1 are the graph's to give, and comparisons rely on it.
    value[unknown] = np.clip(solution[merged[unknown]], np.finfo(float).tiny, 1 - 2.0**-53)
    return value, error


def _equations(
    graph: Graph, unknown: StateSet, one: StateSet, optimum: Optimum
) -> tuple[_Equations, Int[np.ndarray, " all_states"]]:
    """The equations of the unknown states, and for every state the index of the merged state it is in."""
    model = graph.model
    merged = np.full(model.states, -1)
    # A minimising policy that could stay in an end component would have value 0 there: none are unknown.
    component = graph.end_components(unknown) if optimum == "max" and not model.is_chain else merged
    inside = component >= 0
    count = component.max() + 1
    merged[inside] = component[inside]
    merged[unknown & ~inside] = count + np.arange((unknown & ~inside).sum())

    rows = np.flatnonzero(unknown[graph.choice_state])
    kernel = model.kernel[rows]
    owner = merged[graph.choice_state[rows]]
    # Choices that cannot leave their own merged state are the ones that made it; they decide nothing.
    stays = merged[kernel.indices] == np.repeat(owner, np.diff(kernel.indptr))
    leaves = ~np.logical_and.reduceat(stays, kernel.indptr[:-1])
    kernel, owner = kernel[leaves], owner[leaves]
    order = np.argsort(owner, kind="stable")
    kernel, owner = kernel[order], owner[order]

    size = int(merged.max()) + 1
    members = np.flatnonzero(unknown)
    fold = sparse.csr_array(
        (np.ones(len(members), np.longdouble), (members, merged[members])), shape=(model.states, size)
    )
    start = np.searchsorted(owner, np.arange(size))
    wide = kernel.astype(np.longdouble)
    width = 2 * int(np.diff(kernel.indptr).max()) + 2
    equations = _Equations(sparse.csr_array(wide @ fold), wide @ one.astype(np.longdouble), start, optimum, width)
    return equations, merged


def _solve(equations: _Equations) -> tuple[np.ndarray, float]:
    x = _policy_iteration(equations, equations.b, equations.optimum, rounds=4)
    best, error = x, np.inf
    # w need not be exact, only to drift downwards everywhere.
    w = _policy_iteration(equations, np.ones(len(equations.b)), "max", rounds=1)
    for _ in range(_SWEEPS):
        bound = _certified_error(equations, x, w)
        if bound < error:
            best, error = x, bound
        if error < 1e-12:
            break
        # Value iteration contracts in the norm weighted by w: sweeps can only help, slowly.
        refined = np.clip(equations.reduce(_apply(equations, x)), 0, 1)
        if np.array_equal(refined, x):
            break
        x = refined
    return best.astype(float), float(error)


def _certified_error(equations: _Equations, x: np.ndarray, w: np.ndarray) -> float:
    """max over states of r w / c, with the rounding of its own arithmetic added."""
    rounding = equations.width * np.finfo(np.longdouble).eps
    drift = w[_owner(equations)] - equations.a @ w
    c = drift.min() - rounding * np.abs(w).max()
    # Both are needed: with w > 0 and a downward drift, A has no way to stay.
    if not (c > 0 and w.min() > 0):
        return np.inf
    residual = np.abs(equations.reduce(_apply(equations, x)) - x).max()
    residual += rounding * (1 + np.abs(x).max())
    # Two more roundings: to double precision, and of this very product.
    return float(residual * w.max() / c) * (1 + 1e-12) + 2.0**-53


def _apply(equations: _Equations, x: np.ndarray) -> np.ndarray:
    """A x + b, in extended precision: the last digits matter to the residual."""
    return equations.a @ x + equations.b


def _owner(equations: _Equations) -> Int[np.ndarray, " choices"]:
    return np.repeat(np.arange(len(equations.start)), np.diff([*equations.start, len(equations.b)]))


def _policy_iteration(equations: _Equations, reward: np.ndarray, optimum: Optimum, rounds: int) -> np.ndarray:
    """Howard's policy iteration for x = opt(A x + reward); every policy is proper, so any one can start."""
    sign = 1.0 if optimum == "max" else -1.0
    owner = _owner(equations)
    policy = equations.start.copy()
    # Ties that an iterative solver breaks now so and now otherwise would go round for ever; whatever comes out is
    # judged by the certificate.
    for _ in range(_POLICIES):
        x = _evaluate(equations.a[policy], reward[policy], rounds)
        advantage = sign * (equations.a @ x + reward - x[owner])
        best = np.maximum.reduceat(advantage, equations.start)
        # Only a gain that rounding cannot explain, so that the iteration ends.
        improve = best > advantage[policy] + 1e-12 * max(1.0, float(np.abs(x).max()))
        if not improve.any():
            break
        at_best = np.flatnonzero((advantage == best[owner]) & improve[owner])
        # The first best choice of each improving state.
        _, first = np.unique(owner[at_best], return_index=True)
        policy[owner[at_best[first]]] = at_best[first]
    return x


def _evaluate(a: sparse.csr_array, reward: np.ndarray, rounds: int) -> np.ndarray:
    """(I - A)^-1 reward for one policy, refined in extended precision."""
    size = a.shape[0]
    solve = _solver(sparse.csc_array(sparse.eye_array(size) - a.astype(float)))
    x = np.zeros(size, np.longdouble)
    residual = reward.astype(np.longdouble)
    for _ in range(rounds):
        scale = float(np.abs(residual).max())
        if scale < 1e-18:
            break
        x = x + scale * solve(np.asarray(residual / scale, float))
        residual = reward - x + a @ x
    return x


def _solver(matrix: sparse.csc_array) -> Callable[[np.ndarray], np.ndarray]:
    """A sparse LU where its fill-in surely fits, else a Krylov method.

    Long thin models (queues, walks) are badly conditioned, and their LU is small; models without such a
    shape mix fast, and there a Krylov method needs few products while an LU would fill up.
    """
    size = matrix.shape[0]
    if size <= _DIRECT_LIMIT or 24 * size * _bandwidth(matrix) <= _DIRECT_BYTES:
        try:
            return linalg.splu(matrix).solve
        except RuntimeError:
            raise ModelError(
                "an unbounded operator cannot be certified here: some state is left with so small a probability that "
                "double precision takes it for none; bound the operator."
            ) from None
    scale = 1 / matrix.diagonal()
    jacobi = linalg.LinearOperator(matrix.shape, lambda v: scale * v, dtype=float)

    def solve(right: np.ndarray) -> np.ndarray:
        answer, _ = linalg.bicgstab(matrix, right, rtol=1e-9, maxiter=5_000, M=jacobi)
        return cast(np.ndarray, answer)

    return solve


def _bandwidth(matrix: sparse.csc_array) -> int:
    """The bandwidth that the best known ordering gives the matrix."""
    order = csgraph.reverse_cuthill_mckee(sparse.csr_matrix(matrix))
    position = np.empty(len(order), int)
    position[order] = np.arange(len(order))
    entries = matrix.tocoo()
    return int(np.abs(position[entries.row] - position[entries.col]).max()) + 1
