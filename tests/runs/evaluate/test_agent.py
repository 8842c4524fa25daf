"""Loaded agents: actions as Stable-Baselines3 gives them, one or many, and what they remember."""

import equinox as eqx
import jax
import numpy as np
import pytest
from gymnasium import spaces

import ambs
from ambs.agents.learner import Learner
from ambs.agents.player import ActionCodec
from ambs.runs.dreamer import RunConfig, cpu_learner
from ambs.runs.dreamer.saved import Saved
from ambs.runs.evaluate import SavedAgent
from ambs.world_model.parts import parts_of
from tests.runs.evaluate.conftest import CONFIG


def observations(agent, count, seed=0):
    """Of `count` environments, each somewhere else."""
    rows = []
    for number in range(count):
        env = agent.make_env()
        env.reset(seed=seed + number)
        env.action_space.seed(seed + number)
        for _ in range(2 + number):
            row, *_ = env.step(env.action_space.sample())
        rows.append(row)
        env.close()
    return np.stack(rows)


def same(one, other):
    return all(np.allclose(a, b, atol=1e-5) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def made(observation_space, action_space):
    """An agent that has learned nothing, for spaces that no environment of the catalogue has."""
    config, codec = RunConfig(learner=cpu_learner("debug")), ActionCodec(action_space)
    # Compiled as a whole, which takes less time than its many small parts.
    create = eqx.filter_jit(Learner.create)
    learner = create(
        parts_of(observation_space), codec.size, config.learner, discrete=codec.discrete, key=jax.random.key(0)
    )
    return SavedAgent(Saved(config, 0, learner, observation_space, action_space))


def test_the_agent_knows_where_it_comes_from(agent):
    env = agent.make_env()
    assert agent.config == CONFIG
    assert agent.step == 320
    assert (agent.observation_space, agent.action_space) == (env.observation_space, env.action_space)
    # The run's own formula: a belt is a violation.
    env.reset(seed=0)
    costs = [env.step(1)[4] for _ in range(3)]
    assert any(info["labels"]["belt"] and info["cost"] > 0 for info in costs)


def test_the_weights_are_those_of_the_last_checkpoint(agent, run):
    from safetensors.numpy import load_file

    newest = max((run / "checkpoints").glob("*.safetensors"))
    stored = load_file(newest)
    assert newest.name.startswith("000000000320")
    name = "['learner'].model.rssm.initial_h"
    assert np.array_equal(agent.saved.learner.model.rssm.initial_h, stored[name])
    # It has learned: before, these were zeros.
    assert np.abs(stored[name]).max() > 0


def test_one_observation_gives_one_action_and_a_batch_gives_a_batch(agent):
    rows = observations(agent, 3)
    action, state = agent.predict(rows[0])
    assert np.shape(action) == ()
    assert agent.action_space.contains(action)
    actions, states = agent.predict(rows)
    assert actions.shape == (3,)
    assert actions.dtype == agent.action_space.dtype
    assert {len(leaf) for leaf in jax.tree.leaves(states)} == {3}
    agent.predict(rows[0], state)


def test_a_batch_gives_what_its_rows_give_alone(agent):
    first, second = observations(agent, 3), observations(agent, 3, seed=10)
    together, states = agent.predict(first, deterministic=True)
    later, after = agent.predict(second, states, deterministic=True)
    for row in range(3):
        action, state = agent.predict(first[row], deterministic=True)
        assert action == together[row]
        assert same(state, jax.tree.map(lambda leaf, row=row: leaf[row : row + 1], states))
        action, state = agent.predict(second[row], state, deterministic=True)
        assert action == later[row]
        assert same(state, jax.tree.map(lambda leaf, row=row: leaf[row : row + 1], after))


def test_the_state_matters_until_an_episode_starts(agent):
    first, second = observations(agent, 3), observations(agent, 3, seed=10)
    _, states = agent.predict(first, deterministic=True)
    _, fresh = agent.predict(second, deterministic=True)
    _, going_on = agent.predict(second, states, deterministic=True)
    assert not same(fresh, going_on)
    for start in (True, np.ones(3, bool), [1, 1, 1], np.ones(3)):
        _, restarted = agent.predict(second, states, start, deterministic=True)
        assert same(restarted, fresh)
    # One row begins anew, the others go on.
    _, mixed = agent.predict(second, states, np.array([False, True, False]), deterministic=True)
    for row, expected in enumerate((going_on, fresh, going_on)):
        assert same(*(jax.tree.map(lambda leaf, row=row: leaf[row], tree) for tree in (mixed, expected)))


def test_drawn_actions_follow_the_seed_and_deterministic_ones_do_not(run, agent):
    rows = np.repeat(observations(agent, 1), 3, axis=0)

    def drawn(seed, **how):
        loaded = SavedAgent(agent.saved, seed=seed)
        return [loaded.predict(rows, **how)[0].tolist() for _ in range(20)]

    once = drawn(0)
    assert once == drawn(0)
    assert once != drawn(1)
    assert any(len(set(row)) > 1 for row in once)
    assert all(len(set(column)) > 1 for column in zip(*once, strict=True))
    settled = drawn(0, deterministic=True)
    assert settled == drawn(1, deterministic=True)
    assert len({action for row in settled for action in row}) == 1
    # `seed` is what `load` was given.
    assert ambs.load(str(run), seed=1).predict(rows)[0].tolist() == drawn(1)[0]


def test_box_actions_and_dictionaries_of_observations():
    seen = spaces.Dict({"eye": spaces.Box(0, 255, (4,), np.uint8), "gear": spaces.Discrete(3)})
    arms = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 10.0], np.float32))
    agent = made(seen, arms)
    seen.seed(0)
    rows = [seen.sample() for _ in range(3)]
    action, _ = agent.predict(rows[0], deterministic=True)
    assert action.shape == (2,)
    assert action in arms
    batch = {key: np.stack([row[key] for row in rows]) for key in seen.spaces}
    actions, _ = agent.predict(batch, deterministic=True)
    assert actions.shape == (3, 2)
    assert actions[0] == pytest.approx(action, abs=1e-5)
    # A policy that has learned nothing is in the middle.
    assert actions == pytest.approx(np.tile([0.0, 5.0], (3, 1)), abs=0.2)
    with pytest.raises(ambs.AmbsError, match="the keys eye, and has to have eye, gear"):
        agent.predict({"eye": rows[0]["eye"]})
    with pytest.raises(ambs.AmbsError, match="no keys, and has to have eye, gear"):
        agent.predict(rows[0]["eye"])
    with pytest.raises(ambs.AmbsError, match="batches of 3 and one alone"):
        agent.predict({"eye": batch["eye"], "gear": 1})
    with pytest.raises(ambs.AmbsError, match=r'observation\["gear"\] is 3, and has to be in Discrete\(3\)'):
        agent.predict({"eye": rows[0]["eye"], "gear": 3})
    with pytest.raises(ambs.AmbsError, match=r'observation\["eye"\] is float64, and has to be uint8'):
        agent.predict({"eye": rows[0]["eye"] / 255, "gear": 1})


def test_what_cannot_be_predicted_from_is_one_sentence(agent):
    rows = observations(agent, 3)
    shape = rows.shape[1:]
    _, states = agent.predict(rows)
    for wrong in (rows[0][:-1], rows[None], rows[:0], rows[0, 0, 0, 0]):
        with pytest.raises(ambs.AmbsError) as error:
            agent.predict(wrong)
        assert f"the observation has the shape {wrong.shape}, and has to have {shape}" in str(error.value)
    with pytest.raises(ambs.AmbsError, match="the state is of 3 environments, and the observation of 1"):
        agent.predict(rows[0], states)
    with pytest.raises(ambs.AmbsError, match="the state is not one that predict returned"):
        agent.predict(rows, np.zeros(3))
    for start in ([True, False], np.array([2, 0, 1]), "yes"):
        with pytest.raises(ambs.AmbsError, match="has to be a bool, or 3 of them"):
            agent.predict(rows, states, start)
    for seed in (-1, 2**32, 1.5, True, "0"):
        with pytest.raises(ambs.AmbsError, match="the seed is"):
            SavedAgent(agent.saved, seed=seed)
