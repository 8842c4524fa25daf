"""What the documentation shows works: its Python runs, its commands answer, its links lead somewhere.

Of code in a page, by what stands after its three backticks:

    python      runs, all of a page in one namespace; what begins with `# name.py` is also that file, for the commands
    console     lines that begin with `$ ` run, in order, with the files of the page and the examples beside them
    yaml        is a suite that `ambs bench` takes
    any other   and indented lines: what begins with `ambs` is a command that ambs would take; it does not run
"""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import jax.numpy as jnp
import pytest
import tyro

from ambs.bench.cells import cells
from ambs.bench.suite import read
from ambs.commands.chosen import Command, chosen
from ambs.commands.train import Train, with_a_world
from ambs.commands.train_dreamer import DreamerOptions, configuration
from ambs.errors import AmbsError
from ambs.world_model.model import Weights

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


# Variables, the program, and what it is told.
_COMMAND = re.compile(r"((?:[A-Z_]+=\S+ )*)(ambs|python)(?: (.*))?")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def files(page: Path) -> Iterator[tuple[str, str]]:
    """Of the page's Python what says which file it is."""
    for block in blocks(page, "python"):
        if found := re.match(r"# ([\w/]+\.py)\n", block):
            yield found[1], block


def code(text: str) -> Iterator[str]:
    """The lines of all blocks of a page but Python's, in whatever form they are."""
    language = None
    for line in text.splitlines():
        if fence := re.match(r" *```(\w*)", line):
            language = fence[1] if language is None else None
        elif language not in ("python", "py") and (language is not None or line.startswith("    ")):
            yield line.strip().removeprefix("$ ")


def told(text: str) -> Iterator[list[str]]:
    """What `ambs` is told in each of a page's commands."""
    for line in code(text):
        found = _COMMAND.fullmatch(line)
        if found and found[2] == "ambs":
            yield shlex.split(found[3] or "", comments=True)


