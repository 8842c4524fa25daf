"""The shield: look ahead in a model, test what was seen, and take over when it is too likely to go wrong."""

from ambs.shield.classical import ClassicalShield as ClassicalShield
from ambs.shield.criteria import CostCriterion as CostCriterion
from ambs.shield.criteria import LabelCriterion as LabelCriterion
from ambs.shield.criteria import TailedCriterion as TailedCriterion
from ambs.shield.imagine import Trajectory as Trajectory
from ambs.shield.imagine import imagine as imagine
from ambs.shield.lookahead import LookaheadShield as LookaheadShield
from ambs.shield.lookahead import NoShield as NoShield
from ambs.shield.lookahead import safety_formula as safety_formula
from ambs.shield.prescience import PrescienceShield as PrescienceShield
from ambs.shield.search import Search as Search
from ambs.shield.simulator import NumpyModel as NumpyModel
from ambs.shield.simulator import NumpyPolicy as NumpyPolicy
from ambs.shield.stat_tests import Betting as Betting
from ambs.shield.stat_tests import Fixed as Fixed
from ambs.shield.stat_tests import Ladder as Ladder
from ambs.shield.stat_tests import StatTest as StatTest
from ambs.shield.stat_tests import Verdict as Verdict
from ambs.shield.wrapper import ShieldWrapper as ShieldWrapper
