"""`ambs train --agent rainbow|iqn` and `ambs eval` as a user meets them."""

import json
import shlex
from html import escape

import numpy as np
import pytest
from gymnasium import spaces

from ambs import AmbsError
from ambs.commands.train import Train
from ambs.commands.train_dreamer import DreamerOptions
from ambs.commands.train_value import ValueOptions, configuration
from ambs.runs.storage import read_config
from ambs.runs.value.config import ATARI_OPTIONS, preset
from ambs.runs.value.trainee import require_supported
from tests.runs.value.small import FLAGS


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("AMBS_CACHE", "")


def test_a_run_and_its_evaluation(run_ambs, tmp_path):
    arguments = ["train", "conveyor", "--agent", "iqn", *FLAGS, "--seed", "4", "--run", tmp_path / "run"]
    code, out, err = run_ambs(*arguments, "--steps", "60", "--json")
    assert code == 0, err
    assert [json.loads(out)[key] for key in ("env", "agent", "steps", "updates")] == ["conveyor", "iqn", 60, 5]
    code, out, err = run_ambs(*arguments, "--steps", "80")
    assert code == 0, err
    assert "goes on from step 60" in err
    assert "conveyor, iqn, 80 steps, seed 4" in out
    # What was typed last is what made it, whoever tells.
    typed = shlex.join(["ambs", *map(str, arguments), "--steps", "80"])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["made_by"]["command"] == typed
    assert "earlier" not in summary["made_by"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count(escape(typed)) == 2
    code, out, err = run_ambs("eval", tmp_path / "run", "--episodes", "2", "--json")
    answer = json.loads(out)
    assert code == 0, err
    assert [answer[key] for key in ("agent", "shielded", "step", "episodes")] == ["iqn", False, 80, 2]
    code, _, err = run_ambs("eval", tmp_path / "run", "--without-shield")
    assert code == 2
    assert "was trained without a shield" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "rainbow", "--without", "noise"], 'no component "noise"'),
        (["--agent", "iqn", "--without", "double"], "double is a component of rainbow"),
        (["--agent", "rainbow", "--size", "nano"], "--size is an option of the agent dreamer, and this is rainbow"),
        (["--agent", "rainbow", "--length", "8"], "--length is an option of the agent dreamer"),
        (["--agent", "iqn", "--criterion", "sound"], "--criterion is an option of the agent ambs"),
        (["--agent", "iqn", "--test", "A"], "--test is how a shield decides, and the agent iqn has none"),
        (["--agent", "dreamer", "--without", "double"], "--without is an option of the agent rainbow"),
        (["--agent", "iqn", "--most-value", "3"], "--most-value is the end of the distribution that Rainbow learns"),
        (["--agent", "rainbow", "--without", "distributional", "--most-value", "3"], "--most-value is the end"),
        (["--agent", "rainbow", "--taus", "8"], "--taus are the quantiles that IQN learns, and this is rainbow"),
        (["--agent", "iqn", "--taus", "0"], "taus is 0"),
        (["--agent", "iqn", "--epsilon-steps", "0"], "epsilon_steps is 0"),
        (
            ["--agent", "rainbow", "--epsilon-steps", "9"],
            "none is; leave it out, or add --without noisy",
        ),
        (["--agent", "dreamer", "--epsilon-steps", "9"], "--epsilon-steps is an option of the agent iqn"),
        (["--agent", "rainbow", "--update-every", "0"], "update_every is 0"),
        (["--agent", "rainbow", "--prefill", "3"], "prefill is 3, and has to be at least 10"),
        (["--agent", "rainbow", "--capacity", "9"], "capacity is 9"),
        (["--agent", "rainbow", "--learning-rate", "0"], "the learning rate is 0"),
        (["Pendulum-v1", "--agent", "rainbow"], "rainbow chooses among Discrete ones; take the agent dreamer"),
        (["Blackjack-v1", "--agent", "iqn"], "the observation is Tuple"),
        (["conveyorr", "--agent", "iqn"], "did you mean conveyor"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(run_ambs, tmp_path, arguments, words):
    shared = [] if "dreamer" in arguments else FLAGS
    code, out, err = run_ambs("train", *shared, "--run", tmp_path / "run", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert words in err
    assert not (tmp_path / "run").exists()


def test_a_dictionary_of_observations_is_refused():
    space = spaces.Dict({"place": spaces.Box(-1, 1, (2,), np.float32), "evening": spaces.Discrete(2)})
    with pytest.raises(AmbsError, match=r"^the observation is a Dict of .*place.*, and iqn sees one array"):
        require_supported("iqn", space, spaces.Discrete(3))


def test_presets():
    """The paper's tables for Atari, as it has them."""
    rainbow, iqn = preset("rainbow", "seaquest"), preset("iqn", "seaquest")
    for config in (rainbow, iqn):
        how = config.learner
        assert (config.capacity, config.batch, config.update_every, config.target_every) == (10**6, 32, 4, 8000)
        assert (how.discount, how.rewards, how.least_epsilon, how.epsilon_steps) == (0.99, 3, 0.01, 250_000)
        assert (how.stack, how.clip_rewards, how.units, config.env_options) == (4, True, 512, ATARI_OPTIONS)
        assert (config.steps, config.updates_per_target) == (10_000_000, 2000)
    assert (rainbow.learner.optimiser.learning_rate, rainbow.learner.optimiser.epsilon) == (6.25e-5, 1.5e-4)
    assert (iqn.learner.optimiser.learning_rate, iqn.learner.optimiser.epsilon) == (5e-5, 3.125e-4)
    sizes = iqn.learner.quantiles
    assert (sizes.kappa, sizes.taus, sizes.target_taus, sizes.action_taus) == (1.0, 64, 64, 32)
    assert (rainbow.learner.atoms, rainbow.learner.most_value) == (51, 10.0)
    small = preset("rainbow", "minatar-breakout")
    assert (small.learner.stack, small.learner.clip_rewards, small.env_options) == (1, False, {})
    assert preset("rainbow", "minatar-breakout", "paper").learner.units == 512


def test_options_reach_the_configuration():
    command = Train(env="seaquest", agent="rainbow", seed=7, steps=9, formula="!hit")
    shared = DreamerOptions(option=("size=48",), learning_rate=0.1, discount=0.5, batch=3, workers="2", envs=2)
    given = ValueOptions(
        without=("noisy",), units=5, stack=6, update_every=7, target_every=70, most_value=3.0, epsilon_steps=50
    )
    config = configuration(command, shared, given)
    how = config.learner
    assert (config.env, config.seed, config.steps, config.formula) == ("seaquest", 7, 9, "!hit")
    assert (config.env_options, config.workers, config.envs, config.batch) == ({"size": 48, "grey": True}, 2, 2, 3)
    assert (how.optimiser.learning_rate, how.discount, how.without) == (0.1, 0.5, ("noisy",))
    assert (how.units, how.stack, how.most_value, config.updates_per_target) == (5, 6, 3.0, 10)
    assert how.epsilon_steps == 50
    sizes = configuration(Train(env="conveyor", agent="iqn"), DreamerOptions(), ValueOptions(taus=8)).learner.quantiles
    assert (sizes.taus, sizes.target_taus, sizes.action_taus) == (8, 8, 32)


def test_atari_as_the_paper_shows_it(run_ambs, tmp_path):
    """Grey, four frames, and every frame stored once. No gradient step: that takes long to compile."""
    run = tmp_path / "run"
    code, out, err = run_ambs(
        "train", "seaquest", "--agent", "rainbow", "--steps", "40", "--prefill", "30", "--units", "8",
        "--update-every", "1000", "--workers", "inline", "--no-tensorboard", "--json", "--run", run,
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["steps"] == 40
    assert read_config(run)["env_options"] == ATARI_OPTIONS
    header = json.loads((run / "replay" / "ring.json").read_text())
    assert header["layout"]["obs/"] == {"shape": [84, 84, 1], "dtype": "uint8"}
