"""The environments as Gymnasium ids: `gymnasium.make("ambs:Conveyor-v0")`."""

import gymnasium

STEPS = 100
IDS = {
    "Conveyor-v0": "small",
    "ConveyorFigure1-v0": "figure1",
    "ConveyorLongBelt-v0": "long-belt",
    "ConveyorHard-v0": "hard",
}


def register() -> None:
    """Makes the ids known to Gymnasium, unless they are."""
    for id, map in IDS.items():
        if id not in gymnasium.registry:
            gymnasium.register(
                id, entry_point="ambs.envs.conveyor:Conveyor", max_episode_steps=STEPS, kwargs={"map": map}
            )
