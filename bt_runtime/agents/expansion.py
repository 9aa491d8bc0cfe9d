"""Turns a parsed plan into YAML of the full language: checks its size and sense first, then loads it like any tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import yaml

from bt_runtime.agents.loops import duplicates, is_search, repeats_ancestor, same_goal
from bt_runtime.agents.plan_text import Do, Group, Part, PlannedAct, PlannedFail, PlannedGoal, Unreadable, goals
from bt_runtime.language.faults.diagnostic import nearest
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.sentence import Sentence
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Json


class Situation(NamedTuple):
    """The place of a new expansion."""

    goal: str
    ancestors: tuple[str, ...]  # goals of the agents above, this one's included
    depth: int  # agents above one another, this one included
    nodes: int  # nodes added by expansions of the run so far
    budget: Budget
    earlier: tuple[Group, ...] = ()  # expansions of this agent since it last learnt anything, and those above it
    warned: frozenset[str] = frozenset()  # objections that were made already and need not be made twice
    beside: bool = False  # a goal from above may stand again beside others: they change what it starts from


class Objection(NamedTuple):
    """The reason for refusing an expansion. A mild objection is raised once; when the model repeats the plan, it is
    accepted."""

    code: str
    text: str
    mild: bool = False


def objections(plan: Group, at: Situation) -> list[Objection]:
    """Returns all objections to a plan, in words for the model that wrote it."""
    found = [*_size(plan, at), *_loops(plan, at), *_sense(plan)]
    return [o for o in found if not (o.mild and o.code in at.warned)]


def _size(plan: Group, at: Situation) -> list[Objection]:
    budget, found = at.budget, []
    if at.depth >= budget.depth:
        found.append(
            Objection("depth", f"no further expansion: {budget.depth:g} agents stand above one another already")
        )
    widest = max(_widths(plan))
    if widest > budget.width:
        found.append(Objection("width", f"{widest} parts in one list; at most {budget.width}"))
    levels = _levels(plan)
    if levels > budget.levels:
        found.append(Objection("levels", f"the plan is nested {levels} levels deep; at most {budget.levels}"))
    said = list(goals(plan))
    if at.nodes + len(said) > budget.nodes:
        found.append(
            Objection(
                "nodes", f"the run may have {budget.nodes:g} planned parts, and would have {at.nodes + len(said)}"
            )
        )
    found += [
        Objection("length", f"a part has {len(g)} characters, at most {budget.length}: {g[:40]}…")
        for g in said
        if len(g) > budget.length
    ]
    return found


def _loops(plan: Group, at: Situation) -> list[Objection]:
    named = [goal.text for goal in _goals(plan)]
    again = [goal for goal in named if repeats_ancestor(goal, at.ancestors) is not None]
    if at.beside and len(again) == 1 and len(list(goals(plan))) > 1:
        again = []
    text = "the subgoal `{}` is the goal above it again: name a smaller part, or act"
    found = [Objection("same goal", text.format(goal)) for goal in again]
    if any(_alike(plan, other) for other in at.earlier):
        found.append(Objection("same plan", "this is the same plan again, and nothing was learnt since"))
    return found


def _sense(plan: Part) -> list[Objection]:
    if not isinstance(plan, Group):
        return []
    found = []
    named = [p.text for p in plan.parts if isinstance(p, PlannedGoal)]
    double = duplicates(named)
    if double and plan.control != "sequence":
        found.append(
            Objection(
                "duplicates", f"`{double[0]}` stands twice in one {plan.control}: when two are meant, say which", True
            )
        )
    elif any(same_goal(a, b) for a, b in pairwise(named)) and len(named) == len(plan.parts):
        found.append(Objection("duplicates", f"`{double[0]}` stands twice, one right after the other"))
    if len(plan.parts) == 1 and isinstance(plan.parts[0], PlannedGoal | Group):
        found.append(
            Objection(
                "lone child", f"a {plan.control} of one part says no more than the part itself: act, or split it", True
            )
        )
    if plan.control != "fallback" and is_search(named) and len(named) == len(plan.parts):
        text = (
            "these parts look for the same thing in several places: "
            f"a {plan.control} needs all of them, a fallback the first that works"
        )
        found.append(Objection("control flow", text, True))
    for part in plan.parts:
        found += _sense(part)
    return found


def _goals(part: Part) -> list[PlannedGoal]:
    if isinstance(part, Group):
        return [g for inner in part.parts for g in _goals(inner)]
    return [part] if isinstance(part, PlannedGoal) else []


def _widths(part: Part) -> list[int]:
    return [len(part.parts), *(w for p in part.parts for w in _widths(p))] if isinstance(part, Group) else [0]


def _levels(part: Part) -> int:
    return 1 + max((_levels(p) for p in part.parts), default=0) if isinstance(part, Group) else 0


def _alike(one: Part, other: Part) -> bool:
    left, right = list(goals(one)), list(goals(other))
    return len(left) == len(right) and all(same_goal(a, b) for a, b in zip(left, right, strict=True))


# YAML of the full language -----------------------------------------------------------------------


def as_yaml(plan: Group, leaf: str, given: Mapping[str, Json], registry: Registry) -> str:
    """The YAML to graft. Braces in a model's text are not templates, and only kinds of the dialect can occur."""
    shape = _node(plan, leaf, given, registry)
    return yaml.dump(shape, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1000)


def _node(part: Part, leaf: str, given: Mapping[str, Json], registry: Registry) -> dict[str, Any]:
    if isinstance(part, PlannedGoal):
        if not leaf:
            raise Unreadable(
                f"the part `{part.text[:60]}` is a subgoal, and this node has no `leaf` tree", "use `act:` with a skill"
            )
        return {"tree": {"file": leaf, "with": {**{k: _plain(v) for k, v in given.items()}, "goal": _plain(part.text)}}}
    if isinstance(part, PlannedAct):
        return _skill(part.sentence, registry)
    if isinstance(part, Do):
        named = {name: _plain(value) for name, value in part.fields}
        return {part.skill: named.get("", named)}
    if isinstance(part, PlannedFail):
        return {"fail": _plain(part.why) or "given up"}
    children = [_node(p, leaf, given, registry) for p in part.parts]
    if part.control == "parallel":
        return {"parallel": {"order": "in_turn", "children": children}}
    return {part.control: children}


def _skill(sentence: str, registry: Registry) -> dict[str, Any]:
    """The skill with this sentence; of several, the one with the most fixed words."""
    best: tuple[int, str, dict[str, Json]] | None = None
    known: list[str] = []
    for kind in registry:
        entry = kind.data.get("entry")
        if entry is None:
            continue
        known.append(entry.sentence)
        template = Sentence(entry.sentence, entry.types)
        params = template.parse(sentence.removeprefix(f"{kind.name}: "))  # `NAME: ` may stand first
        fixed = len(entry.sentence) - sum(len(s) + 2 for s in template.slots)
        if params is not None and (best is None or fixed > best[0]):
            best = (fixed, kind.name, params)
    if best is None:
        close = nearest(sentence, known)
        raise Unreadable(
            f"`{sentence[:80]}` is no skill", f"skills: {', '.join(known)}" if not close else f"did you mean `{close}`?"
        )
    return {best[1]: {name: _plain(value) for name, value in best[2].items()}}


def _plain(value: Json) -> Json:
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, Sequence) else value


_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
