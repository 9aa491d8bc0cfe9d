"""Continues an interrupted run: rebuilds it from its journal, up to the last entry, then runs live."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.agents.recorded.worlds import RecordedWorld
from bt_runtime.events import Line, Notice
from bt_runtime.journal import outage, repair, sources
from bt_runtime.journal.backlog import Backlog
from bt_runtime.journal.layout import Event
from bt_runtime.journal.lock import Lock
from bt_runtime.journal.order import STANDING, is_taped
from bt_runtime.journal.outage import Overtaken
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.record import Recorder
from bt_runtime.journal.state import UnfitState, put_back
from bt_runtime.journal.store import JournalLimits
from bt_runtime.journal.tape import Difference
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.debugger import debugging
from bt_runtime.run.debug.redo import resumed
from bt_runtime.run.replay import rebuild
from bt_runtime.run.replay.refit import CannotResume, Offer, refit, refit_memory
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.types import Verdict


def resume(
    journal: Path | str,
    *,
    world: Any = None,
    model: Any = None,
    memory: Any = None,
    skills: Iterable[Any] = (),
    services: dict[str, Any] | None = None,
    clock: Any = None,
    limits: JournalLimits | None = None,
    changed: bool = False,
) -> Run:
    """Returns the run in its last state; tick it, or let it spin. A run that had ended stays so: ticks tell its result,
    and begin nothing. Services that are not given are opened as the journal names them.

    What is missing, or is not what the run had, is refused before anything is opened for writing or ticked;
    `changed` goes on with what is there. A `world` that is given must be fresh: it is put where the run began and led
    through the recorded actions, unless it is `lasting` (it went on without us), which is left as it is.
    """
    offer = Offer(model, memory, world, services or {}, tuple(skills), clock, limits, changed)
    return resume_with(Path(journal), offer)


def resume_with(path: Path, offer: Offer) -> Run:
    if not path.is_file():
        raise BtError(f"there is no journal {path}", "`btr runs list` shows those that are there")
    lock = Lock(path)  # before anything is read: what another process writes meanwhile would be cut off
    try:
        repair.ended(path)
        near = math.inf
        while True:
            recording = Recording(path, held=True, near=near)
            try:
                return _resumed(recording, offer, lock)
            except UnfitState:  # nothing has acted or written yet
                assert recording.begins is not None
                near = recording.begins.tick if near == math.inf else 0
                if lock.file is None:
                    lock = Lock(path)
    except BaseException:
        lock.release()
        raise


def _resumed(recording: Recording, offer: Offer, lock: Lock) -> Run:
    """Raises UnfitState where the state that the recording begins with does not lead to its end."""
    path, around, over = recording.path, RecordedWorld(recording.head), bool(recording.result)
    _possible(recording, around)
    unsure = bool(recording.end.open) and not outage.marker_of(path).exists()
    kit = refit_memory(recording, offer) if over else refit(recording, offer)
    recorder = Recorder(path, recording, offer.limits, lock=lock, standing=_rest(recording))
    recorder.tape.unsure = unsure  # rows may have been lost, and nothing here can tell
    try:
        if over or offer.brake is not None:  # it asks nothing more, or acts on nothing
            kit |= rebuild.without_effects(recording, recorder.stack)
        else:
            kit |= {"tree": _tree(recorder, recording, offer.skills), "services": dict(offer.services) or None}
        judged = over and recording.verdict is not None and offer.world is None and not around.suite
        if not judged and offer.brake is None:
            kit["world"] = _world(around, offer.world)
        run = Run(task=around.task(), clock=offer.clock, journal=recorder, **rebuild.given(recording), **kit)
    except BaseException:
        recorder.close()
        raise
    if offer.brake is not None:
        offer.brake.put_on(run)

    def keep(line: Line | Notice) -> None:
        if isinstance(line, Notice) or not line.path:  # the nodes' own lines were heard when recorded
            run._unheard.append(line)

    leave = run.parts.context.stream.listen(keep, Line, Notice)
    try:
        return _led_back(run, recording)
    finally:
        leave()


def finished(recording: Recording) -> bool:
    """True when the run has ended with nothing left to do. A run killed at its very end may lack its verdict and
    memory."""
    if not recording.result:
        return False
    return recording.full or any(e.kind == "closed" for e in recording.events)


def _led_back(run: Run, recording: Recording) -> Run:
    """Waits for the run's models and replays it to its last state; when that fails, nothing was ticked or recorded."""
    assert run.parts.journal is not None
    try:
        run.parts.resources.judged = Verdict(*recording.verdict) if recording.result and recording.verdict else None
        if recording.begins is not None:
            put_back(run.parts.journal, recording.begins.body)
        _catch_up(run, recording)
    except BaseException as error:
        run.parts.journal.tape.broken = True
        run.parts.resources.notebook = None
        run.__exit__(type(error), error, error.__traceback__)
        raise
    run.parts.journal.clock.go_on()
    run.parts.engine.rebuilt_ended = run.status in (SUCCESS, FAILURE)
    return run


