"""The shield around a learned agent: what is imagined, how a trace is judged, and when that is enough.

sound     H steps of drawn events, then the finite-horizon critic for the T-H beyond; ladder test
rollout   all T steps of drawn events, no critic; ladder test
paper     discounted cost of H steps plus the lesser of the twin critics, below γ^(T-1) C; 512 traces, mean >= 1-Δ+ε
latent    H steps of drawn events, and no further: latent shielding (He et al.)
recover   as rollout, with the safe policy after the proposed action: is there still a way out?
either    recover, and where it refuses, rollout: does one of the two policies keep it?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.agents.learner import Learner
from ambs.agents.player import Memory, propose, see
from ambs.agents.safety import Safety
from ambs.behaviour.actor import Actor, Likeliest
from ambs.errors import AmbsError, probability
from ambs.logic import syntax
from ambs.shield import CostCriterion, Fixed, LabelCriterion, Ladder, LookaheadShield, Search, StatTest, TailedCriterion
from ambs.shield.fitting import DELTA
from ambs.shield.together import decide_together, judge_together, take_over
from ambs.types import Decision
from ambs.world_model.events import VIOLATION, Events
from ambs.world_model.model import WorldState
from ambs.world_model.rssm import without_gradient

CRITERIA = ("sound", "rollout", "paper", "latent", "recover", "either")
TESTS = ("auto", "sharp", "A", "B", "C", "paper")
SAFE_ACTIONS = ("likeliest", "sampled", "searched")
# Traces after each action that is tried: as many as the ladder looks at first.
SEARCHED = 16


@dataclass(frozen=True)
class ShieldConfig:
    """How the shield judges. T and C are the learner's (`SafetyConfig`), since its critics are made for them; H is the
    horizon that behaviour is imagined for."""

    criterion: str = "either"
    """sound, rollout, paper, latent, recover or either."""
    test: str = "auto"
    """auto, which is `paper` for the criterion paper and else the ladder for Δ at δ = 0.01; sharp, A, B, C
    or paper."""
    Delta: float = 0.1
    """Δ: how likely a violation may be."""
    epsilon: float = 0.09
    """ε of the paper's test."""
    traces: int = 512
    """m of the paper's test."""
    twins: str = "min"
    """Which of the twin critics the criterion paper believes: min, as the paper has it, or max."""
    first: str = "proposed"
    """The first action of a trace: the proposed one, or resampled from the policy as the paper's own code does."""
    safe_actions: str = "likeliest"
    """What the safe policy plays, and is imagined to: its likeliest action, or one sampled, as in the paper. Searched:
    it is imagined to play its likeliest, and where it takes over that action is played, of all, after which most such
    futures are safe; only with discrete actions."""
    backup: str | None = None
    """A backup policy of your own, `module:function`, from observation to action; the safe policy if not given."""
    after: int = 0
    """Steps, counted from the first one that is not random, after which the shield begins."""
    when: float | None = None
    """And how well the model has to foretell violations before it does, as a Brier skill; whatever, if not given."""
    explore: int = 0
    """Steps, counted from where the shield begins, in which every other environment proposes random actions: behind a
    shield they may be tried. Unless it is 0, all of them do, however long, until a reward other than 0 was met: a task
    policy that knows of none goes nowhere."""

    def __post_init__(self) -> None:
        for name, choices in (
            ("criterion", CRITERIA),
            ("test", TESTS),
            ("twins", ("min", "max")),
            ("first", ("proposed", "resampled")),
            ("safe_actions", SAFE_ACTIONS),
        ):
            if getattr(self, name) not in choices:
                raise AmbsError(
                    f"the shield's {name} is {getattr(self, name)!r}, and has to be one of {', '.join(choices)}."
                )
        probability("Delta", self.Delta)
        if self.backup is not None and self.criterion in ("recover", "either"):
            raise AmbsError(
                f"the criterion {self.criterion} imagines the backup policy, and one of your own sees observations, "
                "which are not imagined; choose another criterion, or leave the backup out."
            )
        if self.backup is not None and self.safe_actions == "searched":
            raise AmbsError(
                "there is a backup policy of your own, so no safe action is searched; leave one of them out."
            )
        if self.first == "resampled" and self.criterion in ("recover", "either"):
            raise AmbsError(
                f"the criterion {self.criterion} asks what follows the proposed action, and with the first action "
                "resampled nobody would look at that one; take another criterion, or leave the first action as it is."
            )
        if self.after < 0:
            raise AmbsError(f"the shield begins after {self.after} steps, and that has to be at least 0.")
        if self.explore < 0:
            raise AmbsError(
                f"random actions are to be proposed for {self.explore} steps (explore), and that has to be at least 0."
            )
        if self.explore and self.first == "resampled":
            raise AmbsError(
                "random actions are to be proposed (explore), and with the first action resampled nobody would look at "
                "them before they are played; leave out --explore, or --first."
            )
        if self.explore and self.when is not None:
            raise AmbsError(
                "random actions are to be proposed for so many steps from where the shield begins (explore), and it "
                "begins when its model foretells violations, nobody knows when; leave out --explore, or --shield-when."
            )
        if self.when is not None and not self.when < 1:
            raise AmbsError(
                f"the shield begins when violations are foretold with a skill of {self.when:g}, and a skill is 1 at "
                "most, where everything is foretold; ask for less."
            )
        # What is wrong with the test is said here, before anything is learned.
        error = self.decides.accept_probability(1 - self.Delta)
        if error > DELTA:
            raise AmbsError(
                f"the shield's test lets a violation probability of {self.Delta:g} pass with probability {error:.3g}, "
                f"its delta, and at most {DELTA:g} is held to; draw more traces, or take the test auto."
            )

    @property
    def decides(self) -> StatTest:
        if self.test == "paper" or (self.test == "auto" and self.criterion == "paper"):
            # In batches, the rest not drawn once it cannot change the decision: the same decisions from fewer traces.
            # A number that batches do not divide would be drawn in as small ones as do.
            batch = 32 if self.traces % 32 == 0 else None
            return Fixed.paper(self.Delta, self.epsilon, self.traces, batch=batch)
        if self.test == "sharp":
            return Ladder.sharp(self.Delta, DELTA)
        return Ladder.design(self.Delta, DELTA) if self.test == "auto" else Ladder.level(self.test)


