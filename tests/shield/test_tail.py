"""A tail that is a probability leaves the estimate unbiased, however few steps are imagined."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs.shield import TailedCriterion, imagine
from ambs.types import Prediction

HAZARD = np.array([0.01, 0.03, 0.1])
KERNEL = np.array([[0.6, 0.4, 0.0], [0.1, 0.6, 0.3], [0.5, 0.0, 0.5]])


def exact(steps):
    """P(violation within `steps`), by state: entering state i violates with its hazard, and then all is decided."""
    value = np.zeros(3)
    for _ in range(steps):
        value = KERNEL @ (HAZARD + (1 - HAZARD) * value)
    return value


class Chain:
    labels = ("bad",)

    def step(self, state, action, *, key):
        move, draw = jax.random.split(key)
        following = jax.random.choice(move, 3, p=jnp.asarray(KERNEL)[state])
        bad = jax.random.uniform(draw) < jnp.asarray(HAZARD)[following]
        return following, Prediction(jnp.zeros(()), jnp.ones(()), {"bad": bad})


class Any:
    def sample(self, state, *, key):
        return jnp.zeros((), int)


@pytest.mark.parametrize("imagined", [1, 5, 19])
def test_the_estimate_is_that_of_whole_traces(imagined):
    tail = jnp.asarray(exact(20 - imagined))
    criterion = TailedCriterion(ambs.parse("G<=20 !bad"), imagined, lambda state: tail[state])

    def one(key):
        roll, judge = jax.random.split(key)
        return criterion(imagine(Chain(), Any(), jnp.asarray(0), criterion.steps, key=roll), key=judge)

    estimate = float(jnp.mean(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(imagined), 20_000))))
    assert estimate == pytest.approx(1 - exact(20)[0], abs=4 * 0.5 / 20_000**0.5)


def test_after_an_end_nothing_is_asked_of_the_tail():
    criterion = TailedCriterion(ambs.parse("G<=4 !bad"), 2, lambda state: jnp.ones(()))
    states = jnp.arange(2)

    def judged(cont, bad):
        predictions = Prediction(jnp.zeros(2), jnp.asarray(cont, float), {"bad": jnp.asarray(bad)})
        return bool(criterion(ambs.shield.Trajectory(states, states, predictions), key=jax.random.key(0)))

    assert judged([1, 0], [False, False])
    assert judged([0, 1], [False, True])
    assert not judged([1, 1], [False, False])
    assert not judged([1, 0], [False, True])


@pytest.mark.parametrize(
    ("path", "imagined", "message"),
    [
        ("F<=20 bad", 5, "a tail can be put to G<=n Ψ alone"),
        ("G<=20 !bad", 20, "a look-ahead of 20 with 20 imagined steps leaves no tail; imagine from 1 to 19 steps"),
        ("G<=20 !bad", 0, "with 0 imagined steps"),
    ],
)
def test_what_does_not_fit(path, imagined, message):
    with pytest.raises(ambs.AmbsError, match=message):
        TailedCriterion(ambs.parse(path), imagined, lambda state: jnp.zeros(()))


def test_in_a_shield():
    """Two equal shields, one that imagines all and one that asks the tail, let about the same share of checks pass."""
    tail = jnp.asarray(exact(10))
    formula = "P>=0.6 [ G<=20 !bad ]"
    by_tail = TailedCriterion(ambs.parse("G<=20 !bad"), 10, lambda state: tail[state])
    keys = jax.random.split(jax.random.key(0), 400)
    estimates = []
    for criterion in (None, by_tail):
        shield = ambs.LookaheadShield(Chain(), Any(), Any(), formula, ambs.Fixed(64, 16), criterion=criterion)
        decide = jax.jit(jax.vmap(lambda key, shield=shield: shield(jnp.asarray(0), jnp.asarray(0), key=key)))
        estimates.append(np.asarray(decide(keys).estimate))
    np.testing.assert_allclose(estimates[0].mean(), estimates[1].mean(), atol=0.01)
    with pytest.raises(ambs.FormulaError, match="bad"):
        ambs.LookaheadShield(Chain(), Any(), Any(), "P>=0.6 [ G<=20 !worse ]", ambs.Fixed(64, 16), criterion=by_tail)
