"""Policies by dynamic programming on a table: the best for reward, and the safest."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

Kernel = Float[np.ndarray, "states actions states"]
Values = Float[np.ndarray, " states"]
ActionValues = Float[np.ndarray, "states actions"]


def reward_values(
    kernel: Kernel, reward: ActionValues, discount: float, *, start: Values | None = None, tolerance: float = 1e-6
) -> ActionValues:
    """Q*(s, a) for discounted reward, to within `tolerance` of the fixed point.

        Q = R + γ P V,    V = max_a Q;    stops when γ/(1-γ) max|V' - V| <= tolerance, which bounds the error.

    `start` is a guess for V, such as the last model's: a model that changed little needs few sweeps.
    """
    value = np.zeros(kernel.shape[0]) if start is None else start
    while True:
        action_values = reward + discount * (kernel @ value)
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


def greedy(action_values: ActionValues, tie_break: ActionValues | None = None) -> Int[np.ndarray, " states"]:
    """The best action of each state; among those equal to within rounding, the best by `tie_break`."""
    if tie_break is None:
        return action_values.argmax(axis=1)
    best = action_values >= action_values.max(axis=1, keepdims=True) - 1e-9
    return np.where(best, tie_break, -np.inf).argmax(axis=1)
