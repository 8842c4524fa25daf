"""Atari games whose states carry labels, read from the console's memory on every emulated frame."""

from ambs.envs.atari.games import GAMES as GAMES
from ambs.envs.atari.games import Game as Game
from ambs.envs.atari.specs import SPECS as SPECS
