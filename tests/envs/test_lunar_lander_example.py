"""The example of an environment of your own runs, shows what the documentation says, and says what it lacks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "lunar_lander.py"


def test_flying_with_care_breaks_the_formula_less():
    pytest.importorskip("Box2D")
    pytest.importorskip("pygame", reason="Gymnasium imports pygame with any of its Box2D environments")
    assert len(EXAMPLE.read_text().splitlines()) < 60
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    random, careful = (float(number) for number in re.findall(r"([\d.]+) violations", done.stdout))
    assert careful * 20 < random


def test_what_is_missing_is_said_in_one_sentence():
    code = f"import sys, runpy; sys.modules['Box2D'] = None; runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip() == 'LunarLander needs Box2D; install it with: pip install "gymnasium[box2d]"'
