"""The environments stand Gymnasium's own wrappers and vectors."""

import gymnasium
import numpy as np
import pytest
from imageio_ffmpeg import count_frames_and_secs

import ambs

SOME = ("seaquest", "minatar-seaquest", "conveyor")


@pytest.mark.parametrize("name", SOME)
def test_a_video_is_recorded(name, tmp_path):
    env = gymnasium.wrappers.RecordVideo(
        ambs.make(name, render_mode="rgb_array"), str(tmp_path), episode_trigger=lambda _: True, disable_logger=True
    )
    env.reset(seed=0)
    # Doing nothing ends none of these games so soon.
    for _ in range(12):
        env.step(0)
    env.close()
    (film,) = tmp_path.glob("*.mp4")
    assert count_frames_and_secs(str(film))[0] >= 12


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_gymnasium_vector_stacks_labels_and_cost(name, mode):
    id = f"ambs:{ambs.envs.CATALOGUE[name].id}"
    with_labels = gymnasium.make_vec(id, num_envs=2, vectorization_mode=mode)
    with_labels.reset(seed=0)
    *_, info = with_labels.step(with_labels.action_space.sample())
    assert info["cost"].shape == (2,)
    for atom in ambs.envs.CATALOGUE[name].atoms:
        assert info["labels"][atom].dtype == np.bool_
        assert info["labels"][atom].shape == (2,)
    with_labels.close()


@pytest.mark.parametrize("name", SOME)
def test_common_wrappers(name):
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.FrameStackObservation(ambs.make(name), 2))
    observation, _ = env.reset(seed=0)
    assert observation.shape == (2, *env.unwrapped.observation_space.shape)
    assert "cost" in env.step(env.action_space.sample())[-1]
