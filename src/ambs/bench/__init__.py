"""Whole comparisons by one command: suites of training runs, their plan, and whoever runs them."""

from ambs.bench.suite import Suite as Suite
from ambs.bench.suite import read as read
from ambs.bench.suite import suites as suites
