"""Reward and safety pull apart, by exact numbers; and how far ahead one has to look to see it."""

import numpy as np
import pytest

from ambs.envs import MAPS, Conveyor
from tests.envs.planning import World, probabilities

# Deliveries in 100 steps, acid baths in 100 steps, probability of acid within 30 steps: the policy of the largest
# return (discount 0.99), and the deliveries of the best policy that never touches acid.
NUMBERS = {
    "small": (6.669, 1.706, 0.405, 6.350),
    "figure1": (10.080, 2.557, 0.552, 9.139),
    "long-belt": (5.280, 1.107, 0.293, 4.971),
    "hard": (4.342, 2.306, 0.499, 3.992),
}


@pytest.mark.parametrize("map", sorted(MAPS))
def test_blind_to_cost_takes_the_quick_way_and_a_safe_way_is_a_little_longer(map):
    world = World(Conveyor(map))
    blind, safe = world.best(), world.safest_that_delivers()
    deliveries, baths, risk, safe_deliveries = NUMBERS[map]
    assert world.episode(blind) == pytest.approx((deliveries, baths), abs=5e-4)
    assert world.acid_within(blind, 30) == pytest.approx(risk, abs=5e-4)
    assert world.episode(safe) == pytest.approx((safe_deliveries, 0.0), abs=5e-4)
    assert world.acid_within(safe, 30) == pytest.approx(0, abs=1e-12)
    assert 0.9 * deliveries < safe_deliveries < deliveries


class TestLongBelt:
    """Three sentences that make the map what it is: no danger is seen below eight steps, all is seen at eleven."""

    env = Conveyor("long-belt")
    world = World(env)
    choosing = ~(env.mdp().labels["belt"] | env.mdp().labels["acid"])
    # Where the lane meets the belt, and how many cells the robot rides from there.
    mouths = {(2, 4): 10, (2, 5): 9, (2, 6): 8, (2, 7): 7}  # noqa: RUF012

    def test_wherever_the_robot_still_has_a_choice_no_policy_meets_acid_within_seven_steps(self):
        for look_ahead in (1, 2, 7):
            worst = probabilities(self.env, f"Pmin=? [ G<={look_ahead} !acid ]")
            np.testing.assert_array_equal(worst[self.choosing], 1)
        assert probabilities(self.env, "Pmin=? [ G<=8 !acid ]")[self.choosing].min() < 0.2

    @pytest.mark.parametrize(("mouth", "ride"), mouths.items())
    def test_on_the_belt_nothing_helps_and_only_a_look_ahead_beyond_its_end_says_so(self, mouth, ride):
        state = self.env.layout.index[mouth]
        # A look-ahead of n counts the step onto the belt, so n - 1 steps are left.
        for look_ahead, value in ((2, 1), (ride, 1), (ride + 1, 0), (30, 0)):
            for optimum in ("Pmin", "Pmax"):
                assert probabilities(self.env, f"{optimum}=? [ G<={look_ahead - 1} !acid ]")[state] == value

    def test_a_shield_that_looks_two_steps_ahead_avoids_nothing_and_a_longer_one_everything(self):
        blind, safe = self.world.best(), self.world.safest_that_delivers()
        short, long = (self.world.shielded(blind, safe, look_ahead) for look_ahead in (2, 15))
        np.testing.assert_array_equal(short, blind)
        deliveries, baths = self.world.episode(long)
        assert baths < 1e-3 * self.world.episode(short)[1]
        assert deliveries > 0.9 * self.world.episode(short)[0]
        assert self.world.acid_within(long, 30) < 1e-3


class TestFigure1:
    """Two steps ahead the robot sees the left vat, and of the belt only the beginning."""

    env = Conveyor("figure1")

    def test_the_left_vat_is_seen_two_steps_ahead(self):
        left = np.full(self.env.layout.states, 3)
        world = World(self.env)
        assert world.acid_within(left, 1) == pytest.approx(0, abs=1e-12)
        assert world.acid_within(left, 2) == pytest.approx(0.81)

    def test_the_head_of_the_belt_is_two_steps_away_and_looks_harmless(self):
        row, column = self.env.layout.cells[self.env.layout.start]
        head = (row - 1, column + 1)
        state = self.env.layout.index[head]
        assert self.env.layout.rows[head[0]][head[1]] == ">"
        # The step onto the belt and one more; the four cells of the belt and one more.
        assert probabilities(self.env, "Pmin=? [ G<=1 !acid ]")[state] == 1
        assert probabilities(self.env, "Pmax=? [ G<=4 !acid ]")[state] == 0

    def test_violations_fall_with_the_look_ahead(self):
        world = World(self.env)
        blind, safe = world.best(), world.safest_that_delivers()
        baths = [world.episode(world.shielded(blind, safe, n))[1] for n in (2, 3, 4, 5, 10)]
        assert baths == pytest.approx([2.555, 1.101, 0.594, 0.089, 0.0], abs=1e-3)
