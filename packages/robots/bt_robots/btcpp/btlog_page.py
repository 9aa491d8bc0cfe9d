"""Turns a log file of BehaviorTree.CPP into events of the page. It has no ticks: events without a pause make one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bt_robots.btcpp import btlog
from bt_robots.btcpp.document import Element
from bt_runtime.events import Placed, Reshaped
from bt_runtime.journal.notes import shapes
from bt_runtime.language.kinds.registry import KINDS
from bt_runtime.run.view.event import Event, ended, started
from bt_runtime.run.view.teller import Teller

PAUSE = 0.0005  # seconds: what is further apart belongs to two ticks
DEEPEST = 1000  # nodes above one another: the file may say anything
_KINDS = {kind.twin.tag: kind.name for kind in KINDS if kind.twin is not None}
_FAMILIES = {"Control": "control", "Decorator": "decorator"}
_OURS = {"Control", "Decorator", "Action", "Condition"}
_ASIDE = {"TreeNodesModel", "include"}


def events_of(path: Path) -> Iterator[Event]:
    log, teller = btlog.read(path), Teller()
    yield started(path.stem, log.name, path.name, "", log.started, recorded=True)
    shape = placed(log)
    yield from teller.tick(0, 0.0, shapes(shape))
    known, root = {row.number for row in shape.add}, min((row.number for row in shape.add), default=0)
    tick, before = 0, 0.0
    now: list[tuple[int, str]] = []
    stands: dict[int, str] = {}
    for at, number, status in log.changes:
        since = at - log.started
        if now and since - before > PAUSE:
            tick += 1
            yield from teller.tick(tick, before, (), now)
            now = []
        before = since
        # a result is left standing, as ours are: there every node is reset once the one above has ended
        if number in known and (status != "INVALID" or stands.get(number) == "R"):
            stands[number] = status[:1]
            now.append((number, status[:1]))
    yield from teller.tick(tick + 1, before, (), now)
    yield ended(teller.time, stands.get(root, "I"))


def placed(log: btlog.Log) -> Reshaped:
    """Returns the nodes of the file; a subtree's nodes are placed below the node that calls it."""
    blocks = {_place(e): e for e in log.tree.children if e.tag == "BehaviorTree"}
    described = [part for part in log.tree.walk() if part.tag == "TreeNodesModel"]
    models = {e.get("ID"): _FAMILIES.get(e.tag, "leaf") for part in described for e in part.children}
    main = next((e for e in blocks.values() if e.get("ID") == log.name), next(iter(blocks.values()), None))
    rows: dict[int, Placed] = {}
    order: dict[int, list[int]] = {}
    todo = [(each, -1, 0) for each in main.children] if main is not None else []
    free = count(-2, -1)  # numbers of nodes that have none: nothing will be told of them
    while todo:
        element, parent, depth = todo.pop(0)
        number = _number(element, free)
        if element.tag in _ASIDE or number in rows or depth > DEEPEST:
            continue
        below = blocks.pop(_place(element), element)
        beside = order.setdefault(parent, [])
        rows[number] = _row(element, number, parent, len(beside), models)
        beside.append(number)
        todo = [*((each, number, depth + 1) for each in below.children), *todo]
    order.pop(-1, None)
    return Reshaped(list(rows.values()), (), order)


def _place(element: Element) -> tuple[str | None, str | None]:
    """Returns the path that a block shares with its call."""
    return element.attributes.get("ID"), element.attributes.get("_fullpath")


def _number(element: Element, free: Iterator[int]) -> int:
    told = element.get("_uid", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 6 else next(free)


def _row(element: Element, number: int, parent: int, place: int, models: dict[str, str]) -> Placed:
    tag = (element.get("ID") or element.tag) if element.tag in _OURS else element.tag
    kind = "tree" if tag == "SubTree" else _KINDS.get(tag, tag)
    name = element.get("name") or element.get("ID") or ""
    family = models.get(tag) or (
        "control" if len(element.children) > 1 else "decorator" if element.children else "leaf"
    )
    said = " ".join(
        f"{key}={value}" for key, value in element.attributes.items() if key[0] != "_" and key not in ("name", "ID")
    )
    return Placed(number, parent, str(place), kind, family, name if name != tag else "", said[:120])
