"""Goals in other words: `infer` says which known goal is meant, and what stands in its slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from bt_runtime.agents.compile.cases import CompiledCase
from bt_runtime.agents.compile.yaml_text import N

NEITHER = "none of these"
SURE = 0.7  # nats by which the choice has to be ahead: twice as likely as the next
MOST_VALUES = 40  # a slot with at most so many values is chosen; with more it is written
_SLOT = re.compile(r"<(\w+)>")


def understood(cases: Sequence[CompiledCase], name: str) -> N | None:
    """Returns a branch that says a goal anew in words that the tree called `name` knows; None without such cases.

    Which goal is meant is chosen among the cases; a slot's value among those that the runs had."""
    known = {each.name: each for each in cases if not any(slot.startswith("number") for slot in slots_of(each))}
    if not known:
        return None
    kinds = {"choices": [*known, NEITHER], "about": _about(known.values())}
    which = {"prompt": "What is asked for: {goal}", "outputs": {"kind": kinds}, "margin": "margin"}
    ways = {each.name: _said(each, name) for each in known.values()}
    children = [
        N("infer", which),
        N("check", f"kind != '{NEITHER}' and margin > {SURE}"),
        N("switch", {"on": "kind", "cases": ways}),
    ]
    return N("sequence", {"name": "understood", "unless": "given_up", "children": children}, "in other words")


def slots_of(case: CompiledCase) -> list[str]:
    return [*dict.fromkeys(_SLOT.findall(case.forms[0]))]


def _about(cases: Iterable[CompiledCase]) -> str:
    said = (each.forms[0].replace("<", "").replace(">", "") for each in cases)
    return "such as: " + "; ".join(said)


def _said(case: CompiledCase, name: str) -> N:
    """The goal of a case, with each slot filled by `infer`."""
    slots = slots_of(case)
    goal = _SLOT.sub(lambda found: f"{{{entry(found[1])}}}", case.forms[0])
    call = N("tree", {"file": name, "with": {"goal": goal}})
    if not slots:
        return call
    outputs = {entry(slot): _typed(case, slot) for slot in slots}
    return N("sequence", [N("infer", {"prompt": "What is asked for: {goal}", "outputs": outputs}), call])


def entry(slot: str) -> str:
    return f"the_{slot}"


def _typed(case: CompiledCase, slot: str) -> Any:
    values = sorted({each.goal.slots[slot] for each in case.stories if slot in each.goal.slots})
    return {"choices": values} if 1 < len(values) <= MOST_VALUES else "string"
