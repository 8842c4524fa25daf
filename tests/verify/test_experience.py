"""Counting under a policy: how many visits, of what, and that the first m of them are as good as drawn at will."""

import numpy as np
import pytest

import ambs
from ambs.tabular.counts import VisitCounts
from ambs.verify import families
from ambs.verify.experience import World, gather
from ambs.verify.negligible import chain_distance, negligible_policy
from ambs.verify.theorem3_models import greatest_distance

# Action 0 of state 0 leads to 1 mostly; action 1 is rare in the behaviour below. State 1 leads back, state 2 nowhere.
KERNEL = np.array([[[0, 0.75, 0.25], [1, 0, 0]], [[1, 0, 0], [0, 0.5, 0.5]], [[0, 0, 1], [0, 0, 1]]])


@pytest.fixture
def world():
    return World.of(ambs.FiniteModel.mdp(KERNEL, {"unsafe": np.array([False, False, True])}))


def test_a_world_lists_the_successors(world):
    assert world.shape == (3, 2, 2)
    assert world.successors[0, 0].tolist() == [1, 2]
    assert world.probabilities[0].tolist() == [[0.75, 0.25], [1, 0]]
    back = np.zeros(KERNEL.shape)
    np.put_along_axis(back, world.successors, world.probabilities, axis=2)
    assert back.tolist() == KERNEL.tolist()


def test_the_first_m_visits_of_every_pair_are_counted_and_no_more(world):
    counts = gather(np.random.default_rng(0), world, np.tile([0.9, 0.1], (3, 1)), 40)
    assert (counts.visits == 40).all()
    assert not counts.transitions[KERNEL == 0].any()


def test_all_visits_are_at_least_m_and_as_many_as_there_are_steps(world):
    behaviour = np.tile([0.5, 0.5], (3, 1))
    counts = gather(np.random.default_rng(0), world, behaviour, 40, all_used=True)
    assert counts.visits.min() >= 40
    # Whole rounds: 40 episodes of 10 steps from each of 3 states.
    assert counts.visits.sum() % (40 * 10 * 3) == 0
    # State 1 is entered by three quarters of what 0 does with its first action, and by half of its own second.
    assert counts.visits[0].sum() > 100
    assert counts.visits[2].sum() > counts.visits[1].sum()


def test_what_the_behaviour_does_not_do_is_not_visited(world):
    counts = gather(np.random.default_rng(0), world, np.tile([1.0, 0.0], (3, 1)), 5)
    assert counts.visits.tolist() == [[5, 0]] * 3


def test_the_first_m_visits_have_binomial_outcomes(world):
    # As if drawn at will, although what else happened decided when they came: the Markov property.
    rng = np.random.default_rng(1)
    behaviour = np.tile([0.7, 0.3], (3, 1))
    found = [gather(rng, world, behaviour, 20).transitions[0, 0, 1] for _ in range(600)]
    assert np.mean(found) == pytest.approx(15, abs=5 * np.sqrt(20 * 0.75 * 0.25 / 600))
    assert np.var(found) == pytest.approx(20 * 0.75 * 0.25, rel=0.3)


def test_the_greatest_distance_by_hand(world):
    counts = VisitCounts(3, 2)
    counts.transitions += 4 * KERNEL
    assert greatest_distance(world, counts) == 0
    counts.transitions[0, 0] = [0, 2, 2]
    assert greatest_distance(world, counts) == 0.25
    counts.transitions[1, 1] = [0, 3, 0]
    assert greatest_distance(world, counts) == 0.5


def test_the_unvisited_and_the_miscounted_add_up():
    # Each unvisited action is 1 off; the coin fell 3 to 1 and is 1/4 off; they have no successor in common.
    mdp = families.coins_mdp(3)
    counts = VisitCounts(3, 3)
    counts.transitions[0, 0] = [3, 1, 0]
    counts.transitions[1, 0] = [2, 2, 0]
    counts.transitions[2, 0] = [0, 0, 4]
    policy = negligible_policy(np.zeros(3, dtype=np.int64), 3, 0.1)
    rare = 2 * 0.0999
    assert policy[0] == pytest.approx([1 - rare, 0.0999, 0.0999])
    assert chain_distance(mdp, counts, policy) == pytest.approx([rare + (1 - rare) / 4, rare, rare])
