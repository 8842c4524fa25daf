"""Every labelled environment that comes with ambs, by name; and one way to make them."""

from __future__ import annotations

import difflib
import warnings
from typing import Any

import gymnasium

from ambs.envs import conveyor_specs
from ambs.envs.atari import specs as atari_specs
from ambs.envs.minatar import specs as minatar_specs
from ambs.envs.spec import EnvSpec
from ambs.errors import AmbsError

CATALOGUE: dict[str, EnvSpec] = {
    spec.name: spec for spec in (*atari_specs.SPECS, *minatar_specs.SPECS, *conveyor_specs.SPECS)
}


def find(name: Any) -> EnvSpec:
    """The environment of that name, or of that Gymnasium id with or without its namespace."""
    if not isinstance(name, str):
        raise AmbsError(f"the environment is {name!r}, and has to be a name; `ambs envs` lists them all.")
    ids = {spec.id: spec for spec in CATALOGUE.values()}
    bare = name.removeprefix("ambs:")
    if (found := CATALOGUE.get(bare) or ids.get(bare)) is not None:
        return found
    near = difflib.get_close_matches(bare.lower(), CATALOGUE, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`ambs envs` lists them all."
    raise AmbsError(f'there is no environment "{name}"; {hint}')


def make(name: Any, **kwargs: Any) -> gymnasium.Env[Any, Any]:
    """Makes a labelled environment by name: `ambs.make("seaquest", formula='!"hit"')`."""
    return gymnasium.make(find(name).id, **kwargs)


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
