"""Policies by dynamic programming on a table: the best for reward, and the safest."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from ambs.errors import AmbsError, probability

Kernel = Float[np.ndarray, "states actions states"]
Values = Float[np.ndarray, " states"]
ActionValues = Float[np.ndarray, "states actions"]


def reward_values(
    kernel: Kernel,
    reward: ActionValues,
    discount: float,
    *,
    allowed: Bool[np.ndarray, "states actions"] | None = None,
    tolerance: float = 1e-6,
) -> ActionValues:
    """Q*(s, a) for discounted reward, to within `tolerance` of the fixed point.

        Q = R + γ P V,    V = max_a Q;    stops when γ/(1-γ) max|V' - V| <= tolerance, which bounds the error.

    Only `allowed` actions count, if given; each state has to have one.
    """
    probability("discount", discount)
    if not np.all(np.isfinite(reward)):
        raise AmbsError("the rewards are not all finite numbers, so no policy is the best for them.")
    if allowed is not None and not np.all(np.any(allowed, axis=1)):
        raise AmbsError(f"state {int(np.argmin(np.any(allowed, axis=1)))} has no allowed action, and needs one.")
    value = np.zeros(kernel.shape[0])
    bar = 0.0 if allowed is None else np.where(allowed, 0.0, -np.inf)
    while True:
        action_values = reward + discount * (kernel @ value) + bar
        following = action_values.max(axis=1)
        if np.abs(following - value).max() * discount <= tolerance * (1 - discount):
            return action_values
        value = following


def safety_values(
    kernel: Kernel, safe: Bool[np.ndarray, " states"], steps: int, policy: ActionValues | None = None
) -> ActionValues:
    """Q(s, a): the probability that the `steps` states that follow are all safe, after a and then `policy`.

        y_0 = 1_Ψ,    y_{k+1} = 1_Ψ · opt_a P y_k,    Q = P y_{steps-1}

    Without `policy` the best continuation; the state itself, which no action can change, does not count.
    """
    value = safe.astype(float)
    for _ in range(steps - 1):
        action_values = kernel @ value
        best = action_values.max(axis=1) if policy is None else (policy * action_values).sum(axis=1)
        value = np.where(safe, best, 0.0)
    return kernel @ value


def safest_actions(safety: ActionValues) -> Bool[np.ndarray, "states actions"]:
    """The actions that are as safe as any in their state, to within rounding."""
    return safety >= safety.max(axis=1, keepdims=True) - 1e-9
