"""Shapes are checked while the tests run: every annotation in ambs is enforced by beartype."""

import jax
import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

import tests.typecheck  # noqa: F401  (the hook names it)

jax.config.update("jax_numpy_rank_promotion", "raise")
# The same examples on every machine: a failure in CI is a failure here.
settings.register_profile("ambs", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ambs")

with install_import_hook("ambs", "tests.typecheck.check"):
    import ambs  # noqa: F401


@pytest.fixture
def run_ambs(capsys):
    """Runs the command line in this process: exit code, standard output, standard error."""
    from ambs.cli import main

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
