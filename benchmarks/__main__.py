"""All benchmarks, one after the other: `make bench`. Each compares things within one run, as ratios."""

from benchmarks import exact_checking, labelled_speed, shield_cost, vector_speed

for benchmark in (exact_checking, shield_cost, labelled_speed, vector_speed):
    benchmark.main()
