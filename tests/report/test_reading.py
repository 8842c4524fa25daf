"""Runs as they are on disk, whole, unfinished and broken."""

import json

import pytest

from ambs.errors import AmbsError
from ambs.report import write
from ambs.report.finding import find
from ambs.report.reading import of_folder
from tests.report import made

EPISODES = [(10, 1.0, 2), (20, 3.0, 0)]


@pytest.fixture
def run(tmp_path):
    metrics = [{"step": 5, "loss": 1.0}, {"step": 20, "shield/estimate": None, "shield/override_rate": 0.5}]
    return made.folder(tmp_path / "runs" / "mine-s0", made.config(steps=20), EPISODES, metrics=metrics)


def test_a_folder_is_read(run):
    found = of_folder(run)
    assert (found.env, found.agent, found.seed, found.steps, found.reached) == ("conveyor", "dreamer", 0, 20, 20)
    assert found.finished
    assert found.name == "mine"
    assert found.episodes.step.tolist() == [10, 20]
    assert found.episodes.violations.tolist() == [2, 0]
    assert [each.tolist() for each in found.shield["shield/override_rate"]] == [[20.0], [0.5]]
    # What was no finite number is null in a row, and no moment of the series.
    assert found.shield["shield/estimate"][0].tolist() == []


def test_runs_are_found_below_a_folder_and_once(run, tmp_path):
    # What is inside a run is no run.
    (run / "checkpoints").mkdir()
    (run / "checkpoints" / "config.json").write_text("{}")
    (tmp_path / "runs" / "other.json").write_text('{"no": "run"}')
    runs, broken = find([tmp_path, run])
    assert [each.source for each in runs] == [str(run)]
    assert broken == []


def test_runs_that_a_bench_links_to_are_found_and_count_once(run, tmp_path):
    bench = tmp_path / "bench"
    own = made.folder(bench / "mine-s1", made.config(seed=1, steps=20), EPISODES)
    (bench / "mine-s0").symlink_to(run, target_is_directory=True)
    (bench / "gone-s2").symlink_to(tmp_path / "nowhere", target_is_directory=True)
    (bench / "round").symlink_to(tmp_path, target_is_directory=True)
    runs, broken = find([bench])
    assert sorted(each.source for each in runs) == [str(bench / "mine-s0"), str(own)]
    assert broken == []
    assert sorted(each.seed for each in find([tmp_path])[0]) == [0, 1]


def test_a_kept_file_is_read(tmp_path):
    summary = made.summary(made.config(seed=3, steps=20), EPISODES)
    curve = {"step": [10, 20], "return": [1.0, None], "episodes": [1, 0], "violations": [2, 0]}
    shield = {"step": [10, 20], "shield/override_rate": [0.5, 0.25]}
    path = tmp_path / "mine-s3.json"
    path.write_text(
        json.dumps({"summary": summary, "curve": curve, "shield": shield, "command": "ambs train conveyor"})
    )
    (found,), _ = find([path])
    assert (found.seed, found.steps, found.name, found.config) == (3, 20, "mine", None)
    assert found.finished
    assert not found.episodes.one_by_one
    assert found.shield["shield/override_rate"][1].tolist() == [0.5, 0.25]


def test_an_unfinished_run_is_read_without_the_half_row_at_its_end(tmp_path):
    run = made.folder(tmp_path / "run", made.config(steps=100), EPISODES, ended=False)
    with (run / "scores.jsonl").open("a") as file:
        file.write('{"step": 30, "retu')
    found = of_folder(run)
    assert not found.finished
    assert found.reached == 20


def test_the_summary_of_an_earlier_end_does_not_count(run):
    (run / "config.json").write_text(json.dumps(made.config(steps=50)))
    found = of_folder(run)
    assert not found.finished
    assert found.reached == 20


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("summary.json", '{"steps": ', "summary.json cannot be read"),
        ("summary.json", "[]", "is not a JSON object"),
        ("summary.json", '{"steps": "many"}', "\"steps\" is 'many'"),
        ("summary.json", '{"steps": 20, "violations": "none"}', "\"violations\" is 'none'"),
        ("config.json", "{}", '"env" is missing'),
        ("scores.jsonl", '{"step": 1}\n', "is not what a run writes"),
        ("scores.jsonl", 'half\n{"step": 1}\n', "line 1 of"),
        ("scores.jsonl", '{"step": 1, "return": Infinity, "violations": 0}\n', "a return is infinite"),
        ("scores.jsonl", '{"step": 1, "return": 1.0, "violations": Infinity}\n', "is not what a run writes"),
        ("metrics.jsonl", '{"step": 1, "shield/estimate": "high"}\n', "is not what a run writes"),
        ("metrics.jsonl", "[1]\n", "each row has to have a step"),
    ],
)
def test_what_is_broken_is_a_sentence_about_the_file(run, file, text, said):
    (run / file).write_text(text)
    with pytest.raises(AmbsError, match=r"leave|mend") as error:
        of_folder(run)
    assert said in str(error.value)
    assert str(run / file) in str(error.value)


