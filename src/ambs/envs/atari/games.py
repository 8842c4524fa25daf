"""The labelled games: which labeller each has, and which formula by default.

The first five are the paper's, with the formulas of its Table 1. The others are the rest of the suite of labels that
the paper's code came with; their formulas forbid what the suite forbids, but for what random play does all the time
(a first ball that is no strike, a fight without a knock-out), which is there for formulas of your own.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from ambs.envs.atari.labels.assault import ASSAULT
from ambs.envs.atari.labels.bowling import BOWLING
from ambs.envs.atari.labels.boxing import BOXING
from ambs.envs.atari.labels.death import DEATH
from ambs.envs.atari.labels.double_dunk import DOUBLE_DUNK
from ambs.envs.atari.labels.enduro import ENDURO
from ambs.envs.atari.labels.fishing_derby import FISHING_DERBY
from ambs.envs.atari.labels.freeway import FREEWAY
from ambs.envs.atari.labels.frostbite import FROSTBITE
from ambs.envs.atari.labels.gopher import GOPHER
from ambs.envs.atari.labels.gravitar import GRAVITAR
from ambs.envs.atari.labels.hero import HERO
from ambs.envs.atari.labels.ice_hockey import ICE_HOCKEY
from ambs.envs.atari.labels.kung_fu_master import KUNG_FU_MASTER
from ambs.envs.atari.labels.labeller import Labeller
from ambs.envs.atari.labels.seaquest import SEAQUEST
from ambs.errors import AmbsError


@dataclass(frozen=True)
class Game:
    """One labelled game."""

    name: str
    """As the catalogue has it: "kung-fu-master"."""
    formula: str
    labeller: Labeller

    @property
    def rom(self) -> str:
        """As the emulator's package has it: "kung_fu_master"."""
        return self.name.replace("-", "_")

    @property
    def id(self) -> str:
        """Its Gymnasium id without the namespace: "KungFuMaster-v0"."""
        return "".join(word.capitalize() for word in self.name.split("-")) + "-v0"


_PAPER = (
    Game("assault", '!"hit" & !"overheat"', ASSAULT),
    Game("double-dunk", '!"out-of-bounds" & !"shoot-bf-clear"', DOUBLE_DUNK),
    Game("enduro", '!"crash-car"', ENDURO),
    Game("kung-fu-master", '!"loose-life" & !"energy-loss"', KUNG_FU_MASTER),
    Game("seaquest", '("surface" => "diver") & !"hit" & !"out-of-oxygen"', SEAQUEST),
)

_SUITE = (
    Game("bowling", '!"no-hit"', BOWLING),
    Game("boxing", '!"knock-out" & !"lose"', BOXING),
    Game("fishing-derby", '!"lose"', FISHING_DERBY),
    Game("freeway", '!"hit"', FREEWAY),
    Game("frostbite", '!"freezing" & !"death"', FROSTBITE),
    Game("gopher", '!"lose-carrot"', GOPHER),
    Game("gravitar", '!"fuel" & !"death"', GRAVITAR),
    Game("hero", '!"dynamite" & !"death"', HERO),
    Game("ice-hockey", '!"enemy-score"', ICE_HOCKEY),
)

_ONLY_DEATH = (
    *("alien", "amidar", "asterix", "asteroids", "atlantis", "bank-heist", "battle-zone", "beam-rider", "berzerk"),
    *("breakout", "centipede", "crazy-climber", "demon-attack", "jamesbond", "kangaroo", "ms-pacman", "name-this-game"),
)

GAMES: dict[str, Game] = {
    game.name: game for game in (*_PAPER, *_SUITE, *(Game(name, '!"death"', DEATH) for name in _ONLY_DEATH))
}


def find(name: Any) -> Game:
    """The game of that name, or an error that offers the nearest ones."""
    if (game := GAMES.get(name)) is not None:
        return game
    near = difflib.get_close_matches(str(name).lower().replace("_", "-"), GAMES, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"those with labels are: {', '.join(GAMES)}."
    raise AmbsError(f'there is no labelled Atari game "{name}"; {hint}')
