"""Every state of every map can be told from what is seen, and the robot is always visible."""

import numpy as np
import pytest

from ambs import AmbsError
from ambs.envs import MAPS, Conveyor
from ambs.envs.maps import load_map
from ambs.envs.observations import COLOURS, observer
from ambs.envs.render import PHASES, Painter
from ambs.envs.tiles import belt

PIXELS = {"image": 16, "rgb": 64}


@pytest.mark.parametrize("kind", ["onehot", "image", "rgb", "state"])
@pytest.mark.parametrize("map", sorted(MAPS))
def test_states_differ_and_lie_in_the_space(map, kind):
    layout = load_map(map)
    observe = observer(layout, kind)
    seen = [observe(state) for state in range(layout.states)]
    assert all(observe.space.contains(one) for one in seen)
    assert len({np.asarray(one).tobytes() for one in seen}) == layout.states
    if kind in PIXELS:
        assert observe.space.shape == (PIXELS[kind], PIXELS[kind], 3)
    if kind == "onehot":
        assert observe.space.shape == (layout.height, layout.width, 8)


@pytest.mark.parametrize("kind", ["image", "rgb"])
def test_maps_differ(kind):
    assert len({observer(load_map(map), kind)(0).tobytes() for map in MAPS}) == len(MAPS)


@pytest.mark.parametrize("kind", ["onehot", "image", "rgb"])
def test_one_tile_makes_a_difference(kind):
    """With as many cells as the hard map has, so one pixel a cell in the image and four in the picture."""
    seen = {
        observer(load_map(["S.......", "....." + tile + "..", "......G."] + ["#" * 8] * 13), kind)(0).tobytes()
        for tile in "#.A^>v<"
    }
    assert len(seen) == 7


def test_the_grid_is_one_hot():
    env = Conveyor("S>G\n#A.")
    grid, _ = env.reset()
    expected = {(0, 0): 0, (0, 1): 5, (0, 2): 3, (1, 0): 1, (1, 1): 2}
    for cell, channel in expected.items():
        np.testing.assert_array_equal(grid[cell], np.eye(8)[channel])
    assert grid.sum() == 5
    env.step(1)
    assert grid[0, 0, 0] == 1  # an observation once given does not change


def test_the_robot_shows_on_every_tile_of_the_image():
    for map in MAPS:
        layout = load_map(map)
        observe = observer(layout, "image")
        top, left = (16 - layout.height) // 2, (16 - layout.width) // 2
        for state, (row, column) in enumerate(layout.cells):
            pixel = observe(state)[top + row, left + column].astype(int)
            nearest = min(np.abs(pixel - colour).max() for colour in COLOURS.values())
            assert nearest > 40


@pytest.mark.parametrize("size", [4, 40])
def test_the_robot_shows_in_every_picture(size):
    for map in MAPS:
        layout = load_map(map)
        painter = Painter(layout, size)
        for phase in range(PHASES):
            for state, (row, column) in enumerate(layout.cells):
                here = np.s_[row * size : (row + 1) * size, column * size : (column + 1) * size]
                with_robot = painter.picture(state, phase)
                without = painter.picture((state + 1) % layout.states, phase)
                changed = np.abs(with_robot[here].astype(int) - without[here]).max(axis=2) > 60
                assert changed.mean() > 0.1
            if size == 40:
                break


def test_a_map_of_any_size_fits():
    wide = "S" + "." * 70 + "G"
    assert observer(load_map(wide), "image").space.shape == (80, 80, 3)
    assert observer(load_map(wide), "rgb").space.shape == (128, 128, 3)


def test_belts_move_and_turn():
    right = belt(40, ">", 0)
    np.testing.assert_array_equal(np.rot90(right), belt(40, "^", 0))
    assert np.abs(right - belt(40, ">", 1)).max() > 50
    # The tip of a chevron is ahead of its arms: the middle row is the upper row, moved to the right.
    upper, middle = right[12, :, 0] > 150, right[20, :, 0] > 150
    shift = np.argmax([np.sum(np.roll(upper, by) & middle) for by in range(20)])
    assert 0 < shift < 10


def test_an_unknown_observation_lists_those_that_exist():
    with pytest.raises(AmbsError, match="onehot, image, rgb, state"):
        Conveyor(observation="pixels")
