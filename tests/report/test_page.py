"""The page in a real browser: Chromium without a window, offline, on a desk and on a phone."""

import shutil
from itertools import pairwise

import pytest

from ambs.report import write
from tests.report import made
from tests.report.browser import browser, find

PROGRAM = find()
pytestmark = pytest.mark.skipif(
    PROGRAM is None,
    reason="no Chromium is installed (on Debian: apt-get install chromium), so the page is not looked at",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Three agents in two games, one run unfinished, and names that are HTML."""
    folder = tmp_path_factory.mktemp("report")
    runs = made.suite(folder / "runs", seeds=3, steps=200)
    made.folder(runs / "going", made.config(seed=9, steps=200), [(50, 1.0, 0)], ended=False)
    late = made.learning(8, steps=200, best=7.0, violations=9.0)
    made.folder(runs / "<img src=x onerror=alert(1)>", made.config(seed=8, steps=200), late)
    out = folder / "report.html"
    write([runs], out, command="ambs report </script><script>alert(2)</script>")
    # The page stands alone: nothing that it was made from is there any more.
    shutil.rmtree(runs)
    return out


@pytest.fixture(scope="module")
def chromium():
    with browser(PROGRAM) as started:
        yield started


def test_it_loads_alone_and_without_a_complaint(page, chromium):
    chromium.open(page)
    assert chromium.value("document.documentElement.dataset.ready") == "true"
    assert chromium.errors == []
    assert chromium.requests == [page.resolve().as_uri()]
    assert chromium.value("document.documentElement.lang") == "en"
    # Names from files are text.
    assert chromium.value("document.images.length") == 0
    assert chromium.value("document.body.innerText.includes('<img src=x onerror=alert(1)>')")


def test_the_curves_are_there(page, chromium):
    chromium.open(page)
    # Return and violations of three agents in two games; three measures of the two shields in each.
    assert chromium.value("document.querySelectorAll('figure').length") == 2 * (2 + 3)
    assert chromium.value("document.querySelectorAll('g.series').length") == 2 * (2 * 3 + 3 * 2)
    assert chromium.value("document.querySelectorAll('path.band').length") == 2 * (2 * 3 + 3 * 2)
    inside = """[...document.querySelectorAll('figure svg')].every(svg => {
        const box = svg.viewBox.baseVal;
        return [...svg.querySelectorAll('path.line')].every(path => {
            const it = path.getBBox();
            return path.getTotalLength() > 10 && it.x >= 0 && it.y >= 0 && it.x + it.width <= box.width
                && it.y + it.height <= box.height;
        });
    })"""
    assert chromium.value(inside)
    # Colours come from the style sheet, and lines are told apart by their dashes too.
    looks = (
        "[...document.querySelectorAll('figure:first-of-type .line')].slice(0, 3).map(one => getComputedStyle(one).{})"
    )
    for style in ("stroke", "strokeDasharray"):
        assert len(set(chromium.value(looks.format(style)))) == 3


def test_a_legend_switches_a_line_off_and_on_by_keyboard(page, chromium):
    chromium.open(page)
    first = "document.querySelector('.game .legend button')"
    assert chromium.value(f"{first}.getAttribute('aria-pressed')") == "true"
    in_first_game = "[...document.querySelector('.game').querySelectorAll('g[data-series=\"0\"]')]"
    display = ".map(g => getComputedStyle(g).display)"
    assert "none" not in chromium.value(in_first_game + display)
    chromium.value(f"{first}.focus()")
    chromium.press("Enter")
    assert chromium.value(f"{first}.getAttribute('aria-pressed')") == "false"
    assert chromium.value(in_first_game + display) == ["none", "none"]
    # Only there: the other game's curves stay.
    assert chromium.value("document.querySelectorAll('g.series.off').length") == 2
    chromium.press(" ")
    assert chromium.value(f"{first}.getAttribute('aria-pressed')") == "true"
    assert "none" not in chromium.value(in_first_game + display)
    assert chromium.errors == []


def test_the_pointer_reads_numbers_out(page, chromium):
    chromium.open(page)
    chromium.value("document.querySelector('figure').scrollIntoView()")
    box = chromium.value("document.querySelector('figure svg').getBoundingClientRect().toJSON()")
    chromium.move(box["x"] + box["width"] * 350 / 360, box["y"] + box["height"] / 2)
    said = chromium.value("document.querySelector('figure .readout').textContent")
    assert said.startswith("step 200: dreamer 7")
    assert "ambs (sound) 6" in said
    assert chromium.errors == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_it_without_sliding_the_page(page, chromium, dark):
    chromium.open(page, width=375, height=700, dark=dark)
    assert chromium.value("document.documentElement.scrollWidth") == 375
    # What is wider than the screen slides in its own box.
    assert chromium.value("[...document.querySelectorAll('.scroll')].some(box => box.scrollWidth > box.clientWidth)")
    assert chromium.value("[...document.querySelectorAll('figure svg')].every(svg => svg.clientWidth > 300)")
    assert chromium.errors == []
    paper = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)")


def test_tables_are_tables_for_whoever_does_not_see_them(page, chromium):
    chromium.open(page)
    assert chromium.value(
        "[...document.querySelectorAll('table')].every(table => table.caption.textContent.length > 3)"
    )
    assert chromium.value("[...document.querySelectorAll('tbody tr')].every(row => row.querySelector('th[scope=row]'))")
    assert chromium.value("[...document.querySelectorAll('thead th')].every(head => head.scope === 'col')")
    assert chromium.value("document.querySelectorAll('.results th[scope=rowgroup]').length") == 2
    levels = chromium.value("[...document.querySelectorAll('h1, h2, h3')].map(head => Number(head.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert chromium.value(
        "[...document.querySelectorAll('figure svg')].every(svg => svg.querySelector('title').textContent)"
    )


def test_tables_and_curves_do_without_a_script(page, chromium):
    chromium.open(page, script=False)
    try:
        assert chromium.requests == [page.resolve().as_uri()]
        assert chromium.value("document.documentElement.dataset.ready") is None
        assert chromium.value("document.querySelectorAll('.results td').length") > 20
        assert chromium.value("document.querySelector('path.line').getTotalLength()") > 10
    finally:
        chromium.open(page)
