"""A made-up home in the sentences of skills/alfworld.yaml, and an agent without parts that knows where things are."""

from __future__ import annotations

from random import Random

from bt_runtime.agents.compile.trace import Act, Life, Trace
from bt_runtime.types import Observation, Task, Verdict

THINGS = ("apple", "egg", "mug", "cup")
PLACES = ("shelf 1", "shelf 2", "drawer 1", "drawer 2", "table 1", "bench 1", "fridge 1", "microwave 1", "sink 1")
CLOSED = ("drawer 1", "drawer 2", "fridge 1")
TARGETS = ("table", "bench", "fridge", "drawer")
WITH = {"heat": "microwave 1", "cool": "fridge 1", "clean": "sink 1"}
GOALS = {
    "put": ("put a {thing} in {place}", "put some {thing} on {place}"),
    "two": ("put two {thing} in {place}", "find two {thing} and put them in {place}"),
    "heat": ("put a hot {thing} in {place}", "heat some {thing} and put it in {place}"),
    "cool": ("put a cool {thing} in {place}", "cool some {thing} and put it in {place}"),
    "clean": ("put a clean {thing} in {place}", "clean some {thing} and put it in {place}"),
}
SOLO = 'version: 1\ntree: solo\nskills: [alfworld]\nroot:\n  agent: {goal: "{goal}", moves: [think, act]}\n'


def task(kind: str, seed: int) -> Task:
    rng = Random(f"{kind} {seed}")
    thing, place = rng.choice(THINGS), rng.choice(TARGETS)
    free = [each for each in PLACES[:7] if not each.startswith(place)]
    where = {f"{each} {number}": rng.choice(free) for each in THINGS for number in (1, 2)}
    goal = rng.choice(GOALS[kind]).format(thing=thing, place=place)
    return Task(f"{kind}-{seed}", kind, goal, {"thing": thing, "place": place, "where": dict(where)})


class Home:
    """One hand; what is closed shows nothing; a thing is heated, cooled and cleaned in one place each."""

    instant = True

    def __init__(self, task: Task) -> None:
        self.task = task
        self.where: dict[str, str] = dict(task.data["where"])  # type: ignore[arg-type]
        self.closed, self.at, self.held = {*CLOSED}, "", ""
        self.done: set[tuple[str, str]] = set()

    def look(self) -> Observation:
        return Observation(f"You see {', '.join(PLACES)}.")

    def skills(self) -> list[str]:
        found = [f"go to {place}" for place in PLACES if place != self.at]
        found += [f"open {self.at}"] if self.at in self.closed else []
        if self.held:
            found += [f"put {self.held} in/on {self.at}"] if self.at and self.at not in self.closed else []
            return found + [f"{how} {self.held} with {at}" for how, at in WITH.items() if at == self.at]
        here = [] if self.at in self.closed else [each for each, place in self.where.items() if place == self.at]
        return found + [f"take {each} from {self.at}" for each in here]

    def act(self, sentence: str) -> Observation:
        if sentence not in self.skills():
            return Observation("Nothing happens.", False, "not now")
        word, *rest = sentence.split()
        thing = " ".join(rest[:2])
        if word == "go":
            self.at = " ".join(rest[1:])
        elif word == "open":
            self.closed.discard(self.at)
        elif word == "take":
            self.held, self.where[thing] = thing, ""
        elif word == "put":
            self.where[thing], self.held = self.at, ""
        else:
            self.done.add((word, thing))
        return Observation(f"Done: {sentence}.")

    def verdict(self) -> Verdict:
        thing, place = str(self.task.data["thing"]), str(self.task.data["place"])
        there = [each for each, at in self.where.items() if each.startswith(thing) and at.startswith(place)]
        fit = [each for each in there if self.task.kind in ("put", "two") or (self.task.kind, each) in self.done]
        return Verdict(int(len(fit) >= (2 if self.task.kind == "two" else 1)), 1)

    def close(self) -> None:
        """Nothing is open."""


def steps(world: Home, astray: int = 0) -> list[str]:
    """What an agent that knows the home does: it passes by what need not be done. `astray`: the shelf that it goes to
    before it goes to the goal's place, 0 for none."""
    todo = world.task
    thing, place = str(todo.data["thing"]), str(todo.data["place"])
    numbers = (1, 2) if todo.kind == "two" else (1,)
    made: list[str] = []
    for number in numbers:
        one, to = f"{thing} {number}", f"{place} 1"
        where = world.where[one]
        made += [f"go to {where}", f"open {where}", f"take {one} from {where}"]
        if todo.kind in WITH:
            made += [f"go to {WITH[todo.kind]}", f"{todo.kind} {one} with {WITH[todo.kind]}"]
        made += [f"go to shelf {astray}"] if astray else []
        made += [f"go to {to}", f"open {to}", f"put {one} in/on {to}"]
    return made


def trace(kind: str, seed: int, astray: int = 0) -> Trace:
    """A run of that agent."""
    world = Home(task(kind, seed))
    acts: list[Act | None] = []
    heard = ""
    for said in steps(world, astray):
        offered = tuple(world.skills())
        if said in offered:
            answer = world.act(said).text
            acts.append(Act(said, answer, True, offered, heard))
            heard = answer
    assert world.verdict().reached
    life = Life("/", world.task.goal, [each for each in acts if each is not None], "done")
    return Trace(world.task.id, world.task.id, kind, life.goal, True, "solo", 0, [life], SOLO, skills=("alfworld",))
