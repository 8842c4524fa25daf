"""The exact numbers of a world: against a corridor worked out by hand, and against playing."""

import re
from pathlib import Path

import numpy as np
import pytest

import ambs
from ambs.envs import Conveyor
from ambs.runs.tabular.exact import EPISODE, Truth
from ambs.tabular import TabularAgent, TabularConfig, interact, no_guard


@pytest.fixture(scope="module")
def corridor():
    """Two steps to the goal and one back: a delivery every third step, and no acid on the way."""
    return Truth.of(Conveyor(["S.G", "A.."], slip=0.0, observation="state"))


def test_a_corridor_by_hand(corridor):
    deliveries, baths = corridor.episode(np.eye(5)[corridor.best()])
    assert deliveries == pytest.approx(np.floor((EPISODE + 1) / 3))
    assert baths == 0


def test_the_safest_delivers_too(corridor):
    assert corridor.episode(np.eye(5)[corridor.safest()])[0] == pytest.approx(33)


def test_mu_after_the_action(corridor):
    """Down from the start is acid at once; the other actions are as safe as what follows."""
    policy = np.eye(5)[corridor.best()]
    mu = corridor.mu(policy, 10)
    assert mu[0, 2] == 0
    assert mu[0, [0, 1, 3, 4]] == pytest.approx(1)


def test_the_numbers_are_those_of_the_proofs():
    truth = Truth.of(Conveyor("figure1"))
    assert truth.episode(np.eye(5)[truth.best()])[0] == pytest.approx(10.080, abs=5e-4)
    assert truth.episode(np.eye(5)[truth.safest()])[0] == pytest.approx(9.139, abs=5e-4)


def test_the_most_is_no_less_than_any_policy_makes():
    truth = Truth.of(Conveyor("small"))
    stationary, _ = truth.episode(np.eye(5)[truth.safest()])
    assert stationary < truth.most(safe=True) < stationary + 0.05
    assert truth.most(safe=True) < truth.most(safe=False)


def test_a_long_look_ahead_is_needed():
    """The belt carries the robot into acid eleven steps later: a shield that looks nine ahead does not help at all."""
    truth = Truth.of(Conveyor("long-belt"))
    baths = {n: truth.episode(truth.shielded(truth.best(), truth.safest(), n, 0.9))[1] for n in (2, 9, 12, 30)}
    assert baths[2] == pytest.approx(baths[9]) == pytest.approx(1.107, abs=1e-3)
    assert baths[12] == baths[30] == 0


def test_playing_agrees_with_the_exact_numbers():
    """A policy that never learns again, over 200 episodes."""
    env = ambs.make("conveyor-figure1", observation="state")
    truth = Truth.of(env.unwrapped)
    agent = TabularAgent(env, TabularConfig(replan_every=10**9), seed=0, guard=no_guard)
    agent.probs = np.vstack([np.eye(5)[truth.best()], np.full(5, 0.2)])
    agent.learn = lambda step: None
    played = list(interact(env, agent, 20_000, seed=1))
    deliveries, baths = truth.episode(np.eye(5)[truth.best()])
    assert sum(step.reward for step in played) / 200 == pytest.approx(deliveries, abs=0.4)
    assert sum(step.violated for step in played) / 200 == pytest.approx(baths, abs=0.35)


def test_the_table_in_the_docs_is_what_follows_from_the_maps():
    page = (Path(__file__).parents[3] / "docs" / "conveyor.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| `([\w-]+)` \| `[\w:-]+` \| (\d+) \| ([\d.]+), ([\d.]+) \| ([\d.]+) \|", page)
    assert len(rows) == 4
    for name, cells, blind, baths, safe in rows:
        world = ambs.make(name, observation="state").unwrapped
        truth = Truth.of(world)
        (best, bathed), (careful, _) = (truth.episode(np.eye(5)[policy]) for policy in (truth.best(), truth.safest()))
        shown = [int(cells), float(blind), float(baths), float(safe)]
        assert shown == pytest.approx([world.layout.states, best, bathed, careful], abs=0.0051)
