"""Training runs of agents that learn values without a model: Rainbow and IQN."""

from ambs.runs.value.config import ValueRunConfig as ValueRunConfig
from ambs.runs.value.config import preset as preset
from ambs.runs.value.training import train as train
