"""The labelled Atari games as the catalogue lists them."""

from ambs.envs.atari.games import GAMES
from ambs.envs.spec import EnvSpec

SPECS = tuple(
    EnvSpec(
        name=game.name,
        id=game.id,
        entry_point="ambs.envs.atari.game:AtariGame",
        atoms=game.labeller.atoms,
        formula=game.formula,
        labels_from="the emulator's RAM, every frame",
        observation="64×64 RGB",
        actions="18 discrete",
        time_limit="108,000 frames, 27,000 steps",
        kwargs={"game": game.name},
    )
    for game in GAMES.values()
)