def test_a_run_that_has_not_begun_is_a_sentence(tmp_path):
    run = made.folder(tmp_path / "run", made.config(), [], ended=False)
    with pytest.raises(AmbsError, match="has not begun"):
        find([run])


def test_a_broken_run_among_others_is_told_and_the_others_are_read(run, tmp_path):
    made.folder(tmp_path / "runs" / "broken", made.config(seed=1), EPISODES)
    (tmp_path / "runs" / "broken" / "config.json").write_text("no")
    runs, broken = find([tmp_path])
    assert [each.seed for each in runs] == [0]
    assert len(broken) == 1
    assert "broken/config.json cannot be read" in broken[0]


def test_where_there_is_no_run_it_is_said_why(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "tabular").mkdir()
    (tmp_path / "tabular" / "summary.json").write_text('{"agents": {}}')
    (tmp_path / "list.json").write_text("[]")
    reasons = {
        "empty": "has no run in it",
        "tabular": "no config.json",
        "list.json": "is no kept",
        "gone": "there is no",
    }
    for name, said in reasons.items():
        with pytest.raises(AmbsError, match=said):
            find([tmp_path / name])


def test_what_is_infinite_in_a_shields_numbers_is_not_known_and_no_traceback(run, tmp_path):
    """No run of ours writes such; JSON of others may."""
    rows = [{"step": 5, "shield/traces": 3.0}, {"step": 10, "shield/traces": float("inf")}]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, {**rows[0], "step": 15}]))
    steps, values = of_folder(run).shield["shield/traces"]
    assert (steps.tolist(), values.tolist()) == ([5, 15], [3, 3])
    summary = made.summary(made.config(steps=20), [(20, 1.0, 0)])
    curve = {"step": [10, 20], "return": [1.0, 1.0], "episodes": [1, 1], "violations": [0, 0]}
    shield = {"step": [10, 20], "shield/traces": [float("-inf"), 4.0], "shield/estimate": [float("inf")] * 2}
    path = tmp_path / "kept.json"
    path.write_text(json.dumps({"summary": summary, "curve": curve, "shield": shield}))
    for name in ("report.html", "report.json"):
        write(path, tmp_path / name, figures=tmp_path)


def test_the_command_of_a_folder_is_its_own_or_else_that_of_its_bench(run, tmp_path):
    assert of_folder(run).command is None
    bench = run.parent / "bench.json"
    for text, expected in (
        ({"runs": [{"name": "other"}, {"name": "mine-s0", "command": "ambs train here"}]}, "ambs train here"),
        ({"runs": [{"name": "mine-s0", "command": 3}]}, None),
        ({"runs": [{"name": "mine-s0"}]}, None),
        ({"runs": ["mine-s0"]}, None),
        ([], None),
    ):
        bench.write_text(json.dumps(text))
        assert of_folder(run).command == expected
    bench.write_text("{")
    assert of_folder(run).command is None
    # A link from another bench, which has not made it.
    bench.write_text(json.dumps({"runs": [{"name": "mine-s0", "command": "ambs train here"}]}))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "bench.json").write_text(json.dumps({"runs": [{"name": "a-s0", "command": "ambs train a"}]}))
    (tmp_path / "other" / "a-s0").symlink_to(run)
    assert of_folder(tmp_path / "other" / "a-s0").command == "ambs train here"
    summary = json.loads((run / "summary.json").read_text())
    (run / "summary.json").write_text(json.dumps(summary | {"made_by": {"command": "ambs train mine"}}))
    assert of_folder(run).command == "ambs train mine"
    write(run, tmp_path / "report.html")
    assert "<li><code>ambs train mine</code></li>" in (tmp_path / "report.html").read_text()


def test_episodes_that_are_gone_are_not_none_at_all(tmp_path):
    """The last row may be half written; if it is the only one, a summary that counts episodes tells otherwise."""
    made.folder(tmp_path / "a", made.config(steps=100), [(100, 1.0, 0)], metrics=[{"step": 100}])
    (tmp_path / "a" / "scores.jsonl").write_text("garbage")
    with pytest.raises(AmbsError, match=r"scores.jsonl has no episode, and summary.json tells of 1: it is damaged"):
        of_folder(tmp_path / "a")
