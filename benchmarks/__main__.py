"""All benchmarks, one after the other: `make bench`. Each compares things within one run, as ratios."""

from benchmarks import (
    exact_checking,
    gradient_step,
    labelled_speed,
    replay_speed,
    shield_cost,
    shielded_step,
    training_speed,
    value_agents,
    vector_speed,
)

for benchmark in (
    exact_checking,
    shield_cost,
    shielded_step,
    labelled_speed,
    vector_speed,
    replay_speed,
    gradient_step,
    training_speed,
    value_agents,
):
    benchmark.main()
