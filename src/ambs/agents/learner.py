"""What a DreamerV3 agent learns, and one gradient step of it: world model, then behaviour in imagination."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray

from ambs.agents.lagrangian import Lagrangian, LagrangianConfig, constrained, learn_lagrangian
from ambs.agents.optimiser import OptimiserConfig, start, update
from ambs.agents.safety import Safety, SafetyConfig, learn_safety, penalised
from ambs.behaviour.actor import Actor
from ambs.behaviour.actor_critic import ActorCritic, BehaviourConfig, Imagined, Lesson
from ambs.behaviour.dreaming import Change, Taught, gradients, roll_out, unchanged
from ambs.behaviour.penalties import Penalised
from ambs.behaviour.replayed import replayed
from ambs.behaviour.safety_critics import goes_on
from ambs.errors import AmbsError
from ambs.world_model.model import Sequences, Weights, WorldModel, WorldState
from ambs.world_model.parts import Part
from ambs.world_model.sizes import Size, size

PRECISIONS = ("auto", "float32", "bfloat16")
GRIDS = ("codes", "cells")


@dataclass(frozen=True)
class LearnerConfig:
    """How to learn. The defaults are the paper's; sizes made for CPUs want larger learning rates."""

    size: str = "xl"
    world_model: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(1e-4, 1e-8, 1000.0))
    actor: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(3e-5, 1e-5, 100.0))
    critic: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(3e-5, 1e-5, 100.0))
    behaviour: BehaviourConfig = field(default_factory=BehaviourConfig)
    precision: str = "auto"
    """What networks compute in: float32, bfloat16, or auto: bfloat16 on accelerators. Weights are float32."""
    pictures: float = 1.0
    """Weight of pictures in the loss of the observation; with 1, things of a few pixels are not worth remembering."""
    events: float = 1.0
    """Weight of the losses of reward, continuation, cost and safety beside that of the observation."""
    ahead: float = 0.0
    """Weight of the same losses on states that are drawn before they are seen, as imagination draws them."""
    dynamics: float = 0.5
    """Weight of the loss that pulls what is imagined towards what is seen."""
    representation: float = 0.1
    """Weight of the loss that pulls what is seen towards what was imagined. With more, chance is told by few variables
    of the state rather than by all, and so is imagined as it happens: variables are drawn one by one."""
    steps_ahead: int = 1
    """How long before, at most; of each sequence, every row is foreseen once, from 1 to so many steps before."""
    images: str | None = None
    """How images are read and drawn: "patches", which a CPU is fast at, or "convolutions"; the size's if not given."""
    grids: str = "codes"
    """What an observation that is one grid of zeros and ones is to the model: "codes", learned ones, as the paper has
    it of all observations; or "cells", itself."""
    starts: int | None = None
    """Imagine from so many states of a batch, as many of each sequence (rounded down, one at least), drawn anew each
    time; from all if not given, as the paper does."""

    safety: SafetyConfig | None = None
    """What AMBS learns besides; nothing, if not given."""
    lagrangian: LagrangianConfig | None = None
    """What LAG learns besides; nothing, if not given."""

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise AmbsError(f'there is no precision "{self.precision}"; choose one of {", ".join(PRECISIONS)}.')
        if self.grids not in GRIDS:
            raise AmbsError(f'grids are "{self.grids}" to the model, and have to be one of {", ".join(GRIDS)}.')
        for name in ("dynamics", "representation", "pictures"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and weight > 0):
                raise AmbsError(f"the weight of the {name} loss is {weight:g}, and has to be a number above 0.")
        if self.safety is not None and self.lagrangian is not None:
            raise AmbsError("a learner has either what AMBS learns or what LAG learns; leave safety or lagrangian out.")

    @property
    def dimensions(self) -> Size:
        """Of the networks."""
        own = size(self.size)
        return own if self.images is None else replace(own, images=self.images)

    @property
    def violation_cost(self) -> float:
        """C, of whichever of the two there is; the paper's if there is neither."""
        has = self.safety or self.lagrangian
        return 10.0 if has is None else has.violation_cost

    @property
    def dtype(self) -> str:
        if self.precision != "auto":
            return self.precision
        return "float32" if jax.default_backend() == "cpu" else "bfloat16"


