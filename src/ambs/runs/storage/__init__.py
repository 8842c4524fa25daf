"""What a run keeps on disk, and finds there again after it was killed."""

from ambs.runs.storage.checkpoint import Checkpoint, latest, load, save
from ambs.runs.storage.folder import MAY_CHANGE, RunFolder, compare, read_config
from ambs.runs.storage.metrics import MetricsLog

__all__ = ["MAY_CHANGE", "Checkpoint", "MetricsLog", "RunFolder", "compare", "latest", "load", "read_config", "save"]
