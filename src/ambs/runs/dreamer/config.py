"""What a training run is told: one frozen dataclass, saved with the run, and presets that are Python objects."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

from ambs.agents.lagrangian import LagrangianConfig
from ambs.agents.learner import LearnerConfig
from ambs.agents.optimiser import OptimiserConfig
from ambs.agents.safety import SafetyConfig
from ambs.agents.shielding import ShieldConfig
from ambs.behaviour.actor_critic import BehaviourConfig
from ambs.behaviour.penalties import PenaltyConfig
from ambs.envs.guards import GuardConfig
from ambs.errors import AmbsError, positive_integer, probability

# Of the run; what the paper has of the learner is `LearnerConfig`'s own defaults.
PAPER = {"length": 64, "train_ratio": 64.0}


def with_safety(
    learner: LearnerConfig, look_ahead: int = 30, penalty: PenaltyConfig | None = None, **others: Any
) -> LearnerConfig:
    """The learner of AMBS: with a safe policy, and critics that learn as fast as that of the task policy does.

    `others` as `SafetyConfig` has them.
    """
    return replace(learner, safety=SafetyConfig(look_ahead, critics=learner.critic, penalty=penalty, **others))


def with_lagrangian(learner: LearnerConfig, *, paper: bool = False) -> LearnerConfig:
    """The learner of LAG. The paper's multipliers are made for 10^5 updates and more, and in 10^3 would do nothing."""
    short: dict[str, Any] = {} if paper else {"lagrange": 1e-2, "penalty": 1e-3, "power": 1e-3, "expected": True}
    return replace(learner, lagrangian=LagrangianConfig(critics=learner.critic, **short))


def cpu_learner(name: str = "nano") -> LearnerConfig:
    """For runs of 10^5 steps rather than 10^7: larger steps, fewer imagined states, more chance; chosen on MinAtar.

    With the paper's weight of entropy, policies settled on the first thing that paid, before the model knew others.
    """
    step = OptimiserConfig(3e-4, 1e-5, 100.0)
    world_model = OptimiserConfig(2e-3, 1e-8, 1000.0)
    return LearnerConfig(
        size=name, world_model=world_model, actor=step, critic=step, starts=128,
        pictures=30.0, events=30.0, ahead=1.0, behaviour=BehaviourConfig(entropy=3e-3),
    )  # fmt: skip


def cells_learner(name: str = "nano") -> LearnerConfig:
    """The same for games on a grid: its cells are their own code. Such a model is right after a few thousand steps, and
    it is the policy that takes longest: it learns faster, and looks less far, so that less chance is in what it learns
    from. It stays open for longer: with less entropy it was sure of its first ways in Breakout and lost the ball on the
    fourth. Chosen on Asterix, Breakout and Space Invaders, seeds 100 and 101."""
    learner = cpu_learner(name)
    step = replace(learner.actor, learning_rate=1e-3)
    behaviour = replace(learner.behaviour, discount=0.98, entropy=0.02)
    # A cell that is drawn is there or is not: what follows from it is told by what is drawn. Heads that learned on
    # draws as well would have to tell by something else what was drawn wrong.
    return replace(learner, grids="cells", actor=step, critic=step, behaviour=behaviour, ahead=0.0)


@dataclass(frozen=True)
class StartConfig:
    """Episodes that others have made, to begin with."""

    path: str
    """A run folder, or a dataset as Minari stores it, or an .npz file of the same arrays; docs/ambs.md has them."""
    updates: int = 0
    """Gradient steps on them before the first step in the environment."""

    def __post_init__(self) -> None:
        if self.updates < 0:
            raise AmbsError(f"there are to be {self.updates} offline updates, and that has to be at least 0.")


