"""How safe is it at least, if the model may be wrong by so much?"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from ambs.errors import ModelError
from ambs.logic.model import FiniteModel


def robust_bounded_globally(
    chain: FiniteModel,
    safe: Bool[np.ndarray, " any"],
    radius: Float[np.ndarray, " states"] | float,
    steps: int,
) -> Float[np.ndarray, " states"]:
    """The least probability of `G<=steps safe` over all chains within total variation `radius` of this one.

        y_0 = 1_Ψ,    y_{k+1}(s) = 1_Ψ(s) · [T̂(·|s) with mass r(s) moved from its best successors to the worst] · y_k

    Exact for the worst chain that may change with time, so a certified lower bound on the true μ when every
    state's row is within its radius of the truth. Sharper than `1 - (1 - α)^n` off μ̂, because mass is only
    lost where there is some to lose: the precise sense in which the model has to be right only on the
    safety-relevant part of the state space.
    """
    if not chain.is_chain:
        raise ModelError("robust_bounded_globally takes a chain; fix the policy first with model.under(policy).")
    if not np.all(np.asarray(radius, float) >= 0) or steps < 0:
        raise ModelError("the radius has to be numbers of at least 0, and so has the number of steps.")
    if safe.shape != (chain.states,):
        raise ModelError(f"safe has to be {chain.states} Booleans, one a state; it has shape {safe.shape}.")
    reach = np.clip(np.broadcast_to(np.asarray(radius, float), (chain.states,)), 0, 1)
    kernel = chain.kernel
    row = np.repeat(np.arange(chain.states), np.diff(kernel.indptr))
    y = safe.astype(float)
    for _ in range(steps):
        successor = y[kernel.indices]
        order = np.lexsort((-successor, row))
        mass, worth = kernel.data[order], successor[order]
        # Mass already passed in this row, best successors first; what the radius still covers is taken away.
        # In extended precision, because the sum runs on over all rows.
        passed = np.cumsum(mass, dtype=np.longdouble) - mass
        passed = (passed - np.repeat(passed[kernel.indptr[:-1]], np.diff(kernel.indptr))).astype(float)
        taken = np.clip(np.repeat(reach, np.diff(kernel.indptr)) - passed, 0, mass)
        kept = np.add.reduceat((mass - taken) * worth, kernel.indptr[:-1])
        y = np.where(safe, kept + reach * y.min(), 0.0)
    return y
