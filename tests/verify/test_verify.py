"""The whole verification, quickly: what it writes, and that its verdicts are those that the theory predicts."""

import dataclasses
import json

import numpy as np
import pytest

from ambs.commands.verify import Verify
from ambs.errors import AmbsError
from ambs.verify import Settings, theorem1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("verify") / "new" / "folder"
    Verify(out=out, quick=True).run()
    return out


@pytest.fixture(scope="module")
def found(folder):
    return json.loads((folder / "verify.json").read_text(encoding="utf-8"))


def test_everything_is_written_and_nothing_is_left_half_written(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "calibration.png", "model-error.png", "theorem2.png", "theorem3.png", "verify.json", "verify.md",
    ]  # fmt: skip
    for picture in folder.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
    text = (folder / "verify.md").read_text(encoding="utf-8")
    assert "ambs verify --seed 0 --repeats 100 --quick" in text
    assert str(folder) not in text + (folder / "verify.json").read_text(encoding="utf-8")


def test_theorem_1_holds(found):
    assert found["theorem_1"]
    for row in found["theorem_1"]:
        assert row["holds"]
        assert row["worst_failure"] <= row["claimed"]
        assert row["low"] <= row["claimed"]


def test_theorem_2_fails_as_printed_and_holds_corrected(found):
    for row in found["theorem_2"]:
        assert row["realised_tv"] <= row["alpha"] + 1e-12
        if row["version"] == "corrected":
            assert row["holds"]
            assert row["over_bound"] == 0
            assert row["low"] <= row["claimed"]
        else:
            assert row["over_bound"] > 0
    counterexample = {
        row["horizon"]: row
        for row in found["theorem_2"]
        if row["case"].startswith("counterexample") and row["version"] == "printed"
    }
    assert {n: round(row["worst_failure"], 3) for n, row in counterexample.items()} == {
        1: 0.507, 5: 0.348, 15: 0.325, 30: 0.319,
    }  # fmt: skip
    # The simulation alone refutes it too.
    assert all(row["low"] > row["claimed"] for row in counterexample.values())


def test_more_traces_do_not_rescue_a_horizon_of_one(found):
    assert all(0.49 < row["n1"] < 0.51 for row in found["theorem_2_traces"])
    assert found["theorem_2_traces"][-1]["n30"] < 1e-6


def test_theorem_3_holds_and_is_looser_than_weissman(found):
    for row in found["theorem_3"]:
        assert row["holds"]
        assert row["loose"] >= 1
    loose = {row["bound"]: row["loose"] for row in found["theorem_3"] if (row["states"], row["law"]) == (20, "uniform")}
    assert loose["Theorem 3, printed"] > 100 * loose["Weissman, K successors"]


def test_the_proof_of_theorem_2_does_not_survive_equal_marginals(found):
    rows = found["theorem_2_marginals"]
    assert [row["holds"] for row in rows] == [row["horizon"] == 1 for row in rows]
    for row in rows:
        assert row["marginal_tv"] == pytest.approx(0, abs=1e-12)
        assert row["mu"] == pytest.approx(0.5)
        assert row["learned_mu_low"] <= row["learned_mu"] <= row["learned_mu_high"]


def test_the_shield_that_believes_theorem_2_lets_danger_through(found):
    assert {(row["horizon"], row["traces"]) for row in found["theorem_2_shield"]} == {
        (n, m) for n in (1, 5, 30) for m in (512, 1309)
    }
    for row in found["theorem_2_shield"]:
        assert row["mu"] == pytest.approx(0.8999)
        assert row["holds"] == (row["version"] == "corrected")
        # Nine in ten thousand of such intervals miss what they are about, if that is what is simulated.
        margin = 3.3 * (row["worst_failure"] * (1 - row["worst_failure"]) / row["trials"]) ** 0.5
        assert row["rate"] == pytest.approx(row["worst_failure"], abs=margin + 1e-6)


