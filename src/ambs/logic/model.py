"""Finite Markov chains and Markov decision processes with labelled states, sparse.

One class for both: a chain is an MDP with one choice a state, and every algorithm is written once. Rows of
`kernel` are choices, and the choices of state s are the rows `choice_start[s]` to `choice_start[s + 1]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse

from ambs.errors import ModelError

# PRISM prints transition files with few digits, so rows may miss one by that much; they are then scaled.
ROW_SUM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class FiniteModel:
    """A labelled finite MDP; build it with `chain`, `mdp` or `ambs.logic.read_prism`.

    Attributes:
        kernel: transition probabilities, sparse [choices, states]; every row sums to one.
        choice_start: first row of every state, and one past the last row.
        labels: for every atom, the states that have it: Bool[states], checked here because users bring them.
        initial: the initial state.
        actions: a name for every choice, if there are any.
        valuations: a text for every state (PRISM's `.sta`), if there are any.
        variables: the names of the variables in `valuations`.
    """

    kernel: sparse.csr_array
    choice_start: Int[np.ndarray, " states_and_end"]
    labels: Mapping[str, Any] = field(default_factory=dict)
    initial: int = 0
    actions: Sequence[str] | None = None
    valuations: Sequence[str] | None = None
    variables: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self._normalised())
        object.__setattr__(self, "labels", self._checked_labels())
        if not 0 <= self.initial < self.states:
            raise ModelError(
                f"the initial state {self.initial} does not exist; there are states 0 to {self.states - 1}."
            )

    @classmethod
    def chain(
        cls,
        kernel: Any,
        labels: Mapping[str, Any] | None = None,
        initial: int = 0,
    ) -> FiniteModel:
        """A Markov chain from its transition matrix, dense or sparse [states, states]."""
        matrix = _as_csr(kernel)
        if matrix.shape[0] != matrix.shape[1]:
            raise ModelError(f"the kernel of a chain is square, and this one has shape {matrix.shape}.")
        return cls(matrix, np.arange(matrix.shape[0] + 1), labels or {}, initial)

    @classmethod
    def mdp(
        cls,
        kernel: Any,
        labels: Mapping[str, Any] | None = None,
        initial: int = 0,
    ) -> FiniteModel:
        """An MDP with the same actions everywhere: dense [states, actions, states], or a sparse matrix an action."""
        if isinstance(kernel, Sequence) and kernel and all(sparse.issparse(matrix) for matrix in kernel):
            actions, states = len(kernel), kernel[0].shape[0]
            if any(matrix.shape != (states, states) for matrix in kernel):
                raise ModelError("the kernel of an MDP has a square matrix for each action, all of one size.")
            stacked = sparse.csr_array(sparse.vstack([_as_csr(matrix) for matrix in kernel]))
            # From action-major to state-major rows.
            matrix = stacked[np.arange(states * actions).reshape(actions, states).T.ravel()]
        else:
            dense = np.asarray(kernel)
            if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or not dense.size:
                raise ModelError(f"the kernel of an MDP is [states, actions, states], not {dense.shape}.")
            states, actions, _ = dense.shape
            matrix = _as_csr(dense.reshape(states * actions, states))
        return cls(matrix, np.arange(states + 1) * actions, labels or {}, initial)

    @property
    def states(self) -> int:
        return len(self.choice_start) - 1

    @property
    def choices(self) -> int:
        return self.kernel.shape[0]

    @property
    def transitions(self) -> int:
        return self.kernel.nnz

    @property
    def is_chain(self) -> bool:
        return self.choices == self.states

    @property
    def choice_state(self) -> Int[np.ndarray, " choices"]:
        """The state that each choice belongs to."""
        return np.repeat(np.arange(self.states), np.diff(self.choice_start))

    def under(self, policy: Any) -> FiniteModel:
        """The Markov chain that a stationary policy [states, actions] makes of this MDP (the paper's T)."""
        policy = np.asarray(policy, float)
        if policy.ndim != 2:
            raise ModelError(f"a policy is probabilities [states, actions], and this one has shape {policy.shape}.")
        per_state = np.diff(self.choice_start)
        if policy.shape[0] != self.states or np.any(per_state > policy.shape[1]):
            raise ModelError(
                f"the policy has shape {policy.shape}; this MDP has {self.states} states with up to "
                f"{per_state.max()} choices."
            )
        weight = policy[np.arange(policy.shape[1]) < per_state[:, None]] if policy.size else policy.ravel()
        if (
            np.any(~np.isfinite(policy))
            or np.any(policy < 0)
            or np.any(np.abs(np.add.reduceat(weight, self.choice_start[:-1]) - 1) > 1e-6)
        ):
            raise ModelError("every row of the policy has to be probabilities that sum to one.")
        mix = sparse.csr_array((weight, (self.choice_state, np.arange(self.choices))))
        return FiniteModel.chain(sparse.csr_array(mix @ self.kernel), self.labels, self.initial)

    def _normalised(self) -> sparse.csr_array:
        kernel = _as_csr(self.kernel)
        if kernel.shape[1] != self.states or self.choice_start[-1] != kernel.shape[0]:
            raise ModelError(
                f"{self.states} states with {self.choice_start[-1]} choices need a kernel of that shape, "
                f"not {kernel.shape}."
            )
        if self.states == 0:
            raise ModelError("the model has no states.")
        empty = np.flatnonzero(np.diff(self.choice_start) <= 0)
        if len(empty):
            raise ModelError(f"state {empty[0]} has no outgoing transition; give it a self-loop.")
        bad = np.flatnonzero(~np.isfinite(kernel.data) | (kernel.data < 0))
        if len(bad):
            row = int(np.searchsorted(kernel.indptr, bad[0], side="right")) - 1
            raise ModelError(
                f"{self._row_name(row)} goes to state {kernel.indices[bad[0]]} with probability "
                f"{kernel.data[bad[0]]:g}; probabilities are numbers from 0 to 1."
            )
        sums = np.asarray(kernel.sum(axis=1)).ravel()
        off = np.flatnonzero(np.abs(sums - 1) > ROW_SUM_TOLERANCE)
        if len(off):
            raise ModelError(
                f"the probabilities of {self._row_name(int(off[0]))} sum to {sums[off[0]]:.9g}, not to 1"
                + (f" (and so for {len(off) - 1} more)." if len(off) > 1 else ".")
            )
        # Only what rounding does not explain, so that a model written and read again is the same model.
        width = np.diff(kernel.indptr)
        scale = np.where(np.abs(sums - 1) > width * np.finfo(float).eps, sums, 1.0)
        kernel.data /= np.repeat(scale, width)
        return kernel

    def _row_name(self, row: int) -> str:
        state = int(np.searchsorted(self.choice_start, row, side="right")) - 1
        if self.is_chain:
            return f"state {state}"
        return f"state {state}, choice {row - self.choice_start[state]}"

    def _checked_labels(self) -> dict[str, Bool[np.ndarray, " states"]]:
        checked = {}
        for name, mask in self.labels.items():
            array = np.asarray(mask)
            if array.shape != (self.states,) or array.dtype != bool:
                raise ModelError(
                    f'the label "{name}" has to be {self.states} Booleans, one a state; it has shape '
                    f"{array.shape} and dtype {array.dtype}."
                )
            checked[name] = array
        return checked


def _as_csr(matrix: Any) -> sparse.csr_array:
    """A private copy in canonical form: sorted, no duplicates, no explicit zeros, so nnz counts transitions."""
    try:
        csr = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ModelError(f"the kernel cannot be read as a matrix of numbers: {error}.") from None
    if csr.ndim != 2:
        raise ModelError(f"the kernel has to be a matrix, and this one has shape {csr.shape}.")
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr
