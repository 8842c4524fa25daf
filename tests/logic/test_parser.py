import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ambs
from ambs import FormulaError
from ambs.logic import syntax
from tests.logic.strategies import formulas

a, b, c = (syntax.Atom(name) for name in "abc")


@given(formulas())
@settings(max_examples=2000)
def test_printing_parses_back_to_the_same_formula(formula):
    assert ambs.parse(str(formula)) == formula


fragments = st.sampled_from(
    [
        *'ab!&|()[]?,=<>-+*/"XUFGWRP ',
        "Pmin",
        "=>",
        "<=>",
        "->",
        ">=",
        "<=",
        "0.5",
        "3",
        "true",
        '"x y"',
        "\n",
        "é",
    ]
)


@given(st.text() | st.lists(fragments, max_size=25).map("".join))
@settings(max_examples=4000)
@example("P>=" + "9" * 5000 + " [ X a ]")
@example("P=? [ F<=" + "9" * 5000 + " a ]")
@example("(" * 5000 + "a" + ")" * 5000)
@example("!" * 5000 + "a")
@example("a" + "=>a" * 3000)
@example("P>=1" + "/3" * 3000 + " [ X a ]")
@example("P>=1e308*1e308*1e308 [ X a ]")
@example('"')
@example("\x00")
def test_arbitrary_text_is_a_formula_or_a_formula_error(text):
    try:
        formula = ambs.parse(text)
    except FormulaError as error:
        assert "column" in str(error)
        assert "^" in str(error)
    else:
        assert ambs.parse(str(formula)) == formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a & b | c", syntax.Or((syntax.And((a, b)), c))),
        ("!a & b", syntax.And((syntax.Not(a), b))),
        ("a | b => c", syntax.Implies(syntax.Or((a, b)), c)),
        ("a => b => c", syntax.Implies(syntax.Implies(a, b), c)),
        ("a => (b => c)", syntax.Implies(a, syntax.Implies(b, c))),
        ("a <=> b => c", syntax.Implies(syntax.Iff(a, b), c)),
        ("a <-> b -> c", syntax.Implies(syntax.Iff(a, b), c)),
        ("F a & b", syntax.Eventually(syntax.And((a, b)))),
        ("a & b U<=3 c | a", syntax.Until(syntax.And((a, b)), syntax.Or((c, a)), syntax.Steps(0, 3))),
        ("G<4 a", syntax.Globally(a, syntax.Steps(0, 3))),
        ("F=4 a", syntax.Eventually(a, syntax.Steps(4, 4))),
        ("F>2 a", syntax.Eventually(a, syntax.Steps(3, None))),
        ("F [2,5] a", syntax.Eventually(a, syntax.Steps(2, 5))),
        ("P>=1-0.1 [ X a ]", syntax.ProbabilityBound(">=", 0.9, syntax.Next(a))),
        ("P<1/6 [ (a W b) ]", syntax.ProbabilityBound("<", 1 / 6, syntax.WeakUntil(a, b))),
        ("Pmax=? [ a R b ]", syntax.ProbabilityQuery(syntax.Release(a, b), "max")),
        ("Pmin>0.5[X a]", syntax.ProbabilityBound(">", 0.5, syntax.Next(a), "min")),
        ('"out-of-oxygen"', syntax.Atom("out-of-oxygen")),
        ("true & Xylophone", syntax.And((syntax.Constant(True), syntax.Atom("Xylophone")))),
    ],
)
def test_operators_bind_as_in_prism(text, formula):
    assert ambs.parse(text) == formula


def test_paper_examples_read_as_written():
    formula = ambs.parse("P>=0.9 [ G<=30 (!collision & (red_light -> stop)) ]")
    assert isinstance(formula, syntax.ProbabilityBound)
    assert formula.path.steps == syntax.Steps(0, 30)
    assert formula.atoms == {"collision", "red_light", "stop"}


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, ["empty"]),
        ("P>=0.9 [ G<=30 & !acid ]", 16, ["did not expect '&'", "an atom", "!"]),
        ("P>=0.9 [ F a", 13, ["ends here", "]"]),
        ("a b", 3, ["did not expect 'b'", "&", "=>"]),
        ("out-of-oxygen", 4, ["double quotes"]),
        ("a && b", 4, ["write &"]),
        ("P>=1.2 [ F a ]", 4, ["1.2", "[0, 1]"]),
        ("P=? [ F P=? [ X a ] ]", 10, ["outermost"]),
        ("P=? [ F a & G b ]", 13, ["without a P around each"]),
        ("P=? [ F<=2.5 a ]", 10, ["whole number", "2.5"]),
        ("P=? [ F[5,2] a ]", 11, ["empty"]),
        ("P=? [ a ]", 9, ["path formula", "U"]),
        ('"abc', 1, ["no end"]),
        ("P>=1/0 [ X a ]", 6, ["division by zero"]),
        ("P=? [ a W[1,3] b ]", 9, ["upper step bound only"]),
        ("P>=-0.1 [ X a ]", 4, ["a number"]),
        ("a and b", 3, ["write &"]),
        ("P≥0.9 [ X a ]", 2, ["write >="]),
    ],
)
def test_a_wrong_formula_names_its_column_and_what_could_stand_there(text, column, words):
    with pytest.raises(FormulaError) as caught:
        ambs.parse(text)
    message, shown, caret = str(caught.value).split("\n")
    assert f"column {column}:" in message
    assert shown == f"  {text}"
    assert caret == " " * (column + 1) + "^"
    for word in words:
        assert word in message


def test_an_error_on_a_later_line_shows_that_line():
    with pytest.raises(FormulaError) as caught:
        ambs.parse("a &\nb && c")
    assert "line 2, column 4" in str(caught.value)
    assert "b && c\n     ^" in str(caught.value)


def test_formulas_are_built_in_python_too():
    assert ~a & (b | c) == ambs.parse("!a & (b | c)")


def test_only_text_is_parsed():
    with pytest.raises(TypeError, match="text"):
        ambs.parse(3)