@dataclass(frozen=True)
class RunConfig:
    """One run of one agent in one environment.

    The defaults are for a CPU; of those here, the paper has others in `PAPER`.
    """

    env: str = "conveyor"
    """A name from `ambs envs`, or any Gymnasium id: "CartPole-v1", "my_package.my_module:MyEnv-v0"."""
    env_options: dict[str, Any] = field(default_factory=dict)
    """What the environment is made with besides: for the conveyor worlds e.g. {"observation": "image"}. JSON values."""
    formula: str | None = None
    """Ψ over the environment's atoms; its own if not given."""
    seed: int = 0
    steps: int = 100_000
    """Environment steps, all environments together; the run ends with the step of the vector that reaches them."""
    envs: int = 8
    """Environments that are stepped side by side."""
    workers: int | str = "auto"
    """Processes for them: "auto", "inline" or a number."""
    batch: int = 16
    """B, sequences in a gradient step."""
    length: int = 16
    """Their length."""
    train_ratio: float = 16.0
    """Steps replayed for each step made; a gradient step replays batch × length of them."""
    capacity: int = 1_000_000
    """Steps the replay holds."""
    prefill: int = 1_000
    """Steps with random actions before learning begins."""
    hold: int = 1
    """Steps that each of them is held for on average; with more than 1, a random walk gets further."""
    pretrain: int = 0
    """Gradient steps on those before the agent begins to act: it then has a model from its first step on."""
    log_every: int = 1_000
    """Steps between rows of metrics."""
    checkpoint_every: int = 5_000
    """Steps between checkpoints."""
    tensorboard: bool = True
    """Whether to write event files for TensorBoard beside the rows of metrics."""
    devices: int | None = None
    """Accelerators that share every batch out; as many as there are and can, if not given, and one device on a CPU."""
    learner: LearnerConfig = field(default_factory=cpu_learner)
    shield: ShieldConfig | None = None
    """How actions are shielded; not at all, if not given. AMBS is this, and a learner with `safety`; LAG is a learner
    with `lagrangian`, and no shield."""
    guard: GuardConfig | None = None
    """A shield beside the environments instead, which asks nothing of the agent; none, if not given."""
    start: StartConfig | None = None
    """What is in the replay before the first step; nothing, if not given."""

    def __post_init__(self) -> None:
        for name in ("steps", "envs", "batch", "length", "capacity", "hold", "log_every", "checkpoint_every"):
            positive_integer(name, getattr(self, name))
        if self.devices is not None:
            positive_integer("devices", self.devices)
        _require_positive("train_ratio", self.train_ratio)
        if self.pretrain < 0:
            raise AmbsError(f"pretrain is {self.pretrain}, and has to be at least 0.")
        if self.learner.ahead > 0 and not 1 <= self.learner.steps_ahead < self.length:
            raise AmbsError(
                f"events are to be foreseen {self.learner.steps_ahead} steps ahead in sequences of {self.length}, and "
                "it has to be at least 1 and less than their length."
            )
        if not 0 <= self.seed < 2**32:
            raise AmbsError(f"the seed is {self.seed}, and has to be from 0 to 2^32 - 1.")
        require_options(self.env_options)
        _require_learnable(self.learner)
        if self.shield is not None:
            _require_shieldable(self.learner, self.shield)
            if self.shield.explore and self.envs == 1:
                raise AmbsError(
                    "every other environment is to propose random actions, and there is only one; take more --envs, or "
                    "leave out --explore."
                )
            if self.guard is not None:
                raise AmbsError(
                    f"the agent ambs has a shield of its own, and the shield {self.guard.name} is given besides; take "
                    "the agent dreamer, or leave one of them out."
                )
        if self.prefill < 0:
            raise AmbsError(f"prefill is {self.prefill}, and has to be at least 0.")
        # Where there are episodes to begin with, the first batch is drawn from them.
        if self.start is None and self.prefill < self.length * self.envs:
            raise AmbsError(
                f"prefill is {self.prefill}, and the first batch needs {self.length * self.envs} steps: sequences of "
                f"{self.length} from {self.envs} environments."
            )
        if self.capacity < self.length * self.envs:
            raise AmbsError(
                f"capacity is {self.capacity}, and has to hold at least {self.length * self.envs} steps: a sequence "
                f"of {self.length} from each of {self.envs} environments."
            )

    @property
    def agent(self) -> str:
        """What the agent is called: ambs with a shield, lag with a Lagrangian, dreamer with neither."""
        if self.shield is not None:
            return "ambs"
        return "dreamer" if self.learner.lagrangian is None else "lag"

    @property
    def steps_per_update(self) -> float:
        """Environment steps between gradient steps."""
        return self.batch * self.length / self.train_ratio


def require_options(options: dict[str, Any]) -> None:
    if "formula" in options:
        raise AmbsError("the formula is no option of the environment but of the run; give it as formula, or --formula.")
    for name, value in options.items():
        # They have to come back from the run's folder as they were.
        if not isinstance(name, str) or not _is_json(value):
            raise AmbsError(f"the option {name!r} of the environment is {value!r}, and has to be what JSON can hold.")


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


def _require_learnable(learner: LearnerConfig) -> None:
    _ = learner.dimensions
    for name in ("world_model", "actor", "critic"):
        _require_positive(f"the learning rate of the {name.replace('_', ' ')}", getattr(learner, name).learning_rate)
    positive_integer("horizon", learner.behaviour.horizon)
    probability("discount", learner.behaviour.discount)
    safe = None if learner.safety is None else learner.safety.entropy
    for name, entropy in (("entropy", learner.behaviour.entropy), ("the safe policy's entropy", safe)):
        if entropy is not None and not (math.isfinite(entropy) and entropy >= 0):
            raise AmbsError(f"{name} is {entropy:g}, and has to be a number of at least 0.")


def _require_shieldable(learner: LearnerConfig, shield: ShieldConfig) -> None:
    if learner.safety is None:
        raise AmbsError("a run with a shield learns what the shield needs: give the learner a SafetyConfig.")
    horizon, look_ahead = learner.behaviour.horizon, learner.safety.look_ahead
    if look_ahead < horizon and shield.criterion not in ("rollout", "recover", "either"):
        raise AmbsError(
            f"the shield looks {look_ahead} steps ahead, and {horizon} are imagined: look at least as far ahead, "
            "imagine fewer steps, or take the criterion rollout."
        )


def _require_positive(name: str, value: Any) -> None:
    if not (math.isfinite(value) and value > 0):
        raise AmbsError(f"{name} is {value:g}, and has to be a number above 0.")
