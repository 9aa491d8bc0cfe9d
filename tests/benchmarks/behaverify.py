"""Two families of trees with which another checker, BehaVerify, measures itself, made anew for this engine: checklists
of N items, 4N - 1 nodes, and a counter that grows while one of N checks holds. Each is ticked again for ever."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime import Tree, load
from bt_runtime.language.entry import SkillEntry, skill_kind
from bt_runtime.language.nodes import places_of
from bt_runtime.plugins import Kind


def _instant(name: str) -> Kind:
    return skill_kind(name, "", (), SkillEntry(name, "python", "", {}, instant=True, test=True))


def _linked(link: str, parts: Sequence[str], width: int = 2) -> str:
    """The parts in a balanced tree of such nodes."""
    rows = list(parts)
    while len(rows) > 1:
        whole = [rows[at : at + width] for at in range(0, len(rows), width)]
        rows = [f"{{{link}: [{', '.join(each)}]}}" if len(each) > 1 else each[0] for each in whole]
    return rows[0]


def _tree(root: str, head: str = "", skills: Sequence[Kind] = ()) -> Tree:
    whole = f"{{repeat: {{times: -1, child: {{force: {{status: success, child: {root}}}}}}}}}"
    return load(f"version: 1\ntree: t\n{head}root: {whole}\n", skills=skills)


def checklist(link: str, items: int) -> Tree:
    """Each item is a check that may fail, and what is done then, which succeeds."""
    kinds = [_instant(f"check{number}") for number in range(items)]
    rows = [f"{{fallback: [{{check{n}: {{}}}}, {{succeed: {{name: done{n}}}}}]}}" for n in range(items)]
    return _tree(_linked(link, rows), "", kinds)


def done(tree: Tree, item: int) -> str:
    """Where the second node of an item stands."""
    return next(place.path for place in places_of(tree.spec) if place.spec.name == f"done{item}")


def bigger_fish(link: str, checks: int) -> Tree:
    """The counter stops where no check holds."""
    any_of = {"parallel": "parallel", "sequence": "fallback"}[link]
    rows = [f'{{check: "fish == {number}"}}' for number in range(checks + 1)]
    found = _linked(any_of, rows, 5)
    if any_of == "parallel":
        found = found.replace("{parallel: [", "{parallel: {success: 1, failure: -1, wait_all: true, children: [")
        found = found.replace("]}", "]}}")
    head = "blackboard: {fish: {type: integer, minimum: 0, maximum: 199, default: 0}}\n"
    return _tree(f'{{sequence: [{found}, {{set: {{fish: "{{min(fish + 1, 199)}}"}}}}]}}', head)
