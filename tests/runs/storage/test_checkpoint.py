"""Checkpoints come back as they were, and a kill or a bad disk costs one of them at most."""

import errno
import functools
import itertools
import json
import os
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ambs import AmbsError
from ambs.runs.storage import checkpoint as module
from ambs.runs.storage import latest, load, save
from tests.runs.storage.processes import kill_after, short_of_disk
from tests.runs.storage.saver import save_for_ever, save_once, tree_at


@functools.cache
def a_tree(seed=0, width=8):
    model = eqx.nn.MLP(3, 2, width, 2, key=jax.random.key(seed))
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    return {
        "model": model,
        "optimiser": optimiser.init(eqx.filter(model, eqx.is_inexact_array)),
        "key": jax.random.key(seed + 7),
        "keys": jax.random.split(jax.random.key(seed, impl="rbg"), 3),
        "half": jnp.arange(5, dtype=jnp.bfloat16) / 3 + seed,
        "count": jnp.array(seed + 3, jnp.int32),
        "flags": np.array([True, False, seed > 0]),
        "host": np.asfortranarray(np.arange(6.0).reshape(2, 3) + seed),
        "empty": np.zeros((0, 3), np.float32),
        "updates": seed + 5,
        "nothing": None,
    }


def assert_same(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert type(a) is type(b)
        if eqx.is_array(a):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
                assert jax.random.key_impl(a) == jax.random.key_impl(b)
                a, b = jax.random.key_data(a), jax.random.key_data(b)
            np.testing.assert_array_equal(a, b)
        elif not callable(a):
            assert a == b


def test_what_was_saved_comes_back(tmp_path):
    tree = a_tree(seed=1)
    save(tmp_path, 1200, tree, {"episodes": 7})
    restored = load(tmp_path, a_tree(seed=0))
    assert_same(restored.tree, tree)
    assert (restored.extra, restored.step) == ({"episodes": 7}, 1200)
    np.testing.assert_array_equal(restored.tree["model"](jnp.ones(3)), tree["model"](jnp.ones(3)))
    assert restored.tree["host"].flags.writeable


def test_shapes_alone_are_enough_to_restore_into(tmp_path):
    tree = {"w": jnp.arange(4.0), "key": jax.random.key(3), "half": jnp.ones(2, jnp.bfloat16)}
    save(tmp_path, 1, tree, {})
    assert_same(load(tmp_path, jax.eval_shape(lambda: tree)).tree, tree)


def test_arrays_return_to_where_they_were(tmp_path):
    sharding = jax.sharding.NamedSharding(jax.make_mesh((1,), ("batch",)), jax.sharding.PartitionSpec("batch"))
    like = {"w": jax.device_put(jnp.zeros(4), sharding)}
    save(tmp_path, 1, {"w": jnp.arange(4.0)}, {})
    restored = load(tmp_path, like).tree["w"]
    assert restored.sharding == sharding
    np.testing.assert_array_equal(restored, np.arange(4.0))


def test_one_part_of_what_was_saved(tmp_path):
    tree = a_tree(1)
    save(tmp_path, 5, tree, {})
    only = {"model": a_tree(0)["model"]}
    assert_same(load(tmp_path, only, part=True).tree, {"model": tree["model"]})
    with pytest.raises(AmbsError, match="in the checkpoint and not there here"):
        load(tmp_path, only)


def test_a_generator_goes_on_where_it_was(tmp_path):
    rng = np.random.default_rng(5)
    rng.random(3)
    save(tmp_path, 1, {}, {"rng": rng.bit_generator.state, "returns": np.arange(2.0), "best": np.float32(0.5)})
    expected = rng.random(4)
    extra = load(tmp_path, {}).extra
    other = np.random.default_rng(0)
    other.bit_generator.state = extra["rng"]
    np.testing.assert_array_equal(other.random(4), expected)
    assert (extra["returns"], extra["best"]) == ([0.0, 1.0], 0.5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda tree: {**tree, "model": a_tree(width=9)["model"]},
            r"\['model'\].layers\[0\].weight is float32 \[8, 3\] in the checkpoint and float32 \[9, 3\] here; it is of",
        ),
        (lambda tree: {**tree, "half": tree["half"].astype(jnp.float32)}, r"\['half'\] is bfloat16 \[5\] .* float32"),
        (
            lambda tree: {**tree, "new": jnp.zeros(2)},
            r"\['new'\] is not there in the checkpoint and float32 \[2\] here",
        ),
        (lambda tree: {**tree, "count": None}, r"\['count'\] is int32 \[\] in the checkpoint and not there here"),
        (lambda tree: {**tree, "key": jnp.zeros(2, jnp.uint32)}, r"\['key'\] is key<fry> \[\] in the .* uint32 \[2\]"),
        (lambda tree: {**tree, "keys": jax.random.split(jax.random.key(0), 3)}, r"\['keys'\] is key<rbg> \[3\]"),
    ],
)
def test_a_tree_that_is_not_the_one_saved(tmp_path, change, sentence):
    save(tmp_path, 1, a_tree(), {})
    with pytest.raises(AmbsError, match=sentence):
        load(tmp_path, change(a_tree()))


def names(folder, suffix):
    return sorted(path.name for path in folder.glob(f"*{suffix}"))


