"""Writes a recorded run as a regression test: a pytest file, with the journal beside it."""

from __future__ import annotations

import re
from pathlib import Path

from bt_runtime.journal import opening
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.run.replay.replay import replay

_TEST = '''"""{tree}: this run was recorded, and comes out the same."""

from pathlib import Path

from bt_runtime.run.replay.replay import replay


def test_{name}_comes_out_as_it_was_recorded():
    found = replay(Path(__file__).with_name("{data}"))
    assert found.same, found.difference
    assert (found.ticks, found.status) == ({ticks}, "{status}")
'''


def write_test(journal: Path, folder: Path) -> Path:
    """Writes the test's file. An existing file is not overwritten."""
    recording = Recording(journal)
    if recording.damage:
        raise BtError(f"{recording.name} is damaged: {recording.damage}", "record it again")
    name = re.sub(r"\W+", "_", recording.name).strip("_").lower()[:100] or "run"
    test, data = folder / f"test_{name}.py", folder / f"{name}.btr"
    if test.exists() or data.exists():
        raise BtError(f"there is {test} already", "remove it, or name another folder: -o FOLDER")
    disk.folder(folder)
    opening.copy(journal, data)
    seen = replay(data)
    text = _TEST.format(
        tree=str(recording.head["tree"]).replace('"', "'"), name=name, data=data.name, ticks=seen.ticks,
        status=seen.status,
    )  # fmt: skip
    disk.write(test, text)
    return test
