"""Reports of runs: tables with intervals, curves, what was configured how, in one page that needs nothing else.

It reads what runs leave on disk, and does without JAX.
"""

from ambs.report.writing import random_returns, write

__all__ = ["random_returns", "write"]
