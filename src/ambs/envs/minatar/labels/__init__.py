"""Which atoms a step of each game makes true, read from the game's variables before and after it."""

from ambs.envs.minatar.labels.asterix import Asterix
from ambs.envs.minatar.labels.base import Labeller
from ambs.envs.minatar.labels.breakout import Breakout
from ambs.envs.minatar.labels.freeway import Freeway
from ambs.envs.minatar.labels.seaquest import Seaquest
from ambs.envs.minatar.labels.space_invaders import SpaceInvaders

LABELLERS: dict[str, type[Labeller]] = {
    "seaquest": Seaquest,
    "freeway": Freeway,
    "asterix": Asterix,
    "space-invaders": SpaceInvaders,
    "breakout": Breakout,
}
