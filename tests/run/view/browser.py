"""Headless Chromium, driven through chromedriver's HTTP interface with the standard library."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError


def missing() -> str:
    """Why there is no browser; nothing when there is one."""
    for name in ("chromium", "chromedriver"):
        if shutil.which(name) is None:
            return f"{name} is not installed (apt-get install chromium chromium-driver)"
    return ""


class Browser:
    """One window; use it as a context. Every wait has an end."""

    def __init__(self, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory(prefix="btr-browser-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": self.folder.name},
        )  # fmt: skip
        self.session = ""
        try:
            self.until(self._ready, 20, "chromedriver does not answer")
            flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
            flags += [f"--user-data-dir={self.folder.name}/profile", "--force-color-profile=srgb"]
            options = {"binary": shutil.which("chromium"), "args": [*flags, f"--window-size={width},{height}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = (
                "/session/" + self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            )
            screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self.protocol("Emulation.setDeviceMetricsOverride", screen)
            scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
            self.protocol("Emulation.setEmulatedMedia", {"features": scheme})
        except BaseException:
            self.close()
            raise

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"]) from None

    def _ready(self) -> bool:
        try:
            return bool(self.ask("GET", "/status")["ready"])
        except (URLError, ConnectionError):
            return False

    def protocol(self, command: str, params: Any) -> Any:
        return self.ask("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, url: str) -> None:
        self.ask("POST", f"{self.session}/url", {"url": "about:blank"})  # else a new fragment is no new page
        self.ask("POST", f"{self.session}/url", {"url": url})

    def js(self, script: str, *args: Any) -> Any:
        return self.ask("POST", f"{self.session}/execute/sync", {"script": script, "args": list(args)})

    def keys(self, text: str) -> None:
        """Real key presses, wherever the focus is."""
        for key in text:
            presses = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
            self.ask("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "k", "actions": presses}]})

    def click(self, selector: str) -> None:
        found = self.ask("POST", f"{self.session}/element", {"using": "css selector", "value": selector})
        self.ask("POST", f"{self.session}/element/{next(iter(found.values()))}/click", {})

    def console(self) -> list[str]:
        """What the page complained about since the last look."""
        found = self.ask("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in found if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.ask("GET", f"{self.session}/screenshot")))

    def until(self, holds: Any, seconds: float = 60, lament: str = "it did not happen") -> None:
        """Looks until it holds; `holds` is a function, or JavaScript whose value counts."""
        end = time.monotonic() + seconds
        while not (holds() if callable(holds) else self.js(f"return Boolean({holds})")):
            if time.monotonic() > end:
                raise AssertionError(f"{lament}: {holds}")
            time.sleep(0.02)  # between two looks at another process

    def close(self) -> None:
        try:
            if self.session:
                self.ask("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait(60)
            self.folder.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
