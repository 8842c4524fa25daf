"""The shield: for now, the statistical tests it decides with."""

from ambs.shield.stat_tests import Betting as Betting
from ambs.shield.stat_tests import Fixed as Fixed
from ambs.shield.stat_tests import Ladder as Ladder
from ambs.shield.stat_tests import StatTest as StatTest
from ambs.shield.stat_tests import Verdict as Verdict
