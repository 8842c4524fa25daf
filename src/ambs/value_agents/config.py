"""How Rainbow and IQN learn: by default as in the paper's tables and, where those are silent, in the agents' papers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ambs.agents.optimiser import OptimiserConfig
from ambs.errors import AmbsError, positive_integer, probability

AGENTS = ("rainbow", "iqn")

# What Rainbow is made of; each can be left out.
COMPONENTS = ("noisy", "dueling", "double", "priorities", "multistep", "distributional")


@dataclass(frozen=True)
class QuantileConfig:
    """Of IQN alone."""

    taus: int = 64
    """N, quantiles drawn of the values that are learned."""
    target_taus: int = 64
    """N', quantiles drawn of the values that they are learned from."""
    action_taus: int = 32
    """K, quantiles that an action's value is the mean of."""
    embedding: int = 64
    """Cosines that a quantile is told by."""
    kappa: float = 1.0
    """Where the Huber loss turns from a square to a line."""

    def __post_init__(self) -> None:
        if not self.kappa > 0:
            raise AmbsError(f"kappa is {self.kappa:g}, and has to be above 0.")


@dataclass(frozen=True)
class ValueConfig:
    """One of the two agents."""

    agent: str = "rainbow"
    without: tuple[str, ...] = ()
    """Components of Rainbow that are left out."""
    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(6.25e-5, 1.5e-4, 10.0))
    """The paper's, which says nothing of clipping; the authors of dueling networks clip gradients at 10."""
    units: int = 512
    """Of hidden layers."""
    stack: int = 4
    """The last so many observations are seen as one."""
    discount: float = 0.99
    horizon: int = 3
    """n, rewards that are summed up before values take over."""
    clip_rewards: bool = False
    """Whether rewards are learned from as -1 to 1; what is reported is what was paid."""
    atoms: int = 51
    """Values that a distribution of Rainbow's lies on, evenly from -most_value to most_value."""
    most_value: float = 10.0
    noise: float = 0.5
    """σ₀ of noisy layers."""
    priority_exponent: float = 0.5
    first_beta: float = 0.4
    """How far unequal priorities are made up for in the beginning; after `beta_steps` wholly."""
    beta_steps: int = 10_000_000
    """Environment steps until then, however long the run: it may be given more steps when it is resumed."""
    least_epsilon: float = 0.01
    """How often an action is random after `epsilon_steps`; with noisy layers none is."""
    epsilon_steps: int = 250_000
    quantiles: QuantileConfig = field(default_factory=QuantileConfig)

    def __post_init__(self) -> None:
        if self.agent not in AGENTS:
            raise AmbsError(f'there is no such agent as "{self.agent}"; choose one of {", ".join(AGENTS)}.')
        for name in self.without:
            if name not in COMPONENTS:
                raise AmbsError(f'Rainbow has no component "{name}" to do without; it has {", ".join(COMPONENTS)}.')
            if self.agent != "rainbow":
                raise AmbsError(f"{name} is a component of rainbow, and this is {self.agent}; leave out --without.")
        # In whatever order they were named, and however often.
        object.__setattr__(self, "without", tuple(name for name in COMPONENTS if name in self.without))
        for name in ("units", "stack", "horizon", "atoms", "beta_steps", "epsilon_steps"):
            positive_integer(name, getattr(self, name))
        for name in ("taus", "target_taus", "action_taus", "embedding"):
            positive_integer(name, getattr(self.quantiles, name))
        probability("discount", self.discount)
        probability("least_epsilon", self.least_epsilon, closed=True)
        probability("first_beta", self.first_beta, closed=True)
        for name, value in (("learning rate", self.optimiser.learning_rate), ("most_value", self.most_value)):
            if not (math.isfinite(value) and value > 0):
                raise AmbsError(f"the {name} is {value:g}, and has to be a number above 0.")
        for name, value in (("priority_exponent", self.priority_exponent), ("noise", self.noise)):
            if not (math.isfinite(value) and value >= 0):
                raise AmbsError(f"the {name} is {value:g}, and has to be a number of at least 0.")
        if self.atoms < 2:
            raise AmbsError(f"atoms is {self.atoms}, and a distribution takes at least 2.")

    def has(self, component: str) -> bool:
        """Whether the agent learns with that component of Rainbow; IQN has several rewards a target, and no other."""
        if self.agent == "iqn":
            return component == "multistep"
        return component not in self.without

    @property
    def rewards(self) -> int:
        """How many rewards a target sums up."""
        return self.horizon if self.has("multistep") else 1

    @property
    def exponent(self) -> float:
        """Of priorities: 0 makes all of them equal."""
        return self.priority_exponent if self.has("priorities") else 0.0

    def epsilon(self, steps: int) -> float:
        """How often an action is random, `steps` after learning began."""
        if self.has("noisy"):
            return 0.0
        return max(self.least_epsilon, 1.0 - (1.0 - self.least_epsilon) * steps / self.epsilon_steps)

    def beta(self, steps: int) -> float:
        """How far unequal priorities are made up for, `steps` after learning began."""
        return min(1.0, self.first_beta + (1.0 - self.first_beta) * steps / self.beta_steps)
