"""What is said before numbers are compared."""

import json

from ambs.report.notes import ends, unended, versions
from tests.report import made
from tests.report.test_comparison import EPISODES, compared


def test_it_is_said_where_the_last_hundred_episodes_are_much_of_a_run(tmp_path):
    def said(name, episodes, seed=0):
        made.folder(tmp_path / name / str(seed), made.config(seed=seed, steps=1600), episodes)
        return ends(compared(tmp_path / name))

    (note,) = said("short", [(10 * (1 + number), 1.0, 0) for number in range(160)])
    assert "the last 100 episodes, which in conveyor are up to 62% of a run (of 160 episodes)" in note
    assert said("long", [(4 * (1 + number), 1.0, 0) for number in range(400)]) == []
    (note,) = said("long", [(4 * (1 + number), 1.0, 0) for number in range(360)], seed=1)[1:]
    assert "No episode of dreamer in conveyor, seed 1, ended in the last tenth of the steps" in note
    (note,) = said("tiny", [(1600, 1.0, 0)])
    assert "up to 100% of a run (of 1 episode)" in note
    early, none = said("early", [(100, 1.0, 0)])
    # Who is sent to another number has to find it.
    assert "return at the end" not in early
    assert none == "No episode in conveyor ended in the last tenth of the steps, so it has no return at the end."


def test_it_is_said_where_curves_end_below_the_violations_of_the_table(tmp_path):
    folder = tmp_path / "runs" / "0"
    made.folder(folder, made.config(seed=0, steps=100), EPISODES)
    assert unended(compared(tmp_path)) == []
    told = json.loads((folder / "summary.json").read_text())
    assert told["violations"] == 7
    (folder / "summary.json").write_text(json.dumps({**told, "violations": 10}))
    (note,) = unended(compared(tmp_path))
    assert note.endswith("those of episodes that ended, which are as few as 70% of a run's.")
    # Cut, both are of the episodes that ended.
    assert unended(compared(tmp_path, 90)) == []


def test_it_is_said_where_seeds_of_an_agent_are_by_different_versions(tmp_path):
    def add(seed, **maker):
        made.folder(tmp_path / str(seed), made.config(seed=seed, steps=100), EPISODES, **maker)
        return versions(compared(tmp_path))

    assert add(0, made_by={"ambs": "0.1.0", "commit": "a1"}) == add(1, made_by={"ambs": "0.1.0", "commit": "a1"}) == []
    (note,) = add(2, made_by={"ambs": "0.1.0", "commit": "b2"})
    assert note == "In conveyor, runs of dreamer are by more than one version of the source."
    (note,) = add(3)
    assert note == "In conveyor, runs of dreamer do not all tell by which version of the source they are."
