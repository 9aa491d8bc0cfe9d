"""The seven ALFRED task types and their goal conditions, as pure functions of what the simulator says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bt_envs.alfred import kinds
from bt_envs.thor.choice import Object, is_slice
from bt_envs.thor.tracking import Tracked
from bt_runtime.types import Json, Verdict


class Goal(NamedTuple):
    """ALFRED's parameters of a task; "" where the task type lacks the parameter."""

    type: str
    object: str
    parent: str = ""
    toggle: str = ""
    movable: str = ""
    sliced: bool = False

    def to_json(self) -> dict[str, Json]:
        return self._asdict()


def from_alfred(task_type: str, params: Mapping[str, Json]) -> Goal:
    return Goal(
        task_type,
        params["object_target"],
        params.get("parent_target") or "",
        params.get("toggle_target") or "",
        params.get("mrecep_target") or "",
        bool(params.get("object_sliced")),
    )


class GoalState(NamedTuple):
    objects: Mapping[str, Object]
    held: str | None
    tracked: Tracked


def verdict(goal: Goal, state: GoalState) -> Verdict:
    """Returns the number of met goal conditions, and of all; success is all of them."""
    targets = [e for e in _of(state, goal.object) if e["pickupable"] and (is_slice(e) or not goal.sliced)]
    checks = list(CONDITIONS[goal.type](goal, state, targets))
    if goal.sliced:
        needed = 2 if goal.type == "pick_two_obj_and_place" else 1
        checks += [len(targets) > number for number in range(needed)]
    return Verdict(sum(checks), len(checks))


def _of(state: GoalState, kind: str) -> list[Object]:
    return [e for e in state.objects.values() if kind and kinds.whole(e["objectType"]) == kind]


def _inside(things: Sequence[Object], receptacles: Sequence[Object]) -> list[Object]:
    ids = {inner for r in receptacles for inner in r["receptacleObjectIds"] or ()}
    return [thing for thing in things if thing["objectId"] in ids]


def _parents(goal: Goal, state: GoalState) -> list[Object]:
    return [e for e in _of(state, goal.parent) if e["receptacle"]]


def _simple(goal: Goal, state: GoalState, targets: Sequence[Object]) -> list[bool]:
    return [bool(_inside(targets, _parents(goal, state)))]


def _two(goal: Goal, state: GoalState, targets: Sequence[Object]) -> list[bool]:
    most = max((len(_inside(targets, [r])) for r in _parents(goal, state)), default=0)
    return [most >= 1, most >= 2]


def _in_light(goal: Goal, state: GoalState, targets: Sequence[Object]) -> list[bool]:
    lit = any(e["isToggled"] and e["visible"] for e in _of(state, goal.toggle))
    return [state.held in {t["objectId"] for t in targets}, lit]


def _movable(goal: Goal, state: GoalState, targets: Sequence[Object]) -> list[bool]:
    carriers = _of(state, goal.movable)
    placed = _inside(carriers, _parents(goal, state))
    return [bool(_inside(targets, carriers)), bool(placed), bool(_inside(targets, placed))]


def _treated(which: Callable[[Tracked], set[str]]) -> Callable[[Goal, GoalState, Sequence[Object]], list[bool]]:
    def conditions(goal: Goal, state: GoalState, targets: Sequence[Object]) -> list[bool]:
        placed = {t["objectId"] for t in _inside(targets, _parents(goal, state))}
        treated = {t["objectId"] for t in targets} & which(state.tracked)
        return [bool(placed), bool(treated), bool(placed & treated)]

    return conditions


CONDITIONS: Mapping[str, Callable[[Goal, GoalState, Sequence[Object]], list[bool]]] = {
    "pick_and_place_simple": _simple,
    "pick_two_obj_and_place": _two,
    "look_at_obj_in_light": _in_light,
    "pick_clean_then_place_in_recep": _treated(lambda tracked: tracked.clean),
    "pick_heat_then_place_in_recep": _treated(lambda tracked: tracked.hot),
    "pick_cool_then_place_in_recep": _treated(lambda tracked: tracked.cold),
    "pick_and_place_with_movable_recep": _movable,
}
TYPES = tuple(CONDITIONS)
