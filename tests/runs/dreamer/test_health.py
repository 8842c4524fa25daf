"""A run whose numbers break stops, says which and since when, and leaves a checkpoint that is good."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.runs.dreamer import train, trainee
from ambs.runs.dreamer.tally import Broken, Tally, add, all_finite
from ambs.runs.storage import latest
from tests.runs.dreamer.small import Poisoned, enter, poison, rows, small


def test_a_reward_that_is_no_number(tmp_path, monkeypatch):
    enter(monkeypatch, "poisoned", Poisoned)
    sentence = (
        "^a reward of the environment is no finite number at step 118, .* checkpoint is of step 100; mend the env"
    )
    with pytest.raises(AmbsError, match=sentence):
        train(small(env="poisoned"), tmp_path)
    assert latest(tmp_path / "checkpoints")["step"] == 100
    with pytest.raises(AmbsError, match=sentence):
        train(small(env="poisoned"), tmp_path)


def test_what_to_do_where_there_is_no_checkpoint_yet(tmp_path, monkeypatch):
    enter(monkeypatch, "poisoned", Poisoned)
    with pytest.raises(AmbsError, match="and there is no checkpoint yet; mend the environment and start again.$"):
        train(small(env="poisoned", checkpoint_every=1000), tmp_path / "environment")
    learn = trainee._learn

    def breaks(*arguments, **key):
        learner, metrics = learn(*arguments, **key)
        return learner, metrics | {"loss/reward": jnp.float32(np.nan)}

    monkeypatch.setattr(trainee, "_learn", breaks)
    with pytest.raises(
        AmbsError, match="^loss/reward .* no checkpoint yet; start again with a lower --learning-rate.$"
    ):
        train(small(checkpoint_every=1000), tmp_path / "loss")


@pytest.mark.parametrize(("log_every", "checkpoint_every"), [(64, 10_000), (10_000, 64)], ids=["a row", "a checkpoint"])
def test_a_loss_that_is_no_number_is_noticed_when_the_next_is_due(tmp_path, log_every, checkpoint_every):
    config = small(log_every=log_every, checkpoint_every=checkpoint_every)
    train(dataclasses.replace(config, steps=70), tmp_path)
    poison(tmp_path, "learner'].model.reward")
    logged = rows(tmp_path, "metrics")
    # The first update is that of step 72, and the first row or checkpoint that of step 128.
    sentence = (
        "^loss/reward has not been a finite number since about step 72, .* is of step 70; .* lower --learning-rate"
    )
    with pytest.raises(AmbsError, match=sentence):
        train(config, tmp_path)
    assert latest(tmp_path / "checkpoints")["step"] == 70
    assert rows(tmp_path, "metrics") == logged
    assert not (tmp_path / "summary.json").exists()


def test_weights_are_looked_at_before_they_are_saved(tmp_path):
    """What no loss has seen yet."""
    train(small(steps=66), tmp_path)
    poison(tmp_path, "learner'].optimisers")
    with pytest.raises(
        AmbsError, match="^a weight has not been a finite number since about step 70, .* of step 66; run"
    ):
        train(small(checkpoint_every=70), tmp_path)
    assert latest(tmp_path / "checkpoints")["step"] == 66


def metrics(**values):
    return {name.replace("_", "/", 1): jnp.asarray(value, jnp.float32) for name, value in values.items()}


def test_means_and_what_broke_first():
    tally = Tally.like(metrics(loss_a=0, task_b=0, gradient_c=0))
    assert tally.means() == {}
    for update, (a, b, c) in enumerate([(1.0, 2.0, 3.0), (2.0, 4.0, np.inf), (6.0, np.nan, 0.0)], start=41):
        tally = add(tally, metrics(loss_a=a, task_b=b, gradient_c=c), jnp.int32(update))
    assert tally.means()["loss/a"] == 3.0
    assert tally.first_broken() == Broken("gradient/c", 42)
    sound = add(Tally.like(metrics(loss_a=0)), metrics(loss_a=0.1), jnp.int32(1))
    assert sound.first_broken() is None
    again = Tally.from_json(sound.as_json())
    assert (again.means(), again.first_broken()) == (sound.means(), None)


def test_of_what_broke_at_once_the_loss_is_named():
    values = metrics(gradient_model=np.nan, loss_z=1.0, loss_reward=np.nan, task_actor_loss=np.nan)
    assert add(Tally.like(values), values, jnp.int32(7)).first_broken() == Broken("loss/reward", 7)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers(value):
    tree = {"a": jnp.ones(3), "name": "x", "steps": jnp.int32(2)}
    assert all_finite(tree)
    assert not all_finite(tree | {"b": jnp.array([1.0, value])})
