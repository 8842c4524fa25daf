import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ambs
from ambs import ModelError
from ambs.logic import FiniteModel, check, read_prism, write_prism
from tests.logic.strategies import random_model

CHAIN = "3 4\n0 1 0.5\n0 2 0.5\n1 1 1\n2 2 1\n"
LABELS = '0="init" 1="deadlock" 2="goal"\n0: 0\n2: 2\n'
MDP = "2 3 4\n0 0 0 0.25 stay\n0 0 1 0.75 stay\n0 1 1 1 go\n1 0 1 1\n"


@pytest.fixture
def write(tmp_path):
    def writer(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return writer


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=30)
def test_a_model_written_and_read_is_the_same_model(tmp_path_factory, seed, actions):
    folder = tmp_path_factory.mktemp("prism")
    model = random_model(np.random.default_rng(seed), actions)
    write_prism(model, folder / "m.tra", folder / "m.lab")
    again = read_prism(folder / "m.tra", folder / "m.lab")
    np.testing.assert_array_equal(again.kernel.toarray(), model.kernel.toarray())
    np.testing.assert_array_equal(again.choice_start, model.choice_start)
    assert again.is_chain == model.is_chain
    for name, mask in model.labels.items():
        np.testing.assert_array_equal(again.labels[name], mask)
    assert not list(folder.glob("*.partial"))


def test_prism_chain(write):
    model = read_prism(write("m.tra", CHAIN), write("m.lab", LABELS))
    assert (model.states, model.transitions, model.is_chain, model.initial) == (3, 4, True, 0)
    assert check(model, ambs.parse('P=? [ F "goal" ]')).values[0] == 0.5


def test_prism_mdp_keeps_action_names(write, tmp_path):
    model = read_prism(write("m.tra", MDP))
    assert not model.is_chain
    assert model.actions == ["stay", "go", ""]
    write_prism(model, tmp_path / "again.tra")
    assert (tmp_path / "again.tra").read_text().split() == MDP.replace(" 1 go", " 1.0 go").replace(
        "1 0 1 1\n", "1 0 1 1.0\n"
    ).split()


def test_storm_explicit_files(write):
    model = read_prism(
        write("m.tra", "dtmc\n" + CHAIN.split("\n", 1)[1]),
        write("m.lab", "#DECLARATION\ninit goal\n#END\n0 init\n2 goal\n"),
    )
    assert check(model, ambs.parse("P=? [ F goal ]")).values[0] == 0.5


def test_comments_blank_lines_and_actions_on_chains(write, tmp_path):
    """As newer PRISM versions export them; a mistake is still named by its line in the file."""
    text = "# Transitions (DTMC)\n2 2\n\n0 1 1 go\n1 1 1 stay\n"
    model = read_prism(write("m.tra", text))
    assert (model.is_chain, model.actions) == (True, ["go", "stay"])
    write_prism(model, tmp_path / "again.tra")
    assert read_prism(tmp_path / "again.tra").actions == ["go", "stay"]
    with pytest.raises(ModelError, match="line 5"):
        read_prism(write("m.tra", text.replace("1 1 1 stay", "1 7 1")))


def test_an_mdp_with_one_choice_a_state_survives_being_written(write, tmp_path):
    model = read_prism(write("m.tra", "1 1 1\n0 0 0 1 go\n"))
    write_prism(model, tmp_path / "again.tra")
    assert read_prism(tmp_path / "again.tra").actions == ["go"]


def test_fractions_of_the_exact_engine(write):
    model = read_prism(write("m.tra", "2 3\n0 0 1/3\n0 1 2/3\n1 1 1\n"))
    assert model.kernel[0, 1] == pytest.approx(2 / 3, abs=1e-16)


def test_rounded_rows_are_scaled(write):
    model = read_prism(write("m.tra", "4 6\n0 1 0.333333\n0 2 0.333333\n0 3 0.333333\n1 1 1\n2 2 1\n3 3 1\n"))
    assert model.kernel[[0]].sum() == pytest.approx(1, abs=1e-15)


