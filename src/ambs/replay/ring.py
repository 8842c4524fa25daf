"""The replay of a run: one memory-mapped ring of the last steps, from which sequences are drawn uniformly.

Every environment has a lane of its own, and all lanes move together: a step of the vector is one row in each. A
sequence is consecutive rows of one lane. It never crosses the seam, where the newest row meets the oldest. It may cross
the end of an episode, where `is_first` tells the learner to start from the initial state; and since the rows before it
are not part of the sequence, the learner has to do so at its first row too, whatever `is_first` says there.

On disk, rows lie segment after segment, in a segment lane after lane: files grow by whole segments, and a sequence is
(almost always) one piece of the disk. In memory is what the system keeps of the files, and gives up when others need
it.

There is no thread that samples ahead: a batch drawn early would depend on when the thread came to it. Where several
gradient steps are due at once, JAX returns before the first is done, and the next batch is copied while the device
computes. Where the environments are stepped in between, acting waits for the weights, and nothing overlaps.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from ambs.errors import AmbsError, positive_integer
from ambs.files import write_text
from ambs.replay.columns import Columns
from ambs.replay.layout import Layout, as_layout, difference, from_json, to_json
from ambs.replay.marks import Marks

# Rows of all lanes together by which the files grow: 50 MB of 64×64 images.
SEGMENT = 4096


class Ring:
    """The last `capacity` steps of `envs` environments together; `Ring.open` makes one or finds it again.

    Attributes:
        window: how many steps of each environment it holds.
    """

    def __init__(self, folder: Path, layout: Layout, capacity: int, envs: int, margin: int, segment: int) -> None:
        self.layout, self.capacity, self.envs, self.window = layout, capacity, envs, capacity // envs
        self._slots = self.window + -(-margin // envs)
        self._run = min(-(-segment // envs), self._slots)
        self._columns = Columns(folder, layout, self._run * envs, -(-self._slots // self._run))
        self._marks = Marks(folder / "marks.raw", self._slots, self.window)

    @classmethod
    def open(
        cls,
        folder: Path,
        layout: Mapping[str, Any],
        capacity: Any,
        envs: Any,
        *,
        written: int | None = None,
        margin: int = 0,
        segment: int = SEGMENT,
    ) -> Ring:
        """The ring in `folder`, as it was after `written` rows (or at its last `flush`); a new one if there is none.

        Args:
            folder: Of this ring alone.
            layout: Key → shape and dtype of what one step of one environment stores. An observation that is a
                dictionary is several keys: "obs/camera", "obs/speed".
            capacity: Steps of all environments together.
            envs: How many environments write to it.
            written: From the checkpoint that the run goes on from: what `ring.written` was then.
            margin: Steps of all environments together that stay on disk beyond the capacity, not to be sampled: a run
                that is killed no more than that after its checkpoint has, resumed, the very rows it had then. A ring
                that is found again keeps the margin and the segment it was made with.
            segment: By how many steps of all environments together the files grow.
        """
        envs, capacity = positive_integer("envs", envs), positive_integer("the replay's capacity", capacity)
        if capacity < envs:
            raise AmbsError(f"a replay of {capacity} steps has no room for {envs} environments; raise its capacity.")
        fields = as_layout(layout)
        header = {
            "capacity": capacity, "envs": envs, "margin": margin, "segment": segment, "layout": to_json(fields)
        }  # fmt: skip
        path = folder / "ring.json"
        try:
            if path.exists():
                margin, segment = _require_same(path, header)
            else:
                _start(folder)
            ring = cls(folder, fields, capacity, envs, margin, segment)
        except OSError as error:
            raise AmbsError(f"the replay in {folder} cannot be opened: {error.strerror}.") from error
        if not path.exists():
            write_text(path, json.dumps(header, indent=2) + "\n")
        ring.rewind(ring.written if written is None else written)
        return ring

    @classmethod
    def found(cls, folder: Path) -> Ring:
        """The ring of another run as it was at its last `flush`, to be read: whatever it stores and holds."""
        path = folder / "ring.json"
        try:
            header = json.loads(path.read_text(encoding="utf-8"))
            sizes = (int(header[name]) for name in ("capacity", "envs", "margin", "segment"))
            return cls(folder, from_json(header["layout"]), *sizes)
        except OSError as error:
            raise AmbsError(f"the replay in {folder} cannot be read: {error.strerror}.") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise AmbsError(f"{path} is not the header of a replay.") from error

    @property
    def written(self) -> int:
        """Rows that each lane has seen since the run began; a checkpoint stores it."""
        return self._marks.written

    def __len__(self) -> int:
        """Steps of all environments that can be sampled."""
        return (self.written - self._marks.oldest) * self.envs

    def add(self, rows: Mapping[str, Any]) -> None:
        """One step of every environment: arrays `[envs, *shape]`, one a key."""
        arrays = self._checked(rows)
        slot = np.array(self.written % self._slots)
        index = self._index(np.arange(self.envs), slot)
        self._columns.require(int(index.max()) + 1)
        self._marks.begin()
        self._columns.write(index, arrays)
        self._marks.end()

    def starts(self, length: int) -> range:
        """The numbers of the rows at which a sequence can start, in every lane."""
        return range(self._marks.oldest, max(self._marks.oldest, self.written - length + 1))

    def ready(self, length: int) -> bool:
        """Whether there is a sequence of `length` rows to sample."""
        if length > self.window:
            raise AmbsError(
                f"a replay of {self.capacity:,} steps holds {self.window:,} of each of its {self.envs} environments, "
                f"so it never has a sequence of {length:,}; raise its capacity."
            )
        return len(self.starts(length)) > 0

    def sample(self, rng: np.random.Generator, batch: int, length: int) -> dict[str, np.ndarray]:
        """`batch` sequences `[batch, length, *shape]`, every lane and start as likely as every other.

        One call draws once from `rng`, so that its state in a checkpoint decides all batches to come.
        """
        if not self.ready(length):
            raise AmbsError(
                f"the replay has {self.written - self._marks.oldest} steps of each environment and a sequence takes "
                f"{length}; collect more before sampling."
            )
        starts = self.starts(length)
        drawn = rng.integers(self.envs * len(starts), size=batch)
        return self.gather(drawn % self.envs, starts[0] + drawn // self.envs, length)

    def gather(
        self, lanes: Int[np.ndarray, " batch"], starts: Int[np.ndarray, " batch"], length: int
    ) -> dict[str, np.ndarray]:
        """The sequences that begin at those rows of those lanes."""
        return self.rows(lanes[:, None], starts[:, None] + np.arange(length))

    def rows(
        self, lanes: Int[np.ndarray, "*#n"], rows: Int[np.ndarray, "*#n"], keys: Collection[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Single rows of lanes, in the shape that both are broadcast to; of some keys, or of all."""
        return self._columns.read(self._index(lanes, rows % self._slots), keys)

    def since(self, mark: str, key: str, lane: int) -> np.ndarray | None:
        """What is under `key` from the last row of a lane where `mark` is true; None if no row of it is."""
        last = self.written
        while last > self._marks.oldest:
            # Backwards and piece by piece: an episode is short beside the ring.
            first = max(self._marks.oldest, last - self._run)
            found = np.flatnonzero(self._lane(mark, lane, first, last))
            if len(found):
                return self._lane(key, lane, first + int(found[-1]), self.written)
            last = first
        return None

    def rewind(self, written: int) -> None:
        """Goes back to when there were `written` rows: what came after is neither counted nor sampled."""
        self._marks.rewind(written)

    def flush(self) -> None:
        """Puts all rows on the disk, and then the mark that they are there. A checkpoint is saved after this."""
        self._columns.sync()
        self._marks.flush()

    def _lane(self, key: str, lane: int, first: int, last: int) -> np.ndarray:
        """One key of the rows from `first` up to `last`, which is not among them, of one lane."""
        index = self._index(np.array(lane), np.arange(first, last) % self._slots)
        return self._columns.read(index, (key,))[key]

    def _index(self, lanes: Int[np.ndarray, "*#n"], slots: Int[np.ndarray, "*#n"]) -> Int[np.ndarray, "*n"]:
        """Where in the files the slots of the lanes are."""
        segment, within = np.divmod(slots, self._run)
        return (segment * self.envs + lanes) * self._run + within

    def _checked(self, rows: Mapping[str, Any]) -> dict[str, np.ndarray]:
        if rows.keys() != self.layout.keys():
            raise AmbsError(f"a row has {', '.join(rows)}, and the replay stores {', '.join(self.layout)}.")
        arrays = {key: np.asarray(value) for key, value in rows.items()}
        for key, field in self.layout.items():
            array = arrays[key]
            if array.shape != (self.envs, *field.shape) or not np.can_cast(array.dtype, field.dtype, "same_kind"):
                raise AmbsError(
                    f'"{key}" of a row is {array.dtype.name} {list(array.shape)}, and the replay stores {field} for '
                    f"each of {self.envs} environments."
                )
        return arrays


def _start(folder: Path) -> None:
    """An empty folder; what lies there without a header is of a start that was cut short."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*folder.glob("rows-*.raw"), *folder.glob("marks.raw")]:
        path.unlink()


def _require_same(path: Path, header: Mapping[str, Any]) -> tuple[int, int]:
    """The margin and segment of the ring on disk, if it is the one asked for; or an error that says why it is not."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        changed = difference(from_json(stored["layout"]), from_json(header["layout"]))
        for name in ("capacity", "envs"):
            if changed is None and stored[name] != header[name]:
                changed = f"{name} was {stored[name]} and is now {header[name]}"
        physical = int(stored["margin"]), int(stored["segment"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise AmbsError(f"{path} is not the header of a replay; start a new run.") from error
    if changed is not None:
        raise AmbsError(f"the replay in {path.parent} does not fit: {changed}; keep it as it was or start a new run.")
    return physical
