"""Every labelled environment that comes with ambs, by name; and one way to make them, and any other of Gymnasium's."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium

from ambs.envs import conveyor_specs
from ambs.envs.atari import specs as atari_specs
from ambs.envs.foreign import foreign
from ambs.envs.making import made, near
from ambs.envs.minatar import specs as minatar_specs
from ambs.envs.spec import EnvSpec
from ambs.errors import AmbsError

CATALOGUE: dict[str, EnvSpec] = {
    spec.name: spec for spec in (*atari_specs.SPECS, *minatar_specs.SPECS, *conveyor_specs.SPECS)
}


def find(name: Any) -> EnvSpec:
    """The environment of that name, or of that Gymnasium id with or without its namespace."""
    if (found := listed(name)) is not None:
        return found
    hint = near(name.removeprefix("ambs:"), CATALOGUE, otherwise="`ambs envs` lists them all.")
    raise AmbsError(f'there is no environment "{name}"; {hint}')


def make(name: Any, /, **kwargs: Any) -> gymnasium.Env[Any, Any]:
    """Makes a labelled environment by name: `ambs.make("seaquest", formula='!"hit"')`.

    A name that the catalogue does not have is a Gymnasium id, and `ambs.envs.foreign` says where its labels come from.
    """
    return maker(name, **kwargs)()


def maker(name: Any, /, **kwargs: Any) -> Callable[[], gymnasium.Env[Any, Any]]:
    """A function that makes such environments one after the other, in this process or in another."""
    if (spec := listed(name)) is not None:
        return functools.partial(made, spec.name, spec.id, kwargs)
    try:
        return foreign(name, **kwargs)
    except gymnasium.error.Error as error:
        bare = name.rpartition(":")[2]
        if bare in gymnasium.registry:
            raise
        ours = {spec.id for spec in CATALOGUE.values()}
        known = [*CATALOGUE, *(id for id in gymnasium.registry if id not in ours)]
        hint = near(bare, known, otherwise="`ambs envs` lists ours, and gymnasium.registry others.")
        raise AmbsError(f'there is no environment "{name}"; {hint}') from error


def listed(name: Any) -> EnvSpec | None:
    """The same, or None if the catalogue does not have it."""
    if not isinstance(name, str):
        raise AmbsError(f"the environment is {name!r}, and has to be a name; `ambs envs` lists them all.")
    ids = {spec.id: spec for spec in CATALOGUE.values()}
    bare = name.removeprefix("ambs:")
    return CATALOGUE.get(bare) or ids.get(bare)


def register() -> None:
    """Makes the ids known to Gymnasium: `gymnasium.make("ambs:Seaquest-v0")`.

    ale-py knows some of these names too, as versions of its own that it has given up (`Seaquest-v0`), and registers
    them whenever it is first imported; so it is imported here, and ours come after. Its `Seaquest-v4` is no newer
    version of ours, so Gymnasium's advice to change to that is not passed on.
    """
    import ale_py  # noqa: F401

    ours = "|".join(spec.id for spec in CATALOGUE.values())
    warnings.filterwarnings("ignore", rf".*The environment (ambs:)?({ours}) is out of date", DeprecationWarning)

    for spec in CATALOGUE.values():
        gymnasium.registry.pop(spec.id, None)
        gymnasium.register(
            spec.id, entry_point=spec.entry_point, max_episode_steps=spec.max_episode_steps, kwargs=dict(spec.kwargs)
        )
