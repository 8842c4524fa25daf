"""What accelerators can do at most, not checked against data sheets; what of it a run reaches is for users to say."""

from __future__ import annotations

from typing import NamedTuple

from ambs.errors import AmbsError


class Machine(NamedTuple):
    """Peak rates in 10^12 operations a second, matrices without structured zeros."""

    name: str
    bfloat16: float
    """Of the matrix units, sums in float32: for the agents with a world model."""
    float32: float
    """Of the ordinary units: for Rainbow and IQN, which compute in float32."""


# The A30 is what the paper's runs were made on.
MACHINES = {
    machine.name: machine
    for machine in (
        Machine("a30", 165.0, 10.3),
        Machine("a100", 312.0, 19.5),
        Machine("h100", 989.0, 67.0),
        Machine("l4", 121.0, 30.3),
        Machine("rtx3090", 71.0, 35.6),
        Machine("rtx4090", 165.0, 82.6),
    )
}


def machine(name: str, gflops: float | None) -> Machine:
    """The one of that name; or one that does `gflops` 10^9 operations a second, whatever they are in."""
    if gflops is not None:
        if not gflops > 0:
            raise AmbsError(f"--gflops is {gflops:g}, and has to be more than 0.")
        return Machine(f"{gflops:g} GFLOP/s", gflops / 1000, gflops / 1000)
    if name not in MACHINES:
        raise AmbsError(
            f'there is no GPU "{name}" in the table; choose one of {", ".join(MACHINES)}, or give --gflops.'
        )
    return MACHINES[name]
