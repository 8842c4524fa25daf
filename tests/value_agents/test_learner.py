"""One gradient step of Rainbow and of IQN: targets worked out by hand, and what every switch changes."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs import AmbsError
from ambs.agents.optimiser import OptimiserConfig
from ambs.value_agents.config import COMPONENTS, QuantileConfig, ValueConfig
from ambs.value_agents.learner import LEAST_ERROR, Transitions, ValueLearner, best_action, learn
from ambs.world_model.parts import parts_of

PART = parts_of(spaces.Box(-1, 1, (3,), np.float32))[0]
KEY = jax.random.key(0)
PLAIN = ValueConfig(
    units=8, stack=1, optimiser=OptimiserConfig(1e-3, 1e-5, 10.0),
    without=("noisy", "dueling", "double", "priorities", "multistep", "distributional"),
)  # fmt: skip


create, step = eqx.filter_jit(ValueLearner.create), eqx.filter_jit(learn)


def learner_of(config):
    return create(PART, 2, config, key=KEY)


def some(batch=4, weight=1.0):
    rng = np.random.default_rng(0)
    seen, later = (jnp.asarray(rng.normal(size=(batch, 1, 3)), jnp.float32) for _ in range(2))
    return Transitions(
        seen, jnp.arange(batch, dtype=jnp.int32) % 2, jnp.arange(batch, dtype=jnp.float32), jnp.full(batch, 0.9), later,
        jnp.full(batch, weight),
    )  # fmt: skip


def with_networks(learner, online, target):
    pack = learner.form.pack
    return ValueLearner(pack(online), pack(target), learner.optimiser, learner.updates, learner.form)


def biased(learner, values, target_values):
    """The learner with networks that give the same values everywhere: weights 0, biases as said."""
    zero = jax.tree.map(jnp.zeros_like, learner)
    place = lambda net: net.advantage.out.linear.bias  # noqa: E731
    online = eqx.tree_at(place, zero.online, jnp.asarray(values, jnp.float32))
    target = eqx.tree_at(place, zero.target, jnp.asarray(target_values, jnp.float32))
    return with_networks(learner, online, target)


def test_the_loss_of_a_plain_dqn():
    """Values 1 and 2, of the target 3 and 5: R + 0.9 × 5, against the value of the action."""
    learner = biased(learner_of(PLAIN), [1.0, 2.0], [3.0, 5.0])
    _, priorities, metrics = step(learner, some(), PLAIN, 100, key=KEY)
    errors = np.array([0, 1, 2, 3]) + 4.5 - np.array([1, 2, 1, 2])
    assert float(metrics["loss"]) == pytest.approx(np.mean(np.abs(errors) - 0.5), rel=1e-5)
    np.testing.assert_array_equal(priorities, np.ones(4), err_msg="all are as likely without priorities")


def test_double_selection():
    """The online network prefers action 0, the target action 1: values 3 or 5."""
    learner = biased(learner_of(PLAIN), [2.0, 1.0], [3.0, 5.0])
    both = ("double", "priorities")
    double = dataclasses.replace(PLAIN, without=tuple(name for name in PLAIN.without if name not in both))
    for config, action, value in ((PLAIN, 1, 5.0), (double, 0, 3.0)):
        chosen = eqx.filter_jit(best_action)(learner.online, learner.target, jnp.zeros((1, 3)), config, key=KEY)
        assert int(chosen) == action
        _, priorities, metrics = step(learner, some(), config, 100, key=KEY)
        errors = np.array([0, 1, 2, 3]) + 0.9 * value - np.array([2, 1, 2, 1])
        assert float(metrics["error"]) == pytest.approx(np.mean(np.abs(errors)), rel=1e-5)
    np.testing.assert_allclose(priorities, (np.abs(errors) + LEAST_ERROR) ** 0.5, rtol=1e-5)


def test_a_distribution_that_is_already_right_has_no_error():
    """All weight on the atom 0, nothing is paid: cross-entropy and divergence are (nearly) 0."""
    config = dataclasses.replace(PLAIN, atoms=3, without=("noisy", "dueling", "double", "priorities", "multistep"))
    sure = np.tile([-20.0, 20.0, -20.0], 2)
    learner = biased(learner_of(config), sure, sure)
    batch = some()._replace(reward=jnp.zeros(4))
    _, _, metrics = step(learner, batch, config, 100, key=KEY)
    assert float(metrics["loss"]) == pytest.approx(0, abs=1e-5)
    assert float(metrics["value"]) == pytest.approx(0, abs=1e-5)
    # 5 is half way to the last atom, 10: half the weight belongs there, where the network has e^-40 of it.
    _, _, metrics = step(learner, batch._replace(reward=jnp.full(4, 5.0)), config, 100, key=KEY)
    assert float(metrics["loss"]) == pytest.approx(20, rel=1e-3)
    assert float(metrics["error"]) == pytest.approx(20 - np.log(2), rel=1e-3)


@pytest.mark.parametrize(("double", "loss"), [(True, 40.0), (False, 4.0)])
def test_the_target_of_a_distribution(double, loss):
    """Atoms -10, 0, 10. The online network is sure of 10 for action 0 and of 0 for action 1, the target the reverse.

    Double: the online network chooses action 0, of which the target is sure that it is worth 0; the online network has
    e^-40 there. Else the target chooses action 1, worth 0.9 × 10 = 9: a tenth of the weight goes to 0, the rest to 10.
    """
    without = ("noisy", "dueling", "priorities", "multistep", *(() if double else ("double",)))
    config = dataclasses.replace(PLAIN, atoms=3, without=without)
    ten, nothing = [-20.0, -20.0, 20.0], [-20.0, 20.0, -20.0]
    learner = biased(learner_of(config), [*ten, *nothing], [*nothing, *ten])
    batch = some()._replace(reward=jnp.zeros(4), action=jnp.zeros(4, jnp.int32))
    assert float(step(learner, batch, config, 100, key=KEY)[2]["loss"]) == pytest.approx(loss, rel=1e-3)


def test_the_loss_of_iqn():
    """Values 2 and 1 at every quantile, of the target 3 and 5: its own best, 5, whatever the online network prefers.

    All quantiles are the same, so of an error e the loss is the mean of |τ - [e < 0]| (|e| - 0.5): half of it.
    """
    config = ValueConfig(agent="iqn", units=8, stack=1, quantiles=QuantileConfig(256, 8, 8))
    learner = learner_of(config)
    zero = jax.tree.map(jnp.zeros_like, learner)
    online, target = (
        eqx.tree_at(lambda net: net.out.bias, net, jnp.asarray(values))
        for net, values in ((zero.online, [2.0, 1.0]), (zero.target, [3.0, 5.0]))
    )
    _, _, metrics = step(with_networks(learner, online, target), some(), config, 100, key=KEY)
    errors = np.array([0, 1, 2, 3]) + 0.9 * 5 - np.array([2, 1, 2, 1])
    assert float(metrics["error"]) == pytest.approx(np.mean(errors), rel=1e-5)
    assert float(metrics["value"]) == pytest.approx(1.5, rel=1e-5)
    # A sum over the quantiles learned, a mean over those of the target; 256 quantiles are a sample.
    assert float(metrics["loss"]) == pytest.approx(256 * 0.5 * np.mean(errors - 0.5), rel=0.05)


def test_the_target_is_renewed_when_due_and_only_then():
    config = ValueConfig(units=8, stack=1, optimiser=OptimiserConfig(1e-2, 1e-5, 10.0))
    learner = learner_of(config)

    def same(one, other):
        return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))

    first = learner.target
    for update in range(1, 5):
        learner, _, metrics = step(learner, some(), config, 3, key=jax.random.key(update))
        assert np.isfinite([float(value) for value in metrics.values()]).all()
        assert int(learner.updates) == update
        if update < 3:
            assert same(learner.target, first)
        assert same(learner.target, learner.online) == (update == 3)


def test_weights_of_the_examples_scale_what_is_learned():
    learner = learner_of(PLAIN)
    losses = [float(step(learner, some(weight=w), PLAIN, 100, key=KEY)[2]["loss"]) for w in (1.0, 0.25)]
    assert losses[1] == pytest.approx(losses[0] / 4, rel=1e-5)


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_switch_says_what_it_changes(component):
    whole, less = ValueConfig(), ValueConfig(without=(component,))
    assert whole.has(component)
    assert not less.has(component)
    assert (whole.rewards, less.rewards) == (3, 1 if component == "multistep" else 3)
    assert (whole.exponent, less.exponent) == (0.5, 0.0 if component == "priorities" else 0.5)
    assert (whole.epsilon(0), less.epsilon(0)) == (0.0, 1.0 if component == "noisy" else 0.0)


def test_schedules():
    config = ValueConfig(agent="iqn", epsilon_steps=100, least_epsilon=0.1, first_beta=0.4, beta_steps=10)
    assert [config.epsilon(steps) for steps in (0, 50, 100, 1000)] == pytest.approx([1.0, 0.55, 0.1, 0.1])
    assert [config.beta(steps) for steps in (0, 5, 10, 99)] == pytest.approx([0.4, 0.7, 1.0, 1.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"without": ("noise",)}, 'no component "noise" to do without; it has noisy, dueling'),
        ({"agent": "iqn", "without": ("double",)}, "double is a component of rainbow, and this is iqn"),
        ({"agent": "dqn"}, 'no such agent as "dqn"'),
        ({"atoms": 1}, "atoms is 1"),
        ({"most_value": 0.0}, "most_value is 0"),
        ({"stack": 0}, "stack is 0"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(AmbsError, match=words):
        ValueConfig(**options)
