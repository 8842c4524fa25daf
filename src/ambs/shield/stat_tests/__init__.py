"""Tests of `μ >= 1-Δ` from sampled traces, each with its exact operating characteristic."""

from ambs.shield.stat_tests.base import StatTest as StatTest
from ambs.shield.stat_tests.base import Verdict as Verdict
from ambs.shield.stat_tests.betting import Betting as Betting
from ambs.shield.stat_tests.fixed import Fixed as Fixed
from ambs.shield.stat_tests.ladder import Ladder as Ladder
from ambs.shield.stat_tests.looks import Looks as Looks
