"""The conveyor maps as the catalogue lists them."""

from ambs.envs.spec import EnvSpec

_MAPS = {
    "conveyor": ("Conveyor-v0", "small"),
    "conveyor-figure1": ("ConveyorFigure1-v0", "figure1"),
    "conveyor-long-belt": ("ConveyorLongBelt-v0", "long-belt"),
    "conveyor-hard": ("ConveyorHard-v0", "hard"),
}

SPECS = tuple(
    EnvSpec(
        name=name,
        id=id,
        entry_point="ambs.envs.conveyor:Conveyor",
        atoms={
            "acid": "the robot is in a vat of acid",
            "goal": "the robot has delivered its parcel",
            "belt": "the robot is on a belt that carries it",
        },
        formula="!acid",
        labels_from="the map",
        observation="one-hot grid, one channel a kind of cell (also an image, 64×64 RGB, or the cell's number)",
        actions="5 discrete",
        time_limit="100 steps",
        max_episode_steps=100,
        kwargs={"map": map},
    )
    for name, (id, map) in _MAPS.items()
)
