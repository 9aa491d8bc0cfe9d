"""Requests for trees with hidden checks: courses of events in which a right tree does certain things, and what it never
does. Each has a tree of ours that passes, and a wrong one that does not: no request asks for what cannot be had, and
none lets anything through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bt_author.mcp.tools.scripted import play
from bt_author.proof.check import check
from bt_runtime import Tree, load

MANIFEST = """\
version: 1
skills: rover
about: A small robot on wheels with an arm.
impl: world
kinds:
  drive:
    sentence: drive to {place}
    params: {place: {type: string, choices: [dock, hall, kitchen, office]}}
    on_resume: repeat
  charge: {sentence: charge at the dock, on_resume: repeat}
  pick: {sentence: "pick up {thing}", params: {thing: string}, on_resume: fail}
  place: {sentence: "put down {thing}", params: {thing: string}, on_resume: fail}
  speak: {sentence: "say {words}", params: {words: string}, on_resume: repeat}
  look: {sentence: look around, outputs: {seen: boolean}, on_resume: repeat}
  measure: {sentence: measure the battery, outputs: {level: number}, on_resume: repeat}
"""
OUTPUTS: Mapping[str, Any] = {"look": {"seen": True}, "measure": {"level": 0.9}}
SECONDS = 600.0  # of a tree's time
STATES = 20_000  # that a proof of `never` may visit
ONE_BRANCH = 50  # requests from the first on: one branch each


class Course(NamedTuple):
    """What skills do, and what a right tree starts then, in order."""

    does: tuple[str, ...]
    fails: bool = False
    least: float = 0.0  # seconds of the tree's time that it takes
    skills: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] = {}
    entries: Mapping[str, Any] = {}  # before the first tick
    writes: tuple[Mapping[str, Any], ...] = ()
    leaves: Mapping[str, Any] = {}  # values in the end


class Request(NamedTuple):
    text: str
    ours: str
    wrong: str
    courses: tuple[Course, ...]
    never: tuple[str, ...] = ()


def _request(row: Mapping[str, Any]) -> Request:
    courses = (
        Course(**{**each, "does": tuple(each["does"]), "writes": tuple(each.get("writes", ()))})
        for each in row["courses"]
    )
    head = row.get("head", {})
    return Request(
        row["ask"], _whole(head, row["ours"]), _whole(head, row["wrong"]), tuple(courses), tuple(row.get("never", ()))
    )


def _whole(head: Mapping[str, Any], root: Any) -> str:
    rows = {"version": 1, "tree": "draft", "skills": ["rover"], **head, "root": root}
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in rows.items())


REQUESTS = tuple(
    _request(row) for row in yaml.safe_load(Path(__file__).with_name("authoring_requests.yaml").read_text("utf-8"))
)


def project(root: Path) -> Path:
    """A project with the skills and no tree."""
    (root / "skills").mkdir(parents=True)
    (root / "trees").mkdir()
    (root / "btr.yaml").write_text("version: 1\n")
    (root / "skills" / "rover.yaml").write_text(MANIFEST)
    return root


def passes(text: str, request: Request, root: Path) -> bool:
    """True when the tree does in every course what it should, and keeps what is promised."""
    tree = load(text, project=root)
    return all(_right(tree, course) for course in request.courses) and _kept(tree, request.never)


def _right(tree: Tree, course: Course) -> bool:
    first = [{"at": 0, "set": course.entries}] if course.entries else []
    try:
        found = play(
            tree, {**OUTPUTS, **course.skills}, course.inputs, [*first, *course.writes], {}, SECONDS
        )  # fmt: skip
    except Exception:  # such as an input that the tree does not have
        return False
    does = tuple(" ".join([skill, *map(str, given.values())]) for skill, given in found.starts)
    ends = "FAILURE" if course.fails else "SUCCESS"
    left = all(found.board.get(name) == value for name, value in course.leaves.items())
    return found.status == ends and does == course.does and found.seconds >= course.least and left


def _kept(tree: Tree, never: tuple[str, ...]) -> bool:
    """False for a tree that breaks a promise; one that cannot be decided within the states counts as keeping it."""
    try:
        return all(each.finding is None for each in check(tree, never=never, states=STATES)) if never else True
    except Exception:  # such as an entry that the tree does not have
        return False
