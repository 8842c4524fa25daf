"""Everything finite: models and policies that are tables, planning on them, and tabular AMBS."""

from ambs.tabular.agent import TabularAgent as TabularAgent
from ambs.tabular.agent import TabularConfig as TabularConfig
from ambs.tabular.agent import interact as interact
from ambs.tabular.agent import no_guard as no_guard
from ambs.tabular.counts import VisitCounts as VisitCounts
from ambs.tabular.model import TabularModel as TabularModel
from ambs.tabular.model import TabularPolicy as TabularPolicy
from ambs.tabular.planning import reward_values as reward_values
from ambs.tabular.planning import safest_actions as safest_actions
from ambs.tabular.planning import safety_values as safety_values
