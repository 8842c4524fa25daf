"""Rainbow's switches in a run: what is drawn from the replay, and what is acted on, differs."""

import jax
import numpy as np
import pytest

import ambs
from ambs.envs.vector import make_vec
from ambs.runs.value import train, trainee
from ambs.value_agents.config import COMPONENTS
from tests.agents.probes import Endless, enter
from tests.runs.dreamer.small import rows, weights
from tests.runs.value.small import small


@pytest.mark.parametrize(
    ("without", "rewards", "even"), [((), 3, False), (("multistep",), 1, False), (("priorities",), 3, True)]
)
def test_what_is_drawn(tmp_path, monkeypatch, without, rewards, even):
    """As many rewards as there should be before the value takes over, and weights by priorities or none."""
    drawn, as_before = [], trainee.as_transitions
    monkeypatch.setattr(trainee, "as_transitions", lambda each: drawn.append(each) or as_before(each))
    config = small(without=without, steps=120)
    train(config, tmp_path)
    discounts = np.concatenate([each.discount for each in drawn])
    # Nothing terminates here, so every value counts, after all rewards or as many as there were to the end.
    assert discounts.min() == pytest.approx(config.learner.discount**rewards)
    weights = np.concatenate([each.weight for each in drawn])
    assert (weights == 1).all() == even


@pytest.mark.parametrize(("clip", "most"), [(True, 1.0), (False, 7.0)])
def test_rewards_are_clipped_if_told(tmp_path, monkeypatch, clip, most):
    drawn, as_before = [], trainee.as_transitions
    monkeypatch.setattr(trainee, "as_transitions", lambda each: drawn.append(each) or as_before(each))
    monkeypatch.setattr(Endless, "pay", lambda env, action: 7.0)
    config = small(env=enter(monkeypatch, Endless), clip_rewards=clip, without=("multistep",), steps=60)
    train(config, tmp_path)
    assert set(np.concatenate([each.reward for each in drawn]).tolist()) == {most}
    # What is reported is what was paid: four steps an episode.
    assert {row["return"] for row in rows(tmp_path, "scores")} == {28.0}


def test_the_target_is_renewed_after_so_many_steps_of_the_environment(tmp_path):
    """40, of which every fourth has an update: after 40 random steps and 40 more, and not one update later."""
    for steps, same in ((80, True), (84, False)):
        train(small(steps=steps), tmp_path / str(steps))
        learned = weights(tmp_path / str(steps))
        online = [name for name in learned if ".online" in name]
        equal = [np.array_equal(learned[name], learned[name.replace(".online", ".target")]) for name in online]
        assert all(equal) == same


def test_networks_differ_by_component():
    """Each of these leaves other weights to learn."""
    shapes = set()
    for without in ((), *((name,) for name in COMPONENTS)):
        config = small(without=without)
        with make_vec(config.env, config.envs, seed=0, workers="inline") as vec:
            made = trainee.ValueTrainee.begin(config, vec, key=jax.random.key(0))
        shapes.add(tuple(leaf.shape for leaf in jax.tree.leaves(made.learner.online)))
    # Double, priorities and multistep change what is learned from, and not the network.
    assert len(shapes) == len(COMPONENTS) - 3 + 1


def test_evaluation_has_as_many_random_actions_as_the_end_of_training(tmp_path):
    """All of them here, so that no action is rare; the likeliest action is one and the same."""
    train(small("iqn", least_epsilon=1.0, steps=60), tmp_path / "run")
    agent = ambs.load(tmp_path / "run")
    observation, _ = agent.make_env().reset(seed=1)
    many = np.stack([observation] * 400)
    drawn, _ = agent.predict(many)
    assert np.bincount(drawn, minlength=5).min() > 40
    assert len(set(agent.predict(many, deterministic=True)[0])) == 1
