"""Makes a vector of environments, in one process or in several, whichever is faster."""

from __future__ import annotations

import functools
import os
import statistics
import time
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from ambs.cores import cores
from ambs.envs import catalogue
from ambs.envs.guards import Guarded
from ambs.envs.spec import EnvSpec
from ambs.envs.vector.arrays import Description, describe, layout
from ambs.envs.vector.inline import Inline
from ambs.envs.vector.processes import Processes
from ambs.envs.vector.slots import Maker
from ambs.envs.vector.vector import VectorEnv
from ambs.errors import AmbsError

# What a step of the vector costs more in processes: the commands, the answers, and waking up (benchmarks/vector_speed).
PROCESS_SECONDS = 200e-6

# How many steps of one environment are timed to choose.
_TRIAL_STEPS = 32


def make_vec(envs: Any, n: Any = None, *, seed: Any = 0, workers: Any = "auto", **env_kwargs: Any) -> VectorEnv:
    """N environments that are alike, to be stepped together.

    The same `seed` gives the same trajectories whatever `workers` is: environment i begins its episode k with the seed
    `env_seed(seed, i, k)`, wherever it runs.

    Args:
        envs: A name that `ambs.make` takes, an `EnvSpec`, a function that makes one environment, or a list of such
            functions.
        n: How many; a list of functions says that itself.
        seed: From which every environment derives a seed of its own.
        workers: `"inline"` for one process, a number of worker processes, or `"auto"`: whichever a short trial of one
            environment promises to be faster on this machine's cores.
        env_kwargs: What `ambs.make` is given besides the name: `formula=`, `observation=`, ...
    """
    makers = _makers(envs, n, env_kwargs)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise AmbsError(f"seed is {seed!r}, and has to be a whole number of at least 0.")
    description, step_seconds = _try_out(makers[0])
    # What cannot be put into arrays is said here, before any process is started.
    layout(description, len(makers))
    count = _workers(workers, len(makers), step_seconds)
    backend = Inline(makers, description) if count is None else Processes(makers, description, count)
    return VectorEnv(backend, description, len(makers), int(seed))


def _makers(envs: Any, n: Any, env_kwargs: dict[str, Any]) -> Sequence[Maker]:
    if isinstance(envs, Sequence) and not isinstance(envs, str):
        if not envs or not all(callable(maker) for maker in envs) or n not in (None, len(envs)) or env_kwargs:
            raise AmbsError(
                "a list of environments has to be functions that make one each, without n or other options."
            )
        return list(envs)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise AmbsError(f"n is {n!r}, and has to be how many environments there are: a whole number of at least 1.")
    maker: Maker
    if isinstance(envs, str):
        maker = catalogue.maker(envs, **env_kwargs)
    elif isinstance(envs, EnvSpec):
        maker = catalogue.maker(envs.name, **env_kwargs)
    elif callable(envs):
        maker = functools.partial(envs, **env_kwargs)
    else:
        raise AmbsError(
            f"the environments are {envs!r}, and have to be a name, a spec or functions that make one each."
        )
    return [maker] * int(n)


def _try_out(maker: Maker) -> tuple[Description, float]:
    """What the environments are like and how long a step takes, from one that is made for that and thrown away."""
    env = maker()
    try:
        _, info = env.reset(seed=0)
        description = describe(env, info)
        env.action_space.seed(0)
        seconds = []
        for _ in range(_TRIAL_STEPS):
            action = env.action_space.sample()
            start = time.perf_counter()
            if isinstance(env, Guarded):
                action = env.guard(action).action
            _, _, terminated, truncated, _ = env.step(action)
            seconds.append(time.perf_counter() - start)
            if terminated or truncated:
                env.reset()
    except AmbsError:
        raise
    except Exception as error:
        reason, details = traceback.format_exception_only(error)[-1].strip(), traceback.format_exc().rstrip()
        raise AmbsError(
            f"the environment crashed when it was tried out ({reason}); mend it first.\n{details}"
        ) from error
    finally:
        env.close()
    return description, statistics.median(seconds)


def _workers(workers: Any, n: int, step_seconds: float) -> int | None:
    """How many processes; None for none but this one."""
    if workers == "inline":
        return None
    if workers == "auto":
        most = min(len(cores()), n)
        saved = (n - -(-n // most)) * step_seconds
        return most if os.name == "posix" and saved > PROCESS_SECONDS else None
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise AmbsError(
            f'workers is {workers!r}, and has to be "auto", "inline" or a number of processes of at least 1.'
        )
    return min(workers, n)
