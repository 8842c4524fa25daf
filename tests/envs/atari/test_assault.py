"""Assault: every atom on the real game, and what looks like it and is not."""

from tests.envs.atari.play import FIRE, NOOP, chosen, costly, frame_by_frame, hold, lost, poke, randomly, when


def test_overheating_costs_a_life_and_its_explosion_is_no_hit():
    infos = randomly(frame_by_frame("assault"), 3000)
    heat, hits = when(infos, "overheat"), when(infos, "hit")
    assert (len(heat), len(hits)) == (2, 2)
    assert costly(infos) == sorted(heat + hits)
    # An explosion is the frame after the heat, or the frame of the hit; the life is gone 58 frames after it.
    assert lost(infos) == sorted([frame + 59 for frame in heat] + [frame + 58 for frame in hits])


def test_not_firing_never_overheats():
    infos = hold(frame_by_frame("assault"), NOOP, 900)
    assert not when(infos, "overheat")


def test_a_hit_costs_a_life_58_frames_later():
    infos = randomly(frame_by_frame("assault"), 4000, (NOOP, FIRE, 3, 4))
    hits = when(infos, "hit")
    assert hits
    assert not when(infos, "overheat")
    assert [frame - 58 for frame in lost(infos)] == hits
    assert costly(infos) == hits


def test_an_explosion_that_costs_no_life_is_a_violation_nevertheless():
    """A new wave that begins during the explosion cancels the loss; random play of this seed meets one."""
    env = frame_by_frame("assault")
    infos = []
    for action in chosen(6000, seed=3)[:850]:
        infos += hold(env, action, 4)
        if lost(infos[-5:]):
            poke(env, r101=4)
    explosions = sorted(when(infos, "hit") + [frame + 1 for frame in when(infos, "overheat")])
    cancelled = [frame for frame in explosions if frame + 58 < len(infos) and frame + 58 not in lost(infos)]
    assert cancelled == [3277]
    assert len(explosions) - len(lost(infos)) >= 1
