"""Agents are told apart in the same way on the page and in the pictures."""

import re
from importlib import resources

from ambs.report import figures, svg


def test_as_many_styles_in_the_pictures_as_on_the_page_and_all_different():
    sheet = resources.files("ambs.report").joinpath("page.css").read_text(encoding="utf-8")
    styles = re.findall(r"^\.style(\d+) \{ --c: var\((--c\d)\); --d: ([^;]+); \}", sheet, re.MULTILINE)
    assert [int(number) for number, _, _ in styles] == list(range(svg.STYLES))
    assert len({colour for _, colour, _ in styles}) == len({dashes for _, _, dashes in styles}) == svg.STYLES
    light = dict(re.findall(r"(--c\d): (#\w{6})", sheet[: sheet.index("@media")]))
    assert [light[colour] for _, colour, _ in styles] == list(figures._COLOURS)
    assert len(set(figures._DASHES)) == svg.STYLES
