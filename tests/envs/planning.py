"""Exact planning on small MDPs, written apart from the library: what is the best return, and at what risk?"""

from dataclasses import dataclass

import numpy as np

import ambs
from ambs.envs import Conveyor


@dataclass(frozen=True)
class World:
    """The tables of a conveyor world."""

    env: Conveyor

    @property
    def model(self):
        return self.env.mdp()

    @property
    def kernel(self):
        return self.model.kernel.toarray().reshape(self.model.states, 5, self.model.states)

    @property
    def acid(self):
        return self.model.labels["acid"]

    def best(self, allowed=None, discount=0.99):
        """The policy with the largest discounted return among the allowed actions, as an action a state."""
        kernel, rewards = self.kernel, self.env.rewards()
        values = np.zeros(len(kernel))
        while True:
            scores = rewards + discount * kernel @ values
            if allowed is not None:
                scores = np.where(allowed, scores, -np.inf)
            best = scores.max(axis=1)
            if np.abs(best - values).max() < 1e-12:
                # The first of equals, on every machine.
                return (scores > best[:, None] - 1e-8).argmax(axis=1)
            values = best

    def safest_that_delivers(self):
        """The best policy among those that never touch acid, wherever that can be helped."""
        can_be_safe = ambs.check(self.model, ambs.parse("Pmax=? [ G !acid ]")).values == 1
        stays_safe = self.kernel @ ~can_be_safe == 0
        return self.best(stays_safe | ~can_be_safe[:, None])

    def acid_within(self, policy, steps):
        """The probability of acid in states 0 to `steps` from the start."""
        chain = self.model.under(np.eye(5)[policy])
        return 1 - ambs.check(chain, ambs.parse(f"P=? [ G<={steps} !acid ]")).values[chain.initial]

    def episode(self, policy, steps=100):
        """Expected deliveries and acid baths of an episode."""
        states = np.arange(self.model.states)
        chain, pay = self.kernel[states, policy], self.env.rewards()[states, policy]
        where = np.eye(self.model.states)[self.model.initial]
        deliveries = baths = 0.0
        for _ in range(steps):
            deliveries += where @ pay
            where = where @ chain
            baths += where @ self.acid
        return deliveries, baths

    def shielded(self, task, backup, look_ahead, tolerance=0.1):
        """The policy under an exact shield: task's action where P[no acid in states 1..n] >= 1 - tolerance."""
        states = np.arange(self.model.states)
        chain = self.kernel[states, task]
        safe = np.ones(len(states))
        for _ in range(look_ahead):
            safe = chain @ (safe * ~self.acid)
        return np.where(safe >= 1 - tolerance, task, backup)


def probabilities(env, formula):
    """The value of a query in every state of the world."""
    return ambs.check(env.mdp(), ambs.parse(formula)).values
