"""Makes the journal of another robot's run name the files of this robot's project, where they are the same ones."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from bt_runtime.journal import codec, sources
from bt_runtime.journal.layout import head_sum
from bt_runtime.language.faults.diagnostic import BtError


def relocate(journal: Path, home: Path) -> None:
    """`home`: this robot's project. BtError where one of its files, or a skill's Python, is not the run's."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        found = connection.execute("SELECT name, value FROM head WHERE name != 'end'")
        head: dict[str, Any] = {name: json.loads(value) for name, value in found}
        if head.get("model") or head.get("models") or head["given"].get("memory"):
            raise BtError("a run with a model or a memory goes on at its own robot only", "leave `moves` out")
        if not head.get("project"):
            return
        there, here = PurePosixPath(head["project"]), home.resolve()
        files = [{**file, "origin": _moved(file["origin"], there, here)} for file in head["files"]]
        code = [{**each, "file": _moved(each["file"], there, here)} for each in head["given"].get("code", ())]
        for why in (*sources.changed_files(files), *sources.changed_code(code)):
            raise BtError(f"{why}: a run of another robot cannot go on here", "give both robots the same project")
        moved = {name: _moved(head[name], there, here) for name in ("project", "folder", "root") if head.get(name)}
        new: dict[str, Any] = {**moved, "files": files, "given": {**head["given"], "code": code}}
        new["sum"] = head_sum({**head, **new})
        rows = [(codec.text(value), name) for name, value in new.items()]
        connection.execute("BEGIN")
        connection.executemany("UPDATE head SET value = ? WHERE name = ?", rows)
        connection.execute("COMMIT")


def _moved(path: str, there: PurePosixPath, here: Path) -> str:
    """Returns a path below one folder as the same path below another; any other path as it is."""
    given = PurePosixPath(path)
    return str(here / given.relative_to(there)) if given.is_relative_to(there) else path
