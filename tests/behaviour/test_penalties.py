"""Penalties by hand, where one of two actions pays twice as much and breaks the formula: what is learned then."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.behaviour.actor_critic import BehaviourConfig, Imagined
from ambs.behaviour.dreaming import gradients
from ambs.behaviour.penalties import PENALTIES, Judges, PenaltyConfig
from ambs.behaviour.returns import ReturnScale
from ambs.behaviour.safety_critics import SafetyCritics
from ambs.world_model.sizes import size
from tests.behaviour.by_hand import behaviour
from tests.behaviour.test_safety_critics import saying

CONFIG = BehaviourConfig(discount=0.9, lambda_=0.5, entropy=0.0)
_critics = eqx.filter_jit(SafetyCritics)
# d ln π(0) / d logit_0 where both actions are as likely: see test_actor_critic.
SLOPE = 0.495


def a_choice(violates=1.0, cont=1.0):
    """One step twice from the same state: action 0 pays 1, action 1 pays 2 and enters a state of h = `violates`."""
    features = jnp.array([[[0.0, 1], [0.0, 1]], [[0.0, 1], [violates, 1]]])
    return Imagined(
        features, jnp.array([[[1.0, 0], [0.0, 1]]]), jnp.array([[1.0, 2]]), jnp.array([[1.0, cont]]), jnp.ones(2)
    )  # fmt: skip


def judges(cost=10.0, safe_value=lambda row: jnp.full(row.shape[:-1], -2.0), look_ahead=3, beyond=0.0):
    """h is how surely a state breaks the formula; the critics say `beyond` of every state, and 0 at first."""
    critics = _critics(2, size("debug"), CONFIG, most=10.0, key=jax.random.key(0))
    if beyond:
        critics, _, _ = saying(critics, "twins", beyond, beyond)
        critics, _, _ = saying(critics, "slow", beyond, beyond)
    return Judges(lambda row: cost * row[..., 0], lambda row: 1 - row[..., 0], critics, safe_value, look_ahead)


def advantages(kind, weight, who=None, imagined=None):
    """Of both actions, with the penalty."""
    found = _penalised(
        kind, weight, who or judges(), a_choice() if imagined is None else imagined, behaviour(CONFIG)
    )  # fmt: skip
    return found.advantage[0], found


@eqx.filter_jit
def _penalised(kind, weight, who, imagined, me):
    lesson, _ = me.lesson(imagined)
    return PENALTIES[kind](lesson, imagined, who, ReturnScale.start(), weight)


@eqx.filter_jit
def _taught(advantage):
    def change(lesson, imagined):
        return lesson._replace(advantage=advantage), "said"

    return gradients(behaviour(CONFIG), lambda actor: a_choice(), change)


def slope(advantage):
    """What the loss's gradient is for the logit of action 0, which is safe: below 0 if it is to become likelier."""
    taught = _taught(advantage[None])
    assert taught.besides == "said"
    gradient = np.asarray(taught.actor.net.out.bias)
    np.testing.assert_allclose(gradient[0], -gradient[1], rtol=1e-5)
    return float(gradient[0])


def test_the_gradient_of_each_by_hand():
    """The loss is the mean of two trajectories: its slope is -.495 (A'_0 - A'_1) / 2.

    none    A' = (1, 2)                                       the dangerous action becomes likelier
    critic  A^C = (0, 10) at scale 1: A' = (1, 2 - 10) / 2
    plpg    δ = (0, -10): A' = (1, 2 e^-10 - 10)
    copt    J = (0, 10), and .9³ · 10 = 7.29 is refused: A' = (1, 2 (1 - σ(27.1)))
    """
    assert slope(jnp.array([1.0, 2])) == pytest.approx(SLOPE / 2, rel=1e-4)
    for kind, difference in (("critic", 0.5 + 4), ("plpg", 1 - 2 * math.exp(-10) + 10), ("copt", 1.0)):
        assert slope(advantages(kind, 1.0)[0]) == pytest.approx(-SLOPE * difference / 2, rel=1e-4), kind


