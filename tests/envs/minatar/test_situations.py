"""Each atom becomes true in situations made for it, and stays false where it nearly does."""

import pytest

from ambs.envs.minatar.specs import SPECS
from experiments.minatar_situations import SITUATIONS


@pytest.mark.parametrize("situation", SITUATIONS, ids=[f"{s.game}: {s.about}: {s.what}" for s in SITUATIONS])
def test_the_labels_of_a_situation(situation):
    info, over = situation.play(situation.prepare())
    assert {name for name, true in info["labels"].items() if true} == situation.true
    assert over == situation.ends
    assert (info["cost"] > 0) == (situation.true == {"hit"} if situation.game == "freeway" else situation.ends)


@pytest.mark.parametrize(("game", "atom"), [(spec.kwargs["game"], atom) for spec in SPECS for atom in spec.atoms])
def test_every_atom_is_shown_firing_and_then_nearly(game, atom):
    """The documentation draws the first two situations of an atom."""
    fires, nearly, *_ = [s for s in SITUATIONS if (s.game, s.about) == (game, atom)]
    assert atom in fires.true
    assert atom not in nearly.true