def test_the_last_two_are_kept_and_nothing_else(tmp_path):
    for step in (100, 200, 300):
        (tmp_path / f"{step:012}.json.partial").write_text("cut short")
        (tmp_path / ".tmpabc").write_text("cut short")
        save(tmp_path, step, tree_at(step), {})
    assert names(tmp_path, ".json") == ["000000000200.json", "000000000300.json"]
    assert len(names(tmp_path, ".safetensors")) == 2
    assert len(list(tmp_path.iterdir())) == 4


def test_a_step_saved_twice_is_what_it_was_last(tmp_path):
    save(tmp_path, 100, tree_at(100), {})
    save(tmp_path, 200, tree_at(200), {})
    save(tmp_path, 200, tree_at(201), {})
    assert load(tmp_path, tree_at(0)).tree["steps"] == 201
    assert len(list(tmp_path.iterdir())) == 4


def test_what_is_beyond_a_step_is_of_a_lost_future(tmp_path):
    for step in (100, 200, 50):
        save(tmp_path, step, tree_at(step), {})
    assert names(tmp_path, ".json") == ["000000000050.json"]
    assert latest(tmp_path)["step"] == 50


def truncate(folder):
    arrays = max(folder.glob("*.safetensors"))
    os.truncate(arrays, arrays.stat().st_size - 1)


def flip(folder):
    arrays = max(folder.glob("*.safetensors"))
    data = bytearray(arrays.read_bytes())
    data[-5] ^= 1
    arrays.write_bytes(data)


def cut_manifest(folder):
    manifest = max(folder.glob("*.json"))
    manifest.write_text(manifest.read_text()[:-20])


def remove_arrays(folder):
    max(folder.glob("*.safetensors")).unlink()


@pytest.mark.parametrize("damage", [truncate, flip, cut_manifest, remove_arrays])
def test_a_damaged_checkpoint_is_skipped_for_the_one_before(tmp_path, damage):
    for step in (100, 200):
        save(tmp_path, step, tree_at(step), {"step": step})
    damage(tmp_path)
    with pytest.warns(UserWarning, match="000000000200.json is damaged, and the one before it is used"):
        restored = load(tmp_path, tree_at(0))
    assert (restored.step, restored.extra, int(restored.tree["steps"])) == (100, {"step": 100}, 100)
    # It does not take the place of a good one among those kept.
    save(tmp_path, 250, tree_at(250), {})
    kept = ["000000000100.json", "000000000250.json"]
    assert names(tmp_path, ".json") == (kept if damage is not flip else ["000000000200.json", kept[1]])


def test_no_good_one_is_none(tmp_path):
    assert load(tmp_path / "never", {}) is None
    save(tmp_path, 1, {}, {})
    cut_manifest(tmp_path)
    with pytest.warns(UserWarning, match="damaged"):
        assert latest(tmp_path) is None


@pytest.mark.parametrize("step", [200, 100], ids=["the next step", "the same step again"])
@pytest.mark.parametrize(("moment", "call"), [("save_file", 1), ("_sync", 1), ("_sha256", 1), ("_sync", 2)])
def test_a_save_that_fails_leaves_the_one_before(tmp_path, monkeypatch, moment, call, step):
    save(tmp_path, 100, tree_at(100), {})
    real, calls = getattr(module, moment), itertools.count(1)

    def full(*arguments):
        if next(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(module, moment, full)
        with pytest.raises(AmbsError, match=f"step {step} could not be written .*No space left.* before it is intact"):
            save(tmp_path, step, tree_at(1), {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored = load(tmp_path, tree_at(0))
    assert (restored.step, int(restored.tree["steps"])) == (100, 100)
    save(tmp_path, 300, tree_at(300), {})
    assert len(list(tmp_path.iterdir())) == 4


def test_a_limit_of_the_system(tmp_path):
    save(tmp_path, 1, {}, {})
    sentence = short_of_disk(100_000, save_once, tmp_path, 2)
    assert sentence.startswith("the checkpoint of step 2 could not be written")
    assert "File too large" in sentence
    assert latest(tmp_path)["step"] == 1


def test_killed_in_the_middle_of_saving_again_and_again(tmp_path):
    rng, last = np.random.default_rng(0), 0
    for _ in range(20):
        kill_after(rng.uniform(0, 0.06), save_for_ever, tmp_path, 10)
        with warnings.catch_warnings():
            # A kill damages nothing: what it cuts short is not a checkpoint yet.
            warnings.simplefilter("error")
            restored = load(tmp_path / "checkpoints", tree_at(0))
        done = int((tmp_path / "done").read_text()) if (tmp_path / "done").exists() else 0
        step = restored.step if restored else 0
        assert max(last, done - 10) <= step <= done
        if restored:
            assert restored.extra == {"violations": step // 10}
            assert_same(restored.tree, tree_at(step))
        last = step
    assert last >= 20 * 10


def test_the_manifest_is_readable(tmp_path):
    save(tmp_path, 3, {"w": jnp.zeros((2, 3))}, {})
    manifest = json.loads((tmp_path / "000000000003.json").read_text())
    assert manifest["arrays"] == {"['w']": {"shape": [2, 3], "dtype": "float32"}}
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1, "the arrays can be read by whoever can read the manifest"
