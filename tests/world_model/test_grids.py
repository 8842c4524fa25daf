import jax
import jax.numpy as jnp
import numpy as np

from ambs.world_model.codec import Decoder, Encoder
from ambs.world_model.grids import GridEncoder, mix, neighbours
from ambs.world_model.parts import Part


def test_neighbours_are_the_nine_cells_around_each():
    grid = jnp.arange(1.0, 7.0).reshape(2, 3, 1)
    assert neighbours(grid)[0, 0].tolist() == [0, 0, 0, 0, 1, 2, 0, 4, 5]
    assert neighbours(grid)[1, 2].tolist() == [2, 3, 0, 5, 6, 0, 0, 0, 0]


def test_the_same_neighbours_look_the_same_anywhere():
    """What the first layer says of two cells that touch does not depend on where they are."""
    net = GridEncoder((8, 9, 2), units=4, layers=1, key=jax.random.key(0))

    def touching(row, column):
        return jnp.zeros((8, 9, 2)).at[row, column, 0].set(1).at[row, column + 1, 1].set(1)

    here, there = (net.around(neighbours(touching(*at)))[at] for at in ((2, 3), (5, 6)))
    np.testing.assert_allclose(here, there)
    assert not np.allclose(here, net.around(neighbours(touching(2, 3)))[2, 4])


def test_a_grid_beside_a_vector():
    parts = [Part("board", "grid", (5, 9, 3)), Part("number", "vector", (2,))]
    keys = jax.random.split(jax.random.key(0))
    encoder = Encoder(parts, depth=2, units=5, layers=1, key=keys[0])
    decoder = Decoder(7, parts, depth=2, units=5, layers=1, key=keys[1])
    raw = {"board": jnp.zeros((4, 5, 9, 3), jnp.int8).at[:, 4, 7, 1].set(1), "number": jnp.zeros((4, 2))}
    seen = {part.key: part.prepare(raw[part.key]) for part in parts}
    # Channels are last, however few rows there are.
    assert seen["board"].shape == (4, 5, 9, 3)
    assert seen["board"][0, 4, 7].tolist() == [0, 1, 0]
    assert encoder(seen).shape == (4, encoder.embedding) == (4, 10)
    guess = decoder(jnp.ones((4, 7)))
    assert guess["board"].shape == seen["board"].shape
    assert decoder.loss(jnp.ones((4, 7)), seen).shape == (4,)


def test_mixing_is_a_product_with_the_neighbours_and_so_is_its_gradient():
    grid = jax.random.normal(jax.random.key(0), (2, 3, 4, 5, 2))
    weight = jax.random.normal(jax.random.key(1), (18, 3))
    np.testing.assert_allclose(mix(grid, weight), neighbours(grid) @ weight, atol=1e-5)

    def gradients(product):
        return jax.grad(lambda *given: jnp.sin(product(*given)).sum(), argnums=(0, 1))(grid, weight)

    for one, other in zip(gradients(mix), gradients(lambda x, w: neighbours(x) @ w), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
