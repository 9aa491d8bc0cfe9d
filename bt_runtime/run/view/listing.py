"""A list of runs: what a row shows, and the protocol of what brings the rows: journals here, or another source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from bt_runtime.journal.glance import BROKEN, CRASHED, DAMAGED, RUNNING, Fault
from bt_runtime.language.project.address import LOOPBACK
from bt_runtime.run.view.page import asset
from bt_runtime.run.view.server import PageStream, Server
from bt_runtime.run.view.table import Row, Table
from bt_runtime.types import Json

STUCK = 30.0  # seconds without progress after which a running run counts as stuck
BAD = (CRASHED, BROKEN, DAMAGED)
ABOUT = ""  # the key of the row that tells of the list itself


class RowSource(Protocol):
    """Brings the rows of a list, and answers for its runs. `Runs` does so for journals on this machine.

    A source puts a `run_row` into `table` whenever something of a run has changed, and `about_row` under the key
    `ABOUT`. Readers are sent only the rows that changed. `table.watched(seconds)` waits until somebody looks."""

    @property
    def table(self) -> Table: ...

    def feed(self, key: str) -> PageStream | None:
        """Returns the events of the page of one run; None for an unknown key. May raise BtError, which is shown."""

    def command(self, name: str, given: dict[str, Any]) -> Any:
        """Answers `compare` (`run`, `other`) and what the page of a run asks (`run`, …). Raises BtError to refuse."""

    def close(self) -> None: ...


def run_row(
    name: str, state: str, *, file: str = "", tree: str = "", why: str = "", tick: int = 0, started: float = 0.0,
    progress: float = 0.0, at: str = "", said: str = "", decisions: int = 0, actions: int = 0, met: str = "",
    alarm: str = "", fault: Fault | None = None, asks: Sequence[str] = (), entries: Mapping[str, str] | None = None,
    page: bool = True,
) -> Row:  # fmt: skip
    """Returns a row. `state`: running, SUCCESS, FAILURE, stopped, not begun, or one of `BAD`; other words are shown
    as they are. Times are seconds since 1970. `fault`: the last one. `page`: False when this run has no page."""
    told: Json = {"tick": fault.tick, "path": fault.path, "text": fault.text} if fault is not None else None
    return {
        "file": file, "name": name, "tree": tree, "state": state, "why": why, "tick": tick, "started": started,
        "progress": progress, "at": at, "said": said, "decisions": decisions, "actions": actions, "met": met,
        "alarm": alarm, "fault": told, "asks": list(asks), "entries": dict(entries or {}), "page": page,
    }  # fmt: skip


def about_row(
    places: Sequence[str], *, panel: Collection[str] = (), stuck: float = STUCK, left_out: int = 0
) -> Row:  # fmt: skip
    """Returns the row of the list itself: where its runs come from, and the entries that have a column each."""
    return {"places": list(places), "panel": list(panel), "stuck": stuck, "left_out": left_out}


def alarm_of(state: str, *, quiet: float, stuck: float = STUCK, asking: bool = False) -> str:
    """Returns why a person should look: crashed, asks, stuck, or "". `quiet`: seconds without progress."""
    if state in BAD:
        return "crashed"
    if state != RUNNING:
        return ""
    if asking:
        return "asks"
    return "stuck" if quiet > stuck else ""


def serve(source: RowSource, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False) -> Server:
    """Serves the list and the pages of its runs. Whoever made the source closes it."""
    return Server(source.table, source.command, host=host, port=port, anyone=anyone, assets=assets,
                  streams=source.feed)  # fmt: skip


def assets(path: str) -> tuple[bytes, str] | None:
    """The files of the list and of a single run's page; the list comes first."""
    return asset("/runs.html" if path == "/" else path)
