"""A backup that searches plays what is really best, by the exact values of a chain, and asks only where it must."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs.shield import LabelCriterion, Search
from ambs.shield.together import decide_together
from ambs.types import Prediction

# In state s (0..3) action a is followed by acid with probability HAZARD[s, a], else by s itself; 4 is acid.
HAZARD = np.array([[0.0, 0.5, 0.9], [0.6, 0.1, 0.9], [0.9, 0.7, 0.05], [0.2, 0.2, 0.2]])
ACID = 4
PATH = ambs.parse("P>=0.9 [ G<=3 !acid ]").path


def model():
    kernel = np.zeros((5, 3, 5))
    for state in range(4):
        for action in range(3):
            kernel[state, action, [state, ACID]] = 1 - HAZARD[state, action], HAZARD[state, action]
    kernel[ACID, :, ACID] = 1
    return ambs.TabularModel(kernel, labels={"acid": np.arange(5) == ACID})


def search(plays=2, traces=256):
    policy = ambs.TabularPolicy.greedy([plays] * 5, 3)
    return Search(model(), policy, LabelCriterion(PATH), jnp.arange(3), traces)


def test_shares_are_the_exact_probabilities_but_for_chance():
    """Action a, then the policy's 2 twice."""
    found = np.stack([search(traces=4000).shares(jnp.asarray(state), key=jax.random.key(state)) for state in range(4)])
    exact = (1 - HAZARD) * (1 - HAZARD[:, 2:]) ** 2
    np.testing.assert_allclose(found, exact, atol=0.04)


def test_it_plays_the_best_although_the_policy_would_not():
    played = [int(search().sample(jnp.asarray(state), key=jax.random.key(7))) for state in range(3)]
    # After action 0 in state 0 the policy falls in with 0.9 twice over: what it does itself does not matter.
    assert played == [0, 1, 2]


@pytest.mark.parametrize("own", [0, 1, 2])
def test_between_equals_it_plays_as_the_policy(own):
    """Where all actions are alike, and all meet the same chance."""
    for seed in range(5):
        assert int(search(own).sample(jnp.asarray(3), key=jax.random.key(seed))) == own


def test_the_action_is_no_worse_than_the_policys_own_if_the_policy_goes_on():
    """By exact values, from every state and whatever the policy."""
    for plays in range(3):
        exact = (1 - HAZARD) * (1 - HAZARD[:, plays : plays + 1]) ** 2
        for state in range(4):
            played = int(search(plays).sample(jnp.asarray(state), key=jax.random.key(1)))
            assert exact[state, played] >= exact[state, plays] - 1e-12


@pytest.mark.parametrize("envs", [1, 4, 8])
def test_a_shield_plays_what_it_finds_alone_and_together(envs):
    task = ambs.TabularPolicy.greedy([2] * 5, 3)
    shield = ambs.LookaheadShield(model(), task, search(), "P>=0.9 [ G<=3 !acid ]")
    states, proposed = jnp.arange(envs) % 3, jnp.full(envs, 2)
    keys = jax.random.split(jax.random.key(3), envs)
    alone = [shield(states[i], proposed[i], key=keys[i]) for i in range(envs)]
    together = decide_together(shield, states, proposed, keys)
    for i, one in enumerate(alone):
        jax.tree.map(np.testing.assert_array_equal, one, jax.tree.map(lambda leaf, i=i: leaf[i], together))
    assert together.overridden[0]
    assert int(together.action[0]) == 0


class Counting:
    """A backup that tells how often it was asked."""

    def __init__(self):
        self.asked = 0

    def sample(self, state, *, key):
        def note(state):
            self.asked += 1
            return np.int32(0)

        return jax.pure_callback(note, jax.ShapeDtypeStruct((), jnp.int32), state, vmap_method="sequential")


def test_nobody_is_asked_who_does_not_take_over():
    backup = Counting()
    shield = ambs.LookaheadShield(model(), ambs.TabularPolicy.greedy([0] * 5, 3), backup, "P>=0.9 [ G<=3 !acid ]")
    decision = decide_together(shield, jnp.zeros(8, int), jnp.zeros(8, int), jax.random.split(jax.random.key(0), 8))
    assert not decision.overridden.any()
    assert backup.asked == 0
    # One of eight is refused: a quarter of them is asked.
    states = jnp.zeros(8, int).at[5].set(2)
    decision = decide_together(shield, states, jnp.zeros(8, int), jax.random.split(jax.random.key(0), 8))
    jax.block_until_ready(decision)
    assert int(decision.overridden.sum()) == 1
    assert backup.asked <= 2


class Lost:
    """After action 0, what is there is no number: the state, the cost or whether it goes on."""

    def __init__(self, where):
        self.where = where

    def step(self, state, action, *, key):
        nan = jnp.where(action == 0, jnp.nan, 0.0)
        numbers = {"cost": jnp.zeros(()), "cont": jnp.ones(())}
        if self.where in numbers:
            numbers[self.where] += nan
        labels = {"acid": jnp.asarray(False)}
        return state + (nan if self.where == "state" else 0.0), Prediction(**numbers, labels=labels)


@pytest.mark.parametrize("where", ["state", "cost", "cont"])
def test_a_model_that_predicts_no_number_is_not_safe(where):
    found = Search(Lost(where), Always(), LabelCriterion(PATH), jnp.arange(3), 4)
    np.testing.assert_array_equal(found.shares(jnp.zeros(()), key=jax.random.key(0)), [0, 1, 1])


class Always:
    def sample(self, state, *, key):
        return jnp.asarray(1)


@pytest.mark.parametrize(
    ("actions", "traces", "sentence"),
    [
        (jnp.arange(3), 0, "number of traces"),
        (jnp.asarray(1), 4, "one of them a row"),
        ((), 4, "one of them a row"),
        (jnp.arange(0), 4, "one of them a row"),
    ],
)
def test_bad_input_is_a_sentence(actions, traces, sentence):
    with pytest.raises(ambs.AmbsError, match=sentence):
        Search(model(), ambs.TabularPolicy.greedy([0] * 5, 3), LabelCriterion(PATH), actions, traces)
