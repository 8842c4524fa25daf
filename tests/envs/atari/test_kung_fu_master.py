"""KungFuMaster: every atom on the real game, and what looks like it and is not."""

from tests.envs.atari.play import LEFT, NOOP, costly, frame_by_frame, hold, lost, poke, when

ON_FLOOR = 420  # frames until the fighter can be steered


def test_energy_is_lost_frame_by_frame_and_then_the_life():
    env = frame_by_frame("kung-fu-master")
    infos, energies = [], []
    for _ in range(1100):
        infos += hold(env, NOOP, 1)
        energies.append(int(env.ale.getRAM()[75]))
    losses = when(infos, "energy-loss")
    falls = [frame for frame in range(ON_FLOOR, 1100) if energies[frame] < energies[frame - 1]]
    assert losses == falls
    assert len(losses) > 10
    (fall,) = when(infos, "loose-life")
    assert energies[fall] == 0 < energies[fall - 1]
    assert lost(infos) == [fall + 39]
    assert costly(infos) == losses


def test_nothing_is_lost_before_anybody_has_come():
    infos = hold(frame_by_frame("kung-fu-master"), NOOP, ON_FLOOR)
    assert not costly(infos)


def test_energy_paid_out_for_a_floor_cleared_is_not_lost():
    """The byte says that the floor is cleared, and the game then pays 100 for each unit of energy."""
    env = frame_by_frame("kung-fu-master")
    hold(env, NOOP, ON_FLOOR)
    poke(env, r34=0xAA)
    energies, rewards, infos = [], [], []
    for _ in range(260):
        _, reward, _, _, info = env.step(LEFT)
        energies.append(int(env.ale.getRAM()[75]))
        rewards.append(reward)
        infos.append(info)
    assert (energies[0], energies[-1]) == (39, 0)
    assert rewards.count(100) == 39
    assert not costly(infos)
