"""What only all trees of a project together tell: which contain themselves, how large they are with subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bt_runtime.faults.diagnostic import Diagnostic
from bt_runtime.interop.lsp.unit import Include, Unit, step
from bt_runtime.language.checks.meaning import bounded
from bt_runtime.language.checks.recursion import check_recursion
from bt_runtime.language.findings import Findings
from bt_runtime.language.spec import DEFAULT_CAPS

Units = Mapping[Path, Unit]


def faults(units: Units) -> dict[Path, list[Diagnostic]]:
    """By file. A step for each file and each `tree` node, none for other nodes."""
    findings = Findings()
    order, back = _ordered(units)
    for unit, include in back:
        way = _way(units, include.target, unit.path)
        check_recursion([*(step(units[path], each) for path, each in way), step(unit, include)], findings)
    sizes: dict[Path, tuple[int, int]] = {}
    for unit in order:
        depth, nodes = unit.depth, unit.nodes
        for include in unit.includes:
            below, more = sizes.get(include.target, (0, 0))
            depth, nodes = max(depth, include.level + below), nodes + more
        sizes[unit.path] = (depth, nodes)
        if unit.spec is not None and not bounded(unit.spec, depth, nodes, findings, DEFAULT_CAPS):
            break
    found: dict[Path, list[Diagnostic]] = {}
    for fault in findings.items:
        found.setdefault(Path(fault.file), []).append(fault)
    return found


def _ordered(units: Units) -> tuple[list[Unit], list[tuple[Unit, Include]]]:
    """Each after those it includes; and the nodes that lead back."""
    done: dict[Path, None] = {}
    back: list[tuple[Unit, Include]] = []
    for start in units:
        if start in done or not units[start].includes:
            done.setdefault(start)
            continue
        open_: dict[Path, None] = {}
        todo = [start]
        while todo:
            path = todo[-1]
            if path in done:
                todo.pop()
            elif path in open_:
                del open_[path]
                done[todo.pop()] = None
            else:
                open_[path] = None
                for include in units[path].includes:
                    if include.target in open_:
                        back.append((units[path], include))
                    elif include.target in units and include.target not in done:
                        todo.append(include.target)
    return [units[path] for path in done], _round(units, back)


def _round(units: Units, back: Iterable[tuple[Unit, Include]]) -> list[tuple[Unit, Include]]:
    """Every node on a way back, whichever file one begins with."""
    found: dict[int, tuple[Unit, Include]] = {}
    for unit, include in back:
        ring = [(units[path], each) for path, each in _way(units, include.target, unit.path)]
        found |= {id(each[1].node): each for each in (*ring, (unit, include))}
    return list(found.values())


def _way(units: Units, start: Path, end: Path) -> list[tuple[Path, Include]]:
    """The shortest way from one file to another; empty when they are one."""
    came: dict[Path, tuple[Path, Include]] = {}
    todo = [start]
    while todo and end not in came and start != end:
        path = todo.pop(0)
        for include in units[path].includes if path in units else ():
            if include.target not in came and include.target != start:
                came[include.target] = (path, include)
                todo.append(include.target)
    way: list[tuple[Path, Include]] = []
    at = end
    while at != start and at in came:
        way.append(came[at])
        at = came[at][0]
    return way[::-1]
