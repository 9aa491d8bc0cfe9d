"""Lists of what was done, made up for a judge to read: a judgement is learnt of few words, without the task before it.

Each part of a goal was brought, or left, or put down elsewhere, or is held still; half of the goals are met. What is
judged stands in the prompt of `verify`, as it does at run time, and the judge is the one of all other lessons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from bt_lab.distill.documents import Document
from bt_runtime.agents.prompt import Prompt, system_text
from bt_runtime.agents.story import THINK
from bt_runtime.skills.worlds.registry import open_world
from recipes.starter.errand import Errand, meant
from recipes.starter.house.hands import content
from recipes.starter.house.homes import make_lesson_task
from recipes.starter.judge import judgement

_ELSEWHERE = 3_000_000_000  # numbers of their tasks
_MET, _LACKS = 0.45, 0.45  # of the goals are met; of the parts of the others so many things are not there
_RUNS = 0.25  # of the tasks have something that is to be turned on
_ALONE = 0.4  # of the others that have one: only the start is missing; only the second of two
_LONG, _WHOLE, _SEARCH = 0.2, 0.65, 44  # lists of 60 to 110 acts; of these are met; places gone to for nothing
_LEFT = ("never", "never", "never", "held", "elsewhere", "taken back")  # what became of a thing that is not there
_BOTH, _MIXED, _STRANGE = 0.4, 0.15, 0.1  # two at a time; in another order than asked; something nobody asked for
_IDLE = ((0,), (0, 0, 1), (0, 1, 2, 4, 8))  # places that were gone to before each thing, for nothing
_MANY, _FEW = (3, 6), 0.3  # things at least, and at most; of others are taken
_ROOM = 0.25  # of the ways lead to another room


def judgements(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """So many, each of a task of its own; the same numbers give the same ones."""
    world = open_world("house")
    system = system_text("verify", {"think": True})
    for number in range(first, first + count):
        rng = Random(f"judged {seed} {number}")
        task, again = make_lesson_task(seed, _ELSEWHERE + number), 0
        runs = rng.random() < _RUNS
        while not _taken(meant(task)[task.goal], runs, rng):
            again += 1
            task = make_lesson_task(seed, _ELSEWHERE + again * _ELSEWHERE // 10 + number)
        world.reset(task)
        told = meant(task)
        done = "".join(f"- {line}\n" for line in List(told[task.goal], rng).lines)
        said = f"The goal: {task.goal}\nWhat was done, in this order:\n{done}{world.look().text}\n"
        yield judgement("house judged", Prompt(system, "", said, THINK).text(), told)


def _taken(errands: Sequence[Errand], runs: bool, rng: Random) -> bool:
    """Something to be turned on, where that is wanted; else rather several things than one, or two of a kind."""
    many, pairs = sum(errand.amount for errand in errands), any(errand.amount > 1 for errand in errands)
    if runs or not errands[-1].thing:
        return runs and not errands[-1].thing
    return (_MANY[0] <= many <= _MANY[1] and (pairs or rng.random() < 2 * _FEW)) or rng.random() < _FEW


class List:
    """What was done for a goal, one act a line."""

    def __init__(self, errands: Sequence[Errand], rng: Random) -> None:
        self.rng, self.known, self.lines = rng, content().catalogue, list[str]()
        self.place, self.way = errands[-1].place, errands[-1].way
        things = [errand.thing for errand in errands for _ in range(errand.amount) if errand.thing]
        runs, long = any(not errand.thing for errand in errands), rng.random() < _LONG
        each = _SEARCH // max(2, len(things))
        self.idle = (each // 3, each, 2 * each) if long else rng.choice(_IDLE)
        self.strays = _ROOM * 0.6 if long else 0.0
        fates, starts = self._fates(things, runs, rng.random() < (_WHOLE if long else _MET))
        self._brings(things, fates)
        if starts:
            self.lines += [f"close {self.place} 1: You close {self.place}."]
            self.lines += [f"turn on {self.place} 1: You turn on {self.place}."]

    def _fates(self, things: Sequence[str], runs: bool, met: bool) -> tuple[list[str], bool]:
        """What became of each, and whether it was started at the end."""
        rng, whole = self.rng, ["brought" for _ in things]
        if met:
            return whole, runs
        if runs and rng.random() < _ALONE:
            return whole, False
        seconds = [at for at, thing in enumerate(things) if thing in things[:at]]
        if seconds and rng.random() < _ALONE:
            whole[rng.choice(seconds)] = rng.choice(_LEFT)
            return whole, runs
        fates = ["brought" if rng.random() > _LACKS else rng.choice(_LEFT) for _ in things]
        starts = runs and rng.random() < 0.3  # it is left out most easily
        if starts == runs and set(fates) == {"brought"}:
            fates[rng.randrange(len(fates))] = rng.choice(_LEFT)
        return fates, starts

    def _brings(self, things: Sequence[str], fates: Sequence[str]) -> None:
        numbers = {thing: iter(self.rng.sample(range(1, 8), 7)) for thing in things}
        named = [(f"{thing} {next(numbers[thing])}", fate) for thing, fate in zip(things, fates, strict=True)]
        if self.rng.random() < _STRANGE:
            other = self.rng.choice([name for name in self.known.things if name not in things])
            named.insert(self.rng.randrange(len(named) + 1), (f"{other} {self.rng.randint(1, 3)}", "brought"))
        if self.rng.random() < _MIXED:
            self.rng.shuffle(named)
        two = self.rng.random() < _BOTH
        while named:
            load = [named.pop(0) for _ in range(min(len(named), 1 + two))]
            for name, fate in load:
                self._takes(name, fate)
            if any(fate in ("brought", "taken back") for _, fate in load):
                self._moves(_ROOM)
                self._goes(self.place, 1)
            for name, fate in load:
                self._puts(name, fate)

    def _takes(self, name: str, fate: str) -> None:
        kinds = [k for k in self.known.things[name.rpartition(" ")[0]].kept if k != self.place] or ["kitchen counter"]
        for _ in range(self.rng.choice(self.idle) + (fate != "never")):
            self._moves(self.strays)
            kind, number = self.rng.choice(kinds), self.rng.randint(1, 4)
            self._goes(kind, number)
            if self.known.furniture[kind].opens and self.rng.random() < 0.7:
                self.lines.append(f"open {kind} {number}: You open {kind}.")
        if fate != "never":
            self._picks(name)

    def _puts(self, name: str, fate: str) -> None:
        kind, way = self.place, self.way
        if fate == "elsewhere":
            kind, way = self.rng.choice([each for each in ("sofa", "desk", "kitchen counter") if each != kind]), "on"
            self._goes(kind, 1)
        if fate in ("brought", "elsewhere", "taken back"):
            self.lines.append(f"put down {name}: You put down {name.rpartition(' ')[0]} {way} {kind}.")
        if fate == "taken back":
            self._picks(name)

    def _moves(self, often: float) -> None:
        if often and self.rng.random() < often:
            room = self.rng.choice(("kitchen", "living room", "bedroom"))
            self.lines.append(f"go to {room} 1: You move to the {room} (1).")

    def _goes(self, kind: str, number: int) -> None:
        self.lines.append(f"go to {kind} {number}: You arrive at the {kind} ({number}).")

    def _picks(self, name: str) -> None:
        self.lines.append(f"pick up {name}: You pick up {name.rpartition(' ')[0]}.")
