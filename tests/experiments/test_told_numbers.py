"""The tables of README and docs/results.md are those that the kept runs give."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# As the pages call the agents, and as a report of the suite does.
CALLED = {
    "DreamerV3": "dreamer", "AMBS": "ambs-either",
    "AMBS, `either`, explores": "ambs-either",
    "AMBS, `either`": "ambs-either-no-explore", "AMBS, `paper`": "ambs-paper",
    "AMBS, `sound`": "ambs-sound", "LAG": "lag", "IQN": "iqn", "Rainbow": "rainbow",
}  # fmt: skip
MEASURES = {
    "best episode score": "best episode score ↑", "violations while training": "total violations ↓",
    "final return": "final return ↑", "return at the end": "return at the end ↑",
    "actions overridden": "share of actions overridden",
}  # fmt: skip


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """All tables of a page: their heads, and rows by first cell."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    return [(cells(block[0]), {cells(line)[0]: cells(line) for line in block[2:]}) for block in blocks]


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """By measure and agent, as `ambs report` has it of the files that are kept."""
    from ambs.cli import main

    path = tmp_path_factory.mktemp("report") / "report.md"
    assert main(["report", str(ROOT / "results" / "conveyor"), "--out", str(path)]) == 0
    lines = [cells(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    head = lines[0]
    rows = [line for line in lines if line[0] == "conveyor"]
    return {row[1]: dict(zip(head[2:], row[2:], strict=True)) for row in rows}


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_the_conveyor_table(page, reported):
    text = (ROOT / page).read_text(encoding="utf-8")
    ((head, rows),) = [found for found in tables(text) if {"DreamerV3", "AMBS, `paper`", "Rainbow"} <= set(found[0])]
    for told, measure in MEASURES.items():
        for agent, cell in zip(head[1:], rows[told][1:], strict=True):
            kept = reported[measure][CALLED[agent]].replace("*", "").replace("–", "")
            assert cell == kept, f"{told} of {agent}"
