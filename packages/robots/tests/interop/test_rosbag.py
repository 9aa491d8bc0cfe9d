"""A run as a bag of ROS 2, read back by the reader of `rosbags`."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.cli import main
from bt_runtime.journal import Recording

rosbag2 = pytest.importorskip("rosbags.rosbag2")
typesys = pytest.importorskip("rosbags.typesys")
TREE = """
version: 1
tree: round
blackboard: {charge: {type: number, default: 1}, docked: {type: boolean, default: false}}
root:
  repeat:
    times: 3
    child:
      sequence:
        - set: {charge: "{charge - 0.25}", docked: "{charge < 0.6}"}
        - log: {text: "charge {charge}", level: warning}
        - wait: 0.5
"""


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_has_the_runs_statuses_lines_and_numbers_in_types_that_every_ros_knows(
    storage: str, tmp_path: Path
) -> None:
    with bt.Run(bt.load(TREE), clock=bt.clock.Manual(7.0), journal=tmp_path) as run:
        run.spin()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    out = tmp_path / "bag"
    words = ["runs", "export", str(run.parts.journal.path), "--format", "rosbag2", "--storage", storage, "-o", str(out)]
    assert main(words) == 0
    types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    found: dict[str, list[tuple[int, object]]] = {}
    with rosbag2.Reader(out) as reader:
        for connection, at, data in reader.messages():
            found.setdefault(connection.topic, []).append((at, types.deserialize_cdr(data, connection.msgtype)))
    recording = Recording(run.parts.journal.path)
    told = [(each.name, each.message) for _, m in found["/bt/status"] for each in m.status]  # type: ignore[attr-defined]
    paths = {row.number: row.path for row in recording.nodes}
    assert told == [(paths[n], status) for t in sorted(recording.ticks) for n, status in recording.changes(t)]
    charges = found["/bt/blackboard/charge"]
    assert [m.data for _, m in charges] == [0.75, 0.5, 0.25]  # type: ignore[attr-defined]
    assert [m.data for _, m in found["/bt/blackboard/docked"]] == [False, False, True]  # type: ignore[attr-defined]
    assert next((m.level, m.msg) for _, m in found["/rosout"]) == (30, "charge 0.75")  # type: ignore[attr-defined]
    assert charges[0][0] == 7 * 10**9 and charges[-1][0] == 8 * 10**9  # the time of the run's own clock
    assert main(words) != 0  # a bag that is there is not written over
