"""What observations are taken for, and what becomes of their numbers."""

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

import ambs
from ambs.errors import AmbsError
from ambs.world_model.parts import Part, parts_of


def picture(*shape):
    return spaces.Box(0, 255, shape, np.uint8)


@pytest.mark.parametrize(
    ("space", "image"),
    [
        (picture(64, 64, 3), (64, 64, 3)),
        (picture(10, 10, 3), (10, 10, 3)),
        (picture(48, 64, 3), (48, 64, 3)),
        (picture(84, 84, 1), (84, 84, 1)),
        (picture(84, 84), (84, 84, 1)),
        (picture(4, 84, 80), (84, 80, 4)),
        (picture(8, 256), (8, 256, 1)),
    ],
)
def test_bytes_in_a_plane_are_images(space, image):
    (part,) = parts_of(space)
    assert (part.kind, part.image) == ("image", image)


@pytest.mark.parametrize(
    ("space", "kind", "size"),
    [
        (picture(128), "vector", 128),
        (picture(4, 4, 3), "vector", 48),
        (picture(64, 3), "vector", 192),
        (spaces.Box(0, 10, (16, 16, 3), np.uint8), "vector", 768),
        (spaces.Box(0, 255, (16, 16, 3), np.float32), "vector", 768),
        (spaces.Box(0, 1, (10, 10, 6), np.uint8), "grid", 600),
        (spaces.MultiBinary((8, 9)), "grid", 72),
        (spaces.MultiBinary((8, 65)), "binary", 520),
        (spaces.MultiBinary((3, 2)), "binary", 6),
        (spaces.MultiBinary((3, 9)), "binary", 27),
        (spaces.MultiBinary((4, 9, 2)), "grid", 72),
        (spaces.Discrete(7), "binary", 7),
        (spaces.Box(-1, 1, (4,), np.float32), "vector", 4),
    ],
)
def test_everything_else_is_a_grid_or_flat(space, kind, size):
    (part,) = parts_of(space)
    assert (part.kind, part.size) == (kind, size)


@pytest.mark.parametrize("name", ["conveyor", "conveyor-figure1", "conveyor-long-belt", "conveyor-hard"])
def test_the_cells_of_a_conveyor_lie_as_on_its_map(name):
    """Its rows are few, and are rows all the same."""
    env = ambs.make(name)
    (part,) = parts_of(env.observation_space)
    layout = env.unwrapped.layout
    assert (part.kind, part.image[:2]) == ("grid", (layout.height, layout.width))


def test_a_dictionary_has_a_part_a_key():
    parts = parts_of(spaces.Dict({"camera": picture(16, 16, 3), "speed": spaces.Box(-1, 1, (2,), np.float32)}))
    assert [(part.key, part.kind) for part in parts] == [("camera", "image"), ("speed", "vector")]


def test_too_large_an_image_is_refused_by_name():
    with pytest.raises(AmbsError, match=r'"camera" is an image of 480×640 pixels.*up to 256.*ResizeObservation'):
        parts_of(spaces.Dict({"camera": picture(480, 640, 3)}))
    with pytest.raises(AmbsError, match=r"^the observation is an image of 10×257 pixels"):
        parts_of(picture(10, 257))


def test_images_are_fractions_of_255_with_channels_last():
    raw = (jnp.arange(2 * 3 * 8 * 9) % 256).astype(jnp.uint8).reshape(2, 3, 8, 9)
    first = Part("", "image", (3, 8, 9)).prepare(raw)
    assert first.shape == (2, 8, 9, 3)
    # Environment 1, channel 2, row 4, column 0 is number ((1·3 + 2)·8 + 4)·9 = 396, which is 140 beyond 256.
    assert float(first[1, 4, 0, 2]) == pytest.approx(140 / 255)
    grey = Part("", "image", (8, 9)).prepare(raw)
    np.testing.assert_allclose(grey[1, 2, 4, 0], [140 / 255], rtol=1e-6)
    last = Part("", "image", (8, 9, 3)).prepare(raw.reshape(2, 8, 9, 3))
    np.testing.assert_allclose(last, np.asarray(raw).reshape(2, 8, 9, 3) / 255, rtol=1e-6)


def test_vectors_are_squashed_choices_are_one_hot_and_bits_stay():
    vector = Part("", "vector", (2,)).prepare(jnp.array([[[np.e - 1, 1 - np.e]]]))
    np.testing.assert_allclose(vector, [[[1, -1]]], rtol=1e-6)
    np.testing.assert_array_equal(Part("", "binary", (), 3).prepare(jnp.array([2, 0])), [[0, 0, 1], [1, 0, 0]])
    bits = Part("", "binary", (2, 2)).prepare(jnp.array([[[0, 1], [1, 1]]], jnp.int8))
    np.testing.assert_array_equal(bits, [[0, 1, 1, 1]])
