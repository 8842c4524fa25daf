"""Encoder and decoder: pictures of any small size, vectors, and both; the loss of an observation by hand."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs.errors import AmbsError
from ambs.world_model.codec import Decoder, Encoder, pad
from ambs.world_model.parts import Part, parts_of
from ambs.world_model.sizes import IMAGES, SIZES

WIDTHS = {"depth": 2, "units": 8, "layers": 1}
BOTH = spaces.Dict({"screen": spaces.Box(0, 255, (10, 12), np.uint8), "body": spaces.Box(-9, 9, (3,), np.float32)})


def networks(parts, images, features=7):
    first, second = jax.random.split(jax.random.key(0))
    return Encoder(parts, images=images, **WIDTHS, key=first), Decoder(
        features, parts, images=images, **WIDTHS, key=second
    )


def silent(decoder):
    """The decoder with all weights zero: it says its biases, zeros."""
    return jax.tree.map(lambda leaf: jnp.zeros_like(leaf) if eqx.is_array(leaf) else leaf, decoder)


def prepared(parts, space, shape=(2, 3)):
    space.seed(0)
    rows = [space.sample() for _ in range(int(np.prod(shape)))]
    stacked = {part.key: np.stack([row[part.key] for row in rows]) for part in parts}
    return {part.key: part.prepare(jnp.asarray(stacked[part.key].reshape(*shape, *part.shape))) for part in parts}


@pytest.mark.parametrize("images", IMAGES)
@pytest.mark.parametrize(
    "shape",
    [(5, 5, 1), (7, 9, 2), (10, 10, 3), (16, 16, 3), (48, 64, 3), (64, 64, 3), (84, 84), (4, 84, 84), (96, 96, 3),
     (210, 160, 3), (256, 256, 1), (255, 6, 1)],
)  # fmt: skip
def test_images_of_all_sides_come_back_with_their_sides(images, shape):
    part = Part("", "image", shape)

    def there_and_back(raw):
        encoder, decoder = networks([part], images)
        seen = {"": part.prepare(raw)}
        return encoder(seen), decoder(jnp.zeros((2, 7)))[""], encoder.embedding

    embedding, guess, size = eqx.filter_eval_shape(there_and_back, jnp.zeros((2, *shape), jnp.uint8))
    assert embedding.shape == (2, size)
    assert guess.shape == (2, *part.image)


@pytest.mark.parametrize(
    ("shape", "padded"),
    [
        ((64, 64, 3), (64, 64, 3)),
        ((84, 84, 1), (96, 96, 1)),
        ((96, 96, 3), (96, 96, 3)),
        ((48, 64, 3), (48, 64, 3)),
        ((210, 160, 3), (256, 192, 3)),
        ((10, 10, 3), (10, 10, 3)),
        ((5, 7, 2), (6, 8, 2)),
    ],
)
def test_convolutions_pad_no_more_than_they_have_to(shape, padded):
    assert pad(shape, "convolutions") == padded


def test_patches_pad_to_a_square():
    assert pad((48, 65, 3), "patches") == (128, 128, 3)
    assert pad((5, 5, 3), "patches") == (8, 8, 3)


@pytest.mark.parametrize("images", IMAGES)
def test_an_image_and_a_vector_together(images):
    """Each changes the embedding, in a place of its own, and every weight learns from the loss."""
    parts = parts_of(BOTH)
    encoder, decoder = networks(parts, images)
    seen = prepared(parts, BOTH)
    embed = eqx.filter_jit(encoder)
    embedded = embed(seen)
    assert embedded.shape == (2, 3, encoder.embedding)
    dark = embed(seen | {"screen": jnp.zeros_like(seen["screen"])})
    still = embed(seen | {"body": jnp.zeros_like(seen["body"])})
    moved_by_image, moved_by_vector = (np.any(embedded != other, axis=(0, 1)) for other in (dark, still))
    assert moved_by_image.any()
    assert moved_by_vector.any()
    assert not (moved_by_image & moved_by_vector).any()

    @eqx.filter_jit
    def gradient(both):
        mix = jax.random.normal(jax.random.key(5), (encoder.embedding, 7))
        return eqx.filter_grad(lambda both: both[1].loss(both[0](seen) @ mix, seen).sum())(both)

    silent_leaves = [path for path, leaf in jax.tree.leaves_with_path(gradient((encoder, decoder))) if not leaf.any()]
    assert not silent_leaves


def test_the_order_of_the_pictures_is_that_of_the_space():
    """Dictionaries come out of `jit` sorted; the embedding must not."""
    parts = [Part("wide", "image", (8, 8, 1)), Part("narrow", "image", (8, 8, 1))]
    encoder, _ = networks(parts, "convolutions")
    seen = {"wide": jnp.zeros((1, 8, 8, 1)), "narrow": jnp.linspace(0.0, 1, 64).reshape(1, 8, 8, 1)}
    np.testing.assert_allclose(encoder(seen), eqx.filter_jit(encoder)(seen), atol=1e-6)


def test_the_loss_of_a_picture_counts_its_own_pixels_only():
    """A silent decoder says grey, 0.5: (0.5 - 1)² for white, (0.5 - 0.2)² for 51; 5×6 pixels although padded to 6×6,
    and together they count as 64×64 would."""
    part = Part("", "image", (5, 6))
    decoder = silent(networks([part], "convolutions")[1])
    white = part.prepare(jnp.full((1, 5, 6), 255, jnp.uint8))
    darker = part.prepare(jnp.full((1, 5, 6), 51, jnp.uint8))
    np.testing.assert_allclose(decoder.loss(jnp.zeros((1, 7)), {"": white}), [64 * 64 * 0.25], rtol=1e-5)
    np.testing.assert_allclose(decoder.loss(jnp.zeros((1, 7)), {"": darker}), [64 * 64 * 0.09], rtol=1e-5)


def test_losses_of_bits_and_numbers_add_up():
    """Bits 1 and 0 under the logit ln 3 (3/4): ln 4/3 + ln 4. The number e² - 1 is 2 in symlog; 0.5 is said: 2.25."""
    parts = [Part("bits", "binary", (2,)), Part("number", "vector", (1,))]
    decoder = silent(networks(parts, "patches")[1])
    decoder = eqx.tree_at(
        lambda net: (net.others["bits"].out.bias, net.others["number"].out.bias),
        decoder,
        (jnp.full(2, np.log(3.0)), jnp.array([0.5])),
    )
    seen = {
        "bits": parts[0].prepare(jnp.array([[1, 0]], jnp.int8)),
        "number": parts[1].prepare(jnp.array([[np.e**2 - 1]])),
    }
    np.testing.assert_allclose(decoder.loss(jnp.zeros((1, 7)), seen), [np.log(4 / 3) + np.log(4) + 2.25], rtol=1e-5)


def test_sizes_for_a_cpu_take_patches_and_those_of_the_paper_convolutions():
    assert [name for name, one in SIZES.items() if one.images == "patches"] == ["debug", "nano", "tiny"]
    assert dataclasses.replace(SIZES["tiny"], images="convolutions").depth == 16
    with pytest.raises(AmbsError, match="images='pixels', and it has to be one of patches, convolutions"):
        dataclasses.replace(SIZES["tiny"], images="pixels")
