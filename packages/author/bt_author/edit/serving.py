"""The server of `btr edit`: its files, its commands, and news when a text has changed."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from bt_author.edit.asking import Writer
from bt_author.edit.commands import Commands
from bt_author.edit.remote_editor import page_of
from bt_author.edit.session import Session
from bt_author.lsp.workspace import Files, Sort, Workspace
from bt_runtime.language.closing import Closing
from bt_runtime.language.project.address import LOOPBACK
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.page import KINDS
from bt_runtime.run.view.page import asset as shared
from bt_runtime.run.view.server import Server

PAGE = Path(__file__).parent / "page"
MOST_BODY = 8_000_000  # bytes of a command: a whole file is typed


def asset(path: str) -> tuple[bytes, str] | None:
    """Returns a file of this page, or one shared with the page of a run."""
    name = path.removeprefix("/") or "edit.html"
    if re.fullmatch(r"\w+\.(html|js|css)", name) and (PAGE / name).is_file():
        return (PAGE / name).read_bytes(), KINDS[Path(name).suffix]
    return shared(path)


class Editor(Closing):
    """The session of a folder with its page; use it as a context."""

    def __init__(
        self, folder: Path, files: Files, sort: Sort, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False,
        writer: Writer | None = None,
    ) -> None:  # fmt: skip
        self.feed = Feed(most=400)
        self.session = Session(Workspace(folder, files, sort), self._told)
        self.commands = Commands(self.session, writer, lambda: self.server.url, anyone)
        self.server = Server(
            self.feed, self.commands, host=host, port=port, anyone=anyone, assets=asset, most_body=MOST_BODY
        )
        self._watching = threading.Thread(
            target=self.session.watch, args=(self.server.over,), name="bt-edit-watch", daemon=True
        )
        self._watching.start()

    def url(self, tree: Path | None = None, at: tuple[int, int] | None = None, story: bool = False) -> str:
        """The page's address for this tree, for a node's line and column in it, or with its stories."""
        if tree is None:
            return self.server.url
        return page_of(self.server.url, self.session.name(tree), at, story)

    @property
    def folder(self) -> Path:
        return self.session.workspace.root

    def close(self) -> None:
        self.server.close()
        self.commands.running.close()
        self._watching.join(2)

    def _told(self, path: Path) -> None:
        held = self.session.buffers[path]
        self.feed.put({"k": "edited", "t": 0, "path": self.session.name(path), "version": held.version})
