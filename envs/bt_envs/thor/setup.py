"""Prepares a task's data for a stage: the room with its things placed, and the goal."""

from __future__ import annotations

from bt_envs.alfred.room import check_containment, from_json, place
from bt_envs.thor.goals import TYPES, Goal
from bt_envs.thor.rooms import read_room
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json, Task


def setup_of(task: Task) -> dict[str, Json]:
    """Returns the set-up. `room` is a room file's name or a whole room; `where` moves things before the task begins."""
    try:
        given, where = task.data["room"], dict(task.data.get("where") or {})
        goal = Goal(**task.data["goal"])
        room = read_room(given) if isinstance(given, str) else from_json(given)
        strange = {*where, *where.values()} - {thing.id for thing in room.things}
        if strange:
            raise ValueError(f"not in the room: {', '.join(sorted(map(str, strange)))}")
        room = place(room, where)
        check_containment(room.things)
    except (KeyError, TypeError, ValueError) as fault:
        raise BtError(f"task {task.id} is no thor task: {fault!r}", "btr lab tasks thor") from fault
    if goal.type not in TYPES:
        raise BtError(f"task {task.id} is of no ALFRED type: {goal.type!r}", f"one of {', '.join(TYPES)}")
    return {"room": room.to_json(), "kind": room.scene, "goal": goal.to_json(), "scene": task.data.get("scene")}
