"""A real browser, by its own protocol over two pipes: Chromium without a window, and no library to drive it."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Generous: the machine may be busy.
SECONDS = 120.0
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name)) is not None), None)


def find_or_skip() -> str:
    """The program; without one the test is skipped, but fails where it was to be there."""
    program = find()
    if program is None:
        said = "no Chromium is installed (on Debian: apt-get install chromium), so the page is not looked at"
        pytest.fail(said) if os.environ.get("CI") == "true" else pytest.skip(said)
    return program


class Browser:
    """One page at a time. What went wrong on it is in `errors`, what it asked for in `requests`."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest, self._count = read, write, b"", 0
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def open(
        self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False, script: bool = True
    ) -> None:
        self.errors, self.requests = [], []
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("Emulation.setScriptExecutionDisabled", value=not script)
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self._ask("Page.navigate", url=path.resolve().as_uri())
        self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def value(self, expression: str) -> Any:
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def accessible(self) -> list[tuple[str, str]]:
        """What a screen reader is told, in order: roles and names."""
        nodes = self._ask("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]
        ]  # fmt: skip

    def press(self, key: str) -> None:
        """One key, as a person presses it."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        self._ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text,
                  windowsVirtualKeyCode={"Enter": 13, " ": 32}.get(key, 0))  # fmt: skip
        self._ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def move(self, x: float, y: float) -> None:
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, x: float, y: float) -> None:
        """A finger, put down and lifted."""
        self._ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        session = {} if self._session is None else {"sessionId": self._session}
        message = {"id": self._count, "method": method, "params": params, **session}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda found: found.get("id") == message["id"])
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, wanted: Any) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            whole, mark, rest = self._rest.partition(b"\0")
            if not mark:
                ready, _, _ = select.select([self._read], [], [], 1.0)
                more = os.read(self._read, 1 << 16) if ready else b""
                assert more or not ready, "the browser has ended"
                self._rest += more
                continue
            self._rest = rest
            message = json.loads(whole)
            self._note(message)
            if wanted(message):
                return message
        raise TimeoutError(f"the browser did not answer within {SECONDS:.0f} seconds")

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.errors.append(json.dumps(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.errors.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])


@contextlib.contextmanager
def browser(program: str) -> Iterator[Browser]:
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # Chromium reads descriptor 3 and writes 4, whatever those are here.
    theirs = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (to_read, from_write)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # A container has no sandbox for it; the page is our own.
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", f"--user-data-dir={home}", "about:blank"]  # fmt: skip
        silent = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, theirs[0], 3), (os.POSIX_SPAWN_DUP2, theirs[1], 4)]
        actions += [(os.POSIX_SPAWN_DUP2, silent, stream) for stream in (1, 2)]
        process = os.posix_spawn(program, words, os.environ, file_actions=actions, setsid=True)
        for each in (*theirs, to_read, from_write, silent):
            os.close(each)
        try:
            yield Browser(from_read, to_write)
        finally:
            # The browser and the processes it has started are a group of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(from_read)
            os.close(to_write)
