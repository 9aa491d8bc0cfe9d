"""Plans by backchaining: which share of the oracle's tasks is planned, and reached when the tree is played."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice, product
from math import ceil
from typing import Any

from rows import Row

import bt_runtime as bt
from bt_runtime.backchain.planning import planned
from bt_runtime.backchain.search import NoPlan, TooLarge
from bt_runtime.backchain.step import Step
from bt_runtime.backchain.tree_text import Head
from bt_runtime.envs.registry import open_suite, open_world
from bt_runtime.tree.clock import Manual
from bt_runtime.types import Task

TASKS = 60
MEMBERS = 6  # of a kind of ingredient that are tried
TIMES = 40  # attempts of the whole: what a recipe uses up, no manifest tells
DENIED = {"turned on": "turned off", "turned off": "turned on", "closed": "open", "open": "closed"}
SWITCHED = {"turned on": "turn_on", "turned off": "turn_off", "closed": "close", "open": "open"}


class Known:
    """What a world lets be done, as steps by the fact that they bring."""

    needs = brings = ()

    def __init__(self, ways: Callable[[str], list[Step]]) -> None:
        self.types: dict[str, str] = {}
        self.ways = ways

    def bringing(self, fact: str, values: Any) -> Iterator[Step]:
        yield from self.ways(fact)


def rows() -> Iterator[Row]:
    for name, domain in (("textcraft", textcraft), ("house", house)):
        yield _share(name, domain)


def _share(name: str, domain: Callable[[Any, Task], tuple[list[str], Known, list[str]]]) -> Row:
    suite, world = open_suite(name), open_world(name)
    solved = found = reached = 0
    spent = []
    for task in suite.tasks(11, TASKS):
        world.reset(task)
        for sentence in suite.oracle(world, task):
            world.act(sentence)
        if not world.verdict().reached:
            continue
        solved += 1
        world.reset(task)
        goal, known, given = domain(world, task)
        begun = time.perf_counter()
        try:
            plan = planned(goal, [known], given, head=Head("plan", (name,), TIMES))  # type: ignore[list-item]
        except (NoPlan, TooLarge):
            continue
        finally:
            spent.append((time.perf_counter() - begun) * 1000)
        found += 1
        with bt.Run(bt.load(plan.text), world=world, task=task, clock=Manual()) as run:
            run.spin(ticks=3000)
        reached += world.verdict().reached
    figures = (
        f"planned {found} of {solved} that the oracle solves, reached {reached}; {statistics.median(spent):.1f} ms "
    )
    figures += f"a plan (median), {max(spent):.0f} ms at most"
    return Row(f"{name}: tasks reached by backchaining", figures, reached / solved if solved else None, "≥ 0.95")


def textcraft(world: Any, task: Task) -> tuple[list[str], Known, list[str]]:
    """The recipes of the task; the manifest's `craft` says nothing of ingredients."""
    book = world.book

    def ways(fact: str) -> list[Step]:
        count, _, item = fact.removesuffix(" in inventory").partition(" ")
        amount, made = int(count), []
        if book.fetchable(item):
            return [Step("get", (("count", amount), ("item", item)), (), (fact,))]
        for recipe in book.of.get(item, ()):
            times = ceil(amount / recipe.makes)
            pools = [book.members(need.item)[:MEMBERS] for need in recipe.needs]
            for chosen in islice(product(*pools), MEMBERS * 4):
                if len(set(chosen)) < len(chosen):
                    continue
                pairs = list(zip(recipe.needs, chosen, strict=True))
                params = (("count", recipe.makes), ("item", item),
                          ("ingredients", ", ".join(f"{need.amount} {each}" for need, each in pairs)))  # fmt: skip
                needs = tuple(f"{need.amount * times} {each} in inventory" for need, each in pairs)
                made.append(Step("craft", params, needs, (fact,), float(times), times))
        return made

    return [f"1 {task.data['goal']} in inventory"], Known(ways), []


def house(world: Any, task: Task) -> tuple[list[str], Known, list[str]]:
    """All places and things as they are, as the oracle that knows all has them; the first of each kind is taken."""
    home, state = world.house, world.state
    called = {number: name for name, number in home.index.items()}
    room = {number: name for name, number in home.room_of.items()}
    things = {state.name(i): place for i, place in enumerate(state.place) if place >= 0}

    def opened(place: int) -> tuple[str, ...]:
        return (f"{called[place]} is open",) if home.fixtures[place].furniture.opens else ()

    def one(skill: str, name: str, needs: tuple[str, ...], fact: str, cost: float, *denied: str) -> list[Step]:
        slot = "thing" if skill in ("pick_up", "put_down") else "place"
        return [Step(skill, ((slot, name),), needs, (fact, *denied), cost)]

    def ways(fact: str) -> list[Step]:
        verb, _, name = fact.partition(" ")
        if verb == "in" and name in home.room_of:
            return one("go_to", name, (), fact, 30, *(f"not in {other}" for other in home.room_of if other != name))
        if verb == "near" and name in home.index:
            return one("go_to", name, (f"in {room[home.fixtures[home.index[name]].room]}",), fact, 30)
        if verb == "holding" and name in things:
            place = things[name]
            return one("pick_up", name, ("hand free", f"near {called[place]}", *opened(place)), fact, 10)
        name, sign, what = fact.partition(" is ")
        if sign and name in home.index and what in SWITCHED:
            guarded = home.fixtures[home.index[name]].furniture.guarded
            first = {"turned on": "closed", "open": "turned off"}.get(what) if guarded else None
            needs = (f"near {name}", *((f"{name} is {first}",) if first else ()))
            return one(SWITCHED[what], name, needs, fact, 10, f"not {name} is {DENIED[what]}")
        for how in ("on", "in"):
            thing, sign, holder = fact.partition(f" {how} ")
            if sign and thing in things and holder in home.index:
                own = opened(home.index[holder]) if how == "in" else ()
                return one("put_down", thing, (f"holding {thing}", f"near {holder}", *own), fact, 10)
        return []

    goal: list[str] = []
    for wanted in world.goal:
        place = next((called[p] for p in home.of_class(wanted.place)), wanted.place)
        if wanted.relation in ("on", "in"):
            taken = [each.partition(f" {wanted.relation} ")[0] for each in goal]
            fitting = [n for n in things if wanted.thing in (n, n.rpartition(" ")[0]) and n not in taken]
            goal += [f"{name} {wanted.relation} {place}" for name in fitting[: wanted.amount]]
        else:
            goal.append(f"{place} is {wanted.relation}")
    facts = [f"{name} is {what}" for name in home.index for what in SWITCHED if world.holds(f"{name} is {what}")]
    facts += [f"in {name}" for name in home.room_of if world.holds(f"in {name}")]
    return goal, Known(ways), [*facts, "hand free"]