class Learner(eqx.Module):
    """Everything that changes by learning."""

    model: WorldModel
    task: ActorCritic
    optimisers: dict[str, Any]
    updates: Array
    safety: Safety | None = None
    lagrangian: Lagrangian | None = None

    @classmethod
    def create(
        cls, parts: tuple[Part, ...], actions: int, config: LearnerConfig, *, discrete: bool, key: PRNGKeyArray
    ) -> Learner:
        first, second = jax.random.split(key)
        big = config.dimensions
        model = WorldModel(parts, actions, big, grids=config.grids, dtype=config.dtype, key=first)
        features = model.rssm.features
        task = ActorCritic(features, actions, big, config.behaviour, discrete=discrete, key=second)
        optimisers = {
            "world_model": start(config.world_model, model),
            "actor": start(config.actor, task.actor),
            "critic": start(config.critic, task.critic),
        }
        safety = None
        if config.safety is not None:
            safety = Safety.create(
                features, actions, big, config.behaviour, config.safety, config.actor, config.critic,
                discrete=discrete, key=jax.random.fold_in(key, 2),
            )  # fmt: skip
        lagrangian = None
        if config.lagrangian is not None:
            lagrangian = Lagrangian.create(
                features, big, config.behaviour, config.lagrangian, key=jax.random.fold_in(key, 3)
            )
        return cls(model, task, optimisers, jnp.zeros((), jnp.int32), safety, lagrangian)


def learn(
    learner: Learner, batch: Sequences, config: LearnerConfig, *, key: PRNGKeyArray
) -> tuple[Learner, dict[str, Array]]:
    """One gradient step of everything."""
    # No fold_in beside a split of the same key: the numbers it gives are those of the split.
    model_key, imagine_key = jax.random.split(key)
    start_key, task_key, safe_key = jax.random.split(imagine_key, 3)
    model, states, optimiser, model_metrics = _learn_model(learner, batch, config, key=model_key)
    learner = eqx.tree_at(lambda me: (me.model, me.optimisers["world_model"]), learner, (model, optimiser))
    starts, alive = _starts(states, ~batch.is_terminal, config.starts, key=start_key)
    task, optimisers, taught = _learn_behaviour(learner, starts, alive, config, key=task_key)
    safety, lagrangian, metrics, more = learner.safety, learner.lagrangian, taught.metrics, dict[str, Array]()
    if safety is not None and config.safety is not None:
        if taught.besides is not None:
            safety = eqx.tree_at(lambda me: me.cost_scale, safety, taught.besides.scale)
            metrics |= taught.besides.metrics
        # The dreams of the safe policy take the first keys of `safe_key`, one a start.
        met = replayed(safety.violation, model, task.actor, states, batch, key=jax.random.fold_in(safe_key, alive.size))
        safety, more = learn_safety(
            safety, model, taught.imagined, met, starts, alive, config.safety, config.actor, config.critic,
            key=safe_key,
        )  # fmt: skip
    elif config.lagrangian is not None:
        lagrangian, constraint = taught.besides
        lagrangian, more = learn_lagrangian(lagrangian, model, taught.imagined, config.lagrangian)
        more |= constraint
    learner = Learner(model, task, learner.optimisers | optimisers, learner.updates + 1, safety, lagrangian)
    return learner, model_metrics | {f"task/{name}": value for name, value in metrics.items()} | more


def _learn_model(
    learner: Learner, batch: Sequences, config: LearnerConfig, *, key: PRNGKeyArray
) -> tuple[WorldModel, WorldState, Any, dict[str, Array]]:
    # What came before a sampled sequence is not known: it begins as an episode does.
    batch = batch._replace(is_first=batch.is_first.at[:, 0].set(True))

    weights = Weights(config.events, config.ahead, config.dynamics, config.representation)

    @eqx.filter_value_and_grad(has_aux=True)
    def loss(model: WorldModel) -> tuple[Array, tuple[dict[str, Array], WorldState]]:
        first = model.rssm.initial(batch.is_first.shape[:1])
        ahead = config.steps_ahead if config.ahead > 0 else 0
        losses, states = model.losses(batch, first, pictures=config.pictures, ahead=ahead, key=key)
        return weights.total(losses), (losses, states)

    (_, (losses, states)), gradient = loss(learner.model)
    model, optimiser, norm = update(config.world_model, learner.model, gradient, learner.optimisers["world_model"])
    metrics = {f"loss/{name}": value for name, value in losses.items()} | {"gradient/world_model": norm}
    return model, jax.lax.stop_gradient(states), optimiser, metrics