def test_theorem_3_holds_on_whole_models_and_a_tenth_of_its_visits_does_not(found):
    rows = found["theorem_3_models"]
    assert {row["case"] for row in rows} >= {"counterexample: hazard ε/n", "random dense", "conveyor small"}
    assert all(row["failures"] == 0 for row in rows if row["claimed"] is not None)
    tenth = {row["case"]: row["rate"] for row in rows if row["claimed"] is None}
    assert tenth["random dense"] == tenth["random sparse, 4 successors"] == 1
    assert tenth["conveyor small"] > 0.2
    for row in rows:
        assert row["low_tv"] <= row["mean_tv"] <= row["high_tv"]


def test_negligible_actions_break_the_proof_of_theorem_3_and_not_the_corrected_one(found):
    rows = {(row["condition"], row["case"].split(",")[0]): row for row in found["theorem_3_negligible"]}
    for (condition, _), row in rows.items():
        if condition in ("printed, η = α/(AS)", "corrected, η = α/(2A)"):
            assert row["failures"] == 0
        if condition == "printed, a larger η = 2α/A":
            assert row["rate"] == 1
            assert not row["holds"]
    assert not rows["its proof, η = α/A", "coins"]["holds"]


def test_learned_models_obey_the_corrected_bound_only(found):
    assert all(row["over_corrected"] == 0 and row["below_certified"] == 0 for row in found["learned"])
    assert sum(row["over_printed"] for row in found["learned"]) > 0
    assert any(row["family"].startswith("conveyor") for row in found["learned"])


def test_calibration_bins_hold_all_decisions_once(found):
    for row in found["calibration"]:
        bins = [each for each in found["calibration_bins"] if each["shield"] == row["shield"]]
        assert sum(each["decisions"] for each in bins) == row["decisions"]
        mean = sum(each["decisions"] * each["mean_error"] for each in bins) / row["decisions"]
        assert mean == pytest.approx(row["mean_error"], abs=1e-9)
        for each in bins:
            assert each["from"] <= each["mean_exact"] <= each["to"] + 1e-9
            assert each["mean_estimate"] - each["mean_exact"] == pytest.approx(each["mean_error"], abs=1e-9)


def test_with_the_true_model_the_estimate_is_calibrated(found):
    row = found["calibration"][0]
    assert row["covered_high"] >= row["nominal"]
    assert row["accepted_unsafe_low"] <= 0.01
    for each in found["calibration_bins"]:
        if each["shield"] == row["shield"]:
            # Five standard errors around what early stopping explains.
            margin = 5 * each["spread"] / each["decisions"] ** 0.5 + 1e-9
            assert abs(each["mean_error"] - each["expected_error"]) <= margin


def test_the_same_seed_finds_the_same():
    jobs = [theorem1.jobs(Settings(repeats=10, quick=True))[2] for _ in range(2)]
    one, again, other = (
        job(np.random.default_rng(seed)) for job, seed in zip([*jobs, jobs[0]], (0, 0, 1), strict=True)
    )
    assert one == again
    assert one != other


def test_json_goes_to_standard_output_alone(tmp_path, capsys, monkeypatch, found):
    from ambs import verify as package

    tables = {name: rows for name, rows in found.items() if isinstance(rows, list)}
    monkeypatch.setattr(package, "verify", lambda settings: tables)
    Verify(out=tmp_path, quick=True, json=True).run()
    assert json.loads(capsys.readouterr().out) == found


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"repeats": 0}, "repeats is 0"), ({"repeats": -3}, "repeats is -3"), ({"seed": -1}, "seed is -1")],
)
def test_bad_numbers_are_refused_before_anything_is_written(tmp_path, wrong, sentence):
    command = dataclasses.replace(Verify(out=tmp_path / "new", quick=True), **wrong)
    with pytest.raises(AmbsError, match=sentence):
        command.run()
    assert not (tmp_path / "new").exists()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(AmbsError, match="is a file"):
        Verify(out=tmp_path / "file", quick=True).run()
    assert (tmp_path / "file").read_text() == "mine"
