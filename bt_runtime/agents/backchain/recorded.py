"""What skills cost by recorded runs: how long they took, and how often they succeeded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bt_runtime.agents.backchain.record import Record
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence


def records(kinds: Iterable[Kind], journals: Iterable[Path]) -> dict[str, Record]:
    """Returns the record of each skill. Journals that cannot be read are left out."""
    entries = [(kind.name, kind.data["entry"]) for kind in kinds if kind.data.get("entry") is not None]
    said = [(name, Sentence(entry.sentence, entry.types)) for name, entry in entries]
    found: dict[str, Record] = {}
    for path in journals:
        try:
            recording = Recording(path)
            for sentence, seconds, good in _actions(recording):
                name = next((name for name, each in said if each.parse(sentence) is not None), None)
                if name is not None:
                    was = found.get(name, Record())
                    found[name] = Record(was.seconds + seconds, was.ended + 1, was.succeeded + good)
        except BtError:
            continue
    return found


def _actions(recording: Recording) -> Iterable[tuple[str, float, bool]]:
    begun: dict[int, tuple[str, float]] = {}
    for event, body in recording.of("begin", "done"):
        if event.kind == "begin":
            begun[body["job"]] = (str(body["sentence"]), event.at)
        elif body["job"] in begun:
            sentence, at = begun.pop(body["job"])
            value = body.get("value")
            good = isinstance(value, list) and value[:1] == ["SUCCESS"]
            yield sentence, max(event.at - at, 0.0), good
