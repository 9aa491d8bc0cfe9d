"""What became of each skill in recorded runs: how often it succeeded, and how long it took."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bt_author.proof.chance import Record
from bt_runtime.journal.lines import lines
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError


def records_of(journals: Iterable[Path], skills: set[str]) -> dict[str, Record]:
    """Returns the records of these skills, from the changes of status of their nodes. Halted starts do not count."""
    found: dict[str, Record] = {}
    for path in journals:
        try:
            _add(Recording(path), skills, found)
        except BtError:
            continue  # a damaged journal teaches nothing
    return found


def _add(recording: Recording, skills: set[str], found: dict[str, Record]) -> None:
    kinds: dict[str, str] = {}
    began: dict[str, float] = {}
    for line in lines(recording):
        if line["kind"] == "node" and line["is"] in skills:
            kinds[line["path"]] = line["is"]
        if line["kind"] != "status":
            continue
        for path, status in line["what"]["changes"]:
            name = kinds.get(path)
            if name is None:
                continue
            if status == "RUNNING":
                began[path] = line["at"]
            elif status in ("SUCCESS", "FAILURE"):
                before, took = found.get(name, Record()), line["at"] - began.pop(path, line["at"])
                good = status == "SUCCESS"
                found[name] = Record(before.succeeded + good, before.failed + (not good), before.seconds + took)
            else:
                began.pop(path, None)
