"""The command line as a user meets it: answers, JSON, and one clear sentence for each mistake."""

import json
import signal
import subprocess
import sys

import pytest

CHAIN = "3 4\n0 1 0.9\n0 2 0.1\n1 1 1\n2 2 1\n"
LABELS = '0="init" 1="acid" 2="goal"\n0: 0\n1: 2\n2: 1\n'
MDP = "2 3 4\n0 0 0 0.25 stay\n0 0 1 0.75 stay\n0 1 1 1 go\n1 0 1 1\n"


@pytest.fixture
def model(tmp_path):
    (tmp_path / "robot.tra").write_text(CHAIN)
    (tmp_path / "robot.lab").write_text(LABELS)
    return tmp_path / "robot.tra"


def check(run_ambs, model, formula, *more):
    code, out, err = run_ambs("check", model, "--labels", model.with_suffix(".lab"), "--formula", formula, *more)
    assert (code, err) == (0, "")
    return json.loads(out) if "--json" in more else out


def test_check_answers_for_the_initial_state(run_ambs, model):
    answer = check(run_ambs, model, "P>=0.9 [ G<=30 !acid ]", "--json")
    assert answer["value"] == pytest.approx(0.9)
    assert answer["satisfied"] is True
    assert answer["state"] == 0


def test_check_answers_for_a_given_state(run_ambs, model):
    answer = check(run_ambs, model, "P>=0.9 [ G<=30 !acid ]", "--state", "2", "--json")
    assert (answer["value"], answer["satisfied"], answer["state"]) == (0.0, False, 2)


def test_a_query_has_a_value_and_nothing_to_satisfy(run_ambs, model):
    answer = check(run_ambs, model, "P=? [ F goal ]", "--json", "--all")
    assert answer["value"] == pytest.approx(0.9)
    assert answer["satisfied"] is None
    assert [row["value"] for row in answer["answers"]] == [pytest.approx(0.9), 1.0, 0.0]


def test_a_formula_without_outer_probability_is_true_or_false(run_ambs, model):
    answer = check(run_ambs, model, "!acid & P>0.5 [ X goal ]", "--json")
    assert (answer["value"], answer["satisfied"]) == (True, True)


def test_labels_beside_the_model_are_found(run_ambs, model):
    code, out, _ = run_ambs("check", model, "--formula", "P=? [ F goal ]")
    assert code == 0
    assert "0.9" in out


def test_states_by_their_values(run_ambs, model):
    model.with_suffix(".sta").write_text("(x)\n0:(0)\n1:(7)\n2:(8)\n")
    answer = check(run_ambs, model, "P=? [ F goal ]", "--state", "(7)", "--json")
    assert (answer["state"], answer["value"]) == (1, 1.0)


