"""A recorded run that goes on without effects: its models are asked, and its first action is not begun."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bt_runtime.agents.recorded.worlds import RecordedWorld
from bt_runtime.journal.lock import Lock
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.record import Recorder
from bt_runtime.run.replay import rebuild
from bt_runtime.run.replay.refit import Offer, refit
from bt_runtime.run.replay.resume import led_back, to_last_answer
from bt_runtime.run.run import Run
from bt_runtime.skills.activity import Activity, Pending
from bt_runtime.tree.action import Action
from bt_runtime.tree.gates import Gate, Start


class Brake(Gate):
    """Begins no action, and keeps which one would have been the first."""

    def __init__(self, stop: Callable[[str], None]) -> None:
        self.stop, self.wanted = stop, ""

    def start(self, action: Action, start: Start) -> Activity:
        self.wanted = self.wanted or action.sentence
        self.stop("a dry fork begins no action")
        return Pending()


@contextmanager
def dry_run(path: Path, model: Any = None, memory: Any = None) -> Iterator[tuple[Run, Brake]]:
    """The run of a journal, led back to its end, with models and without anything to act in."""
    lock, recorder = Lock(path), None
    try:
        recording = Recording(path, held=True)
        around = RecordedWorld(recording.head)
        kit = refit(recording, Offer(model, memory), changed=True)
        recorder = Recorder(path, recording, lock=lock, standing=to_last_answer(recording))
        laid, tree = recorder.stack.enter_context(rebuild.laid_out(recording))
        run = Run(
            rebuild.tree_of(recording, tree, laid), task=around.task(), services=rebuild.services(laid),
            journal=recorder, **rebuild.given(recording), **kit,
        )  # fmt: skip
    except BaseException:
        if recorder is not None:
            recorder.close()
        lock.release()
        raise
    brake = Brake(run.parts.runner.halt)
    run.parts.context.gates.add(brake)
    with led_back(run, recording):
        yield run, brake
