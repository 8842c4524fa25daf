"""`logic` and `shield` stand alone: whoever wants only the shield gets nothing else with it."""

import ast
from pathlib import Path

import pytest

import ambs

SOURCE = Path(ambs.__file__).parent
ABOVE = {"envs", "world_model", "behaviour", "agents", "runs", "bench", "commands", "cli", "replay", "report"}
FORBIDDEN = {"logic": ABOVE | {"shield", "bounds"}, "shield": ABOVE, "bounds": ABOVE | {"shield", "logic"}}


def imported(path: Path) -> set[str]:
    """The parts of ambs that a file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return {name.split(".")[1] for name in names if name.startswith("ambs.")}


@pytest.mark.parametrize("part", sorted(FORBIDDEN))
def test_a_lower_layer_imports_nothing_from_above(part):
    files = list((SOURCE / part).rglob("*.py"))
    assert files
    for path in files:
        assert not imported(path) & FORBIDDEN[part], path


def test_the_rule_can_fail(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("from ambs.runs import tabular\n")
    assert imported(bad) & FORBIDDEN["shield"]
