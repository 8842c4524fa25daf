"""A run whose safe actions are searched: what it plays where the shield takes over is what a search finds best."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.agents.shielding import SEARCHED, ShieldConfig, act_shielded, shield_of
from ambs.envs import Conveyor
from ambs.runs.dreamer import train
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.world_model.rssm import without_gradient
from tests.runs.dreamer.small import small

HORIZON, LOOK_AHEAD = 5, 8
PLAIN = cpu_learner("debug")
LEARNER = with_safety(
    dataclasses.replace(PLAIN, behaviour=dataclasses.replace(PLAIN.behaviour, horizon=HORIZON)), LOOK_AHEAD
)
SHIELD = ShieldConfig("recover", safe_actions="searched")
RANDOM, STEPS = 64, 128


@eqx.filter_jit
def found(learner, state, key):
    """Of every environment, the shares of safe futures after each action, by the key that `act_shielded` leaves to the
    backup; and what the safe policy would have played itself."""
    search = shield_of(learner, SHIELD, HORIZON, LOOK_AHEAD).backup
    envs = state.features.shape[0]
    backup_keys = jax.vmap(jax.random.split)(jax.random.split(jax.random.split(key, 3)[2], envs))[:, 0]
    own_keys, keys = jax.vmap(jax.random.split)(backup_keys).swapaxes(0, 1)
    own = jax.vmap(lambda state, key: search.policy.sample(state, key=key))(without_gradient(state), own_keys)
    return jax.vmap(lambda state, key: search.shares(state, key=key))(without_gradient(state), keys), own


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run, all actions that its environments were given, and of all decisions: what was proposed, whether that was
    overridden, the shares, and the safe policy's own action."""
    path, stepped, told = tmp_path_factory.mktemp("searched") / "run", [], []
    step = Conveyor.step

    def watched_step(self, action):
        stepped.append(int(action))
        return step(self, action)

    def watched(learner, config, look_ahead, *given, key, explored=None):
        proposed, memory, decision = act_shielded(learner, config, look_ahead, *given, key=key)
        # Now: by the next gradient step this learner is no more.
        shares, own = found(learner, memory.state, key)
        rows = (proposed.argmax(axis=1), decision.overridden, shares, own.argmax(axis=1))
        told.extend(zip(*map(np.asarray, rows), strict=True))
        return proposed, memory, decision

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Conveyor, "step", watched_step)
        patch.setattr("ambs.runs.dreamer.trainee.act_shielded", watched)
        train(small(learner=LEARNER, shield=SHIELD, steps=STEPS, train_ratio=8.0), path)
    return path, stepped[-len(told) :], told


def test_what_is_played_is_what_a_search_finds_best(run):
    _, stepped, told = run
    assert len(told) == STEPS - RANDOM
    sought = [(action, shares, own) for action, (_, over, shares, own) in zip(stepped, told, strict=True) if over]
    assert len(sought) > 10
    assert all(over or action == proposed for action, (proposed, over, _, _) in zip(stepped, told, strict=True))
    for action, shares, own in sought:
        assert shares[action] == shares.max()
        # Between equals, the safe policy has its way.
        assert action == own or shares[own] < shares.max()
    # Otherwise nothing was searched.
    assert any(action != own for action, _, own in sought)
    assert all(np.allclose(shares * SEARCHED, np.round(shares * SEARCHED)) for _, shares, _ in sought)


def test_loaded_it_searches_as_well(run):
    """The agent's state after `decide` is that of which the shield was asked."""
    agent = ambs.load(run[0], seed=1)
    env = agent.make_env()
    observation, state, sought = env.reset(seed=5)[0], None, 0
    for _ in range(8):
        key = jax.random.split(agent._key)[1]
        action, state, decision = agent.decide(observation, state)
        shares, _ = found(agent.saved.learner, state.state, key)
        if decision.overridden[0]:
            sought += 1
            assert shares[0, int(action)] == shares.max()
        observation = env.step(action)[0]
    assert sought > 0


def test_continuous_actions_are_too_many_to_be_searched(tmp_path):
    config = small(env="tests.envs.foreign_worlds:Pond-labels-v0", formula="!deep", learner=LEARNER, shield=SHIELD)
    with pytest.raises(AmbsError, match=r"searched, and the actions are Box.*only finitely many can be tried"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
