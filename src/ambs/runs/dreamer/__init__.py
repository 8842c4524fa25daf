"""Training runs of agents that learn a world model."""

from ambs.runs.dreamer.config import RunConfig as RunConfig
from ambs.runs.dreamer.config import cpu_learner as cpu_learner
from ambs.runs.dreamer.interruption import Interrupted as Interrupted
from ambs.runs.dreamer.status import Status as Status
from ambs.runs.dreamer.training import train as train
