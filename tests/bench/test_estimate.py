"""Estimates against what is worked out by hand, and against what a run leaves."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

from ambs.agents.shielding import SEARCHED, ShieldConfig
from ambs.bench.cells import cells
from ambs.bench.conduct import Job
from ambs.bench.estimate import TAKEN_OVER, costs_of, estimate
from ambs.bench.flops import matmul_flops
from ambs.bench.machines import machine
from ambs.bench.plan import plan
from ambs.bench.suite import read
from ambs.errors import AmbsError
from ambs.runs.dreamer import RunConfig, cpu_learner
from ambs.runs.dreamer.config import with_safety
from ambs.runs.value import preset
from tests.bench.small import suite_file

PICTURE = {"observation": "image"}


def small_rainbow(**changes):
    """16×16 pixels of 3 colours, 5 actions, hidden layers of 16, 51 atoms; four transitions a batch."""
    config = preset("rainbow", "conveyor")
    learner = dataclasses.replace(config.learner, units=16)
    settings = {"env_options": PICTURE, "learner": learner, "batch": 4, "envs": 2, "prefill": 40, "steps": 1000}
    return dataclasses.replace(config, **{**settings, "capacity": 5000, "update_every": 20, **changes})


def test_operations_of_rainbow_by_hand():
    """Forward: the 3×3 cells around each of 16×16 to 16 channels, those to 16, two streams of 16 to 16 to their atoms,
    and their mean over the atoms where actions are compared. A gradient step has one such pass with a gradient, which
    takes twice as much again but for the pixels', one to choose by and one of the target."""
    costs = costs_of(small_rainbow())
    around = 2 * 256 * (9 * 3) * 16
    rest = 2 * (256 * 16 * 16 + 2 * 16 * 16 + 16 * 5 * 51 + 16 * 51)
    values = 2 * 5 * 51
    assert costs.act == around + rest + values
    # The value of the action that was taken is told among the metrics: one mean more.
    passes = 3 * (around + rest) + 2 * values
    projection = 2 * 51 * 51
    gradient = around + 2 * rest
    assert costs.update == 4 * (passes + projection + gradient)
    assert (costs.trace, costs.traces) == (0, 0)


def test_a_whole_run_is_the_sum_of_its_parts():
    config = small_rainbow()
    costs, found = costs_of(config), estimate(config)
    assert found.updates == (1000 - 40) // 20
    assert found.flops == 48 * costs.update + 960 * costs.act
    assert found.learning == pytest.approx(48 * costs.update / found.flops)
    # 16×16×3 bytes, 5 actions, reward and cost in float32, two flags; one segment of 4,096 rows.
    assert costs.row_bytes == 768 + 20 + 8 + 2
    assert found.replay_bytes == 4096 * 798
    assert found.disk_bytes == found.replay_bytes + 2 * costs.learner_bytes


def test_the_shield_is_counted_by_its_traces():
    plain = RunConfig(env="conveyor", envs=4, learner=cpu_learner("debug"))
    safe = dataclasses.replace(plain, learner=with_safety(plain.learner))
    near, far = (
        costs_of(dataclasses.replace(safe, shield=ShieldConfig(criterion, test=test)))
        for criterion, test in (("latent", "paper"), ("recover", "auto"))
    )
    assert near.traces == 512
    # The ladder has looked at 16 by then, and accepts at 48 without a violation.
    assert far.traces == 48
    # 30 imagined steps rather than 15.
    assert far.trace == pytest.approx(2 * near.trace, rel=0.1)
    bare = costs_of(plain)
    assert (bare.trace, bare.traces, bare.act) == (0, 0, near.act)
    assert bare.parameters < near.parameters


def test_a_search_is_counted_by_its_traces_after_every_action():
    """Those of `recover` and of its search are alike: the safe policy goes on for T steps."""
    plain = RunConfig(env="conveyor", envs=4, steps=3000, learner=with_safety(cpu_learner("debug")))
    likeliest, searched = (
        dataclasses.replace(plain, shield=ShieldConfig("recover", safe_actions=how))
        for how in ("likeliest", "searched")
    )
    one, other = costs_of(likeliest), costs_of(searched)
    assert one.search == 0
    assert other.search == pytest.approx(5 * SEARCHED * other.trace, rel=0.1)
    assert (one.act, one.trace, one.traces) == (other.act, other.trace, other.traces)
    more = estimate(searched).flops - estimate(likeliest).flops
    assert more == pytest.approx((plain.steps - plain.prefill) * TAKEN_OVER * other.search)


def test_convolutions_and_loops_are_counted():
    image, kernel = jnp.zeros((1, 8, 8, 3)), jnp.zeros((2, 2, 3, 5))

    def convolve(x, k):
        return jax.lax.conv_general_dilated(x, k, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    forward = 2 * 4 * 4 * 5 * (2 * 2 * 3)
    assert matmul_flops(convolve, image, kernel) == forward
    assert matmul_flops(jax.grad(lambda k: convolve(image, k).sum()), kernel) == forward
    assert matmul_flops(jax.grad(lambda x: convolve(x, kernel).sum()), image) == pytest.approx(forward, rel=0.3)
    square = jnp.zeros((3, 3))
    loop = matmul_flops(lambda x: jax.lax.scan(lambda y, _: (y @ square, None), x, length=7)[0], square)
    assert loop == 7 * 2 * 27


def test_hours_are_operations_over_the_rate_that_is_reached(tmp_path):
    jobs = [Job(cell, tmp_path / "log") for cell in cells(read(suite_file(tmp_path, seeds=[3])), tmp_path)]
    (found,) = plan(jobs, machine("a100", None), 0.5)
    assert found.hours == pytest.approx(found.estimate.flops / (19.5e12 * 0.5) / 3600)
    assert found.hours_here is None
    (other,) = plan(jobs, machine("", 2.0), 1.0)
    assert other.hours == pytest.approx(found.estimate.flops / 2e9 / 3600)
    # Half of its steps are made, at 10 a second.
    (tmp_path / "conveyor-rainbow-s3").mkdir()
    row = '{"step": 200, "violations": 1, "steps_per_second": 10.0}\n{"step": 25'
    (tmp_path / "conveyor-rainbow-s3" / "metrics.jsonl").write_text(row)
    (again,) = plan(jobs, machine("a100", None), 0.5)
    assert again.hours_here == pytest.approx(200 / 10 / 3600)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: machine("b200", None), 'no GPU "b200" in the table; choose one of a30'),
        (lambda: machine("a30", 0.0), "--gflops is 0"),
        (lambda: plan([], machine("a30", None), 1.5), "--utilisation is 1.5"),
    ],
)
def test_machines_that_there_are_not(make, sentence):
    with pytest.raises(AmbsError, match=sentence):
        make()
