"""Safety critics, the paper's: what the task policy's futures cost, discounted, with violating states terminal.

    V^C(s) = E[ sum_t w_t c_t ],    w_t = prod_{k<t} γ γ^safe_k        over the states 1, 2, … that the policy enters

Two of them, TD3-style: both learn the λ-return under the lesser of their slow copies. No state is worth more than C,
the cost of one violation, since nothing is counted after it; unless they are not `bounded`, and told to go on counting.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.behaviour.actor_critic import BehaviourConfig
from ambs.behaviour.returns import lambda_returns
from ambs.behaviour.slow import follow
from ambs.world_model.layers import MLP
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse

# Log-odds of no cost at all against any other bin, to begin with: a mean of about 0.05 C.
SURE = 8.0


def goes_on(safe: Float[Array, "*shape"], cont: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The probability that a state is safe and not the last, from those that it is safe and that it is not the last.

    The greatest that they allow: were they taken for independent, half of the futures in which an uncertain end might
    be a violation would be counted as ended in safety.
    """
    return jnp.minimum(safe, cont)


class CostLesson(NamedTuple):
    """States, and what is to be learned of the task policy in them."""

    features: Float[Array, "*shape features"] | Sparse
    target: Float[Array, "*shape ..."]
    weight: Float[Array, "*shape"]


class TwinLesson(NamedTuple):
    """The same for the twins, each of which is pulled towards its own slow copy."""

    features: Float[Array, "*shape features"] | Sparse
    target: Float[Array, "*shape"]
    weight: Float[Array, "*shape"]
    anchors: Float[Array, "*shape 2"]
    """What the slow copies say."""


class SafetyCritics(eqx.Module):
    """v₁ and v₂, and their slow copies."""

    twins: tuple[MLP, MLP]
    slow: tuple[MLP, MLP]
    most: float = eqx.field(static=True)
    """C."""
    bounded: bool = eqx.field(static=True)
    expected: bool = eqx.field(static=True)
    """Whether values are means of costs, and not of their symlog: those are far less where costs come by chance."""
    config: BehaviourConfig = eqx.field(static=True)

    def __init__(
        self, features: int, size: Size, config: BehaviourConfig, *, most: float, bounded: bool = True,
        expected: bool = False, key: PRNGKeyArray,
    ) -> None:  # fmt: skip
        first, second = (
            MLP(features, (BINS,), units=size.units, layers=size.layers, scale=0.0, key=each)
            for each in jax.random.split(key)
        )
        if expected:
            # Bins of costs and none of gains: without this, all equal would be a mean of half of C.
            nothing = jnp.zeros(BINS).at[BINS // 2].set(SURE)
            first, second = (eqx.tree_at(lambda net: net.out.bias, net, nothing) for net in (first, second))
        self.twins = (first, second)
        self.slow = jax.tree.map(jnp.copy, self.twins)
        self.most, self.bounded, self.expected, self.config = most, bounded, expected, config

    def value(
        self, features: Float[Array, "*shape features"] | Sparse, *, pessimistic: bool = False
    ) -> Float[Array, "*shape"]:
        """The lesser of the two, as the paper has it; or the greater, which is the safer one to believe."""
        first, second = (self._mean(net, features) for net in self.twins)
        return self._clipped(jnp.maximum(first, second) if pessimistic else jnp.minimum(first, second))

    def lesson(
        self,
        features: Float[Array, "states batch features"] | Sparse,
        cost: Float[Array, "steps batch"],
        goes_on: Float[Array, "steps batch"],
        weight: Float[Array, "steps batch"],
    ) -> TwinLesson:
        """Of states 0..H-1, from the cost of states 1..H and the probability that those are safe and not the last; not
        bounded, that they are not the last."""
        # Asked once of every state: they are what is entered, and most of them what is left again.
        slow = jax.lax.map(self._slow, features)
        lesser = jnp.min(slow[1:], axis=-1)
        returns = lambda_returns(cost, self.config.discount * goes_on, lesser, self.config.lambda_)
        return TwinLesson(features[:-1], self._clipped(returns), weight, slow[:-1])

    def loss(self, lesson: TwinLesson) -> Float[Array, ""]:
        total = jnp.zeros(())
        for which, net in enumerate(self.twins):
            guess = TwoHot(net(lesson.features))
            both = guess.loss(lesson.target) + self.config.slow_regulariser * guess.loss(lesson.anchors[..., which])
            total = total + (lesson.weight * both).mean()
        return total

    def follow(self) -> SafetyCritics:
        """The slow copies, one update later."""
        return eqx.tree_at(lambda me: me.slow, self, follow(self.slow, self.twins, self.config.slow_decay))

    def _slow(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape 2"]:
        return jnp.stack([self._mean(net, features) for net in self.slow], axis=-1)

    def _mean(self, net: MLP, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        guess = TwoHot(net(features))
        return guess.expected(self.most) if self.expected else guess.mean

    def _clipped(self, value: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        return jnp.clip(value, 0.0, self.most if self.bounded else None)
