"""A run that was cut off goes on: it is made again from its journal, to the last thing that was written, then lives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bt_runtime.diagnose import BtError
from bt_runtime.journal import mark, sources
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.record import Recorder
from bt_runtime.journal.store import Limits
from bt_runtime.journal.surroundings import Around
from bt_runtime.journal.tape import TAPED, Difference
from bt_runtime.playback import again
from bt_runtime.runtime import Run, Tree, load


class CannotResume(BtError):
    """Why a run cannot go on from its journal."""


def resume(
    journal: Path | str,
    *,
    world: Any = None,
    model: Any = None,
    memory: Any = None,
    skills: Iterable[Any] = (),
    services: dict[str, Any] | None = None,
    clock: Any = None,
    log: Any = None,
    limits: Limits | None = None,
) -> Run:
    """The run, as it stood: tick it, or let it spin. What is not given is opened as it was named when the run began.

    A `world` that is given must be fresh: it is put where the run began and led through the recorded actions, unless
    it is `lasting` (it went on without us), which is left as it is.
    """
    recording = Recording(Path(journal))
    around = Around.recorded(recording.head)
    _possible(recording, around)
    _to_last_answer(recording)
    world = _world(around, world)
    head = recording.head
    recorder = Recorder(recording.path, recording, limits)
    tree = _tree(recorder, recording, skills)
    run = Run(
        tree, world=world, model=model if model is not None else head["model"], services=services, clock=clock,
        memory=memory if memory is not None else head["memory"], log=log, journal=recorder, **again.given(recording),
    )  # fmt: skip
    try:
        _catch_up(run, recording)
    except BaseException:
        recorder.tape.broken = True
        run.close()
        raise
    return run


def _to_last_answer(recording: Recording) -> None:
    """What was only noted after the last answer will be noted again; a halt at the very end is taken back."""
    count = len(recording.events)
    while count and (recording.events[count - 1].kind not in TAPED or recording.events[count - 1].kind == "halt"):
        count -= 1
    if count < len(recording.events):
        recording.keep(count)


def _possible(recording: Recording, around: Around) -> None:
    name = recording.name
    if recording.full:
        raise CannotResume(f"{name} reached its journal's size limit", "what came after is not known: run it anew")
    world = around.kept["world"]
    broken = mark.read(recording.path)
    if broken is not None and broken.careful:
        raise CannotResume(f"{name} is {broken}", "what was done after that is not known; look, and run it anew")
    if not recording.damage:
        return
    careful = any(e.kind == "begin" and recording.body(e).get("on_resume") != "repeat" for e in recording.events)
    if (world is not None and world["lasting"]) or (world is None and careful):
        raise CannotResume(
            f"the journal of {name} is damaged ({recording.damage}), and its actions outlive the run",
            "what was done after the damage is not known; look, and run it anew",
        )


def _world(around: Around, world: Any) -> Any:
    if around.kept["world"] is None:
        return None
    if world is None:
        return around.open_world()
    around.set_up(world)
    return world


def _tree(recorder: Recorder, recording: Recording, skills: Iterable[Any]) -> Tree:
    """From the files where they are when nobody has changed them, else from the recorded texts."""
    head = recording.head
    given = tuple(skills)
    if head["kinds"] and not given:
        missing = ", ".join(k["name"] for k in head["kinds"])
        raise CannotResume(f"{recording.name} uses Python skills: {missing}", "give them: resume(run, skills=[…])")
    if sources.unchanged(head["files"]):
        return load(head["root"] or head["text"], skills=given)
    folder, tree = recorder.stack.enter_context(again.laid_out(recording))
    return load(tree, project=folder, skills=given)


def _catch_up(run: Run, recording: Recording) -> None:
    """Ticks up to where the journal ends. A difference means that the tree is not what it was: better to stop."""
    last = recording.last_tick
    assert run.journal is not None
    try:
        while run.engine.count < last or not run.journal.tape.live:
            if run.engine.count > last:
                event = run.journal.tape.events[0]
                raise Difference(event.tick, f"the recording has `{event.kind}`, and the run did not come to it")
            again.outside(run)
            run.tick()
    except Difference as difference:
        raise CannotResume(
            f"{recording.name} cannot be led back to where it was: {difference}",
            "`btr replay` shows more; a version, a prompt or a skill may have changed since",
        ) from None
    run.journal.tape.note("resumed", {"tick": run.engine.count, "damage": recording.damage})
