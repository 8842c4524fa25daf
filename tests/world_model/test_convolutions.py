"""Convolutions as matrix products are the convolutions that everybody knows, forward and backward."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from ambs.world_model.convolutions import ConvDecoder, ConvEncoder, gather, halvings, scatter

NHWC = ("NHWC", "HWIO", "NHWC")


def as_kernel(weight):
    """[block row, block column, row, column, channel] of `gather` as the [4, 4, in, out] that XLA takes."""
    blocks = weight.reshape(2, 2, 2, 2, -1, weight.shape[-1])
    return blocks.transpose(0, 2, 1, 3, 4, 5).reshape(4, 4, -1, weight.shape[-1])


def halve(x, weight):
    return gather(x) @ weight


def halve_by_xla(x, weight):
    return lax.conv_general_dilated(x, as_kernel(weight), (2, 2), "SAME", dimension_numbers=NHWC)


def double(x, weight):
    return scatter(x @ weight.T)


def double_by_xla(x, weight):
    kernel = as_kernel(weight)
    return lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=NHWC, transpose_kernel=True)


def norm_and_silu(x):
    x = (x - x.mean(axis=-1, keepdims=True)) / jnp.sqrt(x.var(axis=-1, keepdims=True) + 1e-3)
    return x * jax.nn.sigmoid(x)


@pytest.mark.parametrize(
    ("ours", "theirs", "inputs", "gives"),
    [(halve, halve_by_xla, (2, 8, 12, 3), (2, 4, 6, 5)), (double, double_by_xla, (2, 4, 6, 5), (2, 8, 12, 3))],
)
def test_the_same_as_xla_forward_and_backward(ours, theirs, inputs, gives):
    keys = jax.random.split(jax.random.key(0), 3)
    x, weight = jax.random.normal(keys[0], inputs), jax.random.normal(keys[1], (4 * 4 * 3, 5))
    direction = jax.random.normal(keys[2], gives)

    def outcomes(f):
        """The value, and the gradients of its product with a direction."""
        value, pull = jax.vjp(f, x, weight)
        return value, *pull(direction)

    for mine, reference in zip(*(jax.jit(outcomes, static_argnums=0)(f) for f in (ours, theirs)), strict=True):
        np.testing.assert_allclose(mine, reference, atol=1e-5, rtol=1e-5)


def test_what_a_cell_sees():
    """The first cell of a 4×4 image, numbered by rows from 1: a border of zeros and 3×3 pixels."""
    image = jnp.arange(1.0, 17).reshape(1, 4, 4, 1)
    seen = gather(image)[0, 0, 0]
    np.testing.assert_array_equal(seen.reshape(2, 2, 2, 2)[0, 0], [[0, 0], [0, 1]])
    np.testing.assert_array_equal(seen.reshape(2, 2, 2, 2)[1, 1], [[6, 7], [10, 11]])


def test_a_pixel_is_the_sum_of_the_cells_that_see_it():
    """All ones: a corner is seen from one cell of 2×2, the middle from all four, the edges from two."""
    summed = scatter(jnp.ones((1, 2, 2, 16)))[0, :, :, 0]
    np.testing.assert_array_equal(summed, [[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]])


@pytest.mark.parametrize(
    ("sides", "count"), [((64, 64), 4), ((16, 16), 2), ((84, 84), 4), ((96, 96), 4), ((97, 5), 5), ((5, 5), 1)]
)
def test_halved_until_six_cells_are_left(sides, count):
    assert halvings(*sides) == count


def test_the_paper_s_layers():
    """64×64×3 at depth 32: 32, 64, 128, 256 channels, and 4×4 cells of 256; back again the other way round."""
    encoder = eqx.filter_eval_shape(lambda: ConvEncoder((64, 64, 3), 32, key=jax.random.key(0)))
    assert [layer.linear.weight.shape for layer in encoder.layers] == [(48, 32), (512, 64), (1024, 128), (2048, 256)]
    assert encoder.features == 4 * 4 * 256
    decoder = eqx.filter_eval_shape(lambda: ConvDecoder(100, (64, 64, 3), 32, key=jax.random.key(0)))
    assert decoder.enter.weight.shape == (100, 4 * 4 * 256)
    kernels = [linear.weight.shape for linear, _ in decoder.layers] + [decoder.out.weight.shape]
    assert kernels == [(256, 2048), (128, 1024), (64, 512), (32, 48)]


def test_each_layer_is_a_convolution_a_norm_and_a_silu():
    encoder = ConvEncoder((16, 8, 2), 3, key=jax.random.key(0))
    image = jax.random.uniform(jax.random.key(1), (5, 7, 16, 8, 2))

    @eqx.filter_jit
    def by_xla(net, image):
        x = image.reshape(35, 16, 8, 2)
        for layer in net.layers:
            x = norm_and_silu(halve_by_xla(x, layer.linear.weight))
        return x.reshape(5, 7, 4 * 2 * 6)

    np.testing.assert_allclose(eqx.filter_jit(encoder)(image), by_xla(encoder, image), atol=1e-5)


def test_the_decoder_layer_by_layer():
    decoder = ConvDecoder(6, (16, 8, 2), 3, key=jax.random.key(0))
    decoder = eqx.tree_at(lambda net: net.bias, decoder, jnp.array([0.25, -0.5]))
    features = jax.random.normal(jax.random.key(1), (5, 7, 6))

    @eqx.filter_jit
    def by_xla(net, features):
        x = (features.reshape(35, 6) @ net.enter.weight).reshape(35, 4, 2, 6)
        for linear, _ in net.layers:
            x = norm_and_silu(double_by_xla(x, linear.weight.T))
        x = double_by_xla(x, net.out.weight.T) + jnp.array([0.25, -0.5]).reshape(1, 1, 1, 2)
        return x.reshape(5, 7, 16, 8, 2)

    np.testing.assert_allclose(eqx.filter_jit(decoder)(features), by_xla(decoder, features), atol=1e-5)


def test_in_the_precision_that_comes_in():
    def there_and_back(image):
        features = ConvEncoder((8, 8, 1), 4, key=jax.random.key(0))(image)
        return features, ConvDecoder(features.shape[-1], (8, 8, 1), 4, key=jax.random.key(0))(features)

    out = eqx.filter_eval_shape(there_and_back, jnp.ones((2, 8, 8, 1), jnp.bfloat16))
    assert [each.dtype for each in out] == [jnp.bfloat16, jnp.bfloat16]
