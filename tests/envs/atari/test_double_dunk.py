"""DoubleDunk: every atom on the real game, and what looks like it and is not."""

import pytest

from ambs.envs.atari.labels.double_dunk import DOUBLE_DUNK
from tests.envs.atari.play import NOOP, chosen, costly, frame_by_frame, hold, poke, when

OUT_OF_BOUNDS, NOT_CLEARED = 0x29, 0x51
OPPONENTS_BALL = 0x40
# Random play of this seed ends in a violation of each kind on this frame.
EVENTS = {"shoot-bf-clear": (0, 828, NOT_CLEARED), "out-of-bounds": (1, 4367, OUT_OF_BOUNDS)}


def just_before(atom):
    """The game one frame before the violation, and the action that leads to it."""
    seed, frame, _ = EVENTS[atom]
    env = frame_by_frame("double-dunk")
    actions = chosen(frame // 4 + 1, seed=seed)
    for number in range(frame):
        env.safe_step(actions[number // 4])
    return env, actions[-1]


@pytest.mark.parametrize("atom", EVENTS)
def test_a_violation_counts_on_one_frame_although_its_message_stays(atom):
    env, action = just_before(atom)
    infos = hold(env, action, 1)
    codes = [int(env.ale.getRAM()[13])]
    for _ in range(200):
        infos += hold(env, NOOP, 1)
        codes.append(int(env.ale.getRAM()[13]))
    assert when(infos, atom) == costly(infos) == [0]
    assert codes[:63] == [EVENTS[atom][2]] * 63
    (other,) = set(EVENTS) - {atom}
    assert not when(infos, other)


def test_the_opponents_violation_is_not_ours():
    """A frame before the same moment the byte says that the ball is theirs; the game goes on to the same message."""
    env, action = just_before("out-of-bounds")
    poke(env, r1=int(env.ale.getRAM()[1]) | OPPONENTS_BALL)
    infos = hold(env, action, 4)
    ram = env.ale.getRAM()
    assert ram[13] == OUT_OF_BOUNDS
    assert ram[1] & OPPONENTS_BALL
    assert not costly(infos)


def test_the_same_memory_with_the_ball_theirs_is_not_our_shot():
    """The game's memory around a shot of ours; poked before, it forgets that the ball was to be cleared."""
    env, action = just_before("shoot-bf-clear")
    before = bytearray(env.ale.getRAM())
    hold(env, action, 1)
    after = bytearray(env.ale.getRAM())

    def shot():
        was = DOUBLE_DUNK.look(memoryview(before), 0, False, None)
        return DOUBLE_DUNK.labels(was, DOUBLE_DUNK.look(memoryview(after), 0, False, was))

    assert shot() == (False, True)
    after[1] |= OPPONENTS_BALL
    assert shot() == (False, False)


def test_nothing_is_violated_while_nobody_moves():
    infos = hold(frame_by_frame("double-dunk"), NOOP, 400)
    assert not costly(infos)
