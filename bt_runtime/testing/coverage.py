"""Records which nodes tests reached, and with which results.

A node is identified by file and line, so that different tests of a shared subtree add up. Trees given as text have
no file and are not counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Tick
from bt_runtime.language.checks.outcomes import outcomes
from bt_runtime.language.project import real, shown_path
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.run import Run
from bt_runtime.testing.casting import trees_of
from bt_runtime.tree.describe.gist import signs
from bt_runtime.tree.node import INVALID, Node

RESULTS = ("success", "failure", "running", "halted", "skipped")
_SUCCESS = frozenset({"success"})
_WORDS = {Status.SUCCESS: "success", Status.FAILURE: "failure", Status.RUNNING: "running"}


class CoveredPlace(NamedTuple):
    file: str  # the file on the disk
    line: int
    column: int


Seen = dict[CoveredPlace, set[str]]


class Coverage:
    """The coverage of all tests in a session."""

    def __init__(self) -> None:
        self.seen: Seen = defaultdict(set)

    def add(self, data: Iterable[tuple[tuple[str, int, int], Iterable[str]]]) -> None:
        """Adds the coverage of another process."""
        for place, results in data:
            self.seen[CoveredPlace(*place)].update(results)

    def data(self) -> list[tuple[tuple[str, int, int], list[str]]]:
        return [((p.file, p.line, p.column), sorted(results)) for p, results in sorted(self.seen.items())]


current: Coverage | None = None  # the coverage that a session collects


class Follower:
    """Records the results of the nodes of one run."""

    def __init__(self, run: Run, coverage: Coverage) -> None:
        self.coverage = coverage
        self.texts = {tree.file for tree in trees_of(run.parts.tree.spec) if _path(tree) is None}
        self.files = {
            tree.file: str(path) for tree in trees_of(run.parts.tree.spec) if (path := _path(tree)) is not None
        }
        run.listen(self.ticked, Tick)

    def ticked(self, tick: Tick) -> None:
        halted = {id(node) for node, _ in tick.halts}
        for node, status in tick.changes:
            if status is not INVALID:
                self.saw(node, _WORDS[status])
            elif id(node) not in halted:
                self.saw(node, "skipped")
        for node, _ in tick.halts:
            self.saw(node, "halted")

    def visited(self, nodes: Iterable[Behaviour], tick: Tick) -> None:
        """Records a visit: a node that was ticked and stayed idle was skipped."""
        known = {id(node) for node, _ in tick.changes} | {id(node) for node in tick.resets}
        for node in nodes:
            if node.status is INVALID and id(node) not in known:
                self.saw(node, "skipped")

    def saw(self, node: Behaviour, result: str) -> None:
        spec = node.spec if isinstance(node, Node) else getattr(node, "made_of", None)
        if isinstance(spec, NodeSpec) and spec.file in self.files:
            self.coverage.seen[place_of(spec, self.files[spec.file])].add(result)


def follow(run: Run) -> Follower | None:
    """Counts what this run does from now on, when coverage is collected."""
    return Follower(run, current) if current is not None else None


def _path(tree: TreeSpec) -> Path | None:
    path = Path(tree.file)
    path = path if path.is_absolute() else Path.cwd() / path
    return real(path) if path.is_file() else None


def place_of(spec: NodeSpec, file: str) -> CoveredPlace:
    return CoveredPlace(file, spec.span.line, spec.span.column)


class CoverageRow(NamedTuple):
    """A node with its possible results and the results seen in tests."""

    place: CoveredPlace
    spec: NodeSpec
    possible: frozenset[str]  # results with which it can end
    seen: frozenset[str]

    @property
    def missing(self) -> list[str]:
        return sorted(self.possible - self.seen)

    @property
    def lacks(self) -> str:
        """Describes the results that no test has seen; "" when all were seen."""
        if not self.seen:
            return "never reached"
        if self.seen == {"skipped"}:
            return "always skipped"
        return f"never ended with {' or '.join(self.missing)}" if self.missing else ""


class Covered(NamedTuple):
    """A tree file and its nodes, in the order of the file."""

    tree: TreeSpec
    rows: list[CoverageRow]

    @property
    def reached(self) -> int:
        return sum(1 for row in self.rows if row.seen - {"skipped"})

    @property
    def possible(self) -> int:
        return sum(len(row.possible) for row in self.rows)

    @property
    def found(self) -> int:
        return sum(len(row.possible & row.seen) for row in self.rows)


def covered(tree: TreeSpec, seen: Mapping[CoveredPlace, set[str]]) -> Covered:
    """Returns the coverage of one file, without its subtrees' files."""
    path = _path(tree)
    rows = [_row(spec, can, str(path), seen) for spec, can in _nodes(tree)] if path is not None else []
    return Covered(tree, rows)


