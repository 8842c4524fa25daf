"""What every test of `μ >= 1-Δ` on Boolean traces is: some looks at the number of violations so far.

After `samples[i]` traces in all, accept if at most `accept[i]` of them violated (-1: never at this look),
reject if at least `reject[i]` did, else draw on to the next look; the last look decides. Fixed-size rules,
curtailed ones, ladders and betting tests are all of this form, so one exact recursion over the count of
violations gives the operating characteristic of each: no simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from ambs.errors import AmbsError

Values = Float[np.ndarray, " mu"]


@dataclass(frozen=True)
class Looks:
    """Cumulative sample counts, and the accept and reject boundaries at each."""

    samples: tuple[int, ...]
    accept: tuple[int, ...]
    reject: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.samples) == len(self.accept) == len(self.reject) > 0:
            raise AmbsError("a test needs samples, accept and reject boundaries of one length, at least 1.")
        if self.samples[0] < 1 or any(b <= a for a, b in zip(self.samples, self.samples[1:], strict=False)):
            raise AmbsError(f"the looks {self.samples} have to be at growing, positive numbers of traces.")
        if min(self.accept) < -1:
            raise AmbsError(f"the accept boundaries {self.accept} count violations; -1 stands for never.")
        if any(a >= r for a, r in zip(self.accept, self.reject, strict=True)):
            raise AmbsError(f"accepting up to {self.accept} and rejecting from {self.reject} on overlap.")
        if self.accept[-1] + 1 != self.reject[-1]:
            raise AmbsError("the last look has to decide: its reject boundary is its accept boundary plus 1.")

    def _walk(self, mu: Values) -> Iterator[tuple[int, Values, Values]]:
        """For each look: the samples so far, and the probabilities of accepting and of rejecting there."""
        violation = 1.0 - mu
        # Index k: the probability of being undecided with k violations so far.
        undecided = np.zeros((len(mu), max(self.reject)))
        undecided[:, 0] = 1.0
        drawn = 0
        for samples, accept, reject in zip(self.samples, self.accept, self.reject, strict=True):
            before = undecided.sum(axis=1)
            undecided = _draw(undecided, samples - drawn, violation)
            drawn = samples
            accepted = undecided[:, : accept + 1].sum(axis=1)
            undecided[:, : accept + 1] = 0.0
            undecided[:, reject:] = 0.0
            yield samples, accepted, before - accepted - undecided.sum(axis=1)

    def accept_probability(self, mu: Values) -> Values:
        total = np.zeros(len(mu))
        for _, accepted, _ in self._walk(mu):
            total = total + accepted
        return total

    def expected_samples(self, mu: Values) -> Values:
        total = np.zeros(len(mu))
        for samples, accepted, rejected in self._walk(mu):
            total = total + samples * (accepted + rejected)
        return total


def _draw(undecided: np.ndarray, traces: int, violation: Values) -> np.ndarray:
    """The counts after `traces` more; counts past every reject boundary fall off the end."""
    width = undecided.shape[1]
    after = np.zeros_like(undecided)
    for new in range(min(traces, width - 1) + 1):
        weight = np.asarray(stats.binom.pmf(new, traces, violation))[:, None]
        after[:, new:] += weight * undecided[:, : width - new]
    return after
