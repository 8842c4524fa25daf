"""All benchmarks, one after the other: `make bench`. Each compares things within one run, as ratios."""

from benchmarks import exact_checking, shield_cost

exact_checking.main()
shield_cost.main()
