"""Penalties by hand, where one of two actions pays twice as much and breaks the formula: what is learned then."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.behaviour.actor_critic import BehaviourConfig, Imagined, Lesson
from ambs.behaviour.penalties import PENALTIES, Judges, PenaltyConfig
from ambs.behaviour.returns import ReturnScale
from ambs.behaviour.safety_critics import SafetyCritics
from ambs.world_model.sizes import size
from tests.behaviour.by_hand import FEATURES, WIDTH, behaviour, bins

CONFIG = BehaviourConfig(discount=0.9, lambda_=0.5, entropy=0.0, scale_decay=0.5)
# d ln π(0) / d logit_0 where both actions are as likely: see test_actor_critic.
SLOPE = 0.495
_critics = eqx.filter_jit(SafetyCritics)


@pytest.fixture(scope="module")
def critics():
    """They say 0 of every state."""
    return _critics(FEATURES, size("debug"), CONFIG, most=10.0, key=jax.random.key(0))


def saying(critics, place):
    """Critics that are sure of the bin so many above that of 0, whatever they see; and what that is worth."""
    outputs = [bins({place: 0.0}, rest=-100.0)] * 4
    said = eqx.tree_at(lambda me: [net.out.bias for net in (*me.twins, *me.slow)], critics, outputs)
    return said, math.expm1(place * WIDTH)


@eqx.filter_jit
def _penalised(kind, weight, critics, cost, h, cont, safe_values):
    """One step twice from the same state: action 0 pays 1; action 1 pays 2 and enters a state that breaks the formula
    as surely as h says, which costs `cost` times that. The safe policy's values are of the first state, and of h."""
    features = jnp.zeros((2, 2, FEATURES)).at[1, 1, 0].set(h)
    actions = jnp.eye(2)[None]
    imagined = Imagined(features, actions, jnp.array([[1.0, 2]]), jnp.stack([jnp.ones(()), cont])[None], jnp.ones(2))
    lesson = Lesson(features[:1], actions, imagined.signal, imagined.signal, jnp.ones((1, 2)))
    judges = Judges(
        lambda row: cost * row[..., 0], lambda row: 1 - row[..., 0], critics,
        lambda row: safe_values[0] + safe_values[1] * row[..., 0], 3,
    )  # fmt: skip
    return PENALTIES[kind](lesson, imagined, judges, ReturnScale.start(), weight)


def penalised(kind, weight, critics, cost=10.0, h=1.0, cont=1.0, safe_values=(-2.0, 0.0)):
    return _penalised(kind, weight, critics, *map(jnp.asarray, (cost, h, cont, safe_values)))


def advantages(*given, **more):
    """Of both actions, with the penalty."""
    return penalised(*given, **more).advantage[0]


@eqx.filter_jit
def _gradient(me, advantage):
    features, actions = jnp.zeros((1, 2, FEATURES)), jnp.eye(2)[None]
    lesson = Lesson(features, actions, advantage, advantage, jnp.ones((1, 2)))
    return eqx.filter_grad(lambda me: me.actor_loss(lesson)[0])(me).actor.net.out.bias


def test_the_gradient_of_each_by_hand(critics):
    """The loss is the mean of two trajectories: its slope for the logit of the safe action is -.495 (A'_0 - A'_1) / 2.

    none    A' = (1, 2)                                      it is above 0: the dangerous action becomes likelier
    critic  A^C = (0, 10) over S^C = 4.5: A' = (1, 2 - 10 / 4.5) / 2
    plpg    δ = (0, -10): A' = (1, 2 e^-10 - 10)
    copt    J = (0, 10), and .9³ · 10 = 7.29 is refused: A' = (1, 2 (1 - σ(27.1)))
    """
    me = behaviour(CONFIG)
    np.testing.assert_allclose(_gradient(me, jnp.array([[1.0, 2]])), [SLOPE / 2, -SLOPE / 2], rtol=1e-4)
    for kind, apart in (("critic", 0.5 - 1 + 5 / 4.5), ("plpg", 1 - 2 * math.exp(-10) + 10), ("copt", 1.0)):
        found = _gradient(me, advantages(kind, 1.0, critics)[None])
        np.testing.assert_allclose(found, [-SLOPE * apart / 2, SLOPE * apart / 2], rtol=1e-4, err_msg=kind)


