"""Every question that has no answer gets a sentence that says why."""

import math

import pytest

from ambs.bounds import (
    BOUNDS,
    hoeffding_value_error,
    model_error,
    null_violation_rate,
    traces_required,
    tv_budget,
    tv_for_error,
    variance_aware_error,
    visits_required,
)
from ambs.errors import AmbsError

SIZE = {"states": 5, "actions": 2}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: traces_required(0, 0.01), "epsilon is 0"),
        (lambda: traces_required(1, 0.01), "epsilon is 1"),
        (lambda: traces_required(0.1, math.nan), "delta is nan"),
        (lambda: traces_required(0.1, 0.01, model="true"), "model is 'true'.*exact, learned"),
        (lambda: traces_required(0.1, 0.01, sides=3), "sides is 3"),
        (lambda: traces_required(1e-200, 0.01), "too large to be written down"),
        (lambda: tv_budget(0.09, 0), "horizon is 0"),
        (lambda: tv_budget(0.09, 30, version="best"), "version is 'best'.*sound, paper, tight"),
        (lambda: tv_for_error(1.0, 30), "error is 1"),
        (lambda: model_error(-0.1, 30), "tv is -0.1"),
        (lambda: model_error(0.1, 30, version="tight"), "version is 'tight'"),
        (lambda: null_violation_rate(0.1, 0.01, 30), "may be off by 0.26 over 30 steps"),
        (lambda: null_violation_rate(0.5, 0.5, 1), "leaves nothing of Delta 0.5"),
        (lambda: visits_required(0, 0.01, **SIZE), "tv is 0"),
        (lambda: visits_required(1, 0.01, **SIZE), "tv is 1"),
        (lambda: visits_required(0.1, 0.01, states=0, actions=2), "states is 0"),
        (lambda: visits_required(0.1, 0.01, **SIZE, successors=0), "successors is 0"),
        (lambda: visits_required(0.1, 0.01, **SIZE, version="tight"), "version is 'tight'"),
        (lambda: hoeffding_value_error(0, 0.01, 30, **SIZE), "visits is 0"),
        (lambda: hoeffding_value_error(10, 2, 30, **SIZE), "delta is 2"),
        (lambda: variance_aware_error(10, 0.01, 30, **SIZE, mu=1.1), "mu is 1.1"),
    ],
)
def test_functions(call, message: str) -> None:
    with pytest.raises(AmbsError, match=message):
        call()


@pytest.mark.parametrize(
    ("key", "unknown", "known", "message"),
    [
        ("theorem-1", "horizon", {}, "theorem-1 has no horizon: it relates traces, epsilon and delta"),
        ("theorem-1", "sides", {}, "can be solved for traces, epsilon and delta, not for sides"),
        ("theorem-1", "delta", {"tv": 0.1}, "theorem-1 has no tv"),
        ("theorem-1", "delta", {"delta": 0.1, "m": 1, "epsilon": 0.1}, "both given and asked for"),
        ("theorem-1", "delta", {"m": 1}, "theorem-1 needs epsilon to be solved for delta"),
        ("theorem-1", "delta", {"m": 1, "epsilon": 0.1}, "no delta below 1 will do with traces 1"),
        ("theorem-1", "m", {"epsilon": 0.1, "delta": 1.5}, "delta is 1.5"),
        ("theorem-2-half", "horizon", {"epsilon": 0.1}, "needs tv to be solved for horizon"),
        ("theorem-2-half", "n", {"epsilon": 0.1, "tv": 0.09}, "no horizon will do"),
        ("theorem-2-half", "tv", {"epsilon": 0.1, "n": 2.5}, "horizon is 2.5"),
        ("theorem-2-half", "n", {"epsilon": 0.1, "tv": 0}, "no longest horizon"),
        (
            "theorem-2-half",
            "m",
            {"epsilon": 0.09, "delta": 0.01, "tv": 0.003, "horizon": 30},
            "does not hold with tv 0.003, epsilon 0.09 and horizon 30, whatever traces is",
        ),
        (
            "theorem-2-sound",
            "m",
            {"epsilon": 0.09, "delta": 0.01, "tv": 0.1, "horizon": 30},
            "no number of traces is enough",
        ),
        (
            "theorem-2-sound",
            "tv",
            {"epsilon": 0.09, "delta": 0.01, "m": 300, "horizon": 30},
            "no tv below 1 will do",
        ),
        ("theorem-2-sound", "m", {"epsilon": 0.1, "delta": 0.01, "tv": 1, "n": 3}, r"tv is 1.*\[0, 1\)"),
        ("weissman", "visits", {"tv": 0.1, "delta": 0.01}, "needs states and actions"),
        ("weissman", "visits", {"tv": 0, "delta": 0.01, **SIZE}, "no number of visits is enough"),
        ("weissman", "tv", {"visits": 1, "delta": 0.01, **SIZE}, "no tv below 1 will do"),
        ("value-hoeffding", "n", {"visits": 1, "delta": 0.1, "error": 0.1, **SIZE}, "no horizon will do"),
        ("variance-aware", "error", {"visits": 1, "delta": 0.1, "n": 9, **SIZE}, "no error below 1 will do"),
    ],
)
def test_bounds(key: str, unknown: str, known: dict[str, float], message: str) -> None:
    with pytest.raises(AmbsError, match=message):
        BOUNDS[key].solve(unknown, **known)
