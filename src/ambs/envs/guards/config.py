"""Which guard an environment has: what is told on the command line, and saved with a run."""

from __future__ import annotations

from dataclasses import dataclass

from ambs.errors import AmbsError, positive_integer, probability

GUARDS = ("prescience", "classical")
DICE = ("same", "own")


@dataclass(frozen=True)
class GuardConfig:
    """A shield that asks the environment, whoever acts."""

    name: str = "prescience"
    """prescience, which searches the environment itself, or classical, which knows its exact dynamics."""
    depth: int = 5
    """Of prescience: the steps of a path."""
    most: int = 10_000
    """Of prescience: steps that a decision may take; all paths, if there are fewer."""
    dice: str = "same"
    """Of prescience: same, the environment's own, so that it foresees chance too; or own, and what it sees is one of
    the things that may happen."""
    Delta: float = 0.1
    """Δ of classical: how likely a violation may be; 0, and it asks for certainty, for it is exact."""
    look_ahead: int = 30
    """T of classical: within how many steps."""

    def __post_init__(self) -> None:
        if self.name not in GUARDS:
            raise AmbsError(f'there is no shield "{self.name}" beside an environment; choose {" or ".join(GUARDS)}.')
        for name in ("depth", "most", "look_ahead"):
            positive_integer(name, getattr(self, name))
        if self.dice not in DICE:
            raise AmbsError(f"the dice of the shield are {self.dice!r}, and have to be {' or '.join(DICE)}.")
        if not probability("Delta", self.Delta, closed=True) < 1:
            raise AmbsError(f"Delta is {self.Delta:g}, and has to be at least 0 and less than 1.")

    @property
    def ranks(self) -> bool:
        """Whether it asks how the agent ranks all actions, for the next-best of them."""
        return self.name == "prescience"
