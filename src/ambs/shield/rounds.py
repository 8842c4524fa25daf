"""The test as rounds of equally many traces: how far a decision has come, and whether it is made.

Rounds are the greatest that fit between all looks of the test; between looks nothing is decided.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from ambs.shield.stat_tests import StatTest


class Course(NamedTuple):
    """What the traces of one decision have said so far."""

    drawn: Int[Array, "*envs"]
    """Rounds."""
    violations: Int[Array, "*envs"]
    broken: Bool[Array, "*envs"]
    """Whether the model predicted NaN."""

    @classmethod
    def start(cls, *shape: int) -> Course:
        return cls(jnp.zeros(shape, int), jnp.zeros(shape, int), jnp.zeros(shape, bool))


class Rounds:
    """Of one test."""

    def __init__(self, test: StatTest) -> None:
        looks = test.looks
        self.unit = gcd(*looks.samples)
        """Traces in a round."""
        count, at = looks.samples[-1] // self.unit, np.array(looks.samples) // self.unit
        self._accept, self._reject = np.full(count + 1, -1), np.full(count + 1, looks.samples[-1] + 1)
        self._accept[at], self._reject[at] = looks.accept, looks.reject
        self._look = np.searchsorted(at, np.arange(count + 1))

    def undecided(self, course: Course) -> Bool[Array, "*envs"]:
        between = course.violations > jnp.asarray(self._accept)[course.drawn]
        return between & (course.violations < jnp.asarray(self._reject)[course.drawn])

    def refused(self, course: Course) -> Bool[Array, "*envs"]:
        """What a broken model says is not believed: fail safe."""
        return (course.violations > jnp.asarray(self._accept)[course.drawn]) | course.broken

    def look(self, course: Course) -> Int[Array, "*envs"]:
        """Which of the test's looks it was that decided."""
        return jnp.asarray(self._look)[course.drawn]
