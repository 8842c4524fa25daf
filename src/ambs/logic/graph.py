"""What the graph alone decides: where a probability is exactly 0 or exactly 1, and which states form end components.

Solving numerically for states whose value the graph already fixes is what makes plain value iteration
converge to the wrong fixed point; these searches come first. All are on the support, in integers.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse
from scipy.sparse import csgraph

from ambs.logic.model import FiniteModel
from ambs.logic.syntax import Optimum

StateSet = Bool[np.ndarray, " states"]
ChoiceSet = Bool[np.ndarray, " choices"]


class Graph:
    """The support of a finite model, with the edges turned round."""

    def __init__(self, model: FiniteModel) -> None:
        self.model = model
        self.choice_state = model.choice_state

    @cached_property
    def _incoming(self) -> sparse.csc_array:
        return self.model.kernel.tocsc()

    def prob0(self, left: StateSet, right: StateSet, optimum: Optimum) -> StateSet:
        """States where the probability of `left U right` is 0, for the best (max) or some (min) policy."""
        if optimum == "max" or self.model.is_chain:
            return ~self.can_reach(right, left)
        return ~self.must_reach(right, left)

    def prob1(self, left: StateSet, right: StateSet, optimum: Optimum, prob0: StateSet) -> StateSet:
        """States where the probability is 1; `prob0` is what `prob0` returned for the same question."""
        if optimum == "min" or self.model.is_chain:
            # Less than 1 exactly where some policy can get, before `right`, to where some policy has 0.
            return ~self.can_reach(prob0, left & ~right)
        # Greatest fixed point: keep the choices that stay inside, ask who still reaches `right`, repeat.
        inside = ~prob0
        while True:
            stay = self.choices_within(inside)
            reach = self.can_reach(right, left & inside, stay)
            if np.array_equal(reach, inside):
                return inside
            inside = reach

    def can_reach(self, target: StateSet, through: StateSet, choices: ChoiceSet | None = None) -> StateSet:
        """States with some path to `target` that stays in `through` before it, over the given choices."""
        states = self.model.states
        kernel = self.model.kernel
        source = np.repeat(self.choice_state, np.diff(kernel.indptr))
        keep = through[source] & ~target[source]
        if choices is not None:
            keep &= np.repeat(choices, np.diff(kernel.indptr))
        starts = np.flatnonzero(target)
        # One more node, `states`, leads to every target; then a breadth-first search in compiled code.
        tail = np.concatenate([kernel.indices[keep], np.full(len(starts), states)])
        head = np.concatenate([source[keep], starts])
        edges = sparse.csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(states + 1, states + 1))
        order = csgraph.breadth_first_order(edges, states, return_predecessors=False)
        reached = np.zeros(states + 1, bool)
        reached[order] = True
        return reached[:states]

    def must_reach(self, target: StateSet, through: StateSet) -> StateSet:
        """States from which every policy has some path to `target` through `through` (so: minimum above 0)."""
        reached = target.copy()
        # For each state, how many of its choices cannot yet lead into `reached`.
        open_choices = np.diff(self.model.choice_start).copy()
        decided = np.zeros(self.model.choices, bool)
        frontier = np.flatnonzero(target)
        while len(frontier):
            leading = np.unique(_gather(self._incoming, frontier))
            leading = leading[~decided[leading]]
            decided[leading] = True
            touched, count = np.unique(self.choice_state[leading], return_counts=True)
            open_choices[touched] -= count
            frontier = touched[(open_choices[touched] == 0) & through[touched] & ~reached[touched]]
            reached[frontier] = True
        return reached

    def some_successor(self, inside: StateSet, optimum: Optimum) -> StateSet:
        """States of which some (max) or every (min) choice may lead into `inside` in one step."""
        kernel = self.model.kernel
        return self._over_choices(np.logical_or.reduceat(inside[kernel.indices], kernel.indptr[:-1]), optimum)

    def every_successor(self, inside: StateSet, optimum: Optimum) -> StateSet:
        """States of which some (max) or every (min) choice surely leads into `inside` in one step."""
        return self._over_choices(self.choices_within(inside), optimum)

    def _over_choices(self, chosen: ChoiceSet, optimum: Optimum) -> StateSet:
        if self.model.is_chain:
            return chosen
        reduce = np.logical_or if optimum == "max" else np.logical_and
        return reduce.reduceat(chosen, self.model.choice_start[:-1])

    def choices_within(self, inside: StateSet) -> ChoiceSet:
        """Choices all of whose successors are in `inside`."""
        kernel = self.model.kernel
        return np.logical_and.reduceat(inside[kernel.indices], kernel.indptr[:-1])

    def end_components(self, inside: StateSet) -> Int[np.ndarray, " states"]:
        """Maximal end components within `inside`: an index for each state, -1 where there is none.

        In an end component some policy can stay for ever and visit everything; the maximum is the same in
        all its states, and the equations alone do not determine it.
        """
        kernel = self.model.kernel
        source = np.repeat(self.choice_state, np.diff(kernel.indptr))
        alive = self.choices_within(inside) & inside[self.choice_state]
        while True:
            edge = np.repeat(alive, np.diff(kernel.indptr))
            edges = sparse.csr_array(
                (np.ones(edge.sum(), np.int8), (source[edge], kernel.indices[edge])),
                shape=(self.model.states, self.model.states),
            )
            _, component = csgraph.connected_components(edges, directed=True, connection="strong")
            same = component[kernel.indices] == component[source]
            staying = alive & np.logical_and.reduceat(same, kernel.indptr[:-1])
            if np.array_equal(staying, alive):
                break
            alive = staying
        member = np.zeros(self.model.states, bool)
        member[self.choice_state[alive]] = True
        result = np.full(self.model.states, -1)
        result[member] = np.unique(component[member], return_inverse=True)[1]
        return result


def _gather(matrix: sparse.csc_array, columns: Int[np.ndarray, " columns"]) -> Int[np.ndarray, " entries"]:
    """The row indices of all entries of the given columns, concatenated."""
    start, stop = matrix.indptr[columns], matrix.indptr[columns + 1]
    length = stop - start
    offset = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return matrix.indices[np.repeat(start, length) + offset]