def _rest(recording: Recording) -> list[Event]:
    """Cuts the recording after the last answer: later notes will be written again, and a halt at the very end is
    undone. One after which the tree was ticked again stays.

    Returns the cut events that still hold: those about processes. Raises UnfitState where a halt is undone in the kept
    state's tick: how the tick looked without it is not known there."""
    count = len(recording.events)
    while count:
        event = recording.events[count - 1]
        if is_taped(event) and not (event.kind == "halt" and event.tick >= recording.last_tick):
            break
        count -= 1
    begins, gone = recording.begins, recording.events[count:]
    if begins is not None and any(e.kind == "halt" and e.tick <= begins.tick for e in gone):
        raise UnfitState("a halt is undone")
    if gone:
        recording.keep(count)
    return [e for e in gone if e.kind in STANDING]


def _possible(recording: Recording, around: RecordedWorld) -> None:
    name = recording.name
    if recording.full:
        raise CannotResume(f"{name} reached its journal's size limit", "later actions are unknown: start a new run")
    world = around.kept
    broken = outage.marked(recording.path)
    if broken is not None and broken.careful:
        raise CannotResume(f"{name} is {broken}", "later actions are unknown: check the world, then start a new run")
    if not recording.torn:  # all acts are known; other tables only tell how it looked
        return
    careful, doubt = recording.behind
    if careful or (world is not None and world["lasting"]) or (world is None and doubt):
        why = f": `{careful}` may not be repeated" if careful else f": {doubt}" if doubt else ""
        raise CannotResume(
            f"the journal of {name} is damaged ({recording.damage}), and its actions outlive the run{why}",
            "what was done cannot be told for certain: check the world, then start a new run",
        )


def _world(around: RecordedWorld, world: Any) -> Any:
    if around.kept is None:
        return None
    if world is None:
        return around.open()
    around.set_up(world)
    return world


def _tree(recorder: Recorder, recording: Recording, skills: tuple[Any, ...]) -> Tree:
    """Loads the tree from its files when they are unchanged, else from the recorded texts."""
    head = recording.head
    if head["kinds"] and not skills:
        missing = ", ".join(k["name"] for k in head["kinds"])
        raise CannotResume(f"{recording.name} uses Python skills: {missing}", "give them: resume(run, skills=[…])")
    if sources.unchanged(head["files"]):
        return load(head["root"] or head["text"], project=_project(head), skills=skills)
    folder, file = recorder.stack.enter_context(rebuild.laid_out(recording))
    return load(file, project=folder, skills=skills)


def _project(head: Mapping[str, Any]) -> Path | None:
    """The project in which the run found its trees and skills; None: the one found from here."""
    home = Path(str(head.get("project") or ""))
    return home if home.is_absolute() and (home / project.PROJECT_FILE).is_file() else None


def _catch_up(run: Run, recording: Recording) -> None:
    """Ticks up to where the journal ends. A difference means that the tree is not what it was: better to stop."""
    last = recording.last_tick
    fresh = bool(recording.events) and recording.events[-1].kind == "forked"  # a fork that has not ticked yet
    assert run.parts.journal is not None
    try:
        while run.parts.engine.count < last or not run.parts.journal.tape.live:
            if run.parts.engine.count > last:
                event = run.parts.journal.tape.events[0]
                raise Difference(event.tick, f"the recording has `{event.kind}`, and the run did not come to it")
            rebuild.outside(run)
            if fresh and run.parts.engine.count >= last and run.parts.journal.tape.live:
                break
            run.tick()
    except Difference as difference:
        if recording.begins is not None and isinstance(run.parts.journal.tape.writer, Backlog):
            raise UnfitState(str(difference)) from difference
        if isinstance(difference.__cause__, Overtaken):
            hint = "end that run first; keep journals on a local disk: --runs FOLDER"
            raise CannotResume(str(difference.__cause__), hint) from None
        raise CannotResume(
            f"{recording.name} cannot be led back to where it was: {difference}",
            "`btr runs replay` shows more; a version, a prompt or a skill may have changed since",
        ) from None
    debugger = debugging(run)
    if debugger is not None:
        resumed(debugger)
    if not recording.result:
        run.parts.journal.tape.note("resumed", {"tick": run.parts.engine.count, "damage": recording.damage})
