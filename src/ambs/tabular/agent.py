"""Tabular AMBS: the model is counted, the policies are planned on it, the shield stands between them and the world.

The learning phase and the interaction phase of the paper, for states that can be numbered. The *world* counts what
followed the actions that were played. The *backup policy* is the safest on it, with everything unknown taken for
unsafe, and among the equally safe the best for reward (the safest alone might stand still for ever). The *task policy*
is the best for reward minus a penalty for violations that grows with every refusal and fades without one. In the paper
it pays none (`penalty="none"`); then it runs against the shield for ever, and because the shield imagines it
unshielded, it is refused from as far away as the shield looks ahead, which on a small map is everywhere.

Exploration, stated: while `explore_steps` last, a pair never tried counts as safe for the shield, and one tried fewer
than `known_after` times as rewarding for the task policy (one try is not enough: where it slipped, the wrong outcome
would be believed for ever), unless it has led to a violation. After that the never tried counts as unsafe and worth
nothing. Pessimism from the start would never let the task policy act, because every path leads through the unknown. The
price is a violation for most hazards at the first encounter.

With another shield, or none, in place of this one (`guard`), the task policy learns what follows its *proposals*: the
guard is part of its world, and a proposal that is always refused is worth what is played instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import gymnasium
import jax
import numpy as np
from jaxtyping import Bool

from ambs.errors import AmbsError, FormulaError, positive_integer, probability
from ambs.logic import holds, require_atoms, syntax
from ambs.shield import LookaheadShield, StatTest, safety_formula
from ambs.tabular.counts import VisitCounts
from ambs.tabular.model import TabularModel, TabularPolicy
from ambs.tabular.planning import reward_values, safest_actions, safety_values
from ambs.types import Decision


@dataclass(frozen=True)
class TabularConfig:
    """How to learn; the defaults suit grids of up to a few hundred cells."""

    formula: str = "P>=0.9 [ G<=30 !acid ]"
    """What to keep, P>=1-Δ [ G<=T safe ]."""
    test: StatTest | None = None
    """How to decide from traces; the ladder for Δ at δ = 0.01 if not given."""
    explore_steps: int = 2_000
    """How long the unknown counts as safe."""
    known_after: int = 3
    """How many tries make a pair known to the task policy."""
    optimism: float = 0.2
    """What a step into the unknown is hoped to pay: more than any policy earns a step, or exploring ends early."""
    exploration: float = 0.0
    """The share of uniformly random proposals while exploring, beside the optimism that drives it. The shield sees them
    coming too, and near a hazard refuses a policy that acts at random."""
    discount: float = 0.97
    """Of the task reward."""
    replan_every: int = 50
    """Steps between new policies, when nothing new is seen."""
    penalty: str = "refusals"
    """What the task policy pays for a violation: "none", or what its "refusals" have taught it."""

    def __post_init__(self) -> None:
        path = self.bound.path
        if not isinstance(path, syntax.Globally) or path.steps.lower:
            raise FormulaError(f"a tabular agent keeps formulas of the form P>=p [ G<=n safe ], not '{self.bound}'.")
        if not (math.isfinite(self.optimism) and self.optimism >= 0):
            raise AmbsError(f"optimism is {self.optimism:g}, and has to be a number of at least 0.")
        probability("exploration", self.exploration, closed=True)
        probability("discount", self.discount)
        positive_integer("replan_every", self.replan_every)
        positive_integer("known_after", self.known_after)
        if self.penalty not in ("refusals", "none"):
            raise AmbsError(f"penalty is {self.penalty!r}, and has to be 'refusals' or 'none'.")
        if self.explore_steps < 0:
            raise AmbsError(f"explore_steps is {self.explore_steps}, and cannot be negative.")

    @property
    def bound(self) -> syntax.ProbabilityBound:
        """P>=1-Δ [ G<=T Ψ ], also when only Ψ was given."""
        return safety_formula(self.formula)

    @property
    def safe(self) -> syntax.StateFormula:
        """Ψ alone."""
        return self.bound.path.operand  # type: ignore[attr-defined]

    @property
    def horizon(self) -> int:
        """T."""
        return self.bound.path.steps.upper  # type: ignore[attr-defined]


@dataclass
class Step:
    """One step of an agent in its environment."""

    state: int
    proposed: int
    played: int
    following: int
    reward: float
    violated: bool
    """Ψ does not hold in the state that follows."""
    terminated: bool
    truncated: bool
    decision: Decision | None


# The least and the most that a violation costs the task policy once it has been refused (a delivery pays 1), and what
# is left of it a step later.
_PENALTIES = (0.1, 1000.0)
_FADE = 0.998

# Decides on a proposal: (state, proposed) -> Decision.
Guard = Callable[[int, int], Decision]


class TabularAgent:
    """Learns online in an environment with numbered states and actions.

    `guard` replaces the AMBS shield: another shield, or `no_guard` for none at all.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], config: TabularConfig, *, seed: int, guard: Guard | None = None
    ) -> None:
        if isinstance(seed, bool) or not 0 <= seed < 2**32:
            raise AmbsError(f"the seed is {seed}, and has to be a whole number from 0 to 2^32 - 1.")
        for name, space in (("observations", env.observation_space), ("actions", env.action_space)):
            if not isinstance(space, gymnasium.spaces.Discrete) or space.start != 0:
                raise AmbsError(f"a tabular agent needs {name} that are numbered from 0, and these are {space}.")
        states, actions = int(env.observation_space.n), int(env.action_space.n)  # type: ignore[attr-defined]
        self.config = config
        self.actions = actions
        self.world = VisitCounts(states, actions)
        self.penalty = 0.0
        # Labels are learned too: a state is unsafe once it has been seen to be.
        self.unsafe: Bool[np.ndarray, " states"] = np.zeros(states, bool)
        self.rng = np.random.default_rng(seed)
        self.key = jax.random.key(seed)
        self.guard = guard
        self.steps = 0
        self.shield: LookaheadShield | None = None
        self.replan()

    def replan(self) -> None:
        """Plans both policies anew, and gives the shield the model as it is now known."""
        config = self.config
        exploring = self.steps < config.explore_steps
        safe = ~np.append(self.unsafe, True)
        kernel = self.world.kernel(caution=0.0 if exploring else 1.0)
        reward = self.world.mean_reward(config.optimism if exploring else 0.0, config.known_after)
        task_values = reward_values(kernel, reward - self.penalty * (kernel @ ~safe), config.discount)
        best = np.eye(self.actions)[task_values.argmax(axis=1)]
        share = config.exploration if exploring else 0.0
        self.probs = (1 - share) * best + share / self.actions
        if self.guard is not None:
            return
        steps = config.horizon
        pessimistic = self.world.kernel(caution=1.0)
        allowed = safest_actions(safety_values(pessimistic, safe, steps))
        safest = reward_values(pessimistic, self.world.mean_reward(), config.discount, allowed=allowed).argmax(axis=1)
        # Room in powers of two: the shield is compiled anew only when that grows.
        width = 1 << int((kernel > 0).sum(axis=2).max() - 1).bit_length()
        model = TabularModel(kernel, {"violation": ~safe}, width=width)
        task, backup = TabularPolicy(self.probs), TabularPolicy.greedy(safest, self.actions)
        if self.shield is None:
            formula = f"P>={config.bound.threshold!r} [ G<={steps} !violation ]"
            self.shield = LookaheadShield(model, task, backup, formula, config.test)
        else:
            self.shield = eqx.tree_at(lambda s: (s.model, s.task, s.backup), self.shield, (model, task, backup))

    def act(self, state: int) -> tuple[int, Decision | None]:
        """The task policy's proposal, and what the shield makes of it."""
        proposed = int(self.rng.choice(self.actions, p=self.probs[state]))
        if self.guard is not None:
            return proposed, self.guard(state, proposed)
        assert self.shield is not None
        self.key, key = jax.random.split(self.key)
        return proposed, self.shield(state, proposed, key=key)

    def learn(self, step: Step) -> None:
        """Counts what happened; plans anew when it was something new, and every now and then."""
        action = step.played if self.guard is None else step.proposed
        surprised = bool(self.world.visits[step.state, action] < self.config.known_after)
        self.world.add(step.state, action, step.following, step.reward, violated=step.violated, ended=step.terminated)
        self.steps += 1
        if self.guard is None and step.decision is not None:
            surprised |= self._heed(bool(step.decision.overridden))
        if step.violated:
            surprised |= not self.unsafe[step.following]
            self.unsafe[step.following] = True
        if surprised or self.steps % self.config.replan_every == 0 or self.steps == self.config.explore_steps:
            self.replan()

    def _heed(self, refused: bool) -> bool:
        """Raises the penalty at a refusal, lets it fade otherwise; whether that calls for a new plan at once."""
        if self.config.penalty == "none":
            return False
        before = self.penalty
        self.penalty = min(max(2 * before, _PENALTIES[0]), _PENALTIES[1]) if refused else before * _FADE
        return refused and self.penalty != before


def interact(env: gymnasium.Env[Any, Any], agent: TabularAgent, steps: int, *, seed: int) -> Iterator[Step]:
    """Lets the agent act and learn for `steps` steps, episode after episode."""
    state, info = env.reset(seed=seed)
    if "labels" not in info:
        raise AmbsError(f"{env} puts no labels into its info; wrap it with ambs.labelled.")
    require_atoms(agent.config.safe, info["labels"])
    for _ in range(steps):
        proposed, decision = agent.act(int(state))
        played = proposed if decision is None else int(decision.action)
        following, reward, terminated, truncated, info = env.step(played)
        violated = not holds(agent.config.safe, info["labels"])
        step = Step(
            int(state), proposed, played, int(following), float(reward), violated, bool(terminated), bool(truncated),
            decision,
        )  # fmt: skip
        agent.learn(step)
        yield step
        state = env.reset()[0] if terminated or truncated else following


def no_guard(state: int, proposed: int) -> Decision:
    """No shield at all."""
    return Decision(proposed, False, np.nan, np.nan, np.nan, 0)  # type: ignore[arg-type]