def test_state_values_and_boolean_variables(write, tmp_path):
    states = write("m.sta", "(x,safe)\n0:(0,true)\n1:(1,false)\n2:(2,true)\n")
    model = read_prism(write("m.tra", CHAIN), write("m.lab", LABELS), states)
    assert model.valuations == ["(0,true)", "(1,false)", "(2,true)"]
    assert check(model, ambs.parse("P=? [ G safe ]")).values[0] == 0.5
    write_prism(model, tmp_path / "n.tra", tmp_path / "n.lab", tmp_path / "n.sta")
    assert (tmp_path / "n.sta").read_text() == states.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("hello\n0 0 1\n", "line 1: 'hello'"),
        ("2 2\n", "no transitions"),
        ("2 2\n0 1 1\n1 x 1\n", "line 3: 'x' is not the number of a state"),
        ("2 2\n0 1\n1 1 1\n", "line 2: '0 1' is not of the form"),
        ("2 2\n0 1 one\n1 1 1\n", "line 2: 'one' is not a probability"),
        ("2 2\n0 1 -0.5\n1 1 1\n", "line 2: the probability -0.5"),
        ("2 2\n0 1 nan\n1 1 1\n", "line 2: the probability nan"),
        ("2 2\n0 1 1\n1 100000000000000000000 1\n", "line 3: '100000000000000000000'"),
        ("999999999999 2\n0 1 1\n1 1 1\n", "999999999999 states cannot all have a transition"),
        ("dtmc\n0 1 1\n1 999999999 1\n", "cannot all have a transition"),
        ("2 2\n0 1 1\n1 7 1\n", "line 3: the target state 7 does not exist; there are states 0 to 1"),
        ("2 3\n0 1 1\n1 1 1\n", "line 1: announces 3 transitions, and 2 follow"),
        ("2 9 2\n0 0 1 1\n1 0 1 1\n", "line 1: announces 9 choices, and 2 follow"),
        ("2 2\n0 1 0.9\n1 1 1\n", "state 0 sum to 0.9"),
        ("3 2\n0 1 1\n1 1 1\n", "cannot all have a transition"),
        ("3 3\n0 1 0.5\n0 0 0.5\n1 1 1\n", "state 2 has no outgoing transition"),
    ],
)
def test_malformed_transition_files_name_the_line(write, text, message):
    path = write("m.tra", text)
    with pytest.raises(ModelError) as caught:
        read_prism(path)
    assert message in str(caught.value)
    assert "m.tra" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("init goal\n", "line 1"),
        ('0="init"\n0 0\n', "line 2: '0 0' is not of the form"),
        ('0="init"\n9: 0\n', "line 2: labels state 9, and the model has states 0 to 2"),
        ('0="init"\n0: 5\n', "line 2: the label 5 is not declared"),
        ('0="init"\n0: 0\n1: 0\n', '2 states are labelled "init"'),
        ("#DECLARATION\ninit\n", "never closed"),
        ('0="init" 0="goal"\n', "declared twice"),
        ('0="init" 1="init"\n', "declared twice"),
    ],
)
def test_malformed_label_files_name_the_line(write, text, message):
    with pytest.raises(ModelError, match=message):
        read_prism(write("m.tra", CHAIN), write("m.lab", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n", "line 1"),
        ("(x)\n0:(0,1)\n", "line 2"),
        ("(x)\n0:(0)\n", "state 1 of the model is not listed"),
        ("(x)\n8:(0)\n", "state 8 does not exist"),
    ],
)
def test_malformed_state_files_name_the_line(write, text, message):
    with pytest.raises(ModelError, match=message):
        read_prism(write("m.tra", CHAIN), states=write("m.sta", text))


def test_a_missing_or_binary_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"none\.tra: cannot be read"):
        read_prism(tmp_path / "none.tra")
    (tmp_path / "b.tra").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="not a text file"):
        read_prism(tmp_path / "b.tra")


def test_a_model_without_state_values_has_none_to_write(tmp_path):
    with pytest.raises(ModelError, match="no state values"):
        write_prism(FiniteModel.chain(np.eye(2)), tmp_path / "m.tra", states=tmp_path / "m.sta")
