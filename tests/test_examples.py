"""The examples run from start to end, and show what the documentation says they show."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str) -> str:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_frozen_lake():
    assert len((EXAMPLES / "frozen_lake.py").read_text().splitlines()) < 40
    fell = [int(number) for number in re.findall(r"episodes\s+(\d+) fell", run("frozen_lake.py"))]
    assert fell[1] * 5 < fell[0]


def test_numpy_simulator():
    """The cart drives, is braked before the cliff, and never falls: the example asserts that itself."""
    out = run("numpy_simulator.py")
    assert "drives" in out
    assert "brakes" in out
