"""The tables that people read: the columns of each, and what it says above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ambs.verify.experience import EPISODE
from ambs.verify.settings import DELTA, EPSILON, Row

Column = tuple[str, Callable[[Row], str]]


def small(value: float) -> str:
    """A probability or an error: four decimals, or a power of ten where these would hide it."""
    return "0" if value == 0 else f"{value:.4f}" if abs(value) >= 1e-3 else f"{value:.1e}"


def _field(key: str, shown: Callable[[Any], str] = str) -> Callable[[Row], str]:
    return lambda row: shown(row[key])


def _interval(rate: str = "rate", low: str = "low", high: str = "high") -> Callable[[Row], str]:
    return lambda row: f"{small(row[rate])} [{small(row[low])}, {small(row[high])}]"


def _computed(value: float | None) -> str:
    """An exact mean, whose rounding errors are not shown; or that there is none."""
    return "–" if value is None else small(0.0 if abs(value) < 1e-12 else value)


def _verdict(row: Row) -> str:
    """A share that nobody claims to be small has no verdict."""
    return "none" if "claimed" in row and row["claimed"] is None else "holds" if row["holds"] else "**fails**"


_CLAIM = f"claimed: at most {DELTA:g}"
SECTIONS: dict[str, tuple[str, str, tuple[Column, ...]]] = {
    "theorem_1": (
        "Theorem 1: traces of the true chain",
        f"How often the estimate misses the true μ by more than ε = {EPSILON:g} ({_CLAIM}). Exact: the worst of all "
        "safe starts. Simulated: from the start whose μ is closest to 1/2, with 95% Clopper-Pearson interval.",
        (
            ("chain", _field("case")),
            ("n", _field("horizon")),
            ("sides", _field("sides")),
            ("m", _field("traces")),
            ("starts", _field("starts")),
            ("μ", lambda row: f"{row['least_mu']:.3f} to {row['greatest_mu']:.3f}"),
            ("worst failure, exact", _field("worst_failure", small)),
            ("simulated", _interval()),
            ("claim", _verdict),
        ),
    ),
    "theorem_2": (
        "Theorem 2: traces of a learned chain",
        f"As printed, α = ε/n, and corrected, α = ε/(2n), with the same m ({_CLAIM}). The bound on the model's "
        "error is αn/2 as printed and 1-(1-α)^n corrected. Simulated from the worst start of each chain. 'Pushed': "
        "T̂ = (1-α)T + α·unsafe.",
        (
            ("chains", _field("case")),
            ("n", _field("horizon")),
            ("version", _field("version")),
            ("m", _field("traces")),
            ("starts", _field("starts")),
            ("greatest error", _field("greatest_error", small)),
            ("its bound", _field("error_bound", small)),
            ("over it", _field("over_bound")),
            ("worst failure, exact", _field("worst_failure", small)),
            ("simulated", _interval()),
            ("starts failing", _field("starts_failing")),
            ("claim", _verdict),
        ),
    ),
    "theorem_2_traces": (
        "Theorem 2 as printed, with more traces than it asks for",
        "Exact failure probability on the counterexample. For n = 1 the estimate is centred at distance ε, and no "
        "number of traces helps; for larger n very many do.",
        (
            ("m", _field("traces", "{:,}".format)),
            ("n = 1", _field("n1", small)),
            ("n = 5", _field("n5", small)),
            ("n = 30", _field("n30", small)),
        ),
    ),
    "theorem_2_marginals": (
        "Theorem 2: a step of its proof, on chains with equal marginals",
        "The proof bounds |μ - μ̂| by the total variation of the state distributions, averaged over time. Here a safe "
        "and an unsafe state change places in the model with probability α: at every time the traces are where they "
        "are in the truth, and other traces are safe. Simulated: the share of safe traces. The step holds where "
        "|μ - μ̂| is within the total variation.",
        (
            ("n", _field("horizon")),
            ("α", _field("alpha", "{:g}".format)),
            ("TV of the marginals", _field("marginal_tv", small)),
            ("μ", _field("mu", small)),
            ("simulated", _interval("mu_rate", "mu_low", "mu_high")),
            ("μ̂", _field("learned_mu", small)),
            ("simulated", _interval("learned_mu_rate", "learned_mu_low", "learned_mu_high")),
            ("|μ - μ̂|", _field("error", small)),
            ("the step", _verdict),
        ),
    ),
    "theorem_2_shield": (
        "Theorem 2: what it does to the shield",
        "How often 'accept if the estimate is at least 1-Δ+ε' accepts what has μ = 0.8999 < 1-Δ = 0.9 "
        f"({_CLAIM}), when the model is too optimistic by exactly α a step: a hazard of h - α instead of h.",
        (
            ("n", _field("horizon")),
            ("version", _field("version")),
            ("α", _field("alpha", small)),
            ("μ̂", _field("learned_mu", "{:.4f}".format)),
            ("m", _field("traces")),
            ("accepts, exact", _field("worst_failure", small)),
            ("simulated", _interval()),
            ("claim", _verdict),
        ),
    ),
    "theorem_3": (
        "Theorem 3: visits to one state",
        "How often some action's counted row is further than α = 0.05 from the truth (claimed: at most 0.05), with "
        "four actions. Sufficient: the fewest visits that do in simulation, to about 3%. Loose: how many times that "
        "the bound asks for.",
        (
            ("S", _field("states")),
            ("K", _field("successors")),
            ("law", _field("law")),
            ("bound", _field("bound")),
            ("visits", _field("visits", "{:,}".format)),
            ("sufficient", _field("sufficient", "{:,}".format)),
            ("loose", _field("loose", "{:,.1f}×".format)),
            ("failures", _interval()),
            ("claim", _verdict),
        ),
    ),
    "theorem_3_models": (
        "Theorem 3: visits to all states",
        "How often some row of the whole counted model is further than α = 0.05 from the truth (claimed: at most "
        f"0.05). The visits come from episodes of {EPISODE} steps by the uniform policy, from every state, until each "
        "pair has m: printed, all visits are used; corrected, the first m. The printed bound has δ/S for each state: "
        "Theorem 2 needs them all. 'K for S': with the number of successors, as the paper suggests for grid worlds. A "
        "tenth of the visits is claimed by nobody, and shows that failures are seen where rows are variable enough.",
        (
            ("model", _field("case")),
            ("S", _field("states")),
            ("A", _field("actions")),
            ("K", _field("successors")),
            ("bound", _field("bound")),
            ("m", _field("visits", "{:,}".format)),
            ("greatest TV, mean", _field("mean_tv", small)),
            ("97.5% below", _field("high_tv", small)),
            ("failures", _interval()),
            ("claim", _verdict),
        ),
    ),
    "theorem_3_negligible": (
        "Theorem 3: actions that are negligible",
        "The policy takes one action, and each of the others with a probability just below η; these are never tried, "
        "and lead to the sink in the model. How often the policy's chain is further than α = 0.05 from the truth in "
        "some state (claimed: at most 0.05), after exactly m visits of the action that is taken. The "
        "statement's 'η ≥ α/(AS)' may be read as a threshold, or as leave to choose a larger η.",
        (
            ("model", _field("case")),
            ("S", _field("states")),
            ("A", _field("actions")),
            ("K", _field("successors")),
            ("condition", _field("condition")),
            ("m", _field("visits", "{:,}".format)),
            ("mass unvisited", _field("unvisited", small)),
            ("greatest TV, mean", _field("mean_tv", small)),
            ("failures", _interval()),
            ("claim", _verdict),
        ),
    ),
    "learned": (
        "Model error of models counted from visits",
        "States whose |μ - μ̂| is above each bound at the realised α, the greatest error as a share of each bound, and "
        "states whose true μ is below the certified `robust_bounded_globally` at the realised distances. The share of "
        "chains with a state above αn/2 has the interval, because the states of one chain are not independent.",
        (
            ("family", _field("family")),
            ("S", _field("states")),
            ("visits", _field("visits")),
            ("n", _field("horizon")),
            ("starts", _field("starts")),
            ("above 1-(1-α)^n", _field("over_corrected")),
            ("above αn/2", _field("over_printed")),
            ("chains above αn/2", _interval("printed_rate", "printed_low", "printed_high")),
            ("of 1-(1-α)^n", _field("of_corrected", "{:.3f}".format)),
            ("of αn/2", _field("of_printed", "{:.3f}".format)),
            ("below certified", _field("below_certified")),
        ),
    ),
    "calibration": (
        "Calibration of the shield's estimate",
        "`LookaheadShield` on the conveyor maps, four policies, every state and action, n = 30, against the exact μ of "
        "the true dynamics. The intervals are meant to cover it with probability 0.95; accepting where μ < 0.9 is "
        "to have probability at most 0.01. A counted model is drawn anew for each sweep over all states and "
        "actions; the decisions of a sweep share it, so for counted models the last interval is too narrow.",
        (
            ("shield", _field("shield")),
            ("decisions", _field("decisions", "{:,}".format)),
            ("traces", _field("mean_traces", "{:.1f}".format)),
            ("mean error", _interval("mean_error", "mean_error_low", "mean_error_high")),
            ("mean absolute error", _field("mean_absolute_error", small)),
            ("interval covers μ", _interval("covered", "covered_low", "covered_high")),
            (
                "accepted where μ < 0.9",
                _interval("accepted_unsafe_rate", "accepted_unsafe_low", "accepted_unsafe_high"),
            ),
        ),
    ),
    "calibration_bins": (
        "Calibration by exact μ",
        "The mean error is estimate minus exact μ, with 95% interval; the spread is its standard deviation. Expected: "
        "what the test's early stopping does to the mean, computed exactly, when the model is the true one.",
        (
            ("shield", _field("shield")),
            ("exact μ", lambda row: f"{row['from']:g} to {row['to']:g}"),
            ("decisions", _field("decisions", "{:,}".format)),
            ("mean μ", _field("mean_exact", "{:.4f}".format)),
            ("mean estimate", _field("mean_estimate", "{:.4f}".format)),
            ("mean error", _interval("mean_error")),
            ("expected", _field("expected_error", _computed)),
            ("spread", _field("spread", small)),
            ("accepted", _field("accepted", "{:.3f}".format)),
        ),
    ),
}