def test_the_penalty_critic_counts_what_lies_beyond_and_what_was_expected():
    """V^C = v everywhere: of the safe action R^C = .9 v (its state goes on), of the other 10 (its state is the end),
    less v each; the critic of the task is at 0. With α = 3: (A - 3 A^C) / 4."""
    who = judges(beyond=2.0)
    v = float(who.critics.value(jnp.zeros(2)))
    found, _ = advantages("critic", 3.0, who)
    np.testing.assert_allclose(found, [(1 + 3 * 0.1 * v) / 4, (2 - 3 * (10 - v)) / 4], rtol=1e-4)


def test_the_penalty_critic_keeps_the_scale_of_costs():
    """Half of (0, 10)'s percentiles .5 and 9.5: S^C = 4.5."""
    config = BehaviourConfig(discount=0.9, lambda_=0.5, scale_decay=0.5)
    critics = _critics(2, size("debug"), config, most=10.0, key=jax.random.key(0))
    found, more = advantages("critic", 1.0, judges()._replace(critics=critics))
    np.testing.assert_allclose(found, [0.5, (2 - 10 / 4.5) / 2], rtol=1e-4)
    np.testing.assert_allclose([more.scale.low, more.scale.high], [0.25, 4.75], rtol=1e-4)


def test_plpg_counts_by_how_likely_it_is_safe():
    """Without the safety loss, α = 0. What is cheaper than the safe policy's way is as safe as can be, and counts
    once; a state that ends the episode is worth 0; and no action counts less than a millionth."""
    found, _ = advantages("plpg", 0.0)
    np.testing.assert_allclose(found, [1, 2 * math.exp(-10)], rtol=1e-4)
    dear_here = judges(cost=1.0, safe_value=lambda row: -4 + 3 * row[..., 0])
    np.testing.assert_allclose(advantages("plpg", 0.0, dear_here)[0], [1, 2], rtol=1e-5)
    # δ = -1 + 0 · V + 2 = 1 in the last state; with cont 1 it is -1.
    np.testing.assert_allclose(advantages("plpg", 0.0, judges(cost=1.0), a_choice(cont=0.0))[0], [1, 2], rtol=1e-5)
    np.testing.assert_allclose(advantages("plpg", 0.0, judges(cost=1.0))[0], [1, 2 / math.e], rtol=1e-4)
    np.testing.assert_allclose(advantages("plpg", 2.0, judges(cost=50.0))[0][1], 2e-6 + 2 * math.log(1e-6), rtol=1e-4)


def test_copt_is_soft_and_takes_as_much_as_asked():
    """J = 7.29, what is refused: σ(0) = ½. A tenth less, σ(-1); and the tail counts: .9 · 8.1 is about that."""
    for cost, share in ((7.29, 0.5), (7.19, 1 / (1 + math.e))):
        found, _ = advantages("copt", 1.0, judges(cost=cost))
        np.testing.assert_allclose(found, [1, 2 * (1 - share)], rtol=1e-4)
    np.testing.assert_allclose(advantages("copt", 0.5, judges())[0], [1, 1], rtol=1e-4)
    tail = judges(cost=0.0, beyond=8.1)
    v = float(tail.critics.value(jnp.zeros(2)))
    share = 1 / (1 + math.exp(-10 * (0.9 * v - 7.29)))
    np.testing.assert_allclose(advantages("copt", 1.0, tail)[0], [1 - share, 2 * (1 - share)], rtol=1e-2)
    # Nothing follows the end of an episode.
    np.testing.assert_allclose(advantages("copt", 1.0, tail, a_choice(cont=0.0))[0][1], 2, rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "steep"), [("critic", -2.5), ("plpg", -0.5 * (2 * math.exp(-0.5) + 1)), ("copt", 0.0)]
)
def test_continuous_actions_feel_the_cost_that_they_lead_to(kind, steep):
    """d A'_1 / dh where entering costs c h: -α c / (1 + α) with c = 5; -(p A + α) c with c = ½ at h = 1, so p = e^-½;
    and nothing passes the weights of copt."""
    cost, h = {"critic": (5.0, 0.5), "plpg": (0.5, 1.0), "copt": (7.29, 1.0)}[kind]

    def dangerous(h):
        imagined = a_choice()
        imagined = imagined._replace(features=imagined.features.at[1, 1, 0].set(h))
        return advantages(kind, 1.0, judges(cost=cost), imagined)[0][1]

    assert float(jax.grad(dangerous)(h)) == pytest.approx(steep, rel=1e-3, abs=1e-6)


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
