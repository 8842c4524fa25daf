"""A time limit is no end: what an agent is taught about the last step before it goes on beyond.

From the environment through the vector, the replay and the sequences to the critic's target and the weight of a state,
worked by hand: with a critic that says 10 everywhere and a discount of 0.9, the last step of an episode is worth its
reward, and 9 more if the episode was only cut off.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents.learner import _starts
from ambs.behaviour.returns import lambda_returns
from ambs.replay import Ring
from ambs.runs.dreamer import train
from ambs.runs.dreamer.rows import as_sequences
from ambs.world_model.parts import parts_of
from ambs.world_model.rssm import State
from tests.agents.probes import Ended, Endless, enter
from tests.runs.dreamer.small import small

VALUE, DISCOUNT = 10.0, 0.9


def lived_through(probe, path, patch):
    """Everything that one environment met in a few episodes of random play, as the learner is given it."""
    # It never comes to learning, which would have to be compiled.
    train(small(env=enter(patch, probe), steps=60, prefill=1000), path)
    header = json.loads((path / "replay" / "ring.json").read_text())
    layout = {key: (field["shape"], field["dtype"]) for key, field in header["layout"].items()}
    ring = Ring.open(path / "replay", layout, header["capacity"], header["envs"])
    rows = ring.gather(np.array([0]), np.array([0]), ring.written)
    return as_sequences(rows, parts_of(probe.observation_space))


@pytest.mark.parametrize(("probe", "beyond"), [(Endless, DISCOUNT * VALUE), (Ended, 0.0)])
def test_what_the_last_step_of_an_episode_is_worth(tmp_path, monkeypatch, probe, beyond):
    batch = lived_through(probe, tmp_path, monkeypatch)
    (last,) = np.nonzero(batch.is_first[0, 1:])
    # A reset and four steps an episode.
    assert last.tolist() == list(range(4, 5 * len(last), 5))
    assert len(last) >= 5
    going_on = jnp.asarray(~batch.is_terminal, jnp.float32).T
    reward = jnp.asarray(batch.reward).T
    returns = lambda_returns(reward, DISCOUNT * going_on, jnp.full_like(reward, VALUE), 0.0)
    np.testing.assert_allclose(returns[last, 0], reward[last, 0] + beyond, rtol=1e-6)
    # Imagination begins there too, and counts unless the episode is over.
    states = State(*(jnp.zeros((*batch.is_terminal.shape, *shape)) for shape in ((3,), (2, 2))))
    _, alive = _starts(states, jnp.asarray(~batch.is_terminal), None, key=jax.random.key(0))
    assert bool(alive[last].all()) == bool(alive[last].any()) == (beyond > 0)
