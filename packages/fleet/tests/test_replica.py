"""A journal that is copied piece by piece is the journal, and a run goes on from the copy."""

from __future__ import annotations

from pathlib import Path

import bt_runtime as bt
from bt_fleet.store.replica import Source, restored
from bt_runtime.journal import Recording, resume

TREE = """\
version: 1
tree: count
blackboard:
  n: {type: integer, default: 0}
root:
  sequence:
    - repeat: {times: 30, child: {sequence: [{set: {n: "{n + 1}"}}, {wait: 0.001}]}}
    - log: "{n} rounds"
"""


def test_a_run_goes_on_from_the_pieces_of_its_journal(tmp_path: Path) -> None:
    """The copy tells what the journal told when the last piece was taken, and its run ends as the first one does."""
    source, pieces = Source(), []
    with bt.Run(bt.load(TREE), journal=tmp_path / "runs") as run:
        path = run.parts.journal.path
        for _ in range(12):
            run.tick()
            run.parts.journal.tape.writer.durable().wait(5.0)
            pieces += source.pieces(path)
        assert run.status is bt.Status.RUNNING
        told = Recording(path)
        pieces += source.pieces(path)
        count = len(pieces)
        assert list(source.pieces(path)) == []  # nothing has come since
    copy = Recording(restored([*pieces, *pieces[:3], b'{"rows":{}}'], tmp_path / "copy.btr"))
    assert count > 3 and not copy.damage
    assert copy.events == told.events and copy.ticks == told.ticks and copy.nodes == told.nodes
    with resume(tmp_path / "copy.btr") as going:
        assert going.spin() is bt.Status.SUCCESS
        assert going.blackboard["n"] == 30


def test_pieces_without_a_whole_moment_are_refused(tmp_path: Path) -> None:
    """Half of a moment could tell of an action's end and not of its beginning."""
    try:
        restored([b'{"rows":{"events":[]}}'], tmp_path / "copy.btr")
    except bt.BtError as error:
        assert "nothing has reached the store" in str(error)
    else:
        raise AssertionError
