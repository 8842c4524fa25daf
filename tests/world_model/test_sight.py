"""What is around me moves with me, and what happens to me is learned from that: from few examples, for all places."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from ambs.world_model.model import Sequences, WorldModel
from ambs.world_model.parts import Part
from ambs.world_model.sight import FAR, NEAR, REACH, around_me, nearness, size_around_me
from ambs.world_model.sizes import size

SHAPE = (5, 6, 2)
EMPTY = jnp.zeros((1, *SHAPE))


def placed(*things):
    cells = np.zeros((1, *SHAPE), np.float32)
    for thing in things:
        cells[(0, *thing)] = 1
    return jnp.asarray(cells)


def ones(window, reach):
    """The places in a window that are not empty, seen from its middle."""
    wide = 2 * reach + 1
    found = np.argwhere(np.asarray(window[0]).reshape(wide, wide, 2) > 0.5)
    return {(int(row) - reach, int(column) - reach, int(channel)) for row, column, channel in found}


def test_it_moves_with_me():
    around, _, row, column = around_me(placed((1, 2, 0), (0, 3, 1), (4, 0, 1)), EMPTY)
    assert (np.argmax(row[0]), np.argmax(column[0])) == (1, 2)
    assert ones(around, REACH) == {(0, 0, 0), (-1, 1, 1), (3, -2, 1)}
    # The same a row further down and a column to the right.
    np.testing.assert_allclose(
        around_me(placed((2, 3, 0), (1, 4, 1)), EMPTY)[0], around_me(placed((1, 2, 0), (0, 3, 1)), EMPTY)[0], atol=1e-6
    )


def test_what_was_is_seen_from_where_i_am_now():
    """I have gone from (1, 1) to (1, 2), where another was; a third, two steps away, is too far."""
    _, was, _, _ = around_me(placed((1, 2, 0), (1, 3, 1)), placed((1, 1, 0), (1, 2, 1), (3, 2, 1)))
    assert ones(was, NEAR) == {(0, -1, 0), (0, 0, 1)}


def test_i_am_the_first_channel_with_one_cell():
    assert [np.argmax(each[0]) for each in around_me(placed((0, 0, 0), (1, 1, 0), (3, 4, 1)), EMPTY)[2:]] == [3, 4]
    assert [np.argmax(each[0]) for each in around_me(placed((2, 5, 0), (3, 4, 1)), EMPTY)[2:]] == [2, 5]


def test_nobody_is_nowhere():
    for part in around_me(EMPTY, placed((1, 1, 0))):
        assert not np.any(part)


def test_near_is_what_is_and_was_next_to_me():
    weights = nearness(SHAPE)
    assert len(weights) == size_around_me(SHAPE)
    # As many cells now as before, of both channels; where I am is far.
    assert (weights == 1).sum() == 2 * (2 * NEAR + 1) ** 2 * 2
    assert set(weights) == {1.0, FAR}
    seen = (2 * REACH + 1) ** 2 * 2
    middle = weights[:seen].reshape(2 * REACH + 1, 2 * REACH + 1, 2)[REACH - NEAR : REACH + NEAR + 1]
    assert (middle[:, REACH - NEAR : REACH + NEAR + 1] == 1).all()


def hits(rng, count, time=8, others=4):
    """I walk at random among others that stand still; stepping onto one is a hit."""
    rows, columns = 8, 8
    cells, cost = np.zeros((count, time, rows, columns, 2), np.uint8), np.zeros((count, time), np.float32)
    for one in range(count):
        standing = rng.permutation(rows * columns)[:others]
        place = rng.integers(rows), rng.integers(columns)
        for step in range(time):
            cells[one, step].reshape(-1, 2)[standing, 1] = 1
            cells[one, step, place[0], place[1], 0] = 1
            cost[one, step] = 10.0 * (place[0] * columns + place[1] in standing)
            move = [(0, 1), (0, -1), (1, 0), (-1, 0)][rng.integers(4)]
            place = min(max(place[0] + move[0], 0), rows - 1), min(max(place[1] + move[1], 0), columns - 1)
    first = np.zeros((count, time), bool)
    first[:, 0] = True
    nothing = np.zeros((count, time), np.float32)
    actions = np.zeros((count, time, 2), np.float32)
    return Sequences({"": cells}, actions, nothing, cost, first, np.zeros_like(first))


def test_a_hit_is_learned_from_few_examples_for_all_places(optimised):
    """From 40 sequences, seen again and again: heads that see all alike know these by heart, and no others."""
    rng = np.random.default_rng(0)
    known, others = hits(rng, 40), hits(rng, 200)
    model = WorldModel((Part("", "grid", (8, 8, 2)),), 2, size("debug"), grids="cells", key=jax.random.key(0))
    optimiser = optax.adam(4e-3)
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def losses(model, seen):
        return model.losses(seen, model.rssm.initial(seen.is_first.shape[:1]), key=jax.random.key(0))[0]

    @eqx.filter_jit
    def learn(model, state, seen):
        gradient = eqx.filter_grad(lambda me: sum(losses(me, seen).values()))(model)
        change, state = optimiser.update(gradient, state)
        return eqx.apply_updates(model, change), state

    seen = jax.tree.map(jnp.asarray, known)
    for _ in range(150):
        model, state = learn(model, state, seen)
    rate = float((others.cost > 0).mean())
    base = -rate * np.log(rate) - (1 - rate) * np.log(1 - rate)
    assert float(losses(model, jax.tree.map(jnp.asarray, others))["safety"]) < 0.3 * base
