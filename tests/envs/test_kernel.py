"""The exact kernel: worked out by hand on nine cells, and compared with what `step` does."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2

import ambs
from ambs import AmbsError
from ambs.envs import ACTIONS, MAPS, Conveyor
from tests.envs.planning import probabilities

UP, RIGHT, DOWN, LEFT, STAY = range(5)
# States:  0 1 2
#          3   4
#          5 6 7
TINY = """
    S.G
    .#.
    >A.
"""


@pytest.mark.parametrize(
    ("state", "action", "expected"),
    [
        (0, RIGHT, {1: 0.8, 0: 0.1, 3: 0.1}),  # a slip up is stopped by the edge, one down is not
        (0, UP, {0: 0.9, 1: 0.1}),  # against the edge, but for a slip to the right
        (0, STAY, {0: 1.0}),
        (1, RIGHT, {2: 0.8, 1: 0.2}),
        (1, DOWN, {1: 0.8, 0: 0.1, 2: 0.1}),  # against the wall
        (3, DOWN, {5: 0.8, 3: 0.2}),
        (7, LEFT, {6: 0.8, 4: 0.1, 7: 0.1}),
        (7, STAY, {7: 1.0}),
        *[(5, action, {6: 1.0}) for action in range(5)],  # the belt carries it
        *[(6, action, {0: 1.0}) for action in range(5)],  # out of the acid, back to the start
        *[(2, action, {0: 1.0}) for action in range(5)],  # delivered, back to the start
    ],
)
def test_the_kernel_is_that_of_the_hand(state, action, expected):
    row = Conveyor(TINY, slip=0.2).mdp().kernel.toarray()[5 * state + action]
    np.testing.assert_allclose(row, [expected.get(other, 0) for other in range(8)], atol=1e-15)


def test_labels_initial_state_and_rewards_of_the_hand():
    env = Conveyor(TINY, slip=0.2)
    model = env.mdp()
    assert {name: np.flatnonzero(mask).tolist() for name, mask in model.labels.items()} == {
        "acid": [6],
        "goal": [2],
        "belt": [5],
    }
    assert (model.states, model.initial, model.choices) == (8, 0, 40)
    assert model.actions[:5] == list(ACTIONS)
    assert model.valuations[4] == "(1,2)"
    rewards = np.zeros((8, 5))
    rewards[1] = [0.1, 0.8, 0.1, 0, 0]
    rewards[4] = [0.8, 0.1, 0, 0.1, 0]
    np.testing.assert_allclose(env.rewards(), rewards, atol=1e-15)


def test_probabilities_of_the_hand():
    env = Conveyor(TINY, slip=0.2)
    # From state 3 the worst is down, 0.8, and then the belt; from state 7 it is left, 0.8 at each of two tries, or up
    # and no acid.
    worst = probabilities(env, "Pmin=? [ G<=2 !acid ]")
    np.testing.assert_allclose(worst[[3, 5, 6]], [0.2, 0, 0], atol=1e-12)
    assert worst[7] == pytest.approx(0.1 * 0.2 + 0.1)
    np.testing.assert_allclose(probabilities(env, "Pmax=? [ G !acid ]"), [1, 1, 1, 1, 1, 0, 0, 1])


def chi_square(env, kernel, draws):
    """The statistic of sampled transitions against `kernel`, and its degrees of freedom."""
    env.reset(seed=7)
    statistic, freedom = 0.0, 0
    for state in range(env.layout.states):
        for action in range(5):
            counts = np.zeros(env.layout.states)
            for _ in range(draws):
                env.set_state(dataclasses.replace(env.get_state(), state=state))
                _, reward, _, _, info = env.step(action)
                counts[info["state"]] += 1
                assert reward == float(info["labels"]["goal"])
            expected = draws * kernel[state, action]
            possible = expected > 0
            assert counts[~possible].sum() == 0
            statistic += ((counts - expected)[possible] ** 2 / expected[possible]).sum()
            freedom += possible.sum() - 1
    return statistic, freedom


def test_step_draws_from_the_kernel():
    env = Conveyor("small", slip=0.3, observation="state")
    model = env.mdp()
    shape = (model.states, 5, model.states)
    statistic, freedom = chi_square(env, model.kernel.toarray().reshape(shape), draws=150)
    assert chi2.ppf(0.001, freedom) < statistic < chi2.ppf(0.999, freedom)
    other = Conveyor("small", slip=0.36).mdp().kernel.toarray().reshape(shape)
    statistic, freedom = chi_square(env, other, draws=150)
    assert statistic > chi2.ppf(0.999, freedom)  # the test can tell six hundredths of slip


def test_the_return_of_a_random_walk_is_the_kernels():
    """Expected deliveries of an episode under the uniform policy, against 400 sampled episodes."""
    env = Conveyor("S.G\nA..", observation="state")
    chain = env.mdp().under(np.full((6, 5), 0.2)).kernel.toarray()
    where, expected = np.eye(6)[0], 0.0
    for _ in range(50):
        where = where @ chain
        expected += where[2]
    env.reset(seed=1)
    env.action_space.seed(1)
    returns = []
    for _ in range(400):
        env.reset()
        returns.append(sum(env.step(env.action_space.sample())[1] for _ in range(50)))
    assert abs(np.mean(returns) - expected) < 4 * np.std(returns) / 20


@pytest.mark.parametrize("slip", [0, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("map", sorted(MAPS))
def test_every_row_is_a_distribution(map, slip):
    model = Conveyor(map, slip=slip).mdp()
    np.testing.assert_allclose(model.kernel.sum(axis=1), 1, atol=1e-12)
    if slip == 0:
        assert model.transitions == model.choices


@pytest.mark.parametrize("slip", [-0.1, 1, 1.5, float("nan")])
def test_a_slip_that_is_no_probability_is_refused(slip):
    with pytest.raises(AmbsError, match="slip is"):
        Conveyor(slip=slip)


def test_the_model_is_written_for_prism_and_read_back(tmp_path):
    model = Conveyor("figure1").mdp()
    paths = [tmp_path / f"figure1.{kind}" for kind in ("tra", "lab", "sta")]
    ambs.logic.write_prism(model, *paths)
    again = ambs.logic.read_prism(*paths)
    np.testing.assert_array_equal(again.kernel.toarray(), model.kernel.toarray())
    assert again.initial == model.initial
