"""A run that began on one kind of device and goes on on another computes in what it began with."""

import dataclasses
import json

import jax
import pytest

from ambs import AmbsError
from ambs.runs.dreamer import train
from ambs.runs.storage import latest
from tests.runs.dreamer.small import small

REMEMBERED = "['memory'].state.h"


def begin(path, patch, backend, steps, number):
    """A run that neither acts nor learns yet, as it would be on such a device.

    Another one for each `number`: within a process, what a program was compiled for the first time is for good.
    """
    learner = dataclasses.replace(small().learner, starts=number)
    with patch.context() as there:
        there.setattr(jax, "default_backend", lambda: backend)
        train(small(steps=steps, prefill=1000, learner=learner), path)


@pytest.mark.parametrize(
    ("first", "then", "precision", "other", "number"),
    [("gpu", "cpu", "bfloat16", "float32", 90), ("cpu", "gpu", "float32", "bfloat16", 91)],
)
def test_it_goes_on_in_what_it_began_with(tmp_path, monkeypatch, first, then, precision, other, number):
    begin(tmp_path, monkeypatch, first, 20, number)
    assert latest(tmp_path / "checkpoints")["extra"]["precision"] == precision
    sentence = f"the run began in {precision} and goes on in it, though .* would compute in {other}; to change"
    with pytest.warns(UserWarning, match=sentence) as warned:
        begin(tmp_path, monkeypatch, then, 40, number)
    assert len(warned) == 1
    last = latest(tmp_path / "checkpoints")
    assert (last["step"], last["extra"]["precision"], last["arrays"][REMEMBERED]["dtype"]) == (40, precision, precision)


def test_a_checkpoint_of_before_it_was_saved(tmp_path, monkeypatch):
    begin(tmp_path, monkeypatch, "gpu", 20, 92)
    for path in (tmp_path / "checkpoints").glob("*.json"):
        said = json.loads(path.read_text())
        del said["extra"]["precision"]
        path.write_text(json.dumps(said))
    with pytest.warns(UserWarning, match="the run began in bfloat16 and goes on in it"):
        begin(tmp_path, monkeypatch, "cpu", 40, 92)


def test_one_that_was_asked_for_cannot_be_changed(tmp_path):
    whole, half = (
        small(steps=20, prefill=1000, learner=dataclasses.replace(small().learner, precision=precision))
        for precision in ("float32", "bfloat16")
    )
    train(whole, tmp_path)
    with pytest.raises(AmbsError, match='learner.precision was "float32" when .* and is now "bfloat16"; leave it'):
        train(dataclasses.replace(half, steps=40), tmp_path)
