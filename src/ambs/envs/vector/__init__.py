"""Many environments stepped together for training: one array out per key, every row in exactly one episode."""

from ambs.envs.vector.batch import Batch as Batch
from ambs.envs.vector.batch import Verdicts as Verdicts
from ambs.envs.vector.make import make_vec as make_vec
from ambs.envs.vector.vector import CrashWarning as CrashWarning
from ambs.envs.vector.vector import ReplayError as ReplayError
from ambs.envs.vector.vector import VectorEnv as VectorEnv
