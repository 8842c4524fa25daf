"""The training run: collect, remember, learn, report, save. Killed at any moment, it goes on from its checkpoint.

What follows from a checkpoint is what would have followed without it: everything that decides it is saved (weights,
random states, the replay, the episodes under way and what the agent remembers of them, sums of metrics), and saving
draws nothing at random.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from safetensors.numpy import load_file

from ambs.envs.vector import Batch, VectorEnv
from ambs.errors import AmbsError
from ambs.replay import Ring
from ambs.runs.dreamer.counters import Counters, Scorer
from ambs.runs.dreamer.interruption import Interrupted, Interruption
from ambs.runs.dreamer.margin import interval_for, margin_for
from ambs.runs.dreamer.position import Position
from ambs.runs.dreamer.random_play import random_actions
from ambs.runs.dreamer.rows import as_rows
from ambs.runs.dreamer.status import Progress, Status
from ambs.runs.dreamer.tally import Tally, add, all_finite
from ambs.runs.dreamer.verdicts import VerdictSums
from ambs.runs.storage import MetricsLog, RunFolder, save
from ambs.runs.storage.trees import restore
from ambs.runs.trainee import Settings, Trainee
from ambs.world_model.parts import as_parts


class Run:
    """Everything a training run holds while it runs.

    Args:
        kind: What to train.
        config: How.
        folder: Where.
        vec: The environments.
        manifest: Of the checkpoint to go on from, as `latest` has found it whole; None to begin.
        by: What has a part in making it (`ambs.runs.made_by`), for its checkpoints.
    """

    def __init__(
        self, kind: type[Trainee], config: Settings, folder: RunFolder, vec: VectorEnv,
        manifest: Mapping[str, Any] | None, by: Sequence[Any],
    ) -> None:  # fmt: skip
        self.config, self.folder, self.vec, self._by = config, folder, vec, list(by)
        self.key = jax.random.key(config.seed)
        self.rng = np.random.default_rng(config.seed)
        self.counters, self.scorer = Counters(), Scorer(config.envs)
        self.tally: Tally | None = None
        self.verdicts = VerdictSums()
        self.trainee = kind.begin(config, vec, key=self._next_key())
        self.codec = self.trainee.codec
        self.position = Position(
            vec.reset(), np.zeros((config.envs, self.codec.size), np.float32), self.trainee.nothing_yet()
        )
        self.checkpoint_step: int | None = None
        self._step_began = 0
        self._saved_at: tuple[int, int] | None = None
        self.ring = Ring.open(
            folder.replay, self.trainee.layout(), config.capacity, config.envs,
            margin=margin_for(config.checkpoint_every, config.envs),
            # Without a checkpoint nothing has happened yet, whatever is in the replay.
            written=0 if manifest is None else manifest["extra"]["replay"],
        )  # fmt: skip
        self.checkpoint_every = interval_for(config.checkpoint_every, config.envs, folder.replay)
        if manifest is not None:
            self._go_back(manifest)
        self.trainee.start(folder.path, self.ring, self.counters.steps)
        counters = self.counters
        self.log = MetricsLog(
            folder.path, counters.steps, updates=counters.updates, tensorboard=config.tensorboard
        )  # fmt: skip
        self._compiled, self._acts = False, False

    def train(self, progress: Progress, interruption: Interruption) -> None:
        """Runs to the end; or to a signal, and then it is `Interrupted` after a last checkpoint."""
        config, counters = self.config, self.counters
        self._learn_offline(progress, interruption)
        self._clock, self._row_began = (time.monotonic(), time.process_time()), (time.monotonic(), counters.steps)
        if counters.updates < self._due_updates():
            # A signal came between the updates of a step.
            self._finish_step(progress, interruption)
        while counters.steps < config.steps:
            self._step_began = counters.steps
            if not self._acts and counters.steps >= config.prefill:
                # The first decision is compiled, and that takes a while.
                self._acts = True
                progress(self.status("compiling", what="decision"))
            self._step()
            self._finish_step(progress, interruption)
        if self._row_began[1] < counters.steps:
            # The sums are kept: a run that is given more steps goes on with its row.
            self._report(self._row_began)
        self.save()

    def _finish_step(self, progress: Progress, interruption: Interruption) -> None:
        """What follows a step: updates, a row of metrics, a checkpoint; or after a signal a checkpoint and an end."""
        config, counters, before = self.config, self.counters, self._step_began
        self._learn_what_is_due(progress, interruption)
        now = time.monotonic(), time.process_time()
        counters.wall_seconds += now[0] - self._clock[0]
        counters.cpu_seconds += now[1] - self._clock[1]
        self._clock = now
        stopped = interruption.signal is not None and counters.steps < config.steps
        # The row of a step comes after its updates, and those that a signal cut short are not over.
        whole = counters.updates >= self._due_updates() or not self.trainee.ready(self.ring)
        if whole and _due(before, counters.steps, config.log_every):
            self._report(self._row_began)
            self.tally, self.verdicts = None, VerdictSums()
            self.trainee.end_row()
            self._row_began = (time.monotonic(), counters.steps)
        if stopped or _due(before, counters.steps, self.checkpoint_every):
            self.save()
        progress(self.status("learning" if self._compiled else "collecting"))
        if stopped:
            assert interruption.signal is not None
            raise Interrupted(counters.steps, interruption.signal)

    def save(self) -> None:
        """A checkpoint; or an error, if what would be saved is broken."""
        if self._saved_at == (self.counters.steps, self.counters.updates):
            return
        self._require_finite()
        if not all_finite(self.trainee.learner):
            raise self._broken("a weight has not been", self.counters.steps)
        self.ring.flush()
        self.trainee.save()
        extra = {
            "made_by": self._by,
            "counters": self.counters.as_json(),
            "step_began": self._step_began,
            "episodes_under_way": {"numbers": self.vec.episodes, **self.scorer.as_json()},
            "replay": self.ring.written,
            "rng": self.rng.bit_generator.state,
            "tally": None if self.tally is None else self.tally.as_json(),
            **({} if self.config.guard is None else {"verdicts": self.verdicts.as_json()}),
            **self.trainee.as_json(),
        }
        save(self.folder.checkpoints, self.counters.steps, self._tree(), extra)
        self.checkpoint_step = self.counters.steps
        self._saved_at = self.counters.steps, self.counters.updates

    def status(self, doing: str, note: str = "", due: int = 0, what: str = "gradient step") -> Status:
        counters = self.counters
        return Status(
            doing, counters.steps, self.config.steps, counters.episodes, counters.violations, counters.updates,
            counters.mean_return(20), note, due, what,
        )  # fmt: skip

    def close(self) -> None:
        self.log.close()

    def _tree(self) -> dict[str, Any]:
        return {**self.trainee.as_tree(), "key": self.key, **self.position.as_tree()}

    def _go_back(self, manifest: Mapping[str, Any]) -> None:
        """To where the run was when the checkpoint was saved."""
        arrays, extra = load_file(self.folder.checkpoints / manifest["file"]), manifest["extra"]
        tree = restore(self._tree(), arrays, manifest["arrays"])
        self.trainee.go_back(tree, extra)
        self.key = tree["key"]
        self.counters = Counters.from_json(extra["counters"])
        # Not the environments' number less, where some of them began an episode; older checkpoints do not have it.
        self._step_began = extra.get("step_began", max(0, self.counters.steps - self.config.envs))
        self.rng.bit_generator.state = extra["rng"]
        self.verdicts = VerdictSums(**extra.get("verdicts", {}))
        self.tally = None if extra["tally"] is None else Tally.from_json(extra["tally"])
        under_way = dict(extra["episodes_under_way"])
        if self.position.go_back(tree, under_way.pop("numbers"), self.vec, self.ring, self.codec):
            self.scorer = Scorer.from_json(under_way)
        self.checkpoint_step = manifest["step"]
        self._saved_at = self.counters.steps, self.counters.updates

    def _next_key(self) -> jax.Array:
        self.key, key = _two_keys(self.key)
        return key

    def _step(self) -> None:
        """One step of every environment: into the replay with what is seen, and on to the next."""
        position = self.position
        self.ring.add(as_rows(position.batch, position.action))
        self.trainee.stored(self.ring)
        acted, preferences = self.counters.steps >= self.config.prefill, None
        if not acted:
            self.trainee.pass_over(position)
            position.action = random_actions(self.codec, position, self.config.hold, self.rng)
        else:
            preferences = self.trainee.act(position, self.counters, key=self._next_key())
            self._require_sound_policy()
        position.batch = self._next_batch(acted, preferences)
        self._require_sound(position.batch)
        for episode in self.scorer.add(position.batch, self.counters):
            self.log.score(self.counters.steps, **dataclasses.asdict(episode))
        if not acted and self.counters.steps >= self.config.prefill:
            self.trainee.collected(self.counters)

    def _guard(self, acted: bool, preferences: np.ndarray | None) -> None:
        """The environments' guards, if there are any, have the last word on what is played."""
        if self.config.guard is None:
            return
        position, counters = self.position, self.counters
        verdicts = self.vec.guard(self.codec.decode(position.action), preferences)
        self.verdicts.add(verdicts)
        counters.shielded += int(verdicts.asked.sum())
        counters.overrides += int(verdicts.overridden.sum())
        if verdicts.overridden.any():
            played = np.stack([self.codec.encode(action) for action in verdicts.actions])
            position.action = np.where(verdicts.overridden[:, None], played, position.action)
            if acted:
                self.trainee.played(position)

    def _next_batch(self, acted: bool, preferences: np.ndarray | None) -> Batch:
        """What follows the actions; an environment's error says what there is to go on from."""
        try:
            self._guard(acted, preferences)
            return self.vec.step(self.codec.decode(self.position.action))
        except AmbsError as error:
            rest = self._last_good(
                "mend the environment, and the same command goes on from there",
                otherwise="mend the environment and start again",
            )
            raise AmbsError(f"{error}\nThe run has stopped, and {rest}") from error

    def _learn_offline(self, progress: Progress, interruption: Interruption) -> None:
        """Gradient steps on what the run starts from, with ten rows of metrics; and a checkpoint."""
        counters, updates = self.counters, self.trainee.offline_updates
        if counters.updates >= updates:
            return
        every = max(1, updates // 10)
        while counters.updates < updates:
            clock = time.monotonic(), time.process_time()
            self._update(progress)
            if counters.updates % every == 0:
                self._report((clock[0], 0))
                self.tally = None
            counters.wall_seconds += time.monotonic() - clock[0]
            counters.cpu_seconds += time.process_time() - clock[1]
            progress(self.status("pretraining", due=updates))
            if interruption.signal is not None:
                self.save()
                raise Interrupted(0, interruption.signal)
        self.save()

    def _due_updates(self) -> int:
        """How many gradient steps the steps so far ask for."""
        config, steps = self.config, self.counters.steps
        return self._first_updates() + max(0, int((steps - config.prefill) / config.steps_per_update))

    def _first_updates(self) -> int:
        """Those of them that come before the agent acts."""
        trainee = self.trainee
        return trainee.offline_updates + (trainee.first_updates if self.counters.steps >= self.config.prefill else 0)

    def _learn_what_is_due(self, progress: Progress, interruption: Interruption) -> None:
        """Gradient steps, until there have been as many as the steps so far ask for; or until a signal."""
        counters, due, first = self.counters, self._due_updates(), self._first_updates()
        while counters.updates < due and self.trainee.ready(self.ring):
            if interruption.signal is not None and counters.steps < self.config.steps:
                return
            self._update(progress)
            if counters.updates <= first:
                progress(self.status("pretraining", due=first))

    def _update(self, progress: Progress) -> None:
        """One gradient step."""
        if not self._compiled:
            progress(self.status("compiling"))
            self._compiled = True
        metrics = self.trainee.learn(self.ring, self.rng, key=self._next_key())
        tally = Tally.like(metrics) if self.tally is None else self.tally
        self.tally = add(tally, metrics, self.trainee.learner.updates)
        self.counters.updates += 1

    def _report(self, began: tuple[float, int]) -> None:
        """A row of metrics: the means since the last one. Here, and for a checkpoint, the host waits for the device."""
        self._require_finite()
        counters, (then, steps) = self.counters, began
        own = {"episodes": counters.episodes, "violations": counters.violations, "updates": counters.updates}
        score = {"return": mean} if (mean := counters.mean_return(20)) is not None else {}
        means = {**({} if self.tally is None else self.tally.means()), **self.verdicts.means()}
        speed = {"steps_per_second": (counters.steps - steps) / max(time.monotonic() - then, 1e-9)}
        self.log.metrics(counters.steps, {**means, **self.trainee.row(), **own, **score, **speed})

    def _require_finite(self) -> None:
        broken = None if self.tally is None else self.tally.first_broken()
        if broken is not None:
            online = max(0, broken.update - self.trainee.offline_updates - self.trainee.first_updates)
            step = self.config.prefill + online * self.config.steps_per_update
            raise self._broken(f"{broken.name} has not been", min(int(step), self.counters.steps))

    def _broken(self, what: str, step: int) -> AmbsError:
        return AmbsError(
            f"{what} a finite number since about step {step:,}, so the run has stopped, and "
            + self._last_good(
                "run the same command with a lower --learning-rate, and it goes on from there",
                otherwise="start again with a lower --learning-rate",
            )
        )

    def _require_sound_policy(self) -> None:
        """What is no number would be an error of the environment's, which has not made it."""
        if not np.isfinite(self.position.action).all():
            self._require_finite()
            raise self._broken("the policy's action has not been", self.counters.steps)

    def _require_sound(self, batch: Batch) -> None:
        """What is no number would be in the replay for good."""
        seen = [part for part in as_parts(batch.obs).values() if np.issubdtype(part.dtype, np.floating)]
        for what, values in (("a reward", [batch.reward]), ("an observation", seen)):
            if not all(np.isfinite(array).all() for array in values):
                raise AmbsError(
                    f"{what} of the environment is no finite number at step {self.counters.steps:,}, so the run has "
                    "stopped, and "
                    + self._last_good(
                        "mend the environment, and the same command goes on from there",
                        otherwise="mend the environment and start again",
                    )
                )

    def _last_good(self, then: str, *, otherwise: str) -> str:
        """The end of a sentence: what there is to go on from, and what to do; `otherwise`, if there is nothing."""
        last = self.checkpoint_step
        if last is None:
            return f"there is no checkpoint yet; {otherwise}."
        return f"its last good checkpoint is of step {last:,}; {then}."


@jax.jit
def _two_keys(key: PRNGKeyArray) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Compiled, since it is asked for at every step: op by op it takes several times as long."""
    first, second = jax.random.split(key)
    return first, second


def _due(before: int, now: int, every: int) -> bool:
    """Whether a multiple of `every` was reached; by the steps alone, so that a resumed run keeps the rhythm."""
    return now // every > before // every
