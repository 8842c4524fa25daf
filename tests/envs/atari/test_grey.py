"""Games without colour: the same game, by its brightness."""

import numpy as np

import ambs


def test_a_grey_observation_is_the_brightness_of_the_coloured_one():
    coloured, grey = (ambs.make("seaquest", size=84, grey=without) for without in (False, True))
    assert grey.observation_space.shape == (84, 84, 1)
    seen = [env.reset(seed=3)[0] for env in (coloured, grey)]
    assert grey.observation_space.contains(seen[1])
    brightness = seen[0] @ np.array([0.299, 0.587, 0.114])
    assert np.abs(brightness - seen[1][..., 0]).max() < 3
    for action in (1, 5, 2, 2):
        seen = [env.step(action)[0] for env in (coloured, grey)]
        # The brighter of two frames at every pixel, which for colours is one a channel.
        brightness = seen[0] @ np.array([0.299, 0.587, 0.114])
        assert np.mean(np.abs(brightness - seen[1][..., 0]) < 3) > 0.95
