"""Rainbow and IQN in the paper's games, as its preset shows them: 84×84 pixels without colour, four at once.

All games have the same actions, so that what is compiled for one is there for the others.
"""

import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from ambs.runs.dreamer import Interrupted
from ambs.runs.storage import latest
from ambs.runs.value import train
from ambs.runs.value.config import ATARI_OPTIONS, preset
from tests.runs.dreamer.small import rows, weights
from tests.runs.value.small import assert_same_run

AGENTS = ("rainbow", "iqn")
GAMES = ("assault", "double-dunk", "enduro", "kung-fu-master", "seaquest")
# Episodes of 15 steps, so that some end, and the replay forgets some.
SHORT = {**ATARI_OPTIONS, "max_frames": 60}


def tiny(agent, game, **changes):
    """The paper's preset with few units, few steps and few examples in a gradient step."""
    config = preset(agent, game)
    assert (config.env_options, config.learner.stack, config.envs) == (ATARI_OPTIONS, 4, 1)
    small = {
        "steps": 80, "batch": 4, "target_every": 20, "capacity": 40, "prefill": 16, "log_every": 16,
        "checkpoint_every": 24, "workers": "inline", "tensorboard": False,
    }  # fmt: skip
    learner = replace(config.learner, units=16, epsilon_steps=40, beta_steps=80)
    return replace(config, learner=learner, **{**small, **changes})


@pytest.fixture(scope="module", params=AGENTS)
def whole(request, tmp_path_factory):
    """Never stopped."""
    path = tmp_path_factory.mktemp(request.param) / "run"
    config = tiny(request.param, "seaquest", env_options=SHORT)
    return config, (path, train(config, path))


def test_a_whole_run(whole):
    config, (path, summary) = whole
    assert (summary["agent"], summary["steps"], summary["updates"]) == (config.agent, 80, (80 - 16) // 4)
    assert [row["length"] for row in rows(path, "scores")] == [15] * 5
    assert np.isfinite([row["loss"] for row in rows(path, "metrics") if row["step"] > 16]).all()
    # The online network has gone on learning since the target became the same.
    learned = weights(path)
    online, target = (learned[f"['learner'].{which}.torso.net.kernels[0]"] for which in ("online", "target"))
    assert online.shape == (8, 8, 4, 32)
    assert not np.array_equal(online, target)


def test_stopped_in_the_middle_of_an_episode(tmp_path, whole):
    config, other = whole
    train(replace(config, steps=55), tmp_path)
    assert latest(tmp_path / "checkpoints")["step"] == 55
    assert_same_run(tmp_path, train(config, tmp_path), other, extra_rows=(55,))


def test_after_a_signal(tmp_path, whole):
    config, other = whole

    def at_38(status):
        if status.steps == 38:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        train(config, tmp_path, at_38)
    assert_same_run(tmp_path, train(config, tmp_path), other)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_game_of_the_paper_is_learned_from(tmp_path, agent, game):
    """One gradient step, and what it has changed is in the checkpoint."""
    config = tiny(agent, game, steps=20)
    summary = train(config, tmp_path)
    assert [summary[key] for key in ("env", "agent", "steps", "updates")] == [game, agent, 20, 1]
    assert np.isfinite(rows(tmp_path, "metrics")[-1]["loss"])
    header = json.loads((tmp_path / "replay" / "ring.json").read_text())
    assert header["layout"]["obs/"] == {"shape": [84, 84, 1], "dtype": "uint8"}
    assert header["layout"]["action"]["shape"] == [18]
    assert latest(tmp_path / "checkpoints")["step"] == 20
    learned = weights(tmp_path)
    differs = [
        name for name in learned if ".online" in name
        and not np.array_equal(learned[name], learned[name.replace(".online", ".target")])
    ]  # fmt: skip
    assert differs
