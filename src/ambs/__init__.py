"""Approximate Model-Based Shielding: formulas, exact checking, bounds, statistical tests."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ambs import envs as envs
from ambs import logic as logic
from ambs.envs import labelled as labelled
from ambs.envs import make as make
from ambs.errors import AmbsError as AmbsError
from ambs.errors import FormulaError as FormulaError
from ambs.errors import ModelError as ModelError
from ambs.logic import FiniteModel as FiniteModel
from ambs.logic import check as check
from ambs.logic import parse as parse

if TYPE_CHECKING:
    from ambs import bounds as bounds
    from ambs import shield as shield
    from ambs import tabular as tabular
    from ambs.runs.evaluate import load as load
    from ambs.shield import Betting as Betting
    from ambs.shield import ClassicalShield as ClassicalShield
    from ambs.shield import Fixed as Fixed
    from ambs.shield import Ladder as Ladder
    from ambs.shield import LookaheadShield as LookaheadShield
    from ambs.shield import NoShield as NoShield
    from ambs.shield import NumpyModel as NumpyModel
    from ambs.shield import NumpyPolicy as NumpyPolicy
    from ambs.shield import PrescienceShield as PrescienceShield
    from ambs.shield import ShieldWrapper as ShieldWrapper
    from ambs.shield import StatTest as StatTest
    from ambs.shield import Verdict as Verdict
    from ambs.tabular import TabularModel as TabularModel
    from ambs.tabular import TabularPolicy as TabularPolicy
    from ambs.types import Decision as Decision
    from ambs.types import Prediction as Prediction

__version__ = "0.1.0"

# What needs JAX is imported when it is first asked for: worker processes that only step environments do without.
_SHIELD = (
    "Betting ClassicalShield Fixed Ladder LookaheadShield NoShield NumpyModel NumpyPolicy PrescienceShield "
    "ShieldWrapper StatTest Verdict"
)
_LATER = {
    **dict.fromkeys(_SHIELD.split(), "ambs.shield"),
    **dict.fromkeys(("TabularModel", "TabularPolicy"), "ambs.tabular"),
    "load": "ambs.runs.evaluate",
    **dict.fromkeys(("Decision", "Prediction"), "ambs.types"),
}
_PARTS = ("bounds", "shield", "tabular")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"ambs.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'ambs' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_PARTS})


# So that gymnasium.make("ambs:Conveyor-v0") finds it.
envs.register()
