"""What AMBS learns besides: a safe policy to fall back on, and critics that tell how safe the task policy is.

The critics learn from the very imagined trajectories that taught the task policy, the safe policy from trajectories of
its own, with cost in the place of reward; the finite-horizon critic also from what was really met.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.agents.optimiser import OptimiserConfig, start, update
from ambs.behaviour.actor import Actor
from ambs.behaviour.actor_critic import ActorCritic, BehaviourConfig, Imagined, Lesson, weights
from ambs.behaviour.dreaming import by_rows, gradients, roll_out
from ambs.behaviour.penalties import PENALTIES, Judges, Penalised, PenaltyConfig
from ambs.behaviour.returns import ReturnScale
from ambs.behaviour.safety_critics import CostLesson, SafetyCritics, TwinLesson, goes_on
from ambs.behaviour.violation_critic import ViolationCritic
from ambs.errors import AmbsError, positive_integer
from ambs.world_model.model import WorldModel, WorldState
from ambs.world_model.numbers import TwoHot
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse


@dataclass(frozen=True)
class SafetyConfig:
    """The paper's table of AMBS, as far as learning goes; the safe policy has the task policy's table."""

    look_ahead: int = 30
    """T: how far the shield will look, and so how far beyond the imagined H steps the critics have to."""
    violation_cost: float = 10.0
    """C, what breaking the formula costs."""
    safety_discount: bool = True
    """Whether violating states are terminal to the twin critics, and no state worth more than C; an ablation if not."""
    unsafe_ends: bool = False
    """Whether the task policy hopes for nothing beyond a state that breaks the formula, as if an episode ended there.
    In the paper it does not know of safety, and may go on proposing for ever what the shield refuses."""
    unsafe_share: float = 1.0
    """How much of what could still be gained a violation takes away, if `unsafe_ends`: all of it, or less. With all,
    the least risk is not worth it where episodes are long."""
    entropy: float | None = None
    """η of the safe policy; as the task policy's if not given."""
    critics: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(3e-5, 1e-5, 100.0))
    penalty: PenaltyConfig | None = None
    """What the task policy is told of safety; nothing, if not given, as in the paper."""

    def __post_init__(self) -> None:
        positive_integer("the look-ahead", self.look_ahead)
        if not self.violation_cost > 0:
            raise AmbsError(f"a violation costs {self.violation_cost:g}, and it has to cost more than 0.")
        if not 0 < self.unsafe_share <= 1:
            raise AmbsError(
                f"a violation takes away a share of {self.unsafe_share:g} of what could still be gained, and that has "
                "to be more than 0 and at most 1."
            )


class Safety(eqx.Module):
    """The safe policy with its critic, the twin safety critics, and the finite-horizon critic."""

    policy: ActorCritic
    critics: SafetyCritics
    violation: ViolationCritic
    optimisers: dict[str, Any]
    cost_scale: ReturnScale | None = None
    """Of the returns of cost; only a penalty needs it."""

    @classmethod
    def create(
        cls, features: int, actions: int, size: Size, behaviour: BehaviourConfig, config: SafetyConfig,
        actor: OptimiserConfig, critic: OptimiserConfig, *, discrete: bool, key: PRNGKeyArray,
    ) -> Safety:  # fmt: skip
        keys = jax.random.split(key, 3)
        own = behaviour if config.entropy is None else replace(behaviour, entropy=config.entropy)
        policy = ActorCritic(features, actions, size, own, discrete=discrete, key=keys[0])
        critics = SafetyCritics(
            features, size, behaviour, most=config.violation_cost, bounded=config.safety_discount, key=keys[1]
        )
        beyond = max(1, config.look_ahead - behaviour.horizon)
        violation = ViolationCritic(features, beyond, size, decay=behaviour.slow_decay, key=keys[2])
        optimisers = {
            "actor": start(actor, policy.actor),
            "critic": start(critic, policy.critic),
            "critics": start(config.critics, critics.twins),
            "violation": start(config.critics, violation.net),
        }
        scale = None if config.penalty is None else ReturnScale.start()
        return cls(policy, critics, violation, optimisers, scale)


def penalised(
    safety: Safety, model: WorldModel, config: SafetyConfig, lesson: Lesson, imagined: Imagined
) -> Penalised:  # fmt: skip
    """What the trajectories teach the task policy, with the penalty that there is."""
    assert config.penalty is not None
    assert safety.cost_scale is not None
    policy = safety.policy
    judges = Judges(
        model.predict_cost, model.predict_safe, safety.critics, lambda row: TwoHot(policy.critic(row)).mean,
        config.look_ahead,
    )  # fmt: skip
    return PENALTIES[config.penalty.kind](lesson, imagined, judges, safety.cost_scale, config.penalty.weight)


@runtime_checkable
class Heads(Protocol):
    """What is asked of a model: what the states of a dream cost, and whether they are safe."""

    def predict_cost(self, features: Float[Array, "*shape features"] | Sparse, /) -> Float[Array, "*shape"]: ...

    def predict_safe(self, features: Float[Array, "*shape features"] | Sparse, /) -> Float[Array, "*shape"]: ...


