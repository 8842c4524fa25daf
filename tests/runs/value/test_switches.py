"""Rainbow's switches in a run: what is drawn from the replay, and what is acted on, differs."""

import jax
import numpy as np
import pytest

from ambs.envs.vector import make_vec
from ambs.runs.value import train, trainee
from ambs.value_agents.config import COMPONENTS
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
