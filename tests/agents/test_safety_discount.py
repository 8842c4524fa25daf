"""What the safety discount is for: with it, nothing is counted after a violation; without, all that follows is."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from ambs.agents.optimiser import OptimiserConfig
from ambs.agents.safety import Safety, SafetyConfig, _learn_critics
from ambs.behaviour.actor_critic import BehaviourConfig, Imagined
from ambs.behaviour.safety_critics import CostLesson
from ambs.world_model.model import WorldModel
from ambs.world_model.parts import parts_of
from ambs.world_model.sizes import SIZES

BATCH, ACTIONS, STEPS = 2, 2, 3
STEP = OptimiserConfig(3e-4, 1e-5, 100.0)


def doomed():
    """A model that holds every state for a violation."""
    parts = parts_of(spaces.Box(0, 1, (2,), np.float32))
    model = eqx.filter_jit(WorldModel)(parts, ACTIONS, SIZES["debug"], key=jax.random.key(0))
    dear = jnp.where(jnp.arange(len(model.cost.out.bias)) == 141, 30.0, 0.0)
    return eqx.tree_at(
        lambda me: (me.safety.out.weight, me.safety.out.bias, me.cost.out.bias),
        model, (jnp.zeros_like(model.safety.out.weight), jnp.full(1, -30.0), dear),
    )  # fmt: skip


def test_what_was_met_teaches_the_probability_critic():
    """Imagined states all count for nothing; of what was met, everything was a violation."""
    model = doomed()
    features = model.rssm.initial((STEPS + 1, BATCH)).features
    dead = Imagined(features, jnp.zeros((STEPS, BATCH, ACTIONS)), *jnp.ones((2, STEPS, BATCH)), jnp.zeros(BATCH))
    met = CostLesson(features[:1], jnp.ones((1, BATCH, 2)), jnp.ones((1, BATCH)))

    @eqx.filter_jit
    def learned(met):
        config = SafetyConfig(look_ahead=5)
        safety = Safety.create(
            features.shape[-1], ACTIONS, SIZES["debug"], BehaviourConfig(horizon=STEPS), config, STEP, STEP,
            discrete=True, key=jax.random.key(1),
        )  # fmt: skip
        after, metrics = _learn_critics(safety, model, dead, met, config)
        return safety.violation(features[0, 0]), after.violation(features[0, 0]), metrics

    before, after, metrics = learned(met)
    assert (after > before).all()
    assert metrics["safety/violation_replayed"] == 1
    before, after, _ = learned(met._replace(weight=jnp.zeros((1, BATCH))))
    np.testing.assert_array_equal(after, before)


def test_the_twins_count_on_without_it_and_the_probability_critic_never_does():
    """λ .95, γ .997: three violations and nothing beyond are worth c, c (1 + γλ), c (1 + γλ + γ²λ²) from the end."""
    model = doomed()
    features = model.rssm.initial((STEPS + 1, BATCH)).features
    imagined = Imagined(features, jnp.zeros((STEPS, BATCH, ACTIONS)), *jnp.ones((2, STEPS, BATCH)), jnp.ones(BATCH))
    cost = float(model.predict_cost(features[0, 0]))
    assert 5 < cost < 10

    @eqx.filter_jit
    def metrics(config):
        safety = Safety.create(
            features.shape[-1], ACTIONS, SIZES["debug"], BehaviourConfig(horizon=STEPS), config, STEP, STEP,
            discrete=True, key=jax.random.key(1),
        )  # fmt: skip
        nothing = CostLesson(features[:1], jnp.zeros((1, BATCH, 2)), jnp.zeros((1, BATCH)))
        return _learn_critics(safety, model, imagined, nothing, config)[1]

    config = SafetyConfig(look_ahead=5)
    found = metrics(config)
    np.testing.assert_allclose(found["safety/cost"], cost, rtol=1e-4)
    np.testing.assert_allclose(found["safety/violation"], 1.0, rtol=1e-4)
    found, more = metrics(dataclasses.replace(config, safety_discount=False)), 0.997 * 0.95
    np.testing.assert_allclose(found["safety/cost"], cost * (3 + 2 * more + more**2) / 3, rtol=1e-3)
    np.testing.assert_allclose(found["safety/violation"], 1.0, rtol=1e-4)
