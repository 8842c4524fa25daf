"""Enduro: a crash on the real game, and what looks like it and is not."""

import itertools

from tests.envs.atari.play import FIRE, LEFTFIRE, NOOP, RIGHTFIRE, chosen, costly, frame_by_frame, hold, randomly, when

PLAY = (FIRE, FIRE, FIRE, RIGHTFIRE, LEFTFIRE)


def test_driving_into_a_car_is_a_crash_and_the_speed_is_gone():
    env = frame_by_frame("enduro")
    infos, speeds = [], []
    for action in chosen(80, PLAY):
        for _ in range(4):
            infos += hold(env, action, 1)
            speeds.append(int(env.ale.getRAM()[22]))
    (frame,) = when(infos, "crash-car")
    assert costly(infos) == [frame]
    assert speeds[frame - 1] > 20
    assert speeds[frame] == 6


def test_without_throttle_there_is_no_crash():
    infos = hold(frame_by_frame("enduro"), NOOP, 600)
    assert not when(infos, "crash-car")


def test_the_edge_of_the_road_is_no_crash_although_the_same_byte_changes():
    env = frame_by_frame("enduro")
    infos, touched = [], set()
    for _ in range(480):
        infos += hold(env, RIGHTFIRE, 1)
        touched.add(int(env.ale.getRAM()[35]))
    assert touched & {80, 81, 82}
    assert not when(infos, "crash-car")


def test_one_crash_is_one_event():
    """The cars stay in touch for some frames, and may part and touch again; each contact counts on its first frame."""
    env = frame_by_frame("enduro")
    infos = randomly(env, 1100, PLAY)
    crashes = when(infos, "crash-car")
    assert len(crashes) == 3
    assert min(later - earlier for earlier, later in itertools.pairwise(crashes)) > 60
