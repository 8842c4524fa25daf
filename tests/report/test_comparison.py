"""Which runs are compared, at which steps, under which names, and what is said of the others."""

import json

import numpy as np
import pytest

from ambs.errors import AmbsError
from ambs.report import write
from ambs.report.comparison import compare
from ambs.report.curves import learning, shielding
from ambs.report.finding import find
from ambs.report.measures import BEST, FINAL, LATE, OVERRIDES, VIOLATIONS, value
from ambs.report.naming import named
from ambs.report.origin import facts
from ambs.report.results import by_game, improvements, over_games
from ambs.runs.curves import Curves
from tests.report import made

EPISODES = [(40, 1.0, 2), (80, 5.0, 1), (100, 3.0, 4)]


def compared(path, at=None):
    return compare(find([path])[0], at)


def keep(path, seed, command, config=None, steps=100, returns=(1.0, 2.0)):
    summary = made.summary(made.config(seed=seed, steps=steps), EPISODES)
    curve = {"step": [steps // 2, steps], "return": list(returns), "episodes": [150, 50], "violations": [5, 2]}
    kept = {"summary": summary, "curve": curve, "command": command} | ({} if config is None else {"config": config})
    path.write_text(json.dumps(kept))


def test_one_way_has_the_agents_name_and_several_say_in_what_they_differ(tmp_path):
    made.suite(tmp_path, seeds=2, steps=100)
    agents = ("dreamer", "ambs (paper)", "ambs (sound)")
    expected = [(game, agent) for game in ("conveyor", "minatar-breakout") for agent in agents]
    assert list(named(find([tmp_path])[0])) == expected


def test_an_option_that_one_version_does_not_know_parts_no_seeds_and_is_told(tmp_path):
    for seed, more in ((0, {}), (1, {"curiosity": 600}), (2, {"curiosity": 600, "backup": None})):
        made.folder(tmp_path / str(seed), made.config(seed=seed, steps=100, **more), EPISODES)
    found = compared(tmp_path)
    assert [len(group) for group in found.groups.values()] == [3]
    (note,) = found.notes
    assert "not all have recorded curiosity." in note


def test_an_option_that_differs_parts_them(tmp_path):
    for seed, pretrain in ((0, 0), (1, 600), (2, 600)):
        made.folder(tmp_path / str(seed), made.config(seed=seed, steps=100, pretrain=pretrain), EPISODES)
    groups = compared(tmp_path).groups
    assert {agent: len(group) for (_, agent), group in groups.items()} == {
        "dreamer (pretrain 0)": 1, "dreamer (pretrain 600)": 2,
    }  # fmt: skip


def test_kept_runs_without_configuration_are_told_apart_by_their_commands(tmp_path):
    for name, options in (("pixels", ""), ("pretrained", " --pretrain 600")):
        for seed in (0, 1):
            command = f"ambs train conveyor --seed {seed} --steps 100 --option observation=image{options}"
            keep(tmp_path / f"conveyor-{name}-s{seed}.json", seed, command)
    assert {key: len(group) for key, group in compared(tmp_path).groups.items()} == {
        ("conveyor", "dreamer (pixels)"): 2, ("conveyor", "dreamer (pretrained)"): 2,
    }  # fmt: skip


def test_folders_are_told_apart_by_their_configurations_alone(tmp_path):
    """What one command writes out, another may leave to the default."""
    for seed, command in enumerate(("ambs train conveyor", "ambs train conveyor --envs 8 --json")):
        settings = made.config(seed=seed, steps=100)
        made.folder(tmp_path / str(seed), settings, EPISODES, made_by={"command": command})
    assert [run.command is not None for run in find([tmp_path])[0]] == [True, True]
    assert list(compared(tmp_path).groups) == [("conveyor", "dreamer")]
    # And a kept run without its configuration is as unlike them as ever.
    keep(tmp_path / "kept.json", 2, "ambs train conveyor")
    assert len(compared(tmp_path).groups) == 2


def test_an_environment_with_other_options_is_another_game(tmp_path):
    keep(tmp_path / "a-s0.json", 0, "ambs train conveyor --option observation=image --option slip=0.2")
    made.folder(tmp_path / "b", made.config() | {"env_options": {"slip": 0.2, "observation": "image"}}, EPISODES)
    made.folder(tmp_path / "c", made.config() | {"formula": "!acid"}, EPISODES)
    made.folder(tmp_path / "d", made.config(), EPISODES)
    games = {game for game, _ in named(find([tmp_path])[0])}
    assert games == {"conveyor (observation image, slip 0.2)", "conveyor (!acid)", "conveyor (as it comes)"}


def test_the_size_and_colour_of_its_pictures_are_the_agents_and_no_other_game(tmp_path):
    """As of Rainbow beside a world model: the paper's table has them in one row."""
    grey = {"env_options": {"size": 84, "grey": True}}
    made.folder(tmp_path / "a", made.config("seaquest", steps=100), EPISODES)
    made.folder(tmp_path / "b", made.config("seaquest", "rainbow", steps=100) | grey, EPISODES)
    assert list(named(find([tmp_path])[0])) == [("seaquest", "dreamer"), ("seaquest", "rainbow")]
    # Of one agent they part the runs, since it learns from another picture.
    made.folder(tmp_path / "c", made.config("seaquest", seed=1, steps=100) | grey, EPISODES)
    agents = [agent for _, agent in named(find([tmp_path])[0])]
    assert agents == ["dreamer (grey not given, size not given)", "dreamer (grey true, size 84)", "rainbow"]


def test_runs_of_different_lengths_are_compared_at_the_steps_they_share(tmp_path):
    made.folder(tmp_path / "short", made.config(seed=0, steps=80), EPISODES[:2])
    made.folder(tmp_path / "long", made.config(seed=1, steps=100), EPISODES, violations=99)
    found = compared(tmp_path)
    assert found.steps == {"conveyor": 80}
    assert any("80, 100 steps; all are compared at 80" in note for note in found.notes)
    violations = {result.measure.key: result.values.tolist() for result in by_game(found)}
    assert violations == {
        "best_return": [5.0, 5.0],
        "violations": [3.0, 3.0],
        "final_return": [3.0, 3.0],
        "late_return": [5.0, 5.0],
        "override_rate": [],
    }


def test_an_unfinished_run_is_left_out_and_told_or_counts_where_it_has_come_far_enough(tmp_path):
    made.folder(tmp_path / "whole", made.config(seed=0, steps=100), EPISODES)
    going = made.folder(tmp_path / "going", made.config(seed=1, steps=100), EPISODES[:2], ended=False)
    found = compared(tmp_path)
    assert [run.seed for run in found.groups["conveyor", "dreamer"]] == [0]
    assert "unfinished: of 100 steps it has made 80" in found.left_out[str(going)]
    assert any(str(going) in note for note in found.notes)
    found = compared(tmp_path, 60)
    assert [run.seed for run in found.groups["conveyor", "dreamer"]] == [0, 1]
    assert any("is unfinished, at step 80" in note for note in found.notes)
    with pytest.raises(AmbsError, match="no run has reached step 101"):
        compared(tmp_path, 101)


def test_a_longer_run_that_is_left_out_cuts_no_other(tmp_path):
    made.folder(tmp_path / "whole", made.config(seed=0, steps=100), EPISODES, violations=99)
    going = made.folder(tmp_path / "going", made.config(seed=1, steps=200), EPISODES[:2], ended=False)
    found = compared(tmp_path)
    assert list(found.left_out) == [str(going)]
    assert found.cut == set()
    assert [note for note in found.notes if "all are compared at" in note] == []
    # As the summary has it, with what happened in episodes that had not ended.
    assert [one.values.tolist() for one in by_game(found) if one.measure is VIOLATIONS] == [[99.0]]


def test_a_seed_counts_once(tmp_path):
    first = made.folder(tmp_path / "a", made.config(steps=100), EPISODES)
    second = made.folder(tmp_path / "b", made.config(steps=100), EPISODES)
    found = compared(tmp_path)
    assert [run.source for run in found.groups["conveyor", "dreamer"]] == [str(first)]
    assert "seed 0 of dreamer in conveyor is there twice" in found.left_out[str(second)]
    assert any(str(second) in note for note in found.notes)


def test_numbers_of_a_run_by_hand(tmp_path):
    metrics = [{"step": 50, "shield/override_rate": 0.5}, {"step": 100, "shield/override_rate": 0.1}]
    made.folder(tmp_path / "a", made.config(steps=100), EPISODES, metrics=metrics, violations=11, override_rate=0.4)
    (run,), _ = find([tmp_path])
    # As the summary has it, with what happened in episodes that had not ended.
    assert [value(run, each, 100, cut=False) for each in (BEST, VIOLATIONS, FINAL, OVERRIDES)] == [5.0, 11.0, 3.0, 0.4]
    assert [value(run, each, 80, cut=True) for each in (BEST, VIOLATIONS, FINAL, OVERRIDES)] == [5.0, 3.0, 3.0, 0.5]
    assert np.isnan(value(run, FINAL, 39, cut=True))
    assert np.isnan(value(run, VIOLATIONS, 39, cut=True)), "not 0: none of its episodes had ended"


def test_of_a_kept_run_the_last_hundred_episodes_are_taken_from_its_parts(tmp_path):
    keep(tmp_path / "a-s0.json", 0, "ambs train conveyor", returns=(1.0, 2.0))
    (run,), _ = find([tmp_path])
    # 50 of the last part, and 50 of the 150 before.
    assert value(run, FINAL, 100, cut=True) == pytest.approx(1.5)
    assert value(run, VIOLATIONS, 99, cut=True) == 5.0
    assert np.isnan(value(run, BEST, 100, cut=True))


def test_the_return_at_the_end_is_of_the_last_tenth_of_the_steps(tmp_path):
    # 90 is in the tenth before; the last step of the vector passes the end.
    episodes = [(50, 9.0, 0), (90, 5.0, 0), (91, 1.0, 0), (100, 2.0, 0), (101, 6.0, 0)]
    made.folder(tmp_path / "a", made.config(steps=100), episodes)
    (run,), _ = find([tmp_path])
    assert value(run, LATE, 100, cut=False) == 3.0
    # At a cut, of the tenth before it: 46 to 50, and 82 to 90.
    assert [value(run, LATE, at, cut=True) for at in (50, 90)] == [9.0, 5.0]
    assert np.isnan(value(run, LATE, 80, cut=True))


def test_the_return_at_the_end_of_a_kept_run_weighs_its_parts_by_their_episodes(tmp_path):
    keep(tmp_path / "a-s0.json", 0, "ambs train conveyor")
    kept = json.loads((tmp_path / "a-s0.json").read_text())
    steps = [20 * (1 + part) for part in range(50)]
    returns, episodes = [1.0] * 45 + [2.0, None, 4.0, 4.0, 4.0], [9] * 45 + [6, 0, 1, 1, 0]
    kept["curve"] = {"step": steps, "return": returns, "episodes": episodes, "violations": [0] * 50}
    (tmp_path / "a-s0.json").write_text(json.dumps(kept))
    (run,), _ = find([tmp_path])
    assert value(run, LATE, 1000, cut=False) == pytest.approx((6 * 2 + 4 + 4) / 8)
    # As the end of a run's own table has it.
    assert value(run, LATE, 1000, cut=False) == Curves.of_json(kept["curve"]).last_tenth()


def test_the_best_is_marked_only_where_intervals_are_apart_from_all_others(tmp_path):
    def marked(path):
        return {(result.game, result.measure.key, result.agent) for result in by_game(compared(path)) if result.best}

    made.suite(tmp_path / "many", games=("conveyor",), steps=100)
    assert ("conveyor", "violations", "ambs (sound)") in marked(tmp_path / "many")
    # Two seeds have no interval, so nothing is best.
    made.suite(tmp_path / "few", games=("conveyor",), steps=100, seeds=2)
    assert not marked(tmp_path / "few")
    # A share of overrides is neither good nor bad.
    assert not any(key == "override_rate" for _, key, _ in marked(tmp_path / "many"))
    for seed, late in enumerate((9, 1, 5)):
        for agent, more in (("lag", 0), ("iqn", 1)):
            path = tmp_path / "mixed" / f"{agent}{seed}"
            made.folder(path, made.config(agent=agent, seed=seed), [(1000, 1.0, late + more)])
    assert not marked(tmp_path / "mixed")


def test_three_seeds_are_not_enough_to_be_best(tmp_path):
    for seeds, enough in (3, False), (4, True):
        made.suite(tmp_path / str(seeds), seeds=seeds, games=("conveyor",), steps=100)
        assert any(one.best for one in by_game(compared(tmp_path / str(seeds)))) is enough


def test_nothing_is_best_where_an_agent_is_not_known(tmp_path):
    made.suite(tmp_path, games=("conveyor",), steps=100)
    for seed in range(4):
        episodes = [(step, 9.0, 0) for step in range(10, 101, 10)]
        made.folder(
            tmp_path / f"lag-{seed}", made.config(agent="lag", seed=seed, steps=100), episodes, best_return=None
        )
    results = by_game(compared(tmp_path))
    best = {one.measure for one in results if one.best}
    assert [one.agent for one in results if one.measure is BEST and one.estimate is None] == ["lag"]
    assert VIOLATIONS in best
    assert BEST not in best


def test_over_games_scores_are_between_the_lowest_or_random_and_the_highest(tmp_path):
    scores = {
        ("conveyor", "dreamer"): 4.0,
        ("conveyor", "lag"): 2.0,
        ("freeway", "dreamer"): 10.0,
        ("freeway", "lag"): 30.0,
    }
    for (game, agent), score in scores.items():
        for seed in range(3):
            episodes = [(100, score, int(score))]
            made.folder(tmp_path / f"{game}-{agent}-{seed}", made.config(game, agent, seed, 100), episodes)
    found = compared(tmp_path)

    def scaled(random):
        return {(one.agent, one.measure.key): one.estimate.value for one in over_games(found, random)}

    # dreamer: 1 and 0; lag: 0 and 1. Violations: 4/4 and 10/30; 2/4 and 30/30.
    assert scaled({}) == pytest.approx({
        ("dreamer", "final_return"): 0.5, ("lag", "final_return"): 0.5,
        ("dreamer", "violations"): 2 / 3, ("lag", "violations"): 0.75,
    })  # fmt: skip
    # Random is 0 in conveyor: 4/4 and 2/4 there.
    assert scaled({"conveyor": 0.0})["lag", "final_return"] == pytest.approx(0.75)
    assert improvements(found, VIOLATIONS)["dreamer", "lag"].value == 0.5


def test_curves_by_hand(tmp_path):
    metrics = [{"step": 2, "shield/override_rate": 0.5}, {"step": 4, "shield/override_rate": 0.1}]
    # Fifty steps, so that a part is a step; the last of the vector passes the end.
    made.folder(tmp_path / "a", made.config(steps=50), [(2, 1.0, 2), (2, 3.0, 0), (51, 7.0, 1)], metrics=metrics)
    found = compared(tmp_path)
    returns, violations = (chart.series[0] for chart in learning(found, "conveyor"))
    # No episode had ended at step 1; from 2 on it is their mean, until others end.
    assert returns.step.tolist() == list(range(2, 51))
    assert returns.line.tolist() == [2.0] * 48 + [7.0]
    assert returns.band is None
    assert violations.line.tolist() == [0.0] + [2.0] * 48 + [3.0]
    (overrides,) = (chart.series[0] for chart in shielding(found, "conveyor"))
    assert overrides.line.tolist() == [0.5, 0.5] + [0.1] * 47


def test_the_tier_is_of_who_learned_and_from_what_and_not_of_the_world_alone(tmp_path):
    def tier(name, settings):
        runs, _ = find([made.folder(tmp_path / name, settings, EPISODES)])
        return facts(compare(runs), "")[f"steps and tier, {settings['env']}"].partition(", ")[2][:6]

    image = {"env_options": {"observation": "image"}}
    assert tier("a", made.config(agent="dreamer", steps=100) | image) == "tier 1"
    assert tier("b", made.config(agent="rainbow", steps=100)) == "tier 1"
    assert tier("c", made.config(agent="mine", steps=100)) == "tier 0"
    assert tier("d", made.config(agent="mine", steps=100) | image) == "tier 1"
    assert tier("e", made.config("minatar-breakout", agent="mine", steps=100)) == "tier 1"
    assert tier("f", made.config("seaquest", steps=100)) == "tier 2"
    assert tier("g", made.config("my-world", steps=100)) == "no tie"
    # Of a kept file without a configuration, by its command.
    for command, expected in (("my-trainer --option observation=image", "tier 1"), ("my-trainer", "tier 0")):
        kept = tmp_path / "k-s0.json"
        keep(kept, 0, command)
        kept.write_text(kept.read_text().replace('"dreamer"', '"mine"'))
        assert expected in facts(compared(kept), "")["steps and tier, conveyor"]


def agents_with_unknown_seeds(path, unknown, seeds=5, games=("conveyor",)):
    """`lag` far better than `dreamer`, with no best score and no count of violations of some of its seeds in the first
    game."""
    for game in games:
        for seed in range(seeds):
            for agent, each, violations in (("dreamer", 1.0, 20), ("lag", 9.0, 2)):
                gone = {"best_return": None, "violations": None} if agent == "lag" and seed in unknown else {}
                gone = gone if game == games[0] else {}
                settings = made.config(game, agent, seed, 100)
                made.folder(path / f"{game}-{agent}-{seed}", settings, [(100, each + seed / 10, violations)], **gone)
    return path


def test_a_number_that_some_seeds_have_not_says_so_and_nothing_is_best_there(tmp_path):
    runs = agents_with_unknown_seeds(tmp_path / "runs", unknown=(1, 3))
    report = write(runs, tmp_path / "report.md")
    assert {one.measure for one in report.results if one.best} == {FINAL, LATE}
    (note,) = [note for note in report.notes if "it is not known" in note]
    assert note.startswith("Of lag in conveyor, seeds 1, 3, it is not known: best episode score, total violations.")
    text = (tmp_path / "report.md").read_text()
    (row,) = [line for line in text.splitlines() if line.startswith("| conveyor | total violations")]
    assert row.endswith("| 20 [20, 20] | 2 [2, 2] (3 of 5 seeds) |")
    for name in ("report.html", "report.tex"):
        write(runs, tmp_path / name)
        assert (tmp_path / name).read_text().count("(3 of 5 seeds)") == 2
    write(runs, tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())["results"]
    (one,) = [one for one in found if (one["agent"], one["measure"]) == ("lag", "violations")]
    assert (one["seeds"], one["runs"], one["best"]) == (3, 5, False)
    # All seeds known: as ever.
    report = write(agents_with_unknown_seeds(tmp_path / "known", unknown=()), tmp_path / "report.md")
    assert {one.measure for one in report.results if one.best} == {BEST, VIOLATIONS, FINAL, LATE}
    assert not any("not known" in note for note in report.notes)
    # Of no seed known: nothing is told, so nothing is partly told.
    report = write(agents_with_unknown_seeds(tmp_path / "none", unknown=range(5)), tmp_path / "report.md")
    assert not any("not known" in note for note in report.notes)


def test_too_few_known_seeds_have_no_interval_and_say_of_how_many_they_are(tmp_path, run_ambs):
    runs = agents_with_unknown_seeds(tmp_path / "runs", unknown=(0, 1, 3))
    report = write(runs, tmp_path / "report.md")
    assert "2 (2 of 5 seeds, no interval)" in (tmp_path / "report.md").read_text()
    assert VIOLATIONS not in {one.measure for one in report.results if one.best}
    code, out, _ = run_ambs("report", runs, "--out", tmp_path / "report.html")
    assert code == 0
    assert "2 of 5" in out


def test_over_games_nothing_is_best_where_some_runs_are_not_known(tmp_path):
    for name, unknown, best in (("known", (), 1), ("partly", (2,), 0)):
        path = agents_with_unknown_seeds(tmp_path / name, unknown, games=("conveyor", "minatar-breakout"))
        report = write(path, tmp_path / f"{name}.md")
        over = [one for one in report.results if one.game is None and one.measure is VIOLATIONS]
        assert sum(one.best for one in over) == best
        assert ("(9 of 10 runs)" in (tmp_path / f"{name}.md").read_text()) == (not best)


def test_no_line_of_violations_where_no_episode_has_ended(tmp_path):
    """A run may have had many by then; a line at 0 would say that there were none."""
    quiet = [{"step": 100, "loss/reward": 0.1}]
    settings = made.config(agent="rainbow", steps=100)
    folder = made.folder(tmp_path / "a", settings, [(100, 1.0, 3)], metrics=quiet)
    (folder / "scores.jsonl").write_text("")
    told = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(told | {"episodes": 0, "best_return": None, "final_return": None}))
    made.folder(tmp_path / "b", made.config(steps=100), EPISODES)
    (_, violations) = learning(compared(tmp_path), "conveyor")
    assert [series.agent for series in violations.series] == ["dreamer"]