def _learn_behaviour(
    learner: Learner, starts: WorldState, alive: Bool[Array, " batch"], config: LearnerConfig, *, key: PRNGKeyArray
) -> tuple[ActorCritic, dict[str, Any], Taught]:
    task, horizon = learner.task, config.behaviour.horizon

    model, ends = learner.model, config.safety is not None and config.safety.unsafe_ends
    share = 1.0 if config.safety is None else config.safety.unsafe_share

    def dream(actor: Actor) -> Imagined:
        imagined = roll_out(model, actor, starts, alive, horizon, model.predict_reward, key=key)
        if not ends:
            return imagined
        safe = jax.lax.map(model.predict_safe, imagined.features[1:])
        hoped = (1 - share) * imagined.cont + share * goes_on(safe, imagined.cont)
        return imagined._replace(cont=hoped)

    taught = gradients(task, dream, _change(learner, config))
    if ends:
        # Those who learn from the dream after this ask what really goes on.
        taught = taught._replace(imagined=_as_it_goes_on(model, taught.imagined))
    actor, actor_state, norm = update(config.actor, task.actor, taught.actor, learner.optimisers["actor"])
    critic, critic_state, critic_norm = update(config.critic, task.critic, taught.critic, learner.optimisers["critic"])
    task = eqx.tree_at(lambda me: (me.actor, me.critic, me.scale), task, (actor, critic, taught.scale)).follow()
    taught = taught._replace(metrics=taught.metrics | {"actor_norm": norm, "critic_norm": critic_norm})
    return task, {"actor": actor_state, "critic": critic_state}, taught


def _as_it_goes_on(model: WorldModel, imagined: Imagined) -> Imagined:
    """The dream of a policy that hopes for nothing beyond a violation, as others have to see it: life goes on there."""
    return imagined._replace(cont=jax.lax.map(model.predict_continue, imagined.features[1:]))


def _change(learner: Learner, config: LearnerConfig) -> Change:
    """What the task policy is told of safety besides."""
    model, safety, lagrangian = learner.model, learner.safety, learner.lagrangian

    def penalise(lesson: Lesson, imagined: Imagined) -> tuple[Lesson, Penalised]:
        assert safety is not None
        assert config.safety is not None
        if config.safety.unsafe_ends:
            # A penalty counts what violations cost, and what follows them.
            imagined = _as_it_goes_on(model, imagined)
        found = penalised(safety, model, config.safety, lesson, imagined)
        return lesson._replace(advantage=found.advantage), found

    def constrain(lesson: Lesson, imagined: Imagined) -> tuple[Lesson, Any]:
        assert lagrangian is not None
        assert config.lagrangian is not None
        return constrained(lagrangian, model, config.lagrangian, lesson, imagined)

    if config.safety is not None and config.safety.penalty is not None:
        return penalise
    return unchanged if config.lagrangian is None else constrain


def _starts(
    states: WorldState, alive: Bool[Array, "batch time"], count: int | None, *, key: PRNGKeyArray
) -> tuple[WorldState, Bool[Array, " starts"]]:
    """The states to imagine from, and whether an episode goes on there."""
    if count is not None and count < alive.size:
        states, alive = _some((states, alive), max(1, count // len(alive)), key=key)
    starts, alive = jax.tree.map(lambda each: each.reshape(-1, *each.shape[2:]), (states, alive))
    return starts, alive


def _some(rows: Any, count: int, *, key: PRNGKeyArray) -> Any:
    """`count` time steps of every sequence, drawn without replacement.

    As many of each sequence, so that devices that have some of the sequences need nothing of the others.
    """
    shape = jax.tree.leaves(rows)[0].shape[:2]
    _, chosen = jax.lax.top_k(jax.random.uniform(key, shape), count)
    return jax.tree.map(lambda each: jax.vmap(lambda row, index: row[index])(each, chosen), rows)
