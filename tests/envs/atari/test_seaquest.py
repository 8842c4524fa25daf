"""Seaquest: every atom on the real game, and what looks like it and is not."""

import numpy as np
import pytest

from tests.envs.atari.play import ALL, DOWN, NOOP, UP, chosen, costly, frame_by_frame, hold, lost, poke, randomly, when

AT_SEA = 135  # frames until the tank is full and the submarine can be steered


def submarine():
    env = frame_by_frame("seaquest")
    hold(env, NOOP, AT_SEA)
    return env


def test_surfacing_without_a_diver_violates_once_and_costs_a_life():
    env = submarine()
    infos = hold(env, DOWN, 40) + hold(env, UP, 150)
    (frame,) = when(infos, "surface")
    assert costly(infos) == [frame]
    assert infos[frame]["labels"] == {"surface": True, "diver": False, "hit": False, "out-of-oxygen": False}
    (life,) = lost(infos)
    assert 85 <= life - frame <= 95


@pytest.mark.parametrize("divers", [1, 2, 6])
@pytest.mark.parametrize("frames", range(27, 31))
def test_surfacing_with_divers_is_no_violation(divers, frames):
    """The last diver is taken off a frame or more after the arrival, and six are a bonus that empties the tank."""
    env = submarine()
    hold(env, DOWN, frames)
    poke(env, r62=divers)
    infos = hold(env, UP, 60) + hold(env, NOOP, 400)
    (frame,) = when(infos, "surface")
    assert infos[frame]["labels"]["diver"]
    assert env.ale.getRAM()[62] == (0 if divers == 6 else divers - 1)
    assert not costly(infos)


def test_the_start_of_a_life_at_the_surface_without_divers_is_no_violation():
    infos = hold(frame_by_frame("seaquest"), NOOP, 600)
    assert not when(infos, "surface")
    assert not costly(infos)


def test_a_dip_that_uses_no_oxygen_is_no_arrival():
    """The game does not take it for a dive either: nobody dies, and no diver is taken off."""
    env = submarine()
    infos = hold(env, DOWN, 12) + hold(env, UP, 20)
    assert env.ale.getRAM()[97] == 13
    assert not when(infos, "surface")
    assert not lost(infos + hold(env, NOOP, 100))


def test_a_submarine_put_back_with_divers_has_not_arrived():
    """After a death it is at the surface again, with one diver fewer and an empty tank."""
    env = submarine()
    hold(env, DOWN, 40)
    poke(env, r62=4)
    infos = randomly(env, 3000, (DOWN, NOOP))
    (first, *_) = when(infos, "hit")
    assert first in costly(infos)
    back = infos[first : first + 150]
    assert lost(back)
    assert all(info["labels"]["diver"] for info in back)
    assert not when(back, "surface")


def test_running_out_of_oxygen_under_water():
    env = submarine()
    hold(env, DOWN, 8)
    poke(env, r102=3)
    infos = hold(env, NOOP, 300)
    (frame,) = when(infos, "out-of-oxygen")
    assert costly(infos) == [frame]
    assert infos[frame]["labels"] == {"surface": False, "diver": False, "hit": False, "out-of-oxygen": True}
    assert len(lost(infos)) == 1


def test_a_hit_is_not_running_out_of_oxygen_although_every_death_empties_the_tank():
    env = submarine()
    infos = hold(env, DOWN, 40) + randomly(env, 1500, (DOWN, NOOP))
    (frame,) = when(infos, "hit")[:1]
    assert not when(infos, "out-of-oxygen")
    assert costly(infos)[0] == frame
    assert env.ale.getRAM()[102] != 0 or infos[-1]["lives"] == 0


def test_a_hit_with_hardly_any_oxygen_left_is_a_hit():
    env = submarine()
    infos = hold(env, DOWN, 40)
    for action in chosen(400, (DOWN, NOOP)):
        poke(env, r102=2)
        infos += hold(env, action, 4)
        if costly(infos):
            break
    (frame,) = costly(infos)
    assert when(infos, "hit") == [frame]
    infos += hold(env, NOOP, 120)
    assert len(lost(infos)) == 1
    assert not when(infos, "out-of-oxygen")


def test_a_patrol_boat_at_the_surface_hits_and_nobody_has_surfaced():
    """It comes after two bonuses; the submarine waits for it without divers, where early surfacing would be."""
    env = submarine()
    for _ in range(2):
        hold(env, DOWN, 40)
        poke(env, r62=6)
        infos = hold(env, UP, 60) + hold(env, NOOP, 1000)
    (frame,) = when(infos, "hit")
    assert costly(infos) == [frame]
    assert infos[frame]["labels"] == {"surface": False, "diver": False, "hit": True, "out-of-oxygen": False}
    assert frame > when(infos, "surface")[0] + 100


def test_the_formula_fails_exactly_on_the_frames_when_a_death_begins():
    """Random play, with divers put aboard now and then: the frames that cost are those that start the death timer."""
    env = frame_by_frame("seaquest")
    generator = np.random.default_rng(0)
    infos, timers = [], [0]
    for _ in range(1500):
        if generator.random() < 0.02:
            poke(env, r62=int(generator.integers(3)))
        action = int(generator.choice(ALL))
        for _ in range(6):
            *_, over, _, info = env.step(action)
            infos.append(info)
            timers.append(int(env.ale.getRAM()[105]))
            if over:
                env.reset()
                timers[-1] = 0
                break
    onsets = [frame for frame, info in enumerate(infos) if timers[frame + 1] > 0 == timers[frame]]
    assert costly(infos) == onsets
    assert len(onsets) > 10
    assert any(info["labels"]["surface"] and info["labels"]["diver"] for info in infos)
    assert any(info["labels"]["surface"] and not info["labels"]["diver"] for info in infos)
