"""What a report is written as, and what is said where it cannot be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ambs.errors import AmbsError
from ambs.report import random_returns, write
from ambs.report.figures import file_names
from ambs.report.svg import ticks
from ambs.report.tables import cell as as_cell
from tests.report import made

RESULTS = Path(__file__).parents[2] / "results" / "dreamer"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    return made.suite(path / "suite", seeds=4, steps=200)


def test_markdown_has_the_table_with_the_best_in_bold(runs, tmp_path):
    write(runs, tmp_path / "report.md", figures=tmp_path / "figures")
    lines = (tmp_path / "report.md").read_text().splitlines()
    (row,) = [line for line in lines if line.startswith("| conveyor | total violations")]
    assert row.count("**") == 2
    assert row.endswith("| **20** [20, 20] |")
    assert "![figures/conveyor.png](<figures/conveyor.png>)" in lines
    for game in ("conveyor", "minatar-breakout"):
        assert (tmp_path / "figures" / f"{game}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / "figures" / f"{game}.pdf").read_bytes().startswith(b"%PDF")


def test_latex_has_the_table_and_escapes_what_latex_would_read(runs, tmp_path):
    odd = made.folder(tmp_path / "odd", made.config("my_world", "50%&", steps=200), [(200, 1.0, 0)])
    write([runs, odd], tmp_path / "report.tex")
    text = (tmp_path / "report.tex").read_text()
    assert r"my\_world" in text
    assert r"50\%\&" in text
    assert r"best episode score $\uparrow$" in text
    assert r"\textbf{" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    # All rows have as many cells as there are columns: game, measure, four agents.
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in rows} == {5}


def test_latex_of_many_agents_has_them_as_rows_and_intervals_below_numbers(tmp_path):
    for game in ("conveyor", "minatar-breakout"):
        for agent in ("dreamer", "ambs", "lag", "iqn", "rainbow", *(["mine"] if game == "conveyor" else [])):
            for seed in range(4):
                episodes = [(200, 2.0 + 10 * (agent == "lag"), seed)]
                made.folder(tmp_path / f"{game}-{agent}-{seed}", made.config(game, agent, seed, 200), episodes)
    write(tmp_path, tmp_path / "report.tex")
    first, *others = (tmp_path / "report.tex").read_text().split(r"\begin{tabular}")[1:]
    rows = [line for line in first.splitlines() if line.endswith(r" \\")]
    assert rows[0].startswith(r"game & agent & \shortstack[r]{\strut best episode \\ score $\uparrow$} & ")
    # Those that are not in a game have no row there.
    assert [row.split(" & ")[:2] for row in rows[1:]] == [
        ["conveyor", "dreamer"], ["", "ambs"], ["", "lag"], ["", "iqn"], ["", "rainbow"], ["", "mine"],
        ["minatar-breakout", "dreamer"], ["", "ambs"], ["", "lag"], ["", "iqn"], ["", "rainbow"],
    ]  # fmt: skip
    assert rows[3].split(" & ")[2] == r"\shortstack[r]{\strut \textbf{12.0} \\ {[}12.0, 12.0{]}}"
    assert rows[3].endswith(r" & 4 & 200 \\")
    assert {row.count(" & ") for row in rows} == {len("llrrrrrr") - 1}
    assert first.startswith("{llrrrrrr}")
    # Over all games, and who is likely to do better: those have the agents as rows already.
    assert others[0].splitlines()[2].startswith("agent & ")
    for table in others:
        columns, *lines = table.splitlines()
        assert {row.count(" & ") for row in lines if row.endswith(r" \\")} == {len(columns.strip("{}")) - 1}


def test_latex_of_a_quoted_formula_needs_no_package(tmp_path):
    for seed, formula in enumerate((None, '!"out of water"')):
        settings = made.config(seed=seed, steps=200, formula=formula)
        made.folder(tmp_path / str(seed), settings, [(200, 1.0, 0)])
    write(tmp_path, tmp_path / "report.tex")
    text = (tmp_path / "report.tex").read_text()
    assert r"conveyor (!\texttt{\symbol{34}}out of water\texttt{\symbol{34}})" in text
    # Which is in other encodings than LaTeX's own.
    assert "quotedbl" not in text


def test_figures_of_different_games_are_different_files_and_names_fit(runs, tmp_path):
    assert file_names(["conveyor", "a/b", "a:b", "A b", "a-b-2", "é"]) == {
        "conveyor": "conveyor", "a/b": "a-b", "a:b": "a-b-2", "A b": "A-b-3", "a-b-2": "a-b-2-2", "é": "game",
    }  # fmt: skip
    long = [f"conveyor ({'!acid & ' * 60}{end})" for end in ("x", "y")]
    for seed, formula in enumerate(long):
        settings = made.config(seed=seed, steps=200, formula=formula)
        made.folder(tmp_path / "runs" / str(seed), settings, [(200, 1.0, 0)])
    write(tmp_path / "runs", tmp_path / "report.md", figures=tmp_path / "figures")
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert len(drawn) == 4
    assert all(len(name) < 120 for name in drawn)


def test_json_has_every_number(runs, tmp_path):
    write(runs, tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())
    (one,) = [
        each for each in found["results"]
        if (each["game"], each["agent"], each["measure"]) == ("conveyor", "dreamer", "best_return")
    ]  # fmt: skip
    assert one["values"] == [7.0, 7.1, 7.2, 7.0]
    # Three of four draws are the highest, so that the interval ends there, in one of twenty.
    assert (one["iqm"], one["low"], one["high"], one["best"]) == (pytest.approx(7.05), 7.0, 7.2, True)
    assert len(found["runs"]) == 24
    assert {curve["measure"] for curve in found["curves"]} >= {"return", "violations", "override_rate", "traces"}


def test_json_has_what_every_table_of_the_page_says(runs, tmp_path):
    going = made.folder(tmp_path / "going", made.config(seed=9, steps=200), [(100, 1.0, 0)], ended=False)
    report = write([runs, going], tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())

    def shown(one, value, digits):
        if one["low"] is None:
            return f"{value:.{digits}f} ({one['seeds']} seeds, no interval)"
        return f"{value:.{digits}f} [{one['low']:.{digits}f}, {one['high']:.{digits}f}]"

    def text(cell):
        return f"{cell.text} {cell.beside}".strip()

    assert len(report.improvement) == 3
    for measure, table in zip(("final_return", "late_return", "violations"), report.improvement, strict=True):
        chances = {
            (one["agent"], one["than"]): one for one in found["improvement"] if one["measure"] == measure
        }  # fmt: skip
        for row in table.rows:
            for agent, cell in zip(table.columns, row.cells, strict=True):
                one = chances.get((row.heads[0], agent))
                assert text(cell) == ("–" if one is None else shown(one, one["chance"], 2))
    assert found["scale"] == report.scale
    assert report.options.rows
    for row in report.options.rows:
        said = {agent: cell.text for agent, cell in zip(report.options.columns, row.cells, strict=True)}
        assert {name: value or "–" for name, value in found["options"]["differ"][row.heads[0]].items()} == said
    assert found["options"]["shared"] == {row.heads[0]: row.cells[0].text for row in report.shared_options.rows}
    # Seeds, steps and minutes of every run, in the page's order, also of one that is left out.
    assert [
        [one["source"], one["game"], one["agent"], str(one["seed"]), f"{one['steps']:,}",
         "–" if one["minutes"] is None else f"{one['minutes']:.1f}"]
        for one in found["runs"]
    ] == [[*row.heads, *(cell.text for cell in row.cells[:5])] for row in report.runs.rows]  # fmt: skip
    assert [one["source"] for one in found["runs"] if not one["compared"]] == [str(going)] == list(found["left_out"])
    by_cell = {(one["game"], one["agent"], one["measure"]): one for one in found["results"]}
    for result in report.results:
        one = by_cell[result.game, result.agent, result.measure.key]
        if one["iqm"] is not None:
            assert text(as_cell(result, 4)) == shown(one, one["iqm"], 4)


def test_what_made_a_run_is_told_beside_it(tmp_path):
    machine = {"cpu": "Some CPU", "cores": 2, "may_use": 1, "device": "cpu"}
    maker = {"ambs": "0.1.0", "commit": "abc1234", "changed": True, "python": "3.11.2", "jax": "0.6.0"}
    maker |= {"machine": machine, "earlier": [None, {**maker, "commit": None, "machine": {**machine, "device": "A30"}}]}
    for seed, made_by in ((0, maker), (1, None), (2, "us")):
        made.folder(tmp_path / f"{seed}", made.config(seed=seed, steps=200), [(200, 1.0, 0)], made_by=made_by)
    made.folder(tmp_path / "3", made.config(seed=3, steps=200), [(200, 1.0, 0)])
    said = (
        "ambs 0.1.0 (commit abc1234, changed since), Python 3.11.2, JAX 0.6.0, Some CPU, 1 of 2 cores; begun by a "
        "version that did not tell; begun by ambs 0.1.0, Python 3.11.2, JAX 0.6.0, Some CPU, 1 of 2 cores, A30"
    )
    for name in ("report.html", "report.md", "report.json"):
        report = write(tmp_path, tmp_path / name)
        assert [row.cells[-1].text for row in report.runs.rows] == [said, "–", "–", "–"]
    for name in ("report.html", "report.md"):
        assert said in (tmp_path / name).read_text()
    runs = json.loads((tmp_path / "report.json").read_text())["runs"]
    assert [run["made_by"] for run in runs] == [maker, None, None, None]
    # It is nothing that runs are told apart by.
    assert list(report.comparison.groups) == [("conveyor", "dreamer")]


def test_the_commands_of_the_runs_are_in_what_one_copies(tmp_path):
    command = "ambs train conveyor --agent dreamer --formula 'G<=30 !\"acid\"'"
    made_by = {"ambs": "0.1.0", "command": command}
    made.folder(tmp_path / "0", made.config(seed=0, steps=200), [(200, 1.0, 0)], made_by=made_by)
    for name, line in (("report.md", f"    {command}"), ("report.tex", f"% run: {command}")):
        write(tmp_path, tmp_path / name)
        assert line in (tmp_path / name).read_text().splitlines()


def test_a_single_run_has_a_report_with_no_interval_and_nothing_in_bold(tmp_path):
    run = made.folder(tmp_path / "run", made.config(steps=200), made.learning(0, steps=200, best=1.0, violations=1.0))
    write(run, run / "report.html")
    page = (run / "report.html").read_text()
    assert "1 seed, no interval" in page
    assert "<td><strong>" not in page
    assert 'class="band"' not in page.split("</style>")[1]
    # The report in the folder does not disturb the next one.
    write(run, run / "report.html")


def test_a_run_without_an_episode_has_a_report_too(tmp_path):
    run = made.folder(tmp_path / "run", made.config(steps=200), [], metrics=[{"step": 100, "loss": 1.0}], ended=False)
    write(run, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "is unfinished, at step 100 of 200" in page


def test_a_game_with_more_seeds_weighs_more_and_that_is_said(tmp_path):
    for game, agent, seeds in (("a", "dreamer", 3), ("b", "dreamer", 4), ("a", "lag", 3), ("b", "lag", 3)):
        for seed in range(seeds):
            made.folder(
                tmp_path / f"{game}-{agent}-{seed}", made.config(game, agent, seed, 100), [(100, 1.0 + seed, 1)]
            )
    report = write([tmp_path], tmp_path / "report.md")
    (note,) = [note for note in report.notes if note.startswith("Over all games")]
    assert "dreamer has different numbers of runs (3 of a, 4 of b)" in note
    assert note in (tmp_path / "report.md").read_text()


def test_what_comes_from_files_is_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    for seed in range(2):
        settings = made.config(env=evil, agent="</script>", seed=seed, steps=200, note=f'"{evil}{seed}"')
        made.folder(tmp_path / "runs" / f"{seed}", settings, [(200, 1.0, 0)])
    write(tmp_path / "runs", tmp_path / "report.html", command=evil)
    page = (tmp_path / "report.html").read_text()
    assert evil not in page
    assert page.count("</script>") == page.count("<script") == 2


def test_the_kept_runs_in_the_repository_make_a_report_without_jax_in_a_moment(tmp_path):
    """As `ambs train` wants it for the end of a run."""
    program = (
        "import sys; from ambs.report import write; write(sys.argv[1:-1], sys.argv[-1]); print('jax' in sys.modules)"
    )
    out = tmp_path / "report.html"
    done = subprocess.run([sys.executable, "-c", program, str(RESULTS), str(out)], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
    assert "conveyor" in out.read_text()


def test_random_returns_are_means(tmp_path):
    path = tmp_path / "random.json"
    path.write_text('{"a": [1, 2], "b": 4}')
    assert random_returns(path) == {"a": 1.5, "b": 4.0}
    for text in ("[]", '{"a": []}', '{"a": ["x"]}', "no"):
        path.write_text(text)
        with pytest.raises(AmbsError, match="returns of a random policy"):
            random_returns(path)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0, 7.2, [0, 2, 4, 6]), (-3, 2, [-3, -2, -1, 0, 1, 2])],
)
def test_ticks_are_round(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def test_the_command_writes_and_says_what_matters(runs, tmp_path, run_ambs):
    made.folder(tmp_path / "broken", made.config(), [(1, 1.0, 0)])
    (tmp_path / "broken" / "summary.json").write_text("{")
    code, out, err = run_ambs("report", runs, tmp_path / "broken", "--out", tmp_path / "new" / "report.html")
    assert (code, err) == (0, "")
    assert "wrote" in out
    assert f"ambs report {runs} {tmp_path / 'broken'} --out" in (tmp_path / "new" / "report.html").read_text()
    assert "summary.json cannot be read" in out.replace("\n", " ")
    assert "summary.json cannot be read" in (tmp_path / "new" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{tmp}"], "has no run in it"),
        (["{tmp}/gone"], "there is no"),
        (["{runs}", "--out", "{tmp}"], "is a folder"),
        (["{runs}", "--out", "{tmp}/report.doc"], "--format"),
        (["{runs}", "--steps", "0"], "whole number"),
        (["{runs}", "--steps", "999"], "no run has reached step 999"),
        (["{runs}", "--out", "{tmp}/file/report.html"], "file"),
        (["{runs}", "--random", "{tmp}/gone.json"], "gone.json"),
    ],
)
def test_the_command_refuses_in_one_sentence(words, said, runs, tmp_path, run_ambs, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    code, _, err = run_ambs("report", *(word.format(tmp=tmp_path, runs=runs) for word in words))
    assert code == 2
    assert said in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.rglob("*.html"))
