"""Continues an interrupted run: rebuilds it from its journal, up to the last entry, then runs live."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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
    path = Path(journal)
    if not path.is_file():
        raise BtError(f"there is no journal {path}", "`btr runs list` shows those that are there")
    lock = Lock(path)  # before anything is read: what another process writes meanwhile would be cut off
    try:
        repair.ended(path)
        offer = Offer(model, memory, world, services or {})
        given = _Given(offer, tuple(skills), clock, limits, changed)
        near = math.inf
        while True:
            recording = Recording(path, held=True, near=near)
            if recording.damage and recording.begins is not None:
                recording = Recording(path, held=True)
            try:
                return _resumed(recording, given, lock)
            except UnfitState:  # nothing has acted or written yet
                assert recording.begins is not None
                near = recording.begins.tick if near == math.inf else 0
                if lock.file is None:
                    lock = Lock(path)
    except BaseException:
        lock.release()
        raise


class _Given(NamedTuple):
    """What the caller of `resume` gave."""

    offer: Offer
    skills: tuple[Any, ...]
    clock: Any
    limits: JournalLimits | None
    changed: bool


def _resumed(recording: Recording, given: _Given, lock: Lock) -> Run:
    """Raises UnfitState where the state that the recording begins with does not lead to its end."""
    offer, path, recorder = given.offer, recording.path, None
    try:
        around = RecordedWorld(recording.head)
        _possible(recording, around)
        unsure = bool(recording.end.open) and not outage.marker_of(path).exists()
        if recording.result:
            recorder, kit = _ended(recording, around, offer, given.changed, (lock, given.limits))
        else:
            kit = refit(recording, offer, given.changed)
            recorder = Recorder(path, recording, given.limits, lock=lock, standing=_rest(recording))
            recorder.tape.unsure = unsure  # rows may have been lost, and nothing here can tell
            kit.update(
                tree=_tree(recorder, recording, given.skills), services=dict(offer.services) or None,
                world=_world(around, offer.world),
            )  # fmt: skip
        run = Run(task=around.task(), clock=given.clock, journal=recorder, **rebuild.given(recording), **kit)
    except BaseException:
        if recorder is not None:
            recorder.close()
        raise

    def keep(line: Line | Notice) -> None:
        if isinstance(line, Notice) or not line.path:  # the nodes' own lines were heard when recorded
            run._unheard.append(line)

    leave = run.parts.context.stream.listen(keep, Line, Notice)
    try:
        return led_back(run, recording)
    finally:
        leave()


def finished(recording: Recording) -> bool:
    """True when the run has ended with nothing left to do. A run killed at its very end may lack its verdict and
    memory."""
    if not recording.result:
        return False
    return recording.full or any(e.kind == "closed" for e in recording.events)


def _ended(
    recording: Recording, around: RecordedWorld, offer: Offer, changed: bool, kept: tuple[Lock, JournalLimits | None]
) -> tuple[Recorder, dict[str, Any]]:
    """A run whose root has ended asks nothing more; it is rebuilt only for its memory and verdict."""
    memory = refit_memory(recording, offer.memory, changed)
    needed = recording.verdict is None or offer.world is not None or around.suite
    world = _world(around, offer.world) if needed else None
    recorder = Recorder(recording.path, recording, kept[1], lock=kept[0], standing=_rest(recording))
    folder, tree = recorder.stack.enter_context(rebuild.laid_out(recording))
    return recorder, {
        "tree": rebuild.tree_of(recording, tree, folder), "memory": memory, "world": world,
        "services": rebuild.services(folder),
    }  # fmt: skip


def led_back(run: Run, recording: Recording) -> Run:
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
    """Cuts the recording after the last answer. Raises UnfitState where that undoes a halt in the kept state's tick:
    how the tick looked without it is not known there."""
    begins, whole = recording.begins, recording.events
    standing = to_last_answer(recording)
    gone = whole[len(recording.events) :]
    if begins is not None and any(e.kind == "halt" and e.tick <= begins.tick for e in gone):
        raise UnfitState("a halt is undone")
    return standing


def to_last_answer(recording: Recording) -> list[Event]:
    """Cuts the recording after the last answer: later notes will be written again, and a halt at the very end is
    undone. One after which the tree was ticked again stays.

    Returns the cut events that still hold: those about processes."""
    count = len(recording.events)
    while count:
        event = recording.events[count - 1]
        if is_taped(event) and not (event.kind == "halt" and event.tick >= recording.last_tick):
            break
        count -= 1
    standing = [e for e in recording.events[count:] if e.kind in STANDING]
    if count < len(recording.events):
        recording.keep(count)
    return standing


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


def _tree(recorder: Recorder, recording: Recording, skills: Iterable[Any]) -> Tree:
    """Loads the tree from its files when they are unchanged, else from the recorded texts."""
    head = recording.head
    given = tuple(skills)
    if head["kinds"] and not given:
        missing = ", ".join(k["name"] for k in head["kinds"])
        raise CannotResume(f"{recording.name} uses Python skills: {missing}", "give them: resume(run, skills=[…])")
    if sources.unchanged(head["files"]):
        return load(head["root"] or head["text"], project=_project(head), skills=given)
    folder, tree = recorder.stack.enter_context(rebuild.laid_out(recording))
    return load(tree, project=folder, skills=given)


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