def _nodes(tree: TreeSpec) -> Iterator[tuple[NodeSpec, frozenset[str]]]:
    """The nodes to count; a guard shares the path of the node inside and is reported with it."""
    can = outcomes(tree.root.walk())
    for spec in tree.root.walk():
        if spec.subtree is not None:
            yield spec, outcomes(spec.subtree.root.walk())[spec.subtree.root]
        elif spec.kind.name == "wait" and not {"until", "updated"} & spec.values.keys():
            yield spec, _SUCCESS  # time passes whatever happens
        elif not spec.kind.transparent:
            yield spec, can[spec]


def _row(spec: NodeSpec, can: frozenset[str], file: str, seen: Mapping[CoveredPlace, set[str]]) -> CoverageRow:
    place = place_of(spec, file)
    return CoverageRow(place, spec, can, frozenset(seen.get(place, ())))


def percent(files: Iterable[Covered]) -> float:
    """The share of all possible node results that occurred, in percent."""
    files = list(files)
    possible = sum(each.possible for each in files)
    return 100.0 * sum(each.found for each in files) / possible if possible else 100.0


def named(spec: NodeSpec) -> str:
    return f"{spec.kind.name} `{spec.name}`" if spec.name else spec.kind.name


def table(files: list[Covered]) -> list[str]:
    """Returns the report as text: one line a file, then the unseen results by file and line."""
    shown = {each.tree.file: _shown(each) for each in files}
    wide = max([len(name) for name in shown.values()] + [4])
    lines = [f"{'tree':<{wide}}   nodes reached   results seen"]
    for each in files:
        part = f"{each.found} of {each.possible}"
        reached = f"{each.reached} of {len(each.rows)}"
        lines.append(f"{shown[each.tree.file]:<{wide}}   {reached:>13}   {part:>12}  {percent([each]):3.0f} %")
    lines.append(f"{'all':<{wide}}   {'':13}   {'':12}  {percent(files):3.0f} %")
    for each in files:
        left = [row for row in each.rows if row.lacks]
        lines += [f"{shown[each.tree.file]}:{row.place.line}: {named(row.spec)} {row.lacks}" for row in left]
    return lines


def _shown(each: Covered) -> str:
    return shown_path(Path(each.rows[0].place.file if each.rows else each.tree.file))


# As events of the page -----------------------------------------------------------------------------


def events(files: list[Covered]) -> Iterator[dict[str, Any]]:
    """Yields events for the web page, one tree a file, coloured by coverage; `btr view FILE.jsonl` shows them."""
    add: list[list[Any]] = [[0, -1, "coverage", "coverage", "control", "", f"{percent(files):.0f} % of the results"]]
    order: dict[str, list[int]] = {"0": []}
    statuses: list[list[Any]] = [[0, "S" if percent(files) == 100 else "R"]]
    lines: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    for each in files:
        table.append(_file(each, len(add)))
        _draw(each, add, order, statuses, lines)
    about = {"is": "coverage", "percent": percent(files), "files": table, "signs": signs()}
    yield {"k": "start", "t": 0, "run": "coverage", "tree": "tests", "text": "", "file": "", "wall": 0, **about}
    yield {"k": "shape", "t": 0, "add": add, "gone": [], "order": order}
    yield {"k": "tick", "t": 0, "n": 1, "s": statuses}
    yield from lines
    yield {"k": "over", "t": 0, "status": "S", "verdict": None, "why": ""}


def _file(each: Covered, number: int) -> dict[str, Any]:
    """One row of the page's table; `number`: the node that stands for this file."""
    return {"id": number, "name": each.tree.name, "reached": each.reached, "nodes": len(each.rows),
            "found": each.found, "possible": each.possible, "percent": percent([each])}  # fmt: skip


def _draw(each: Covered, add: Any, order: Any, statuses: Any, lines: Any) -> None:
    rows = {id(row.spec): row for row in each.rows}
    top = len(add)
    add.append([top, 0, each.tree.name, "tree", "control", each.tree.name, f"{percent([each]):.0f} %"])
    order["0"].append(top)
    statuses.append([top, _letter(each), f"{each.reached} of {len(each.rows)} nodes reached"])
    todo = [(each.tree.root, top)]
    while todo:
        spec, parent = todo.pop()
        while spec.kind.transparent:
            spec = spec.children[0]
        row, number = rows[id(spec)], len(add)
        below = order.setdefault(str(parent), [])
        segment, line = spec.name or str(len(below)), f"line {row.place.line}"
        add.append([number, parent, segment, spec.kind.name, spec.kind.family, spec.name or "", line])
        below.append(number)
        said = ", ".join(result for result in RESULTS if result in row.seen)
        statuses.append([number, _colour(row), "; ".join(part for part in (said, row.lacks) if part)])
        if row.lacks:
            text = f"{_shown(each)}:{row.place.line}: {named(spec)} {row.lacks}"
            lines.append({"k": "line", "t": 0, "path": "", "level": "warning", "text": text})
        todo += [(child, number) for child in reversed(spec.children)]


def _colour(row: CoverageRow) -> str:
    return "F" if not row.seen - {"skipped"} else "R" if row.missing else "S"


def _letter(each: Covered) -> str:
    return "F" if not each.reached else "S" if each.found == each.possible else "R"
