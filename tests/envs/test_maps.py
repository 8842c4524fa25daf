"""Maps are read as drawn, and what is wrong with one is said in a sentence that names the place."""

import pytest

from ambs import AmbsError
from ambs.envs import MAPS, Conveyor
from ambs.envs.maps import load_map


@pytest.mark.parametrize(
    ("map", "message"),
    [
        ("", "the map is empty"),
        ("  \n \n", "the map is empty"),
        ([], "the map is empty"),
        ("S..\n...", "the map has no goal"),
        ("..G\n...", "the map has no start"),
        ("S.G\n..S", "the map has 2 starts"),
        ("S.G\n.x.", "line 2, column 2 of the map is 'x'"),
        (["S.G", ".. "], "line 2, column 3 of the map is ' '"),
        ("S.G\n..", "line 2 of the map has 2 characters and line 1 has 3"),
        ("S.G\n.>#", "the belt at line 2, column 2 of the map runs into a wall"),
        ("S.G\n..>", "the belt at line 2, column 3 of the map runs into a wall"),
        ("S.G\n>>#", "the belt at line 2, column 2 of the map runs into a wall"),
        ("S.G\n><.", "runs in a circle"),
        ("S#G\n.#.", "no way leads from the start"),
        ("S<G", "no way leads from the start"),
        ("tiny", 'there is no map "tiny"; the maps are small, figure1, long-belt, hard'),
    ],
)
def test_a_bad_map_is_named_in_one_sentence(map, message):
    with pytest.raises(AmbsError, match=message) as raised:
        Conveyor(map)
    text = str(raised.value)
    assert "\n" not in text
    assert text.endswith(".")


def test_a_map_may_be_drawn_in_four_ways():
    expected = ("S.G", "#A.")
    for drawn in ("S.G\n#A.", "\n    S.G\n    #A.\n  ", ["S.G", "#A."], ("S.G", "#A.")):
        assert load_map(drawn).rows == expected
    assert load_map("S.G").rows == ("S.G",)


def test_states_are_the_cells_that_are_not_wall_in_reading_order():
    layout = load_map("#S.\nG.#")
    assert layout.cells == ((0, 1), (0, 2), (1, 0), (1, 1))
    assert layout.tiles == "S.G."
    assert layout.start == 0


def test_the_maps_grow_from_small_to_hard():
    sizes = {name: load_map(name).states for name in MAPS}
    assert sizes == {"small": 27, "figure1": 39, "long-belt": 44, "hard": 136}
