"""Forks a recorded run: its journal up to a moment becomes the journal of a new run, which goes on for real from there.

Nothing of that part is asked or done again. Worlds of a suite are led through the recorded actions. What cannot be
brought to that moment refuses; a dry fork goes on without effects, up to the first action that it would begin.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bt_runtime.agents.recorded.worlds import RecordedWorld
from bt_runtime.journal import folder, sources
from bt_runtime.journal.layout import Event, head_sum
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.repair import write_rows
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.debugger import debugger_of
from bt_runtime.run.replay.dry import Brake
from bt_runtime.run.replay.refit import CannotResume, Offer
from bt_runtime.run.replay.resume import resume_with
from bt_runtime.run.run import Run
from bt_runtime.types import Json

_AT = re.compile(r"(?P<what>|tick|decision)[: ]?(?P<number>-?\d+)")


class Moment(NamedTuple):
    """Where a run is forked. A tick: right after it. A decision: before its answer."""

    tick: int
    events: int  # number of events kept
    decision: int = 0


class Edits(NamedTuple):
    """What is different from the moment on."""

    model: Any = None
    memory: Any = None
    seed: int | None = None
    entries: Mapping[str, Json] = MappingProxyType({})
    forced: tuple[tuple[str, Json], ...] = ()  # path or pattern, and the result of its next starts
    replaced: tuple[tuple[str, str], ...] = ()  # path, and the text of the node that takes its place
    prompts: Mapping[str, str] = MappingProxyType({})  # name of a prompt, and its text

    @property
    def late(self) -> bool:
        """True for edits that are made between two ticks."""
        return bool(self.entries or self.forced or self.replaced or self.prompts)


def moment(recording: Recording, at: str) -> Moment:
    """Reads `12`, `tick 12`, `decision:3` or `decision:-1`."""
    found = _AT.fullmatch(at.strip())
    if found is None:
        raise BtError(f"`{at}` is no moment of a run", "write a tick, --at 12, or a decision, --at decision:3")
    number = int(found["number"])
    if found["what"] == "decision":
        return _before_decision(recording, number)
    last = recording.last_tick
    if not 0 <= number <= last:
        raise BtError(f"{recording.name} has no tick {number}", f"it has ticks 0 to {last}: `btr runs show`")
    events = recording.until_full()
    return Moment(number, next((i for i, e in enumerate(events) if e.tick > number), len(events)))


def _before_decision(recording: Recording, number: int) -> Moment:
    asked = [i for i, event in enumerate(recording.until_full()) if event.kind == "ask"]
    at = number if number > 0 else len(asked) + 1 + number
    if not 1 <= at <= len(asked):
        hint = f"decision:1 to decision:{len(asked)}, or -1 for the last" if asked else "name a tick: --at 12"
        raise BtError(f"{recording.name} has no decision {number}: it asked its models {len(asked)} times", hint)
    return Moment(recording.events[asked[at - 1]].tick, asked[at - 1], at)


def fork(
    journal: Path | str,
    at: str,
    edits: Edits | None = None,
    *,
    runs: Path | None = None,
    world: Any = None,
    skills: Iterable[Any] = (),
    services: dict[str, Any] | None = None,
    clock: Any = None,
    changed: bool = False,
    anyway: bool = False,
) -> Run:
    """Returns the new run at that moment, with the edits made; tick it, or let it spin. Where the new answer has ended
    the run already, ticks tell its result, and begin nothing.

    `runs`: the folder of its journal; None: that of the recorded run. `anyway`: everything outside was put back by the
    caller. The other arguments are those of `resume`."""
    recording, edits = Recording(Path(journal)), edits or Edits()
    when = _checked(recording, at, edits)
    lasting = "" if anyway or world is not None else outlives(recording, when)
    if lasting:
        raise CannotResume(
            f"{recording.name} cannot be brought back to that moment: {lasting}",
            "see what its model would do: --dry; or put the outside back yourself, and say so: --anyway",
        )
    path = written(recording, when, edits, runs or recording.path.parent)
    try:
        changed = changed or edits.model is not None or edits.memory is not None
        offer = Offer(edits.model, edits.memory, world, services or {}, tuple(skills), clock, changed=changed)
        run = resume_with(path, offer)
    except BaseException:
        folder.remove(path)
        raise
    try:
        _edit(run, edits)
    except BaseException as error:
        run.__exit__(type(error), error, error.__traceback__)
        folder.remove(path)
        raise
    return run


@contextmanager
def dry(journal: Path | str, at: str, edits: Edits | None = None) -> Iterator[tuple[Run, Brake]]:
    """A fork without effects: no world is opened, no skill called, no journal kept. It stops before its first action,
    which the brake names."""
    recording, edits = Recording(Path(journal)), edits or Edits()
    when = _checked(recording, at, edits)
    brake = Brake()
    with tempfile.TemporaryDirectory(prefix="bt-fork-") as made:
        path = written(recording, when, edits, Path(made))
        with resume_with(path, Offer(edits.model, edits.memory, changed=True, brake=brake)) as run:
            _edit(run, edits)
            yield run, brake


def _checked(recording: Recording, at: str, edits: Edits) -> Moment:
    when = moment(recording, at)
    if when.decision and edits.late:
        raise BtError(
            "entries, results, nodes and prompts are changed between two ticks, and a decision is made within one",
            f"decision {when.decision} was asked in tick {when.tick}: --at {max(when.tick - 1, 0)}",
        )
    return when


def outlives(recording: Recording, when: Moment | None = None) -> str:
    """Why the outside cannot be brought back to this moment of the run, by default to any; "" when it can."""
    world = RecordedWorld(recording.head).kept
    if world is not None and world["lasting"]:
        return "what is done in its world outlives the run"
    if world is not None and not RecordedWorld(recording.head).suite:
        return f"its world, {sources.short(str(world['class']).rpartition(':')[2])}, was made by a program"
    past = recording.events[: when.events] if when is not None else []
    over = {recording.body(e)["job"] for e in past if e.kind == "done"}  # jobs that had ended by then stay ended
    begun = (recording.body(e) for e in recording.events if e.kind == "begin") if world is None else ()
    for body in begun:
        if body.get("on_resume") != "repeat" and body["job"] not in over:
            return f"it has done `{body.get('sentence') or body.get('skill')}`, which may not be repeated"
    return ""


def written(recording: Recording, when: Moment, edits: Edits, runs: Path) -> Path:
    """Writes the journal of the fork: the recorded run up to the moment, under a name of its own."""
    name = _name(recording.name, runs)
    recording.keep(when.events)
    if recording.result:
        raise BtError(f"{recording.name} had ended at tick {when.tick}", f"name an earlier one: --at {when.tick - 1}")
    past = when.tick if when.decision else when.tick + 1  # the first tick whose changes are not kept
    of: dict[str, Json] = {"of": recording.name, "tick": when.tick, "decision": when.decision}
    head = {**recording.head, "name": name, "forked": of}
    if edits.seed is not None:
        head["seed"] = edits.seed
    path = folder.new_path(runs, name)
    events = [*recording.events, *_stands(recording, when, edits)]
    write_rows(recording, path, {**head, "sum": head_sum(head)}, events, end=past)
    return path


def _stands(recording: Recording, when: Moment, edits: Edits) -> list[Event]:
    """What brings the fork to its tick, also when nothing was recorded in the ticks before; with its prompts."""
    if when.decision:
        return []
    body = {"of": recording.name, **({"prompts": dict(edits.prompts)} if edits.prompts else {})}
    last = recording.events[-1] if recording.events else Event(0, 0, 0.0, "", "")
    return [Event(last.seq + 1, when.tick, last.at, "forked", json.dumps(body))]


def _name(of: str, runs: Path) -> str:
    names = (f"{of}-fork-{i}" for i in count(1))
    return next(name for name in names if not folder.new_path(runs, name).exists())


def _edit(run: Run, edits: Edits) -> None:
    if edits.entries:
        run.blackboard.update(**edits.entries)
    for path, result in edits.forced:
        debugger_of(run).force(path, result)
    for path, node in edits.replaced:
        run.replace(path, node)
