"""Shapes are checked while the tests run: the annotations of what computes are enforced by beartype."""

import gc
import os
from pathlib import Path

import jax
import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

import tests.typecheck  # noqa: F401  (the hook names it)

jax.config.update("jax_numpy_rank_promotion", "raise")
# The same examples on every machine: a failure in CI is a failure here.
settings.register_profile("ambs", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ambs")

# What computes with arrays. For good: most of ambs is imported when it is first asked for, while the tests run.
_PACKAGES = ("agents", "behaviour", "tabular", "value_agents", "world_model")
_OF_THE_SHIELD = ("criteria", "imagine", "lookahead", "rounds", "together")
_CHECKED = [*(f"ambs.{each}" for each in _PACKAGES), *(f"ambs.shield.{each}" for each in _OF_THE_SHIELD)]
install_import_hook(_CHECKED, "tests.typecheck.check")

# And what comes with ambs itself: formulas, exact checking, environments.
with install_import_hook("ambs", "tests.typecheck.check"):
    import ambs  # noqa: F401
    from ambs.runs.devices import keep_compiled

# Most of what the tests do is compile. Programs that run for a moment are compiled quickly and not well, and only once
# for all workers, and for the commands that tests start in processes of their own.
jax.config.update("jax_disable_most_optimizations", True)
os.environ["AMBS_CACHE"] = str(Path(__file__).parents[1] / ".pytest_cache" / "xla")
keep_compiled()


# Every compiled program takes places in the table of memory that a process has; Linux gives it 65,530, and a process
# that has used them up is killed in the middle of whatever it does.
_MOST_MAPPINGS = 20_000


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Lets go of what a file of tests has compiled, before it becomes too much; most of it no other file uses."""
    yield
    mappings = Path("/proc/self/maps")
    if mappings.exists() and len(mappings.read_bytes().splitlines()) > _MOST_MAPPINGS:
        jax.clear_caches()
        gc.collect()


@pytest.fixture
def optimised():
    """For tests that learn for so long that well compiled programs pay."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture
def run_ambs(capsys):
    """Runs the command line in this process: exit code, standard output, standard error."""
    from ambs.cli import main

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
