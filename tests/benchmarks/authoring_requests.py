"""Requests for trees with hidden checks: courses of events in which a right tree does certain things. Each has a tree
of ours that passes, so that no request asks for what cannot be had."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.mcp.tools.scripted import play
from bt_runtime.run.run import load

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
"""
FAIL = "failure"


class Course(NamedTuple):
    """What skills do, and what a right tree starts then, in order; `ends`: how it ends."""

    starts: tuple[str, ...]
    ends: str = "SUCCESS"
    skills: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] = {}


class Request(NamedTuple):
    text: str
    ours: str  # the root of a tree that passes, and what stands above it
    courses: tuple[Course, ...]


def drive(*places: str) -> tuple[str, ...]:
    return tuple(f"drive {place}" for place in places)


REQUESTS = (
    Request(
        "drive to the hall",
        "root: {drive: hall}",
        (Course(drive("hall")), Course(drive("hall"), "FAILURE", {"drive": FAIL})),
    ),
    Request(
        "drive to the hall, then to the kitchen",
        "root: {sequence: [drive: hall, drive: kitchen]}",
        (Course(drive("hall", "kitchen")), Course(drive("hall"), "FAILURE", {"drive": FAIL})),
    ),
    Request(
        "drive to the dock and charge there",
        "root: {sequence: [drive: dock, charge: {}]}",
        (Course(("drive dock", "charge")),),
    ),
    Request(
        "drive to the kitchen; if that fails, drive to the hall",
        "root: {fallback: [drive: kitchen, drive: hall]}",
        (Course(drive("kitchen")), Course(drive("kitchen", "hall"), skills={"drive": [FAIL, "success"]})),
    ),
    Request(
        "try to drive to the office at most three times",
        "root: {retry: {times: 3, child: {drive: office}}}",
        (
            Course(drive("office")),
            Course(drive("office", "office"), skills={"drive": [FAIL, "success"]}),
            Course(drive("office", "office", "office"), "FAILURE", {"drive": FAIL}),
        ),
    ),
    Request(
        "drive to the hall, the kitchen and the office, in this order",
        "root: {for_each: {in: [hall, kitchen, office], as: where, child: {drive: '{where}'}}}",
        (Course(drive("hall", "kitchen", "office")),),
    ),
    Request(
        "pick up the cup, drive to the kitchen and put the cup down",
        "root: {sequence: [pick: cup, drive: kitchen, place: cup]}",
        (Course(("pick cup", "drive kitchen", "place cup")), Course(("pick cup",), "FAILURE", {"pick": FAIL})),
    ),
    Request("charge twice", "root: {repeat: {times: 2, child: {charge: {}}}}", (Course(("charge", "charge")),)),
    Request(
        "drive to the hall and say hello there",
        "root: {sequence: [drive: hall, speak: hello]}",
        (Course(("drive hall", "speak hello")),),
    ),
    Request(
        "drive to the hall, but give up after ten seconds",
        "root: {timeout: {seconds: 10, child: {drive: hall}}}",
        (Course(drive("hall")), Course(drive("hall"), "FAILURE", {"drive": "running"})),
    ),
    Request(
        "pick up the cup; when that fails say sorry, and fail",
        "root: {try: {do: {pick: cup}, catch: {sequence: [speak: sorry, fail: no cup]}}}",
        (Course(("pick cup",)), Course(("pick cup", "speak sorry"), "FAILURE", {"pick": FAIL})),
    ),
    Request(
        "say hello, and succeed even if saying it fails",
        "root: {fallback: [speak: hello, succeed: {}]}",
        (Course(("speak hello",)), Course(("speak hello",), skills={"speak": FAIL})),
    ),
    Request(
        "the tree has a boolean input `loud`; if it is true say hello, else drive to the hall",
        "inputs: {loud: boolean}\nroot: {if: {check: loud, then: {speak: hello}, else: {drive: hall}}}",
        (Course(("speak hello",), inputs={"loud": True}), Course(drive("hall"), inputs={"loud": False})),
    ),
    Request(
        "the tree has a string input `room`; drive to that room",
        "inputs: {room: string}\nroot: {drive: '{room}'}",
        (Course(drive("office"), inputs={"room": "office"}), Course(drive("hall"), inputs={"room": "hall"})),
    ),
    Request(
        "drive to the kitchen and back to the dock; whatever happens on the way, charge in the end",
        "root: {try: {do: {sequence: [drive: kitchen, drive: dock]}, finally: {charge: {}}}}",
        (
            Course(("drive kitchen", "drive dock", "charge")),
            Course(("drive kitchen", "charge"), "FAILURE", {"drive": FAIL}),
        ),
    ),
    Request(
        "the tree has a number input `battery`; below 0.2 drive to the dock and charge, otherwise drive to the hall",
        "inputs: {battery: number}\nroot:\n"
        "  if: {check: battery < 0.2, then: {sequence: [drive: dock, charge: {}]}, else: {drive: hall}}",
        (Course(("drive dock", "charge"), inputs={"battery": 0.1}), Course(drive("hall"), inputs={"battery": 0.9})),
    ),
    Request(
        "look around; succeed only if something was seen",
        "blackboard: {seen: {type: boolean, default: false}}\nroot: {sequence: [look: {seen: '{seen}'}, check: seen]}",
        (Course(("look",), skills={"look": {"seen": True}}), Course(("look",), "FAILURE", {"look": {"seen": False}})),
    ),
    Request(
        "drive to the first of hall, kitchen and office that can be reached",
        "root: {fallback: [drive: hall, drive: kitchen, drive: office]}",
        (Course(drive("hall", "kitchen", "office"), skills={"drive": [FAIL, FAIL, "success"]}), Course(drive("hall"))),
    ),
    Request(
        "wait two seconds, then say ready", "root: {sequence: [wait: 2, speak: ready]}", (Course(("speak ready",)),)
    ),
    Request(
        "try to pick up the cup up to two times, and drive to the dock afterwards in any case",
        "root: {sequence: [fallback: [retry: {times: 2, child: {pick: cup}}, succeed: {}], drive: dock]}",
        (Course(("pick cup", "drive dock")), Course(("pick cup", "pick cup", "drive dock"), skills={"pick": FAIL})),
    ),
)

_START = re.compile(r"^[\d.e+]+ s  (\w+)\((.*?)\): ")


def project(root: Path) -> Path:
    """A project with the skills and no tree."""
    (root / "skills").mkdir(parents=True)
    (root / "trees").mkdir()
    (root / "btr.yaml").write_text("version: 1\n")
    (root / "skills" / "rover.yaml").write_text(MANIFEST)
    return root


def whole(request: Request) -> str:
    """The tree of ours for a request."""
    return f"version: 1\ntree: draft\nskills: [rover]\n{request.ours}\n"


def passes(text: str, request: Request, root: Path) -> bool:
    """True when the tree does in every course what it should."""
    tree = load(text, project=root)
    return all(_right(tree, course) for course in request.courses)


def _right(tree: Any, course: Course) -> bool:
    skills = {"look": {"seen": True}, **course.skills}
    try:
        found = play(tree, skills, course.inputs, [], {}, 600)
    except Exception:  # such as an input that the tree does not have
        return False
    begun = [_START.match(line) for line in found.story]
    starts = tuple(_said(match[1], match[2]) for match in begun if match is not None and match[1] != "log")
    return found.status == course.ends and starts == course.starts


def _said(skill: str, params: str) -> str:
    return f"{skill} {params.partition('=')[2]}".strip()
