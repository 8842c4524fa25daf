"""Bounded prescience: the simulator is saved, searched and restored, and what is played is safe as far as it looks."""

import numpy as np
import pytest

from ambs import AmbsError
from ambs.envs import Conveyor
from ambs.shield import PrescienceShield

LONG_BELT = ["S.>>>A", "......", "G....."]


class TestPrescience:
    def test_finds_the_way_out_only_if_it_looks_far_enough(self):
        """On the cell before the belt: depth 3 sees no acid, depth 4 does, and plays another action."""
        env = Conveyor(LONG_BELT, slip=0.0, observation="state")
        env.reset(seed=0)
        env.step(1)
        assert not PrescienceShield(env, range(5), depth=3)(None, 1).overridden
        before = env.get_state()
        decision = PrescienceShield(env, range(5), depth=4)(None, 1)
        assert decision.overridden
        assert decision.action != 1
        assert decision.traces > 4
        assert env.get_state().state == before.state

    def test_traces_are_the_paths_that_were_searched(self):
        """On a line with acid at 2: right, right is unsafe; right, left is the safe path; so three steps, two paths."""

        class Line:
            position = 0

            def get_state(self):
                return self.position

            def set_state(self, state):
                self.position = state

            def safe_step(self, action):
                self.position += action
                return self.position < 2, False

        shield = PrescienceShield(Line(), (1, -1), depth=2)
        decision = shield(None, 1)
        assert (decision.traces, shield.steps, decision.overridden) == (2, 3, False)
        # Left, left is safe at once, and a new decision counts anew.
        decision = shield(None, -1)
        assert (decision.traces, shield.steps, decision.overridden) == (1, 2, False)

    def test_plays_the_proposed_action_when_nothing_helps(self):
        env = Conveyor(LONG_BELT, slip=0.0, observation="state")
        env.reset(seed=0)
        for _ in range(2):
            env.step(1)
        decision = PrescienceShield(env, range(5), depth=5)(None, 2)
        assert (decision.action, bool(decision.overridden), decision.estimate) == (2, False, 0.0)

    @pytest.mark.parametrize(
        ("preferences", "played"),
        [
            (None, 0),
            ([0.0] * 5, 0),
            # The proposed one is best, and refused.
            ([1, 9, 2, 4, 3], 3),
            ([1, 9, 2, 2, 2], 2),
            ([-3.0, 9.0, -2.0, -5.0, -1.0], 4),
            ([np.nan, np.nan, -np.inf, np.nan, np.nan], 2),
        ],
    )
    def test_plays_the_next_best_action(self, preferences, played):
        """On the cell before the belt all actions are safe but the one to the right; the first number wins a tie."""
        env = Conveyor(LONG_BELT, slip=0.0, observation="state")
        env.reset(seed=0)
        env.step(1)
        shield = PrescienceShield(env, range(5), depth=4)
        decision = shield(None, 1, preferences=preferences)
        assert (decision.action, decision.overridden) == (played, True)
        # What is safe is played, however little it is preferred.
        assert shield(None, 0, preferences=preferences).action == 0
        # All that begin with the belt, 1 + 5 + 25 + 125 steps, and then one path of the next-best that is tried first.
        shield(None, 1, preferences=[5, 9, 1, 2, 8])
        assert shield.steps == 156 + 4

    def test_a_preference_for_every_action(self):
        with pytest.raises(AmbsError, match="there are 4 preferences, and 5 actions"):
            PrescienceShield(Conveyor("small"), range(5))(None, 0, preferences=[1, 2, 3, 4])

    def test_a_search_is_cut_short_and_says_so(self):
        """Five actions are fatal, whichever they are; but action 2 is none, with which nothing happens."""

        class Doomed:
            time = 0

            def get_state(self):
                return self.time

            def set_state(self, state):
                self.time = state

            def safe_step(self, action):
                self.time += action != 2
                return self.time < 5, False

        all_paths = PrescienceShield(Doomed(), (0, 1), depth=5)
        assert (all_paths(None, 0).estimate, all_paths.steps) == (0.0, 2 + 4 + 8 + 16 + 32)
        few = PrescienceShield(Doomed(), (0, 1), depth=5, most=20)
        decision = few(None, 0)
        assert (decision.action, decision.overridden, few.steps) == (0, False, 20)
        assert np.isnan(decision.estimate)
        # Each action has its share: what the others use up does not keep the third from being found.
        three = PrescienceShield(Doomed(), (0, 1, 2), depth=6, most=18)
        decision = three(None, 1)
        assert (decision.action, decision.overridden, decision.estimate) == (2, True, 1.0)

    def test_depth_is_at_least_one(self):
        with pytest.raises(AmbsError, match="depth is 0"):
            PrescienceShield(Conveyor("small"), range(5), depth=0)
