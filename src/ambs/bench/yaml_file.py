"""A YAML file as plain Python values; what is wrong with it is said with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ambs.errors import AmbsError


class _Loader(yaml.SafeLoader):
    """Plain values only; and unlike its base it refuses a key that is there twice, of which one would be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        # A key that is a list or a mapping is refused by the base, in a sentence of its own.
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f'"{key.value}" is there twice', problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(path: Path) -> Any:
    """What the file holds."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise AmbsError(f"there is no file {path}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise AmbsError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise AmbsError(f"{path}{place}: {error.problem or 'this is no YAML'}.") from error
    except yaml.YAMLError as error:
        raise AmbsError(f"{path} is no YAML: {' '.join(str(error).split())}.") from error
