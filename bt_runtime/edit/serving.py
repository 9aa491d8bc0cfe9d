"""The server of `btr edit`: its files, its commands, and news when a text has changed."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from pathlib import Path

from bt_runtime.edit.ace import ace_folder
from bt_runtime.edit.commands import Commands
from bt_runtime.edit.session import Session
from bt_runtime.interop.lsp.workspace import Files, Sort, Workspace
from bt_runtime.project.address import LOOPBACK
from bt_runtime.view.feed import Feed
from bt_runtime.view.page import KINDS
from bt_runtime.view.page import asset as shared
from bt_runtime.view.server import Server

PAGE = Path(__file__).parent / "page"
MOST_BODY = 8_000_000  # bytes of a command: a whole file is typed
_ACE = re.compile(r"/ace/((?:css/(?:theme/)?)?[\w-]+\.(?:js|css|png))")


def asset(path: str) -> tuple[bytes, str] | None:
    """Returns a file of this page, one shared with the page of a run, or the text editor if it is installed."""
    if (found := _ACE.fullmatch(path)) is not None:
        return _ace(found[1])
    name = path.removeprefix("/") or "edit.html"
    if re.fullmatch(r"\w+\.(html|js|css)", name) and (PAGE / name).is_file():
        return (PAGE / name).read_bytes(), KINDS[Path(name).suffix]
    return shared(path)


@lru_cache(maxsize=32)
def _ace(name: str) -> tuple[bytes, str] | None:
    folder = ace_folder()
    file = folder / name if folder is not None else None
    if file is None or not file.is_file():
        return None
    return file.read_bytes(), KINDS.get(file.suffix, "image/png")


class Editor:
    """The session of a folder with its page; use it as a context."""

    def __init__(
        self, folder: Path, files: Files, sort: Sort, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False
    ) -> None:
        self.feed = Feed(most=400)
        self.session = Session(Workspace(folder, files, sort), self._told)
        self.server = Server(
            self.feed, Commands(self.session), host=host, port=port, anyone=anyone, assets=asset, most_body=MOST_BODY
        )
        self._watching = threading.Thread(
            target=self.session.watch, args=(self.server.over,), name="bt-edit-watch", daemon=True
        )
        self._watching.start()

    def url(self, tree: Path | None = None) -> str:
        """The page's address for this tree."""
        base, _, token = self.server.url.partition("#")
        return f"{base}?tree={self.session.name(tree)}#{token}" if tree is not None else self.server.url

    def close(self) -> None:
        self.server.close()
        self._watching.join(2)

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def _told(self, path: Path) -> None:
        held = self.session.buffers[path]
        self.feed.put({"k": "edited", "t": 0, "path": self.session.name(path), "version": held.version})
