"""Episodes that others have made, for a run to begin with."""

from ambs.runs.dreamer.offline.source import Source as Source
from ambs.runs.dreamer.offline.source import fill as fill
from ambs.runs.dreamer.offline.source import require_enough as require_enough
from ambs.runs.dreamer.offline.source import require_satisfied as require_satisfied
from ambs.runs.dreamer.offline.start import source_of as source_of
