"""Random trees over few names, whose outside text is marked: a value itself tells whether it was made of it.

The names of all trees are drawn from the same four, so that an included tree's names cross those of its parent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import Line
from bt_runtime.types import Question

MARK = "OUTSIDE"  # in every text from outside, and in no other
NAMES = ("a", "b", "c", "d")
DEPTH = 3  # of included trees
started: list[str] = []  # the places that were unlocked
mail: list[str] = [MARK]  # what `read` reads


@bt.skill("unlock {place}")
def unlock(place: str) -> bool:
    started.append(place)
    return True


@bt.skill("read", outputs={"text": str, "sender": str}, on_resume="repeat")
def read() -> dict[str, str]:
    return {"text": mail[0], "sender": "hall"}


@bt.skill("echo {word}", outputs={"said": str}, on_resume="repeat")
def echo(word: str) -> str:
    return word


class Played(NamedTuple):
    """`unlocked`: the places that the skill was called with. `refused`: the sentences that the policy refused."""

    unlocked: list[str]
    refused: list[str]


def head(outside: str = "outside", endorse: Sequence[str] = (), mail: str = MARK) -> str:
    """Returns the head of a tree to run, as one mapping."""
    return json.dumps(
        {
            "policies": {
                "skills": {"unlock": {"place": ["operator", "author", "world", "memory", "model"]}},
                "labels": {"entries": {"mail": outside}, "skills": {"read.text": outside, "read.sender": "author"}},
                "endorse": [*endorse],
            },
            "blackboard": {
                **{name: {"type": "string", "default": "hall"} for name in NAMES},
                "mail": {"type": "string", "default": mail},
            },
        }
    )


class Trees:
    """One random project: `texts` by file name, with `root` as the tree to run. `marked`: with text from outside."""

    def __init__(self, seed: int, marked: bool = True) -> None:
        self.seed, self.random, self.marked = seed, Random(seed), marked
        self.texts: dict[str, str] = {}
        self.writable: tuple[str, ...] = NAMES  # in the tree that is being made
        self.root()

    def root(self) -> None:
        given = json.loads(head("outside" if self.marked else "author", [self.random.choice(NAMES)], self.text))
        self.write("root", given, (*NAMES, "mail"), 0)

    @property
    def text(self) -> str:
        return MARK if self.marked else "hall"

    def write(self, name: str, head: dict[str, Any], known: tuple[str, ...], depth: int) -> None:
        before, self.writable = self.writable, tuple(each for each in NAMES if each not in head.get("inputs", ()))
        body = [self.statement(known, depth) for _ in range(self.random.randint(2, 5))]
        root = {"sequence": [*body, self.attempt({"unlock": {"place": f"{{{self.random.choice(known)}}}"}})]}
        self.texts[name] = json.dumps({"version": 1, "tree": name, **head, "root": root})
        self.writable = before

    # Statements --------------------------------------------------------------------------------

    def statement(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        ways = [self.set, self.set, self.read, self.echo, self.each, self.all, self.used_up, self.asks, self.acts]
        if depth < DEPTH:
            ways += [self.include] * 4
        made = self.random.choice(ways)(known, depth)
        if self.random.random() < 0.2:
            ((kind, fields),) = made.items()
            if isinstance(fields, dict) and kind not in ("fallback", "set"):
                fields["on_success"] = self.assigned(known)
        return made

    def attempt(self, node: dict[str, Any]) -> dict[str, Any]:
        return {"fallback": [node, {"succeed": {}}]}

    def value(self, known: tuple[str, ...]) -> str:
        a, b, c = (self.random.choice(known) for _ in range(3))
        return self.random.choice(
            ["hall", "porch", f"{{{a}}}", f"{{{a}}}", f"the {{{a}}}", f"{{upper({a})}}", f"{{{a}}} {{{b}}}",
             f"{{{a} if {b} == 'hall' else {c}}}"]
        )  # fmt: skip

    def assigned(self, known: tuple[str, ...]) -> dict[str, str]:
        names = self.random.sample(self.writable, min(len(self.writable), self.random.randint(1, 3)))
        return {name: self.value(known) for name in names}

    def set(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        return {"set": self.assigned(known)}

    def read(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        text, sender = self.two()
        which = self.random.choice([("text",), ("sender",), ("text", "sender")])
        return {"read": {k: f"{{{v}}}" for k, v in (("text", text), ("sender", sender)) if k in which}}

    def echo(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        return {"echo": {"word": self.value(known), "said": f"{{{self.random.choice(self.writable)}}}"}}

    def each(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        listed = ", ".join(self.random.choice((*known, "'hall'")) for _ in range(2))
        inside = self.random.choice([self.set, self.acts])(known, depth)
        return {"for_each": {"in": f"{{[{listed}]}}", "as": self.random.choice(self.writable), "child": inside}}

    def all(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        one, give, to = (self.random.choice(self.writable) for _ in range(3))
        copies = {"for_all": {"in": f"{{[{self.random.choice(known)}, 'hall']}}", "as": one, "give": give,
                              "child": {"set": self.assigned(known)}, "into": "all"}}  # fmt: skip
        return {"sequence": [copies, {"set": {to: "{str(all)}", "all": "{[]}"}}]}

    def used_up(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        queue = {"set": {"queue": [f"{{{self.random.choice(known)}}}", "hall"]}}
        each = {"for_each": {"from": "queue", "as": self.random.choice(self.writable), "child": {"succeed": {}}}}
        return {"sequence": [queue, each]}

    def asks(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        text, choice = self.two()
        outputs = {text: {"type": "string"}, choice: {"choices": ["hall", "porch"]}}
        return {"infer": {"prompt": self.value(known), "outputs": outputs}}

    def two(self) -> tuple[str, str]:
        """Returns two entries to write; they may be one entry by two names, and the names differ."""
        first, second = self.random.sample(self.writable, 2)
        return first, second

    def acts(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        return self.attempt({"unlock": {"place": self.value(known)}})

    def include(self, known: tuple[str, ...], depth: int) -> dict[str, Any]:
        random, name = self.random, f"t{len(self.texts)}{depth}{self.random.randint(0, 10**6)}"
        roles = {each: random.choice(("in", "out", "own", "own")) for each in NAMES}
        autoremap = random.random() < 0.3
        if autoremap:
            roles = {each: role for each, role in roles.items() if random.random() < 0.5}
        if sum(role == "in" for role in roles.values()) > 2:
            roles = dict.fromkeys(roles, "own")
        port = {"type": "string", "default": "porch"}
        head: dict[str, Any] = {
            key: {each: port for each, role in roles.items() if role == kind}
            for key, kind in (("inputs", "in"), ("outputs", "out"), ("blackboard", "own"))
        }
        given: dict[str, str] = {}
        for each, role in roles.items():
            if role == "in" and random.random() < 0.8:
                given[each] = self.value(known)
            elif role == "out" and random.random() < 0.8:
                given[each] = f"{{{random.choice(self.writable)}}}"
        self.write(name, {key: of for key, of in head.items() if of}, NAMES, depth + 1)
        return {"tree": {"file": name, "with": given, **({"autoremap": True} if autoremap else {})}}


def hijacked(question: Question) -> str:
    """Answers what a prompt from outside wants: its mark goes on."""
    wanted = question.prompt.rsplit("\n\n", 1)[-1] if "\n\n" in question.prompt else question.prompt
    if question.kind == "choose":
        return question.options[0]
    return f" {MARK}" if MARK in wanted else " hall"


def play(trees: Trees, folder: Path) -> Played | None:
    """Plays a project, with two writes of a program; None when it does not load."""
    for name, text in trees.texts.items():
        (folder / f"{name}.yaml").write_text(text)
    started.clear()
    mail[0] = trees.text
    refused: list[str] = []
    try:
        tree = bt.load(folder / "root.yaml", skills=[unlock, read, echo])
    except bt.Faults as faults:
        if {each.code for each in faults.diagnostics if each.severity == "error"} == {"BT072"}:
            return None
        raise
    with bt.Run(tree, model=ScriptedModel(hijacked)) as run:
        run.listen(lambda event: refused.append(event.text), Line)
        run.spin(ticks=60)
    return Played([*started], [each for each in refused if "policy does not allow" in each])


def projects(first: int, count: int, marked: bool = True) -> Iterator[Trees]:
    yield from (Trees(seed, marked) for seed in range(first, first + count))