class OfEntered(NamedTuple):
    """Probabilities, of the states entered in a dream."""

    safe: Float[Array, "steps batch"]
    goes_on: Float[Array, "steps batch"]
    """That it is safe and not the last."""


def learn_safety(
    safety: Safety, model: WorldModel, imagined: Imagined, met: CostLesson, starts: WorldState,
    alive: Bool[Array, " batch"], config: SafetyConfig, actor: OptimiserConfig, critic: OptimiserConfig, *,
    key: PRNGKeyArray,
) -> tuple[Safety, dict[str, Array]]:  # fmt: skip
    """One gradient step of all; `imagined` is what the task policy did, `met` what the finite-horizon critic learns of
    the replay, and the safe policy imagines from `starts`."""
    safety, critic_metrics = _learn_critics(safety, model, imagined, met, config)
    policy, horizon = safety.policy, safety.policy.config.horizon

    def dream(acting: Actor) -> Imagined:
        return roll_out(model, acting, starts, alive, horizon, lambda row: -model.predict_cost(row), key=key)

    taught = gradients(policy, dream)
    optimisers = dict(safety.optimisers)
    new_actor, optimisers["actor"], _ = update(actor, policy.actor, taught.actor, optimisers["actor"])
    new_critic, optimisers["critic"], _ = update(critic, policy.critic, taught.critic, optimisers["critic"])
    policy = eqx.tree_at(
        lambda me: (me.actor, me.critic, me.scale), policy, (new_actor, new_critic, taught.scale)
    ).follow()
    safety = Safety(policy, safety.critics, safety.violation, optimisers, safety.cost_scale)
    return safety, critic_metrics | {f"safe/{name}": value for name, value in taught.metrics.items()}


def observed(critics: SafetyCritics, model: Heads, imagined: Imagined) -> tuple[TwinLesson, OfEntered]:
    """What the twins are to learn of a dream, and what the model says of the states that were entered in it."""
    cost, safe = jax.lax.map(lambda row: (model.predict_cost(row), model.predict_safe(row)), imagined.features[1:])
    if critics.expected:
        # The cost head's mean is one in symlog space; that of safety is a probability.
        cost = critics.most * (1 - safe)
    alive = goes_on(safe, imagined.cont)
    counted = alive if critics.bounded else imagined.cont
    weight = weights(imagined.alive, counted, critics.config.discount)
    return critics.lesson(imagined.features, cost, counted, weight), OfEntered(safe, alive)


def learn_twins(
    critics: SafetyCritics, costs: TwinLesson, optimiser: OptimiserConfig, state: Any
) -> tuple[SafetyCritics, Any, Array]:
    """One gradient step of the twins, and their loss."""
    (loss, _), gradient = by_rows(lambda me, row: (me.loss(row), ()), critics, lambda me: me.twins, costs)
    twins, state, _ = update(optimiser, critics.twins, gradient, state)
    return eqx.tree_at(lambda me: me.twins, critics, twins).follow(), state, loss


def _learn_critics(
    safety: Safety, model: WorldModel, imagined: Imagined, met: CostLesson, config: SafetyConfig
) -> tuple[Safety, dict[str, Array]]:
    violation, optimisers, discount = safety.violation, dict(safety.optimisers), safety.policy.config.discount
    costs, entered = observed(safety.critics, model, imagined)
    critics, optimisers["critics"], loss = learn_twins(safety.critics, costs, config.critics, optimisers["critics"])
    # A probability, with the safety discount or without: nothing counts after the first violation.
    within = CostLesson(
        costs.features,
        violation.targets(imagined.features, 1 - entered.safe, entered.goes_on),
        weights(imagined.alive, entered.goes_on, discount),
    )
    violation_loss, gradient = _both(violation, within, met)
    net, optimisers["violation"], _ = update(config.critics, violation.net, gradient, optimisers["violation"])
    violation = eqx.tree_at(lambda me: me.net, violation, net).follow()
    metrics = {
        "safety/critics_loss": loss,
        "safety/violation_loss": violation_loss,
        "safety/cost": costs.target.mean(),
        "safety/violation": within.target[..., -1].mean(),
        "safety/violation_replayed": (met.weight * met.target[..., -1]).sum() / jnp.maximum(met.weight.sum(), 1.0),
    }
    return Safety(safety.policy, critics, violation, optimisers, safety.cost_scale), metrics


def _both(violation: ViolationCritic, *lessons: CostLesson) -> tuple[Float[Array, ""], Any]:
    """The loss of the finite-horizon critic on what was imagined and on what was met, and its gradient."""
    each = [by_rows(lambda me, row: (me.loss(row), ()), violation, lambda me: me.net, lesson) for lesson in lessons]
    (loss, _), gradient = jax.tree.map(lambda *parts: sum(parts) / len(parts), *each)
    return loss, gradient
