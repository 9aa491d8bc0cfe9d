"""Explains a node's status in a recorded run: makes the run again up to that tick, and asks the node."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.replay.past import Past


class Because(NamedTuple):
    run: str
    path: str
    tick: int
    sentences: list[str]


def why_recorded(journal: Path | str, path: str, at: int | None = None) -> Because:
    """Explains a node of a recorded run. `at`: the tick, by default the last. Only the journal is used: no world, model
    or skill."""
    with Past(journal, at) as past:
        if not past.tick:
            raise BtError(f"{past.recording.name} has no tick 0", "name one that was made")
        return Because(past.recording.name, path, past.tick, past.debugger.why(path))
