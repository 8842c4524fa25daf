"""What a machine can do, and what of a program counts: beside `ambs.bench.flops`, which counts."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

import jax

from ambs.agents import player, shielding
from ambs.behaviour import dreaming


@contextlib.contextmanager
def written_out() -> Iterator[None]:
    """Within, products with one-hots count as the matrix products that sums of rows take the place of."""
    quick = dreaming.without_gradient
    for module in (dreaming, player, shielding):
        module.without_gradient = lambda state: state  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module in (dreaming, player, shielding):
            module.without_gradient = quick  # type: ignore[attr-defined]


def matmul_rate(side: int = 1536, rounds: int = 3) -> float:
    """Operations a CPU second of a square float32 product: what this machine can do, at this moment."""
    product = jax.jit(lambda a, b: a @ b)
    a = jax.random.normal(jax.random.key(0), (side, side))
    product(a, a).block_until_ready()
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        product(a, a).block_until_ready()
        best = min(best, time.process_time() - start)
    return 2 * side**3 / best
