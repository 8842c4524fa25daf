"""The shield that is made of a learner's networks asks the right ones, as far ahead as it should."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, _either, decide, shield_of
from ambs.behaviour.actor import Likeliest
from ambs.errors import AmbsError
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.shield import CostCriterion, LabelCriterion, Search, TailedCriterion
from ambs.types import Decision
from ambs.world_model.events import Events
from ambs.world_model.parts import parts_of

HORIZON, LOOK_AHEAD = 5, 9
UP, STAY = 0, 4


@pytest.fixture(scope="module")
def learner():
    """Whose task policy goes up, whose safe policy stays; a violation critic and twins with values of their own."""
    small = cpu_learner("debug")
    small = dataclasses.replace(small, behaviour=dataclasses.replace(small.behaviour, horizon=HORIZON))
    parts = parts_of(ambs.make("conveyor").observation_space)
    made = Learner.create(parts, 5, with_safety(small, LOOK_AHEAD), discrete=True, key=jax.random.key(0))
    first = made.safety.critics.twins[0]
    bins = first.out.bias.size
    return eqx.tree_at(
        lambda me: (
            me.task.actor.net.out.bias, me.safety.policy.actor.net.out.bias, me.safety.violation.net.out.bias,
            me.safety.critics.twins[0].out.bias, me.safety.critics.twins[1].out.bias,
        ),
        made,
        (
            jnp.asarray(50 * np.eye(5)[UP]), jnp.asarray(50 * np.eye(5)[STAY]),
            jnp.asarray([3.0, 4.0, 5.0, 6.0]), 20 * jnp.eye(bins)[bins // 2 + 3], 20 * jnp.eye(bins)[bins // 2 + 9],
        ),
    )  # fmt: skip


def made(learner, criterion, look_ahead=LOOK_AHEAD, **changes):
    return shield_of(learner, ShieldConfig(criterion, **changes), HORIZON, look_ahead)


def plays(learner, policy):
    return int(np.argmax(policy.sample(learner.model.rssm.initial(), key=jax.random.key(0))))


@pytest.mark.parametrize("look_ahead", [6, 7, 9])
def test_sound_asks_its_critic_for_just_what_is_left(learner, look_ahead):
    criterion = made(learner, "sound", look_ahead).criterion
    assert isinstance(criterion, TailedCriterion)
    assert criterion.steps == HORIZON
    state = learner.model.rssm.initial()
    all_of_them = np.asarray(learner.safety.violation(state.features))
    assert len(np.unique(all_of_them.round(5))) == LOOK_AHEAD - HORIZON
    np.testing.assert_allclose(criterion.tail(state), all_of_them[look_ahead - HORIZON - 1], rtol=1e-5)


@pytest.mark.parametrize(("criterion", "steps"), [("rollout", 9), ("recover", 9), ("either", 9), ("latent", 5)])
def test_without_a_critic_labels_decide(learner, criterion, steps):
    found = made(learner, criterion)
    assert isinstance(found.criterion, LabelCriterion)
    assert found.criterion.steps == steps
    assert isinstance(found.model, Events)


def test_latent_looks_no_further_than_it_is_told(learner):
    assert made(learner, "latent", 3).criterion.steps == 3


@pytest.mark.parametrize(("twins", "which"), [("min", min), ("max", max)])
def test_paper_believes_the_twin_that_it_is_told_to(learner, twins, which):
    criterion = made(learner, "paper", twins=twins).criterion
    assert isinstance(criterion, CostCriterion)
    assert (criterion.horizon, criterion.imagined) == (LOOK_AHEAD, HORIZON)
    state, critics = learner.model.rssm.initial(), learner.safety.critics
    lesser, greater = (float(critics.value(state.features, pessimistic=each)) for each in (False, True))
    assert lesser < greater - 0.01
    np.testing.assert_allclose(criterion.tail(state), which(lesser, greater), rtol=1e-5)


@pytest.mark.parametrize("criterion", ["sound", "rollout", "paper", "latent", "recover", "either"])
def test_who_is_imagined_to_go_on_and_who_takes_over(learner, criterion):
    shield = made(learner, criterion)
    assert plays(learner, shield.task) == (STAY if criterion in ("recover", "either") else UP)
    assert plays(learner, shield.backup) == STAY


def test_a_searched_backup_imagines_the_safe_policy_as_far_as_the_shield_looks(learner):
    shield = made(learner, "recover", safe_actions="searched")
    assert isinstance(shield.backup, Search)
    assert isinstance(shield.task, Likeliest)
    assert shield.backup.criterion.steps == LOOK_AHEAD
    np.testing.assert_array_equal(shield.backup.actions, np.eye(5))
    assert plays(learner, shield.backup.policy) == STAY


@pytest.mark.parametrize("criterion", ["recover", "either"])
def test_the_proposed_action_cannot_be_looked_past(criterion):
    with pytest.raises(AmbsError, match="nobody would look at that one"):
        ShieldConfig(criterion, first="resampled")


@pytest.mark.parametrize("head", ["safety", "continuation"])
@pytest.mark.parametrize("criterion", ["rollout", "either"])
def test_heads_that_predict_no_number_are_refused(learner, head, criterion):
    broken = eqx.tree_at(lambda me: getattr(me.model, head).out.bias, learner, jnp.full(1, jnp.nan))
    state = jax.tree.map(lambda each: each[None], broken.model.rssm.initial())
    found = decide(broken, ShieldConfig(criterion), HORIZON, LOOK_AHEAD, state, jnp.eye(5)[:1], key=jax.random.key(0))
    assert found.overridden.all()
    assert np.isnan(found.estimate).all()


def test_one_backup_is_enough():
    with pytest.raises(AmbsError, match="no safe action is searched"):
        ShieldConfig("sound", backup="module:function", safe_actions="searched")


def test_what_a_model_that_lost_its_mind_says_the_second_time_is_not_believed():
    def decision(overridden, estimate):
        estimate = jnp.asarray([estimate])
        return Decision(jnp.ones((1, 2)), jnp.asarray([overridden]), estimate, estimate, estimate, jnp.asarray([8]))

    both = _either(decision(True, jnp.nan), decision(False, 1.0))
    assert both.overridden.tolist() == [True]
