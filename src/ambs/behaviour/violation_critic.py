"""The finite-horizon critic: how likely the task policy is to break the formula within k steps, for k = 1..K.

    q_0(s) = 0,    q_k(s) = E[ v(s') + g(s') q_{k-1}(s') ]

over the states s' that the policy enters from s: v(s') is the probability that s' breaks the formula, g(s') that it
does not and the episode goes on. No discount: this is a probability, and a trace that is imagined for H steps may be
judged for H + k with it, without bias (a discounted critic is no probability; THEORY, section 1.6).

It learns from what is imagined and from what was really met (`replayed.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.behaviour.safety_critics import CostLesson
from ambs.behaviour.slow import follow
from ambs.world_model.layers import MLP
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse


class Detour(NamedTuple):
    """Where the policy would not have gone along the states that are given, and what it would have met instead."""

    taken: Bool[Array, "steps batch"]
    target: Float[Array, "steps batch k"]


class ViolationCritic(eqx.Module):
    """q_1..q_K, never falling in k: the network says how likely each further step is to be the one."""

    net: MLP
    slow: MLP
    decay: float = eqx.field(static=True)

    def __init__(self, features: int, steps: int, size: Size, *, decay: float, key: PRNGKeyArray) -> None:
        self.net = MLP(features, (steps,), units=size.units, layers=size.layers, scale=0.0, key=key)
        self.slow = jax.tree.map(jnp.copy, self.net)
        self.decay = decay

    @property
    def steps(self) -> int:
        """K."""
        return self.net.shape[0]

    def __call__(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape steps"]:
        return -jnp.expm1(_log_survival(self.net(features)))

    def targets(
        self,
        features: Float[Array, "states batch features"] | Sparse,
        violates: Float[Array, "steps batch"],
        goes_on: Float[Array, "steps batch"],
        detour: Detour | None = None,
    ) -> Float[Array, "steps batch k"]:
        """Of states 0..H-1, from what was entered at 1..H. What lies beyond H is the slow copy's guess; the longest
        way round to it, so that of state 0 nothing is guessed as long as K <= H and there is no `detour`."""

        def back(following: Array, row: tuple[Array, Array, Detour | None]) -> tuple[Array, Array]:
            (v, g), instead = (each[:, None] for each in row[:2]), row[2]
            shorter = jnp.concatenate([jnp.zeros_like(following[:, :1]), following[:, :-1]], axis=-1)
            v, g = (jnp.broadcast_to(each, shorter.shape) for each in (v, g))
            here = v + g * shorter
            if instead is not None:
                here = jnp.where(instead.taken[:, None], instead.target, here)
            return here, here

        beyond = -jnp.expm1(_log_survival(self.slow(features[-1])))
        _, found = jax.lax.scan(back, beyond, (violates, goes_on, detour), reverse=True)
        return found

    def loss(self, lesson: CostLesson) -> Float[Array, ""]:
        """Cross-entropy of every q_k with its target."""
        survival = jnp.minimum(_log_survival(self.net(lesson.features)), _SURE)
        likely = lesson.target * jnp.log(-jnp.expm1(survival)) + (1 - lesson.target) * survival
        return -(lesson.weight * likely.mean(axis=-1)).mean()

    def follow(self) -> ViolationCritic:
        return eqx.tree_at(lambda me: me.slow, self, follow(self.slow, self.net, self.decay))


# What is surer than this is taken for this: log q would have no gradient where float32 has no q any more. Not sooner:
# who has become sure too early, and meets a violation, has to learn it.
_SURE = -1e-30
# At first, every further step is about one in a hundred to be the one: costs are rare.
_PRIOR = -4.6


def _log_survival(logits: Float[Array, "*shape steps"]) -> Float[Array, "*shape steps"]:
    """ln(1 - q_k): the logs of surviving each of the first k steps, added up."""
    return jnp.cumsum(jax.nn.log_sigmoid(-(logits + _PRIOR)), axis=-1)
