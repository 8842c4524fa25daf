"""The five MinAtar games as the catalogue lists them; importing this imports no game."""

from ambs.envs.spec import EnvSpec

# MinAtar itself sets no limit but Freeway's, and a submarine that stays at the surface is never in danger: without a
# limit a careful agent's first episode has no end. Twice Freeway's is longer than what random play lasts in any game.
MAX_EPISODE_STEPS = 5000

# name → its id, the channels of its observation, its atoms and Ψ.
_GAMES: dict[str, tuple[str, int, dict[str, str], str]] = {
    "seaquest": (
        "MinAtarSeaquest-v0",
        10,
        {
            "surface": "the submarine arrives at the surface after having dived",
            "diver": "a diver is aboard, by the game's own count; on arrival, before one is let off",
            "hit": "a fish, a submarine or a bullet hits the submarine",
            "out-of-oxygen": "the oxygen is used up",
        },
        '("surface" => "diver") & !"hit" & !"out-of-oxygen"',
    ),
    "freeway": (
        "MinAtarFreeway-v0",
        7,
        {"hit": "a car hits the chicken and sends it back to the start"},
        '!"hit"',
    ),
    "asterix": (
        "MinAtarAsterix-v0",
        4,
        {"hit": "the player touches an enemy"},
        '!"hit"',
    ),
    "space-invaders": (
        "MinAtarSpaceInvaders-v0",
        6,
        {
            "hit": "a bullet hits the cannon",
            "invaded": "an alien touches the cannon, or comes down with no row left to come down to",
        },
        '!"hit" & !"invaded"',
    ),
    "breakout": (
        "MinAtarBreakout-v0",
        4,
        {"lose-ball": "the ball passes the paddle"},
        '!"lose-ball"',
    ),
}

SPECS = tuple(
    EnvSpec(
        name=f"minatar-{game}",
        id=id,
        entry_point="ambs.envs.minatar.game:MinAtarGame",
        atoms=atoms,
        formula=formula,
        labels_from="the game's variables, before and after each step",
        observation=f"10×10 grid, {channels} channels of zeros and ones",
        actions="6 discrete",
        time_limit="2,501 steps" if game == "freeway" else f"{MAX_EPISODE_STEPS:,} steps",
        # Freeway ends by itself.
        max_episode_steps=None if game == "freeway" else MAX_EPISODE_STEPS,
        kwargs={"game": game},
    )
    for game, (id, channels, atoms, formula) in _GAMES.items()
)