def test_the_penalty_critic_counts_what_lies_beyond_and_what_was_expected(critics):
    """V^C = v everywhere: of the safe action R^C = .9 v (its state goes on), of the other 10 (its state is the end),
    less v each. Half of their percentiles is kept as the scale: ½ · .9 (10 - .9 v)."""
    who, v = saying(critics, 7)
    found = penalised("critic", 1.0, who)
    scale = 0.45 * (10 - 0.9 * v)
    np.testing.assert_allclose(
        found.advantage[0], [(1 + 0.1 * v / scale) / 2, (2 - (10 - v) / scale) / 2], rtol=1e-3
    )  # fmt: skip
    np.testing.assert_allclose(found.scale.high - found.scale.low, scale, rtol=1e-3)


def test_plpg_counts_by_how_likely_it_is_safe(critics):
    """Without the safety loss, α = 0. What is cheaper than the safe policy's way is as safe as can be, and counts
    once; what ends the episode is followed by nothing; and no action counts less than a millionth."""
    for changes, share in (
        ({}, math.exp(-10)),
        ({"cost": 1.0}, 1 / math.e),
        # δ = -1 + 2 = 1, since nothing follows.
        ({"cost": 1.0, "cont": 0.0}, 1.0),
        # δ = -1 - 1 + 4 = 2.
        ({"cost": 1.0, "safe_values": (-4.0, 3.0)}, 1.0),
        ({"cost": 50.0}, 1e-6),
    ):
        np.testing.assert_allclose(advantages("plpg", 0.0, critics, **changes), [1, 2 * share], rtol=1e-4)
    np.testing.assert_allclose(advantages("plpg", 1.0, critics, cost=50.0)[1], 2e-6 + math.log(1e-6), rtol=1e-4)


def test_copt_is_soft_and_takes_as_much_as_asked(critics):
    """J = 7.29, what is refused: σ(0) = ½. A tenth less, σ(-1). The tail counts, unless the episode has ended."""
    for cost, share in ((7.29, 0.5), (7.19, 1 / (1 + math.e)), (50.0, 1.0)):
        np.testing.assert_allclose(advantages("copt", 1.0, critics, cost=cost), [1, 2 * (1 - share)], atol=1e-4)
    np.testing.assert_allclose(advantages("copt", 0.5, critics), [1, 1], rtol=1e-4)
    tail, v = saying(critics, 14)
    share = 1 / (1 + math.exp(-10 * (0.9 * v - 7.29)))
    assert 0.1 < share < 0.9
    np.testing.assert_allclose(advantages("copt", 1.0, tail, cost=0.0), [1 - share, 2 * (1 - share)], rtol=1e-2)
    np.testing.assert_allclose(advantages("copt", 1.0, tail, cost=0.0, cont=0.0)[1], 2, rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "cost", "h", "steep"),
    [
        ("critic", 5.0, 0.4, -2.5),
        ("plpg", 0.5, 1.0, -0.5 * (2 * math.exp(-0.5) + 1)),
        ("copt", 7.29, 1.0, 0.0),
    ],
)
def test_continuous_actions_feel_the_cost_that_they_lead_to(critics, kind, cost, h, steep):
    """d A'_1 / dh where entering costs c h: -α c / (1 + α), at a scale of its least, 1; -(p A + α) c where p = e^-½;
    and nothing passes the weights of copt."""

    def dangerous(h):
        return _penalised(kind, 1.0, critics, jnp.asarray(cost), h, jnp.ones(()), jnp.array([-2.0, 0.0])).advantage[
            0, 1
        ]

    assert float(jax.grad(dangerous)(jnp.asarray(h))) == pytest.approx(steep, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "weight", "message"),
    [
        ("lagrange", 1.0, 'there is no penalty "lagrange"; choose one of none, critic, plpg, copt'),
        ("critic", -1.0, "weight of the penalty is -1, and has to be a number of at least 0"),
        ("critic", math.nan, "weight of the penalty is nan"),
        ("copt", 1.5, "copt takes away at most all of an advantage: it has to be at most 1"),
    ],
)
def test_what_cannot_be(kind, weight, message):
    with pytest.raises(AmbsError, match=message):
        PenaltyConfig(kind, weight)