def shield_of(learner: Learner, config: ShieldConfig, horizon: int, look_ahead: int) -> LookaheadShield:
    """The shield that the learner's networks make; `horizon` is H and `look_ahead` is T. Of `either`, the first."""
    safety = learner.safety
    assert safety is not None
    reach = min(horizon, look_ahead) if config.criterion == "latent" else look_ahead
    path = syntax.Globally(syntax.Not(syntax.Atom(VIOLATION)), syntax.Steps(0, reach))
    formula = syntax.ProbabilityBound(">=", 1 - config.Delta, path)
    going_on, test = safe_policy(safety, config), config.decides
    backup: Any = going_on
    if config.safe_actions == "searched":
        actions = jnp.eye(safety.policy.actor.actions)
        backup = Search(Events(learner.model), going_on, LabelCriterion(path), actions, SEARCHED)
    task: Any = learner.task.actor
    make: Any = StateShield if config.first == "resampled" else LookaheadShield
    if config.criterion == "paper":
        return make(learner.model, task, backup, formula, test, criterion=_by_cost(safety, config, horizon, reach))
    criterion = None
    if config.criterion in ("recover", "either"):
        task = going_on
    if config.criterion == "sound" and reach > horizon:
        within = reach - horizon
        if within > safety.violation.steps:
            # Asked for more, an array would give its last.
            raise AmbsError(
                f"the shield looks {reach} steps ahead, {within} of them beyond what is imagined, and its critic has "
                f"learned to tell of {safety.violation.steps}; look less far ahead, or take the criterion rollout."
            )
        criterion = TailedCriterion(path, horizon, _tail(lambda features: safety.violation(features)[within - 1]))
    return make(Events(learner.model), task, backup, formula, test, criterion=criterion)


def safe_policy(safety: Safety, config: ShieldConfig) -> Actor | Likeliest:
    """As the shield imagines it, and plays it unless it searches."""
    return safety.policy.actor if config.safe_actions == "sampled" else Likeliest(safety.policy.actor)


