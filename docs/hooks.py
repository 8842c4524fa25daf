"""What the site has besides the pages of this folder: a page for each command, and the files that pages link to.

Pages link to source, results and examples as they stand in the repository; a site has only its own folder. So what is
linked to is taken along, under `files/`: code as a page, the rest as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

from mkdocs.structure.files import File, Files

from ambs.commands.chosen import Command

ROOT = Path(__file__).parent.parent
COMMANDS = [get_args(each)[1].name for each in get_args(Command)]
_LINK = re.compile(r"(\]\()\.\./([^)#\s]+)")
_CODE = {".py": "python", ".json": "json", ".yaml": "yaml", ".tra": "text"}


def on_files(files: Files, config: Any) -> Files:
    for name, text in _command_pages().items():
        files.append(File.generated(config, name, content=text))
    linked = {target for page in sorted((ROOT / "docs").glob("*.md")) for _, target in _LINK.findall(page.read_text())}
    for target in sorted(linked):
        path = ROOT / target
        if not path.exists():
            raise FileNotFoundError(f"a page of docs/ links to {target}, which is not there.")
        if _as_page(target):
            files.append(File.generated(config, _address(target), content=_page(target, path)))
        else:
            files.append(File.generated(config, _address(target), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if "/" in page.file.src_uri:
        return markdown
    return _LINK.sub(lambda found: found[1] + _address(found[2]), markdown)


def _as_page(target: str) -> bool:
    return Path(target).suffix in _CODE or (ROOT / target).is_dir()


def _address(target: str) -> str:
    target = target.rstrip("/")
    return f"files/{target}.md" if _as_page(target) else f"files/{target}"


def _page(target: str, path: Path) -> str:
    hidden = "---\nsearch:\n  exclude: true\n---\n"
    if path.is_dir():
        names = sorted(each.name for each in path.iterdir() if not each.name.startswith(("_", ".")))
        return f"{hidden}# {target}\n\n" + "".join(f"- `{name}`\n" for name in names)
    return f"{hidden}# {target}\n\n````{_CODE[path.suffix]}\n{path.read_text(encoding='utf-8')}\n````\n"


def _command_pages() -> dict[str, str]:
    """What `ambs COMMAND --help` says, which tyro makes from the code."""
    pages = {name: f"# ambs {name}\n\n```text\n{_help(name)}\n```\n" for name in COMMANDS}
    index = "# Commands\n\n" + "".join(f"- [ambs {name}]({name}.md)\n" for name in COMMANDS)
    return {"commands/index.md": f"{index}\n```text\n{_help()}\n```\n"} | {
        f"commands/{name}.md": page for name, page in pages.items()
    }


def _help(*command: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    told = [sys.executable, "-m", "ambs", *command, "--help"]
    return subprocess.run(told, env=environment, capture_output=True, text=True, check=True).stdout.strip()
