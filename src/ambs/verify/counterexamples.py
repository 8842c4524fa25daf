"""The counterexamples to Theorem 2 that are about its proof and about the shield, exactly and simulated.

One refutes a step of the proof: it compares where traces are at each time, and chains may agree about that and not
about which traces are safe. The other shows what becomes of the shield when the printed theorem is believed: a state
that is just too dangerous, and a model that is as wrong as α = ε/n allows.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from ambs.bounds import tv_budget
from ambs.logic import FiniteModel
from ambs.verify import families
from ambs.verify.settings import DELTA, EPSILON, HORIZON, Job, Row, Settings, Tables
from ambs.verify.statistics import observed
from ambs.verify.theorem2 import VERSIONS

# The safety level Δ of the paper's experiments, and a μ that is just not enough for it.
LEVEL, TOO_LOW = 0.1, 0.8999
# What the paper's experiments use, and what its Theorem 2 asks for.
TRACES = (512, 1309)


def jobs(settings: Settings) -> list[Job]:
    return [lambda rng: _marginals(settings, rng), lambda rng: _shield(settings, rng)]


def marginal_distance(truth: FiniteModel, learned: FiniteModel, start: int, horizon: int) -> float:
    """Total variation between the chains' state distributions, averaged over the times 0 to n, as the proof does."""
    here, there = (np.eye(truth.states)[start] for _ in range(2))
    averages = np.zeros((2, truth.states))
    for _ in range(horizon + 1):
        averages += here, there
        here, there = here @ truth.kernel, there @ learned.kernel
    return float(np.abs(averages[0] - averages[1]).sum() / 2 / (horizon + 1))


def _marginals(settings: Settings, rng: np.random.Generator) -> Tables:
    """States that change places: always, as the sharpest case, and as rarely as Theorem 2 asks."""
    truth = families.swap(0.0)
    rows: list[Row] = []
    for horizon, share in ((1, 1.0), (2, 1.0), (HORIZON, 1.0), (HORIZON, EPSILON / HORIZON)):
        learned = families.swap(share)
        mu, sampled = (float(families.exact(chain, horizon)[0]) for chain in (truth, learned))
        apart = marginal_distance(truth, learned, 0, horizon)
        simulated = {
            f"{name}_{key}": value
            for name, chain in (("mu", truth), ("learned_mu", learned))
            for key, value in _safe_share(rng, chain, horizon, settings.repeats).items()
        }
        rows.append(
            {
                "horizon": horizon,
                "alpha": share,
                "marginal_tv": apart,
                "mu": mu,
                "learned_mu": sampled,
                "error": abs(mu - sampled),
                "holds": abs(mu - sampled) <= apart + 1e-12,
                **simulated,
            }
        )
    return {"theorem_2_marginals": rows}


def _safe_share(rng: np.random.Generator, chain: FiniteModel, horizon: int, traces: int) -> Row:
    share = observed(int(families.satisfied_traces(rng, chain, 0, horizon, traces, 1)[0]), traces)
    return {key: share[key] for key in ("rate", "low", "high")}


def _shield(settings: Settings, rng: np.random.Generator) -> Tables:
    """How often the shield that accepts an estimate of at least 1-Δ+ε accepts what has μ < 1-Δ."""
    rows: list[Row] = []
    for horizon in (1, 5, HORIZON):
        hazard = 1 - TOO_LOW ** (1 / horizon)
        for version, budget in VERSIONS.items():
            alpha = tv_budget(EPSILON, horizon, budget)
            learned = families.hazard(hazard - alpha)
            sampled = float(families.exact(learned, horizon)[0])
            for traces in TRACES:
                accepted = accept_probability(traces, sampled)
                satisfied = families.satisfied_traces(rng, learned, 0, horizon, traces, settings.repeats)
                rows.append(
                    {
                        "horizon": horizon,
                        "version": version,
                        "alpha": alpha,
                        "mu": float(families.exact(families.hazard(hazard), horizon)[0]),
                        "learned_mu": sampled,
                        "traces": traces,
                        "claimed": DELTA,
                        "worst_failure": accepted,
                        "holds": accepted <= DELTA,
                        **observed(int(np.sum(satisfied >= fewest_safe(traces))), settings.repeats),
                    }
                )
    return {"theorem_2_shield": rows}


def fewest_safe(traces: int) -> int:
    """The fewest safe traces that the paper's shield accepts: a share of at least 1-Δ+ε."""
    return int(np.ceil(traces * (1 - LEVEL + EPSILON) - 1e-9))


def accept_probability(traces: int, sampled: float) -> float:
    """P(μ̃ ≥ 1-Δ+ε), exactly, for traces that are safe with probability `sampled`."""
    return float(stats.binom.sf(fewest_safe(traces) - 1, traces, sampled))
