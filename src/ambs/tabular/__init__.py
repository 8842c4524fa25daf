"""Everything finite: models and policies that are tables, planning on them, and tabular AMBS."""

from ambs.tabular.model import TabularModel as TabularModel
from ambs.tabular.model import TabularPolicy as TabularPolicy