def take(arguments: list[str]) -> None:
    """All that the command does before it does anything; where it would refuse them, an error."""
    try:
        command = chosen(arguments)
    except SystemExit as stop:
        raise AmbsError(f"ambs {shlex.join(arguments)} is refused") from stop
    if isinstance(command, Train) and command.agent != "tabular":
        # Options may be known and yet not go together.
        with_a_world(command).settings()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_examples_run(page, tmp_path, monkeypatch):
    """All blocks of a page in one namespace, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_answer(page, tmp_path):
    """In one folder; compiled quickly and not well, since they run for a moment."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in files(page):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                done = run(line.removeprefix("$ "), tmp_path)
                assert done.returncode == 0, (line, done.stderr)


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    found = _COMMAND.fullmatch(line)
    assert found, f"what a page runs is ambs or python, and this is {line}"
    environment = {**os.environ, "COLUMNS": "100", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
    for name, value in (each.split("=", 1) for each in found[1].split()):
        # Where ambs itself is found by that variable, it still is.
        before = environment.get(name) if name == "PYTHONPATH" else None
        environment[name] = value if before is None else os.pathsep.join([value, before])
    program = ["-m", "ambs"] if found[2] == "ambs" else []
    words = [sys.executable, *program, *shlex.split(found[3] or "", comments=True)]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_that_do_not_run_are_ones_that_ambs_takes(page):
    for arguments in told(page.read_text(encoding="utf-8")):
        take(arguments)


@pytest.mark.parametrize("block", ["```text\n{}\n```", "```\n{}\n```", "```console\n$ {}\n```", "so:\n\n    {}\n"])
@pytest.mark.parametrize(
    "command",
    [
        "ambs trian",
        "ambs bench",
        "ambs train --looks-ahead 3  # as far as that",
        "PYTHONPATH=. ambs train my_module:MyEnv-v0 --agent dreamer --sizes debug",
        "ambs train conveyor --agent rainbow --criterion sound",
        "ambs train conveyor --agent ambs --formula '!acid &'",
        "ambs report --figure figures runs/*",
    ],
)
def test_a_command_that_ambs_does_not_take_is_noticed(block, command):
    (arguments,) = told("# A page\n\n" + block.format(command))
    with pytest.raises(AmbsError):
        take(arguments)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_suites_are_ones_that_bench_takes(page, tmp_path):
    for suite in blocks(page, "yaml"):
        expand(suite, tmp_path)


def expand(text: str, folder: Path) -> None:
    """Every run of the suite, with its whole configuration."""
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    suite = read(str(path))
    found = cells(suite, folder)
    assert len(found) == len(suite.games) * len(suite.agents) * len(suite.seeds)
    for cell in found:
        assert (cell.settings.steps, cell.settings.seed) == (cell.steps, cell.seed)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("steps: 40000", "step: 40000"),
        ("env: conveyor-long-belt", "env: conveyor-longbelt"),
        ("criterion: sound", "criterion: safe"),
        ("tolerance: 0.05", "tolerances: 0.05"),
        ("dreamer: {}", "dreamer: {criterion: sound}"),
    ],
)
def test_a_suite_that_bench_does_not_take_is_noticed(tmp_path, right, wrong):
    (suite,) = blocks(ROOT / "docs" / "bench.md", "yaml")
    assert right in suite
    with pytest.raises(AmbsError):
        expand(suite.replace(right, wrong), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_site_is_built_without_a_warning(tmp_path):
    """Strictly: links, anchors, pages that no menu leads to; and a page for every command, made from the code."""
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = tmp_path / "site" / "commands"
    commands = {get_args(each)[1].name: get_args(each)[0] for each in get_args(Command)}
    assert {page.stem for page in pages.glob("*.html")} == {"index", *commands}
    for name, command in commands.items():
        # What an entry begins with, up to two spaces: an option that others only mention is none of the page.
        entries = re.findall(r"^│ (-.*?)(?:  |$)", (pages / f"{name}.html").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(options_of(command)) <= set(re.findall(r"--[\w-]+", " ".join(entries))), name


def options_of(command: type) -> Iterator[str]:
    """As the fields of the command name them, those of its groups among them; not by tyro, which makes the page."""
    hints = get_type_hints(command, include_extras=True)
    for field in dataclasses.fields(command):
        hint = hints[field.name]
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if dataclasses.is_dataclass(kind):
            yield from options_of(kind)
        elif tyro.conf.Positional not in notes:
            names = [name for note in notes if (name := getattr(note, "name", None))]
            yield "--" + (names or [field.name])[0].replace("_", "-")


def test_the_options_of_a_command_are_all_of_its_fields():
    assert {"--look-ahead", "--run", "--size", "--agent", "--taus", "--depth"} <= set(options_of(Train))
    assert "--env" not in options_of(Train)


def test_paper_to_code_names_files_that_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|examples|benchmarks)/[\w/.-]+)`", text))
    assert named
    for name in named:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("made", ["report.md", "report.html"])
def test_the_results_tell_the_commands_that_made_them(made):
    """A report says itself what made it."""
    text = (ROOT / "results" / "conveyor" / made).read_text(encoding="utf-8")
    (command,) = set(re.findall(r"ambs report results/conveyor [^<\n]*", text))
    assert command in code((ROOT / "docs" / "results.md").read_text(encoding="utf-8"))


def table(page: str, first: str) -> list[list[str]]:
    """The cells of the rows below the header that begins with `first`."""
    lines = iter((ROOT / "docs" / page).read_text(encoding="utf-8").splitlines())
    header = next(line for line in lines if line.startswith(f"| {first} |"))
    assert set(next(lines)) <= set("|- "), header
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(lambda line: "|" in line, lines)
    ]


def by_field(config: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value, name = getattr(config, field.name), prefix + field.name
        found |= by_field(value, f"{name}.") if dataclasses.is_dataclass(value) else {name: value}
    return found


def test_all_that_differs_between_the_presets_is_in_the_table():
    cpu, paper = (
        by_field(configuration(Train("conveyor"), options))
        for options in (DreamerOptions(), DreamerOptions(preset="paper", size="xl"))
    )
    differs = {f"`{name}`": (str(cpu[name]), str(paper[name])) for name in cpu if cpu[name] != paper[name]}
    assert {name: (ours, theirs) for name, ours, theirs, _ in table("world-model.md", "field")} == differs


def test_scales_of_losses_are_the_defaults():
    scales = {name: float(scale) for name, _, _, scale in table("world-model.md", "loss")}
    names = re.findall(r"`loss/(\w+)`", (ROOT / "docs" / "training.md").read_text(encoding="utf-8"))
    assert sorted(names) == sorted(scales)
    for name, scale in scales.items():
        assert float(Weights().total({name: jnp.ones(())})) == pytest.approx(scale), name
