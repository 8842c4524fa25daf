"""What a contact sheet shows: the moments at which an atom becomes true or the formula fails, and their neighbours."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ambs.runs.watch.moments import Moment

# Frames before and after the one it is about.
BEFORE, AFTER = 2, 2

# How often one atom is shown.
SHOWN = 2

VIOLATION = "violation"


@dataclass
class Occasion:
    """Something happened: the moments around it, and which of them it is."""

    what: str
    number: int
    """The how-many-eth time."""
    moments: list[Moment]
    at: int = field(init=False)

    def __post_init__(self) -> None:
        self.at = len(self.moments) - 1

    @property
    def complete(self) -> bool:
        return len(self.moments) > self.at + AFTER


class Occasions:
    """Sees every moment and keeps a few, so that hours of play fit into memory."""

    def __init__(self, atoms: Sequence[str]) -> None:
        self.atoms = list(atoms)
        self.counts: Counter[str] = Counter()
        self.kept: list[Occasion] = []
        self._recent: deque[Moment] = deque(maxlen=BEFORE + 1)

    def see(self, moment: Moment) -> None:
        for occasion in self.kept:
            if not occasion.complete:
                occasion.moments.append(moment)
        self._recent.append(moment)
        shown = False
        for atom in self.atoms:
            if atom in moment.rising:
                self.counts[atom] += 1
                shown |= self._keep(atom)
        if moment.cost > 0:
            self.counts[VIOLATION] += 1
            # Most violations come with an atom that becomes true: once on the sheet is enough.
            if not shown:
                self._keep(VIOLATION)

    def _keep(self, what: str) -> bool:
        if len(self.of(what)) == SHOWN:
            return False
        self.kept.append(Occasion(what, self.counts[what], list(self._recent)))
        return True

    def of(self, what: str) -> list[Occasion]:
        return [occasion for occasion in self.kept if occasion.what == what]
