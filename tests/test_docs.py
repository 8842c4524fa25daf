"""What the documentation shows works: its Python runs, its commands answer, its links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_paper_to_code_names_files_that_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|examples|benchmarks)/[\w/.-]+)`", text))
    assert named
    for name in named:
        assert (ROOT / name).exists(), name
