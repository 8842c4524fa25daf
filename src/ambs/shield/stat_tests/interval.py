"""An interval for μ that stays valid although the test chose when to stop."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy import stats

from ambs.errors import probability
from ambs.shield.stat_tests.looks import Looks


def interval_table(
    looks: Looks, confidence: float = 0.95
) -> tuple[Float[np.ndarray, "looks counts"], Float[np.ndarray, "looks counts"]]:
    """Lower and upper ends for μ, for every look and every number of violations there.

    Clopper-Pearson with the error shared out over the looks (Bonferroni): with probability `confidence` all looks'
    intervals cover μ at once, so also the one of the look at which the test stopped.
    """
    probability("confidence", confidence)
    share = (1 - confidence) / len(looks.samples) / 2
    samples = np.array(looks.samples)[:, None]
    # No more violations can have been counted than just below rejection and one batch on top.
    batch = int(np.diff(looks.samples, prepend=0).max())
    most = min(looks.samples[-1], max(looks.reject) + batch)
    violations = np.minimum(np.arange(most + 1), samples)
    satisfied = samples - violations
    with np.errstate(invalid="ignore"):
        low = np.where(satisfied > 0, stats.beta.ppf(share, satisfied, violations + 1), 0.0)
        high = np.where(violations > 0, stats.beta.ppf(1 - share, satisfied + 1, violations), 1.0)
    return low, high
