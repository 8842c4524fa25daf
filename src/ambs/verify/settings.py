"""How much to run, and with which of the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ambs.errors import AmbsError, positive_integer

# The paper's ε, δ and n.
EPSILON, DELTA, HORIZON = 0.09, 0.01, 30

Row = dict[str, Any]
Tables = dict[str, list[Row]]
# A piece of an experiment, with a random generator of its own: what one piece draws never shifts another.
Job = Callable[[np.random.Generator], Tables]


@dataclass(frozen=True)
class Settings:
    """The size of the verification; everything that is drawn at random follows from `seed`.

    Attributes:
        seed: of all random numbers.
        repeats: how often each estimate, and each set of visits, is drawn anew.
        quick: fewer random chains and environments, to see that everything works.
    """

    seed: int = 0
    repeats: int = 2000
    quick: bool = False

    def __post_init__(self) -> None:
        positive_integer("repeats", self.repeats)
        if self.seed < 0:
            raise AmbsError(f"seed is {self.seed}, and has to be a whole number of at least 0.")

    @property
    def chains(self) -> int:
        """Random chains a case."""
        return 2 if self.quick else 10

    @property
    def learned(self) -> int:
        """MDPs that are learned from counts, a configuration."""
        return 3 if self.quick else 30

    @property
    def experiences(self) -> int:
        """How often a whole model is counted anew; more would take long, and the claims are about 1 in 20."""
        return max(1, self.repeats // 8)

    @property
    def decisions(self) -> int:
        """Decisions of the shield for every state and action, each with a model of its own if it is learned."""
        return 2 if self.quick else 20

    @property
    def command(self) -> str:
        """The command line that these settings come from."""
        return f"ambs verify --seed {self.seed} --repeats {self.repeats}" + " --quick" * self.quick
