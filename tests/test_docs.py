"""What the documentation shows works: its Python runs, its commands answer, its links lead somewhere."""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from ambs.commands.train import Train
from ambs.commands.train_dreamer import DreamerOptions, configuration
from ambs.world_model.model import Weights

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_examples_run(page, tmp_path, monkeypatch):
    """All blocks of a page in one namespace, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_answer(page, tmp_path):
    """Lines of `console` blocks that start with `$ ambs`, in order, in one folder with the examples beside it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "COLUMNS": "100"}
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ ambs "):
                words = [sys.executable, "-m", "ambs", *shlex.split(line, comments=True)[2:]]
                done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
                assert done.returncode == 0, (line, done.stderr)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_site_is_built_without_a_warning(tmp_path):
    """Strictly: links, anchors, pages that no menu leads to; and a page for every command, made from the code."""
    told = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(told, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--look-ahead" in (tmp_path / "site" / "commands" / "train.html").read_text(encoding="utf-8")


def test_paper_to_code_names_files_that_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|examples|benchmarks)/[\w/.-]+)`", text))
    assert named
    for name in named:
        assert (ROOT / name).exists(), name


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
