"""LAG where the constrained optimum is known: an action that pays 1 and costs 10, where 3 are allowed on average.

The best policy takes it with probability 0.3. With a bonus η for entropy, a policy stands still where the advantage of
the action over the other is η times the logarithm of their odds: (1 - 10 w) / (1 + w) = η ln(0.3 / 0.7).
"""

import math

import jax
import numpy as np
import pytest

from ambs.agents.lagrangian import LagrangianConfig
from ambs.agents.optimiser import OptimiserConfig
from ambs.behaviour.actor_critic import BehaviourConfig
from tests.agents.probes import Immediate
from tests.agents.test_learner import begin

# Without much entropy nothing is strictly concave, and policy and multiplier go around the optimum for ever.
ENTROPY, PAYS, COSTS, ALLOWED = 0.3, 1.0, 10.0, 3.0
UPDATES = 600


def test_the_constraint_holds_and_the_multiplier_converges():
    critics = OptimiserConfig(3e-3, 1e-8, 1000.0)
    config = LagrangianConfig(lagrange=0.0, penalty=1e-3, power=1e-4, threshold=ALLOWED, critics=critics, expected=True)
    learner, step = begin(Immediate, lagrangian=config, behaviour=BehaviourConfig(entropy=ENTROPY))
    rows = []
    for key in jax.random.split(jax.random.key(2), UPDATES):
        learner, metrics = step(learner, key)
        rows.append([float(metrics[f"lagrangian/{name}"]) for name in ("excess", "multiplier")])
    often = ALLOWED / COSTS
    tilt = ENTROPY * math.log(often / (1 - often))
    excess, multiplier = np.asarray(rows)[UPDATES // 2 :].T
    assert excess.mean() == pytest.approx(0.0, abs=0.25)
    assert multiplier.mean() == pytest.approx((PAYS - tilt) / (COSTS + tilt), rel=0.05)
    # It stays there, rather than going around it.
    assert multiplier.std() < 0.1 * multiplier.mean()
