"""Noisy layers, the dueling sum, and which network an observation gets."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs.value_agents import networks
from ambs.value_agents.acting import act, see
from ambs.value_agents.config import ValueConfig
from ambs.value_agents.networks import QuantileNet, RainbowNet, dueling
from ambs.value_agents.noisy import NoisyLinear, QuietLinear
from ambs.value_agents.torso import Cells, Convolutions, Torso, Vectors
from ambs.world_model.parts import parts_of

KEY = jax.random.key(0)
SMALL = ValueConfig(units=8, stack=2, atoms=5)


# Compiled: operation by operation they take far longer.
make, run = eqx.filter_jit(networks.make), eqx.filter_jit(lambda net, *given: net(*given))


def part(space):
    return parts_of(space)[0]


VECTOR = part(spaces.Box(-1, 1, (3,), np.float32))


def frames(space, stack=2):
    return jnp.zeros((stack, *space.shape), space.dtype)


def test_noise_is_of_the_factorised_form():
    """y - y₀ = x (σ f fᵀ) + σ f: for x = 0 it is σ_b f(ε_out), and for a unit x a multiple of the same plus it."""
    layer = NoisyLinear(3, 4, noise=0.6, key=KEY)
    noise = jax.random.normal(jax.random.key(7), (layer.draws,))
    still = layer(jnp.zeros(3), noise) - layer(jnp.zeros(3), None)
    sigma = 0.6 / np.sqrt(3)
    f_out = np.asarray(still) / sigma
    f = np.sign(noise) * np.sqrt(np.abs(noise))
    np.testing.assert_allclose(f_out, f[3:], rtol=1e-4)
    for place, unit in enumerate(np.eye(3, dtype=np.float32)):
        moved = layer(jnp.asarray(unit), noise) - layer(jnp.asarray(unit), None) - still
        np.testing.assert_allclose(moved, sigma * f[place] * f[3:], rtol=1e-3, atol=1e-6)


def test_noise_is_drawn_anew_with_every_key_and_shared_by_a_batch():
    net, seen = make(VECTOR, 3, SMALL, key=KEY), jnp.ones((2, 3))
    first, again, other = (run(net, seen, jax.random.key(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(np.asarray(first - other)).min() > 1e-5
    batch = jax.jit(jax.vmap(lambda one: net(one, jax.random.key(1))))(jnp.ones((5, 2, 3)))
    np.testing.assert_allclose(batch, np.broadcast_to(first, (5, 3, 5)), rtol=1e-4, atol=1e-6)
    layer = NoisyLinear(3, 4, noise=0.5, key=KEY)
    drawn = jax.vmap(lambda noise: layer(jnp.ones(3), noise))(jax.random.normal(KEY, (4000, 7)))
    np.testing.assert_allclose(drawn.mean(axis=0), layer(jnp.ones(3), None), atol=0.04)


def test_the_dueling_sum():
    value, advantage = jnp.array([1.0, 10.0]), jnp.array([[1.0, 0.0], [3.0, 0.0], [5.0, 6.0]])
    np.testing.assert_allclose(dueling(value, advantage), [[-1.0, 8.0], [1.0, 8.0], [3.0, 14.0]])


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (spaces.Box(0, 255, (84, 84, 1), np.uint8), Convolutions),
        (spaces.Box(0, 255, (16, 16, 3), np.uint8), Cells),
        (spaces.Box(0, 1, (10, 10, 4), np.uint8), Cells),
        (spaces.Box(-1, 1, (3,), np.float32), Vectors),
    ],
)
def test_the_network_for_an_observation(space, kind):
    torso = Torso(part(space), 2, 16, key=KEY)
    assert isinstance(torso.net, kind)
    assert run(torso, frames(space)).shape == (torso.features,)


def test_the_convolutions_of_the_paper_leave_7_by_7_cells():
    torso = Torso(part(spaces.Box(0, 255, (84, 84, 1), np.uint8)), 4, 512, key=KEY)
    assert torso.features == 7 * 7 * 64
    assert [kernel.shape for kernel in torso.net.kernels] == [(8, 8, 4, 32), (4, 4, 32, 64), (3, 3, 64, 64)]


def test_a_discrete_observation_is_a_vector():
    torso = Torso(part(spaces.Discrete(5)), 2, 8, key=KEY)
    assert torso(jnp.array([0, 3])).shape == (8,)
    assert np.abs(np.asarray(torso(jnp.array([0, 3])) - torso(jnp.array([3, 0])))).max() > 1e-3


def test_each_switch_of_the_network_changes_it():
    def net(*without):
        return make(VECTOR, 3, dataclasses.replace(SMALL, without=without), key=KEY)

    whole = net()
    assert isinstance(whole, RainbowNet)
    assert isinstance(whole.advantage.out, NoisyLinear)
    assert whole.value is not None
    assert whole(jnp.zeros((2, 3)), KEY).shape == (3, 5)
    assert isinstance(net("noisy").advantage.out, QuietLinear)
    np.testing.assert_array_equal(*(net("noisy")(jnp.ones((2, 3)), jax.random.key(seed)) for seed in (1, 2)))
    assert net("dueling").value is None
    assert net("distributional")(jnp.zeros((2, 3)), KEY).shape == (3, 1)


def test_quantiles_are_told_by_their_cosines():
    net = make(VECTOR, 3, dataclasses.replace(SMALL, agent="iqn"), key=KEY)
    assert isinstance(net, QuantileNet)
    seen, taus = jnp.ones((2, 3)), jnp.array([0.0, 0.5, 1.0])
    answer = net(seen, taus)
    assert answer.shape == (3, 3)
    cosines = np.cos(np.pi * np.arange(64) * 0.5).astype(np.float32)
    told = jax.nn.relu(net.embed(jnp.asarray(cosines)))
    by_hand = net.out(jax.nn.relu(net.hidden(net.torso(seen) * told)))
    np.testing.assert_allclose(answer[1], by_hand, atol=1e-5)


def test_acting():
    config = dataclasses.replace(SMALL, without=("noisy",))
    net = make(VECTOR, 3, config, key=KEY)
    seen = jax.random.normal(KEY, (400, 2, 3))
    best = act(net, seen, config, jnp.float32(1.0), key=jax.random.key(1), greedy=True)
    np.testing.assert_array_equal(best, act(net, seen, config, jnp.float32(0.0), key=jax.random.key(2)))
    drawn = np.asarray(act(net, seen, config, jnp.float32(0.3), key=jax.random.key(3)))
    # One in three random actions is the best by chance: 0.2 differ, with a deviation of 0.02.
    assert 0.12 < np.mean(drawn != np.asarray(best)) < 0.28


def test_frames_of_an_episode_before_are_not_seen():
    stack = see(np.ones((2, 3, 1), np.uint8), np.array([[7], [8]], np.uint8), np.array([True, False]))
    np.testing.assert_array_equal(stack[:, :, 0], [[0, 0, 7], [1, 1, 8]])
