"""Facts about all trees of a project together: which contain themselves, and how large they are with subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bt_author.lsp.document import Document, Include, step
from bt_runtime.language.checks.recursion import check_recursion
from bt_runtime.language.checks.semantic import bounded
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.spec import DEFAULT_CAPS

Units = Mapping[Path, Document]


def faults(documents: Units) -> dict[Path, list[Diagnostic]]:
    """Returns the faults across files, by file, in time proportional to files and `tree` nodes."""
    diagnostics = Diagnostics()
    order, back = _ordered(documents)
    for document, include in back:
        way = _way(documents, include.target, document.path)
        check_recursion([*(step(documents[path], each) for path, each in way), step(document, include)], diagnostics)
    sizes: dict[Path, tuple[int, int]] = {}
    for document in order:
        depth, nodes = document.depth, document.nodes
        for include in document.includes:
            below, more = sizes.get(include.target, (0, 0))
            depth, nodes = max(depth, include.level + below), nodes + more
        sizes[document.path] = (depth, nodes)
        if document.spec is not None and not bounded(document.spec, depth, nodes, diagnostics, DEFAULT_CAPS):
            break
    found: dict[Path, list[Diagnostic]] = {}
    for fault in diagnostics.items:
        found.setdefault(Path(fault.file), []).append(fault)
    return found


def _ordered(documents: Units) -> tuple[list[Document], list[tuple[Document, Include]]]:
    """Orders documents so that each follows those that it includes; returns also the nodes that close a cycle."""
    done: dict[Path, None] = {}
    back: list[tuple[Document, Include]] = []
    for start in documents:
        if start in done or not documents[start].includes:
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
                for include in documents[path].includes:
                    if include.target in open_:
                        back.append((documents[path], include))
                    elif include.target in documents and include.target not in done:
                        todo.append(include.target)
    return [documents[path] for path in done], _round(documents, back)


def _round(documents: Units, back: Iterable[tuple[Document, Include]]) -> list[tuple[Document, Include]]:
    """Yields every node on an inclusion cycle, whichever file the search starts from."""
    found: dict[int, tuple[Document, Include]] = {}
    for document, include in back:
        ring = [(documents[path], each) for path, each in _way(documents, include.target, document.path)]
        found |= {id(each[1].node): each for each in (*ring, (document, include))}
    return list(found.values())


def _way(documents: Units, start: Path, end: Path) -> list[tuple[Path, Include]]:
    """Returns the shortest path of inclusions from one file to another; empty when they are the same."""
    came: dict[Path, tuple[Path, Include]] = {}
    todo = [start]
    while todo and end not in came and start != end:
        path = todo.pop(0)
        for include in documents[path].includes if path in documents else ():
            if include.target not in came and include.target != start:
                came[include.target] = (path, include)
                todo.append(include.target)
    way: list[tuple[Path, Include]] = []
    at = end
    while at != start and at in came:
        way.append(came[at])
        at = came[at][0]
    return way[::-1]