def imagined_in(learner: Learner, config: ShieldConfig, look_ahead: int) -> tuple[Actor | Likeliest, int]:
    """Who goes on after the proposed action in a trace, and for how many steps; of `either`, in the first of its two
    kinds of traces."""
    assert learner.safety is not None
    horizon = min(learner.task.config.horizon, look_ahead)
    policy = safe_policy(learner.safety, config) if config.criterion in ("recover", "either") else learner.task.actor
    return policy, look_ahead if config.criterion in ("rollout", "recover", "either") else horizon


def _by_cost(safety: Safety, config: ShieldConfig, horizon: int, look_ahead: int) -> CostCriterion:
    critics, pessimistic = safety.critics, config.twins == "max"
    tail = _tail(lambda features: critics.value(features, pessimistic=pessimistic)) if look_ahead > horizon else None
    return CostCriterion(look_ahead, min(horizon, look_ahead), critics.config.discount, critics.most, tail)


def _tail(of_features: Callable[[Any], Float[Array, ""]]) -> Callable[[Any], Float[Array, ""]]:
    return lambda state: of_features(state.features)


@eqx.filter_jit
def act_shielded(
    learner: Learner,
    config: ShieldConfig,
    look_ahead: int,
    memory: Memory,
    obs: Mapping[str, Array],
    is_first: Bool[Array, " envs"],
    *,
    key: PRNGKeyArray,
    likeliest: bool = False,
    explored: tuple[Bool[Array, " envs"], Float[Array, "envs actions"]] | None = None,
) -> tuple[Float[Array, "envs actions"], Memory, Decision]:
    """Sees, remembers, proposes, verifies, and plays what the shield lets through or the safe policy instead.

    In the environments that `explored` names its actions are proposed, and not the task policy's. Gives what was
    proposed, what to remember (the action that is played is there), and the decisions, a row each.
    """
    look, choose, verify = jax.random.split(key, 3)
    horizon = learner.task.config.horizon
    state = see(learner.model, memory, obs, is_first, key=look, likeliest=likeliest)
    proposed = propose(learner.task.actor, state, key=choose, likeliest=likeliest)
    if explored is not None:
        proposed = jnp.where(explored[0][:, None], explored[1], proposed)
    decision = decide(learner, config, horizon, look_ahead, state, proposed, key=verify)
    return proposed, Memory(state, decision.action), decision


def decide(
    learner: Learner, config: ShieldConfig, horizon: int, look_ahead: int, state: WorldState,
    proposed: Float[Array, "envs actions"], *, key: PRNGKeyArray,
) -> Decision:  # fmt: skip
    """Of all environments at once; the fields of the decision have a row each."""
    shield, start = shield_of(learner, config, horizon, look_ahead), without_gradient(state)
    keys = jax.random.split(key, len(proposed))
    if config.criterion != "either":
        return decide_together(shield, start, proposed, keys)
    keys, again = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    backup_keys, keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    # As `decide_together` would, so that decisions are those of the two shields alone.
    _, again = jnp.moveaxis(jax.vmap(jax.random.split)(again), 1, 0)
    first = judge_together(shield, start, proposed, keys)
    other = shield_of(learner, replace(config, criterion="rollout"), horizon, look_ahead)
    second = judge_together(other, start, proposed, again, first.overridden & ~jnp.isnan(first.estimate))
    return take_over(shield.backup, _either(first, second), start, backup_keys)


def _either(first: Decision, second: Decision) -> Decision:
    """The second where the first refused and it does not; all traces count. A model that lost its mind in the first is
    not believed in the second."""
    passes = first.overridden & ~second.overridden & ~jnp.isnan(first.estimate)
    chosen = jax.tree.map(lambda one, other: jnp.where(_like(passes, one), other, one), first, second)
    return chosen._replace(traces=first.traces + jnp.where(first.overridden, second.traces, 0))


def _like(rows: Bool[Array, " envs"], values: Array) -> Array:
    return rows.reshape(-1, *(1,) * (values.ndim - 1))


class StateShield(LookaheadShield):
    """Verifies the state rather than the action: the policy is asked anew for the first action of every trace.

    What the paper's own code does. An action that is rare and fatal passes, and is played; kept to compare with.
    """

    def trace(self, state: WorldState, proposed: Any, key: PRNGKeyArray) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
        first, rest = jax.random.split(key)
        return super().trace(state, self.task.sample(state, key=first), rest)
