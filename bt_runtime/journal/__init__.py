"""Journals: written, read, resumed and replayed."""

from __future__ import annotations

from bt_runtime._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bt_runtime.journal.reading import Recording as Recording
    from bt_runtime.journal.record import Recorder as Recorder
    from bt_runtime.run.replay.replay import replay as replay
    from bt_runtime.run.replay.resume import resume as resume
    from bt_runtime.run.replay.why import why_recorded as why_recorded

__getattr__, __dir__ = face(
    __name__,
    {
        "Recorder": "bt_runtime.journal.record",
        "Recording": "bt_runtime.journal.reading",
        "replay": "bt_runtime.run.replay.replay",
        "resume": "bt_runtime.run.replay.resume",
        "why_recorded": "bt_runtime.run.replay.why",
    },
)
