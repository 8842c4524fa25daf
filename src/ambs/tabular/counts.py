"""The learned model: maximum likelihood from visit counts, and what to think of what was never tried."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from ambs.errors import probability


class VisitCounts:
    """p̂(s'|s,a) = c(s',s,a) / v(s,a) (the paper's tabular case), with one more state for the unknown.

    An unknown pair leads, with probability `caution`, to an unsafe sink from which nothing returns, else nowhere (it
    stays where it is). With caution 1 the model is pessimistic: whatever passes through unknown pairs is unsafe, as a
    certificate needs it. With caution 0 the unknown counts as safe, as exploration needs it. A state that ended an
    episode is known without being left: what was true when it ended stays true, and nothing more is earned.
    """

    def __init__(self, states: int, actions: int) -> None:
        self.transitions: Float[np.ndarray, "states actions states"] = np.zeros((states, actions, states))
        self.reward: Float[np.ndarray, "states actions"] = np.zeros((states, actions))
        self.harmful: Bool[np.ndarray, "states actions"] = np.zeros((states, actions), bool)
        self.terminal: Bool[np.ndarray, " states"] = np.zeros(states, bool)

    def add(
        self, state: int, action: int, following: int, reward: float, *, violated: bool = False, ended: bool = False
    ) -> None:
        self.transitions[state, action, following] += 1
        self.reward[state, action] += reward
        self.harmful[state, action] |= violated
        self.terminal[following] |= ended

    @property
    def visits(self) -> Float[np.ndarray, "states actions"]:
        return self.transitions.sum(axis=2)

    def kernel(self, caution: float) -> Float[np.ndarray, "with_sink actions with_sink"]:
        """The learned kernel; the sink is the last state."""
        probability("caution", caution, closed=True)
        states, actions, _ = self.transitions.shape
        visits = self.visits[:, :, None]
        kernel = np.zeros((states + 1, actions, states + 1))
        kernel[:-1, :, :-1] = self.transitions / np.maximum(visits, 1)
        unknown = (visits[:, :, 0] == 0) & ~self.terminal[:, None]
        kernel[:-1, :, -1][unknown] = caution
        stay = np.broadcast_to(np.eye(states)[:, None, :], self.transitions.shape)
        kernel[:-1, :, :-1][unknown] = (1 - caution) * stay[unknown]
        kernel[:-1, :, :-1][self.terminal] = stay[self.terminal]
        kernel[-1, :, -1] = 1
        return kernel

    def mean_reward(self, hope: float = 0.0, tries: int = 1) -> Float[np.ndarray, "with_sink actions"]:
        """Mean reward by pair; nothing in the sink.

        A pair never visited pays `hope`, and that fades over the first `tries` visits: where the first of them slipped,
        its outcome would else be believed for ever. A pair that has led to a violation is hoped for no more.
        """
        visits = self.visits
        left = np.where(self.harmful | self.terminal[:, None], 0.0, np.maximum(1 - visits / tries, 0.0))
        return np.vstack([self.reward / np.maximum(visits, 1) + hope * left, np.zeros(visits.shape[1])])
