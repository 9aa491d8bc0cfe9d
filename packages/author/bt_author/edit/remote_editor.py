"""The editor that started a run, as the run's process sees it, and the addresses of its page."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import orphan
from bt_runtime.types import Json

EDITOR = "BTR_EDITOR"  # in a run that an editor has started: "address folder" of that editor


def page_of(address: str, tree: str, at: tuple[int, int] | None = None, story: bool = False) -> str:
    """`tree`: the file below the editor's folder; `at`: line and column of a node; `story`: with its counterexample."""
    base, _, token = address.partition("#")
    given = {"tree": tree, **({"at": f"{at[0]}:{at[1]}"} if at else {}), **({"story": 1} if story else {})}
    return f"{base}?{urlencode(given, safe='/:')}#{token}"


class RemoteEditor:
    """The editor that started this run, in its own process."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder

    @classmethod
    def of_environment(cls) -> RemoteEditor | None:
        """Returns the editor that started this process, if one did. The process then ends with it."""
        address, _, folder = os.environ.pop(EDITOR, "").partition(" ")
        if not folder:
            return None
        orphan.heed()
        return cls(address, Path(folder))

    def url(self, tree: Path, at: tuple[int, int]) -> str:
        return page_of(self.address, tree.relative_to(self.folder).as_posix(), at)

    def commands(self, name: str, given: dict[str, Any]) -> Json:
        """Sends a command, as the editor's own page does."""
        base, _, token = self.address.partition("#")
        body = json.dumps({**given, "do": name}).encode()
        headers = {"X-Token": token, "Content-Type": "application/json"}
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{base}command", body, headers), timeout=10) as answer:
                found: Json = json.load(answer)
                return found
        except HTTPError as error:
            with error:
                raise BtError(str(json.load(error)["error"]), "look at the editor") from None
        except OSError as error:
            raise BtError(f"the editor does not answer: {error}", "is it still open?") from error

    def close(self) -> None:
        """No-op: the editor goes on."""
