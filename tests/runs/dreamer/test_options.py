"""A run with everything at once that a run of AMBS may be asked for besides: it learns offline, waits with its shield,
tells its task policy of safety, and resumes exactly."""

import dataclasses

import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.agents.shielding import ShieldConfig
from ambs.behaviour.penalties import PenaltyConfig
from ambs.logic import satisfiable
from ambs.replay import Ring
from ambs.runs.dreamer import calibration, train
from ambs.runs.dreamer.config import StartConfig, cpu_learner, with_safety
from ambs.runs.storage import latest
from tests.runs.dreamer.small import FLAGS, NO_TIME, rows, small, weights

OFFLINE = 30
# With as little to compile as can be.
SHORT = dataclasses.replace(
    cpu_learner("debug"), ahead=0.0, behaviour=dataclasses.replace(cpu_learner().behaviour, horizon=5)
)


def everything(path, steps):
    return small(
        steps=steps, prefill=0, learner=with_safety(SHORT, 8, PenaltyConfig("critic", 0.5)),
        shield=ShieldConfig("rollout", when=-1e6), start=StartConfig(str(path), OFFLINE),
    )  # fmt: skip


def episodes(path, count=2):
    """So many episodes of a hundred steps, at random."""
    env, found = ambs.make("conveyor"), {}
    env.action_space.seed(0)
    for number in range(count):
        seen, taken, rest = [env.reset(seed=number)[0]], [], []
        while not rest or not rest[-1][2]:
            taken.append(env.action_space.sample())
            observation, reward, terminated, truncated, info = env.step(taken[-1])
            seen.append(observation)
            rest.append((reward, terminated, truncated, info["cost"]))
        columns = zip(("rewards", "terminations", "truncations", "infos/cost"), zip(*rest, strict=True), strict=True)
        found |= {f"episode_{number}/{name}": np.array(values) for name, values in columns}
        found |= {f"episode_{number}/observations": np.stack(seen), f"episode_{number}/actions": np.array(taken)}
    np.savez(path, **found)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run that nobody interrupts, and the same one interrupted, whose episodes were gone when it went on."""
    folder = tmp_path_factory.mktemp("everything")
    episodes(folder / "some.npz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "ENOUGH", 1.0)
        first = train(everything(folder / "some.npz", 200), folder / "whole")
        train(everything(folder / "some.npz", 70), folder / "parts")
        (folder / "some.npz").unlink()
        second = train(everything(folder / "some.npz", 200), folder / "parts")
    return folder, first, second


def test_resumed_it_is_the_same_run(whole):
    folder, first, second = whole
    assert {**first, **NO_TIME} == {**second, **NO_TIME}
    mine, theirs = weights(folder / "parts"), weights(folder / "whole")
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert [row for row in rows(folder / "parts", "metrics") if row["step"] != 70] == rows(folder / "whole", "metrics")


def test_episodes_are_in_the_replay_and_count_as_nothing(whole):
    folder, summary, _ = whole
    # 2 episodes of 101 rows in 2 lanes, then the run's own: a reset and 99 steps; what is seen last is not stored yet.
    assert Ring.found(folder / "parts" / "replay").written == 101 + 100
    assert (summary["steps"], summary["episodes"], summary["updates"]) == (200, 2, OFFLINE + 200 // 8)


def test_losses_fall_before_the_first_step(whole):
    folder, *_ = whole
    offline = [row for row in rows(folder / "whole", "metrics") if row["step"] == 0]
    assert [row["updates"] for row in offline] == list(range(3, OFFLINE + 1, 3))
    assert all(row["episodes"] == row["violations"] == 0 for row in offline)
    losses = [sum(value for name, value in row.items() if name.startswith("loss/")) for row in offline]
    assert losses[-1] < 0.8 * losses[0]


def test_the_shield_waits_until_violations_are_foretold(whole):
    """With a bar that any skill passes, it begins as soon as a skill is known: after the first violation."""
    folder, summary, _ = whole
    online = [row for row in rows(folder / "whole", "metrics") if row["step"] > 0]
    assert summary["violations"] > 0
    assert "shield/traces" in online[-1]
    assert {"shield/calibration", "shield/calibration_next", "shield/calibration_within"} <= online[-1].keys()
    saved = latest(folder / "whole" / "checkpoints")["extra"]
    assert saved["calibration"]["begun"]
    assert 0 < saved["counters"]["shielded"] < 200


def test_the_task_policy_is_told_of_safety(whole):
    folder, *_ = whole
    assert all(0 <= row["task/penalty_cost"] <= 10 for row in rows(folder / "whole", "metrics") if "loss/cost" in row)
    assert float(weights(folder / "whole")["['learner'].safety.cost_scale.high"]) > 0


def test_another_environment_in_the_same_folder(whole):
    folder, *_ = whole
    other = dataclasses.replace(everything(folder / "some.npz", 200), env="conveyor-hard")
    with pytest.raises(AmbsError, match='env was "conveyor" when the run .* was started and is now "conveyor-hard"'):
        train(other, folder / "whole")


@pytest.mark.parametrize(
    ("formula", "can_be"),
    [("a & !a", False), ("false", False), ("true", True), ("a | b", True), ("(a => b) & a & !b", False)],
)
def test_whether_a_formula_can_be_true(formula, can_be):
    assert satisfiable(formula) is can_be


def test_a_formula_of_many_atoms_is_not_tried_out():
    assert satisfiable(" & ".join(f"a{n}" for n in range(40)) + " & !a0")


@pytest.mark.parametrize(
    ("formula", "message", "left"),
    [
        ("acid & !acid", "no state satisfies 'acid & !acid', which contradicts itself", False),
        ("acid & goal", "was broken in each of the first 64 steps, so it seems that no state satisfies it", True),
    ],
)
def test_a_formula_that_no_state_satisfies(tmp_path, formula, message, left):
    """Said as soon as it is known: before the gradient steps on the random steps, which may take minutes."""
    config = small(steps=100, pretrain=3, formula=formula, learner=with_safety(SHORT, 8), shield=ShieldConfig())
    told = []
    with pytest.raises(AmbsError, match=message):
        train(config, tmp_path / "run", told.append)
    assert (tmp_path / "run").exists() is left
    assert {status.doing for status in told} <= {"starting", "collecting"}
    assert not any(status.updates for status in told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--penalty", "fear"], 'there is no penalty "fear"; choose one of none, critic, plpg, copt'),
        (["--penalty-weight", "2"], "--penalty-weight is given, and there is no penalty"),
        (["--shield-when", "1"], "a skill of 1, and a skill is 1 at most"),
        (["--offline-updates", "5"], "--offline-updates is given, and there is nothing to learn from"),
        (["--start-from", "nowhere"], "there is nothing to start from at nowhere"),
        (["--start-from", "nowhere", "--offline-updates", "-5"], "there are to be -5 offline updates"),
        (["--epsilon", "0.2", "--criterion", "paper"], "epsilon 0.2 is larger than Delta 0.1"),
        (["--traces", "32", "--criterion", "paper"], "pass with probability 0.0343, its delta"),
        (["--epsilon", "0.2"], "--epsilon is of the paper's test, and this shield decides by another"),
        (["--traces", "3", "--test", "A"], "--traces is of the paper's test"),
        (["--twins", "max", "--criterion", "sound"], "--twins is of the criterion paper, and the criterion sound does"),
        (["--look-ahead", "3", "--criterion", "sound"], "looks 3 steps ahead, and 15 are imagined"),
        (["--look-ahead", "16", "--criterion", "latent"], "latent looks 15 steps ahead, no further than behaviour is"),
        (["--look-ahead", "16", "--shield", "latent"], "imagined, and --look-ahead is 16; "),
        (["--look-ahead", "9", "--criterion", "latent", "--horizon", "8"], "latent looks 8 steps ahead"),
        (["--formula", "P>=0.9 [ G<=30 !acid ]", "--criterion", "latent"], "and the formula asks for 30; "),
    ],
)
def test_on_the_command_line(run_ambs, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    flags = [flag if flag != "dreamer" else "ambs" for flag in FLAGS]
    code, out, err = run_ambs("train", "conveyor", *flags, "--steps", "100", "--run", "run", *options)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not (tmp_path / "run").exists()
