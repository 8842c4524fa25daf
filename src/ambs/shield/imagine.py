"""The one rollout loop: what the model thinks will happen. Training and shielding both use it."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ambs.shield.callbacks import original_errors
from ambs.types import Action, Model, Policy, Prediction, State


class Trajectory(NamedTuple):
    """A rollout of n steps; time leads in every array.

    Attributes:
        states: the states 1..n that were entered.
        actions: the actions 0..n-1 that led there.
        predictions: what the model said of states 1..n.
    """

    states: State
    actions: Action
    predictions: Prediction


@original_errors()
def imagine(
    model: Model,
    policy: Policy,
    state: State,
    steps: int,
    *,
    key: PRNGKeyArray,
    first_action: Action | None = None,
) -> Trajectory:
    """Rolls `policy` out in `model` for `steps` transitions from `state`.

    With `first_action`, that action is played first and the policy only afterwards: a shield has to verify the
    action that will be played, not a fresh sample, or a rare fatal action passes and is executed.
    """

    def transition(state: State, action: Action, key: PRNGKeyArray) -> tuple[State, tuple[State, Action, Prediction]]:
        following, prediction = model.step(state, action, key=key)
        return following, (following, action, prediction)

    def step(state: State, key: PRNGKeyArray) -> tuple[State, tuple[State, Action, Prediction]]:
        act, move = jax.random.split(key)
        return transition(state, policy.sample(state, key=act), move)

    keys = jax.random.split(key, steps)
    if first_action is None:
        _, (states, actions, predictions) = jax.lax.scan(step, state, keys)
    else:
        state, first = transition(state, first_action, keys[0])
        _, rest = jax.lax.scan(step, state, keys[1:])
        states, actions, predictions = jax.tree.map(
            lambda one, many: jnp.concatenate([jnp.asarray(one)[None].astype(many.dtype), many]), first, rest
        )
    return Trajectory(states, actions, predictions)
