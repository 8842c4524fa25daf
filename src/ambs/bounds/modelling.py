"""What a wrong model costs: from a distance per step to an error in the probability of staying safe.

The shield samples the learned chain T̂, and the claim is about the true chain T. If their next-state
distributions are within α of each other in total variation, the two can be run side by side so that each step
separates them with probability at most α. They have then stayed together for n steps with probability at
least (1-α)^n, and while they are together they are safe together:

    |μ - μ̂| ≤ 1 - (1-α)^n ≤ nα

This is attained: T stays in a safe state, T̂ leaves it for an unsafe one with probability α per step.
"""

import math

from ambs.bounds.bound import Bound
from ambs.bounds.quantities import one_of
from ambs.errors import AmbsError, positive_integer, probability


def model_error(tv: float, horizon: int, version: str = "sound") -> float:
    """How far the probability of staying safe may be off when every step of the model may be off by `tv`.

    `sound` is 1 - (1-α)^n, which cannot be improved. `paper` is αn/2, the last line of the paper's proof of
    Theorem 2, and is false. For n = 1, let the true chain stay safe for sure and let the model become unsafe
    with probability α: then |μ - μ̂| = α, twice what is printed. Letting the model do so in every step breaks
    it for every n, as long as nα is below 1.59.
    """
    tv = probability("tv", tv, closed=True)
    horizon = positive_integer("horizon", horizon)
    if one_of("version", version, "sound", "paper") == "paper":
        return tv * horizon / 2
    return 1.0 if tv == 1 else -math.expm1(horizon * math.log1p(-tv))


def tv_budget(epsilon: float, horizon: int, version: str = "sound") -> float:
    """The distance per step that a model may have so that Theorem 2 applies with `epsilon`.

    `sound` is ε/(2n): half of ε for the model, the other half for the sampling. `tight` is the largest α with
    1 - (1-α)^n ≤ ε/2, which is 1 - (1-ε/2)^(1/n), a little above. `paper` is the printed ε/n, which leaves
    nothing for the sampling: see `model_error` for the chain on which it fails.
    """
    epsilon = probability("epsilon", epsilon)
    horizon = positive_integer("horizon", horizon)
    version = one_of("version", version, "sound", "paper", "tight")
    if version == "tight":
        return tv_for_error(epsilon / 2, horizon)
    return epsilon / horizon if version == "paper" else epsilon / (2 * horizon)


def tv_for_error(error: float, horizon: int) -> float:
    """The distance per step that costs exactly `error` over the horizon: 1 - (1-e)^(1/n)."""
    return -math.expm1(math.log1p(-probability("error", error)) / positive_integer("horizon", horizon))


def null_violation_rate(Delta: float, tv: float, horizon: int) -> float:
    """The violation rate p₀ in the model that a test has to reject, so that Δ is kept in the environment.

    Let ξ = 1 - (1-α)^n. Where the environment is unsafe, μ < 1-Δ, the model is at μ̂ < 1-Δ+ξ, so it violates
    with a probability above p₀ = Δ-ξ. A test that accepts rates of at least p₀ with probability at most δ
    therefore accepts unsafe states with probability at most δ.
    """
    Delta = probability("Delta", Delta)
    error = model_error(tv, horizon)
    if error >= Delta:
        raise AmbsError(
            f"A model that may be off by tv {tv:g} per step may be off by {error:.3g} over {horizon} steps, "
            f"which leaves nothing of Delta {Delta:g}; it takes a better model or a shorter horizon."
        )
    return Delta - error


def _sound(error: float, tv: float, horizon: int) -> bool:
    return error >= model_error(tv, horizon)


def _printed(error: float, tv: float, horizon: int) -> bool:
    return error >= model_error(tv, horizon, "paper")


MODEL_ERROR = Bound(
    key="model-error",
    title="Model error over the horizon",
    statement="|μ - μ̂| ≤ e = 1 - (1-α)^n",
    source="corrected step of Theorem 2 (coupling)",
    sound=True,
    assumes=(
        "TV(T(·|s), T̂(·|s)) ≤ α at every safe state that both chains can reach in fewer than n steps through "
        "safe states."
    ),
    claims="The learned chain's probability of staying safe for n steps is within e of the true chain's.",
    smallest=("error",),
    largest=("tv", "horizon"),
    conditions=(_sound,),
)

MODEL_ERROR_PAPER = Bound(
    key="model-error-paper",
    title="Model error over the horizon, as printed",
    statement="|μ - μ̂| ≤ e = αn/2",
    source="paper, proof of Theorem 2",
    sound=False,
    assumes="TV(T(·|s), T̂(·|s)) ≤ α at every state.",
    claims="Nothing: the printed inequality is false.",
    warning=(
        "False already for n = 1: T stays safe for sure, T̂ is unsafe with probability α, and |μ - μ̂| = α, "
        "twice the bound. The averaged state distributions that the proof compares do not determine the "
        "probability of a trace."
    ),
    smallest=("error",),
    largest=("tv", "horizon"),
    conditions=(_printed,),
)