def test_mdp_minimum_and_maximum(run_ambs, tmp_path):
    (tmp_path / "m.tra").write_text(MDP)
    (tmp_path / "m.lab").write_text('0="init" 1="end"\n0: 0\n1: 1\n')
    low = check(run_ambs, tmp_path / "m.tra", "Pmin=? [ X end ]", "--json")
    high = check(run_ambs, tmp_path / "m.tra", "Pmax=? [ X end ]", "--json")
    assert (low["value"], high["value"]) == (0.75, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--formula", "P>=0.9 [ G<=30 & !acid ]"], ["column 16", "^", "an atom"]),
        (["--formula", "P=? [ F gaol ]"], ['no atom "gaol"', 'did you mean "goal"', '"acid"']),
        (["--formula", "P=? [ F goal ]", "--state", "9"], ["no state 9", "0 to 2"]),
        (["--formula", "P=? [ F goal ]", "--state", "here"], ["--states"]),
        (["--formula", "F goal"], ["P=? [ F"]),
        (["--formula", "P=? [ F goal ]", "--labels", "none.lab"], ["none.lab", "cannot be read"]),
    ],
)
def test_mistakes_in_check_are_one_sentence(run_ambs, model, arguments, words):
    code, out, err = run_ambs("check", model, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("transitions", "labels", "words"),
    [
        ("3 4\n0 1 0.9\n0 2 0.2\n1 1 1\n2 2 1\n", LABELS, ["state 0", "sum to 1.1"]),
        ("3 4\n0 1 -0.9\n0 2 0.1\n1 1 1\n2 2 1\n", LABELS, ["line 2", "-0.9"]),
        ("3 4\n0 1 nan\n0 2 0.1\n1 1 1\n2 2 1\n", LABELS, ["nan"]),
        ("3 4\n0 1\n", LABELS, ["line 2"]),
        (CHAIN, LABELS + "9: 1\n", ["line 5", "state 9"]),
    ],
)
def test_mistakes_in_files_name_the_place(run_ambs, tmp_path, transitions, labels, words):
    (tmp_path / "m.tra").write_text(transitions)
    (tmp_path / "m.lab").write_text(labels)
    code, out, err = run_ambs("check", tmp_path / "m.tra", "--formula", "P=? [ F goal ]")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bounds", "--delta", "1.5"], ["delta", "1.5"]),
        (["bounds", "--Delta", "0"], ["Delta", "0"]),
        (["bounds", "--epsilon", "0.2"], ["epsilon 0.2 is larger than Delta 0.1"]),
        (["bounds", "--epsilon", "nan"], ["epsilon", "nan"]),
        (["tests", "--p0", "0.1", "--delta", "0"], ["delta is 0"]),
        (["tests", "--delta", "0.1"], ["--p0"]),
        (["train", "--agent", "tabular", "--seed", "-1"], ["seed is -1"]),
        (["train", "--agent", "tabular", "--seed", "99999999999999999999"], ["seed", "2^32"]),
        (["train", "--agent", "tabular", "--steps", "150"], ["150", "multiple of 100"]),
        (
            ["train", "--agent", "tabular", "--formula", "P>=0.99 [ G<=30 !acid ]", "--test", "A"],
            ["tolerates only 0.01"],
        ),
        (["train", "--agent", "tabular", "--steps", "0"], ["number of steps is 0"]),
        (["train", "--agent", "tabular", "--formula", "P>=0.9 [ G<=0 !acid ]"], ["at least 1 ahead"]),
        (["train", "--agent", "tabular", "--formula", "P>=0.9 [ F !acid ]"], ["no step bound"]),
        (["train", "--agent", "tabular", "--formula", "!lava"], ['no atom "lava"', '"acid"']),
        (["train", "--agent", "tabular", "--test", "Z"], ['no test "Z"']),
        (["train", "conveyorr", "--agent", "tabular"], ["conveyorr", "did you mean conveyor"]),
        (["train", "--agent", "tabular", "--map", "nowhere.txt"], ["nowhere.txt"]),
        (["tests", "--p0", "1e-300"], ["p0", "10^9"]),
        (["tests", "--p0", "1"], ["p0 is 1"]),
        (["tests", "--mu", "1.2"], ["mu", "1.2"]),
    ],
)
def test_mistakes_in_numbers_are_one_sentence(run_ambs, arguments, words):
    code, out, err = run_ambs(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_unknown_options_exit_with_2(run_ambs):
    assert run_ambs("check", "--nonsense")[0] == 2
    assert run_ambs("nonsense")[0] == 2


def test_bounds_as_json(run_ambs):
    code, out, err = run_ambs("bounds", "--states", "50", "--actions", "4", "--successors", "5", "--json")
    assert (code, err) == (0, "")
    rows = {row["key"]: row for row in json.loads(out)}
    assert rows["theorem-1"]["value"] == 328
    assert rows["theorem-2-paper"]["value"] == 1309
    assert rows["theorem-2-paper"]["sound"] is False
    for row in rows.values():
        assert row["assumes"]
        assert row["claims"]


@pytest.mark.parametrize("quantity", ["m", "epsilon", "delta", "alpha", "n"])
def test_bounds_are_solved_for_every_quantity(run_ambs, quantity):
    numbers = ["--states", "9", "--actions", "2", "--visits", "1000000"]
    code, out, _ = run_ambs("bounds", "--solve", quantity, *numbers, "--json")
    assert code == 0
    rows = json.loads(out)
    assert any(row["value"] is not None for row in rows)
    for row in rows:
        # What a million visits cannot give, and what no rule can, says so; the theorems on traces all answer.
        assert (row["value"] is None) == bool(row["reason"])
        if row["key"].startswith(("theorem-1", "theorem-2")):
            assert row["value"] is not None, row["reason"]


def test_bounds_as_a_table_say_what_they_assume(run_ambs):
    code, out, _ = run_ambs("bounds")
    assert code == 0
    for word in ("Assumes", "Claim", "Warning", "not sound"):
        assert word in out


def test_tests_as_json(run_ambs):
    code, out, _ = run_ambs("tests", "--mu", "0.99", "0.9", "--json")
    rows = json.loads(out)
    assert code == 0
    level_a = next(row for row in rows if "level A" in row["test"])
    assert level_a["accept_probability"] == [pytest.approx(0.9757, abs=1e-4), pytest.approx(0.0087, abs=1e-4)]
    assert run_ambs("tests")[0] == 0


def test_train_leaves_a_figure_and_numbers(run_ambs, tmp_path):
    settings = ["--steps", "300", "--explore-steps", "200", "--seed", "3"]
    code, out, err = run_ambs("train", "--agent", "tabular", "--run", tmp_path / "run", *settings, "--json")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    left = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert left == ["metrics.json", "summary.json", "training.png"]
    assert (tmp_path / "run" / "training.png").read_bytes().startswith(b"\x89PNG")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    for name, numbers in summary["agents"].items():
        assert len(metrics[name]["returns"]) == 3
        assert numbers["violations"] == sum(metrics[name]["violations"])
    assert summary["agents"]["shielded"]["traces_per_decision"] >= 16
    # The best stationary policy makes 6.350; one that knows the time left a little more.
    assert 6.35 < summary["most_that_a_safe_policy_delivers"] < 6.40


@pytest.mark.parametrize(
    ("drawing", "words"),
    [
        ("S..A\n....\n", "goal"),
        ("...A\n..G.\n", "start"),
        ("S..G\n..\n", "line 2"),
        ("S.x.G\n", "'x'"),
        ("S>G\n", None),
    ],
)
def test_a_map_of_ones_own(run_ambs, tmp_path, drawing, words):
    (tmp_path / "my.map").write_text(drawing)
    arguments = ["--map", tmp_path / "my.map", "--run", tmp_path / "run", "--steps", "100", "--json"]
    code, out, err = run_ambs("train", "--agent", "tabular", *arguments)
    if words is None:
        assert (code, err) == (0, "")
        assert json.loads(out)["env"].endswith("my.map")
    else:
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert words in err
        assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written_is_named(run_ambs, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run_ambs("train", "--agent", "tabular", "--run", tmp_path / "file" / "run")
    assert code == 2
    assert "file" in err
    assert "Traceback" not in err


def test_as_a_process(model):
    """Installed entry point: exit codes and pipes are the real ones."""
    good = subprocess.run(
        [sys.executable, "-m", "ambs", "check", str(model), "--formula", "P=? [ F goal ]", "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert good.returncode == 0
    assert json.loads(good.stdout)["value"] == pytest.approx(0.9)
    bad = subprocess.run(
        [sys.executable, "-m", "ambs", "check", str(model), "--formula", "P=? [ F"], capture_output=True, text=True
    )
    assert bad.returncode == 2
    assert "Traceback" not in bad.stderr
    version = subprocess.run([sys.executable, "-m", "ambs", "--version"], capture_output=True, text=True)
    assert version.stdout.startswith("ambs ")


# A process that is started in the background is told to ignore Ctrl-C.
LISTENING = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('ambs', run_name='__main__')"
)


def test_interrupted_while_it_is_still_imported():
    """Python says on standard error what it has imported; what comes after tyro takes seconds."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-c", LISTENING, "envs"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        next(line for line in process.stderr if line.split("|")[-1].strip() == "tyro")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
