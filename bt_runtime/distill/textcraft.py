"""The teacher of TextCraft: what a small model can follow by one look at a time.

Every answer stands almost word for word in what was told. A recipe is copied from the list; each of its ingredients is
judged where its name has just been written; an act takes the next name of the last thought; what is done several
times is counted aloud. What a part needs it makes for itself, whatever lies in the bag, so nothing has to be kept in
mind; only a part that says `using` finishes with what the parts before it have made.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from bt_runtime.agents.prompt import system_text
from bt_runtime.agents.story import ACT, EXPAND, THINK, Step
from bt_runtime.diagnose import BtError
from bt_runtime.distill.seen import Seen
from bt_runtime.envs.textcraft.recipes import Ingredient, Recipe, counted
from bt_runtime.envs.textcraft.world import MANY

Role = Literal["react", "acts", "executor", "reactree", "planner"]
Verdict = Literal["have", "get", "craft"]
_LINE = re.compile(r"^craft (\d+) (.+?) using (.+)$", re.MULTILINE)
_HELD = re.compile(r"\[([^\]]+)\] \((\d+)\)")
_GOAL = re.compile(r"(craft|complete|get) (?:(\d+) )?(.+?)(?: using (.+))?")


class Scene(NamedTuple):
    """What the first observation shows."""

    recipes: tuple[Recipe, ...]
    bag: dict[str, int]

    def crafted(self, name: str) -> bool:
        return any(recipe.item == name for recipe in self.recipes) or bool(self.member(name))

    def recipe(self, item: str) -> Recipe | None:
        """The first whose ingredients can all be fetched, else the first."""
        ways = [recipe for recipe in self.recipes if recipe.item == item]
        return min(ways, key=lambda way: any(self.crafted(need.item) for need in way.needs), default=None)

    def member(self, kind: str) -> str:
        """The item that is made for a kind: of those whose name says that they are of it, as a recipe is chosen."""
        akin = [r for r in self.recipes if _akin(r.item, kind) and kind not in (n.item for n in r.needs)]
        if len({r.item for r in akin}) < 2 or any(r.item == kind for r in self.recipes):
            return ""
        products = {r.item for r in self.recipes}
        return min(akin, key=lambda way: any(need.item in products for need in way.needs)).item

    def makes(self, wanted: Wanted) -> int:
        """By the recipe that the goal names: for a kind it may name one of it."""
        ways = [recipe for recipe in self.recipes if recipe.item == wanted.item]
        alike = [w for w in ways if [n.amount for n in w.needs] == [n.amount for n in wanted.needs]]
        exact = [w for w in alike if {n.item for n in w.needs} & {n.item for n in wanted.needs}]
        return (exact or alike or ways)[0].makes


class Need(NamedTuple):
    """One ingredient for all the times that a recipe is followed."""

    each: int
    amount: int
    name: str  # as the recipe has it
    item: str  # what is taken for it
    verdict: Verdict

    def written(self) -> str:
        taken = "" if self.item == self.name else f" = {self.item}"
        pieces = self.pieces()
        listed = f" {', '.join(map(str, pieces))}" if self.verdict == "get" and len(pieces) > 1 else ""
        return f"{self.amount} {self.name}{taken}: {self.verdict}{listed}."

    def pieces(self) -> list[int]:
        """The numbers in which it is fetched: a world offers multiples of what a recipe calls for, up to a bound."""
        most = max(self.each, MANY // self.each * self.each)
        return [most] * (self.amount // most) + ([self.amount % most] if self.amount % most else [])


class Work(NamedTuple):
    """A recipe to follow until there is as much as is wanted, and what its ingredients take."""

    recipe: Recipe
    wanted: int
    needs: tuple[Need, ...]

    @property
    def times(self) -> int:
        return -(-self.wanted // self.recipe.makes)

    def using(self) -> str:
        """What follows the product's name in the list: so it is copied from there, and then found what it makes."""
        return self.recipe.command().partition(" using ")[2]

    def thought(self) -> str:
        counts = f"Wants {self.wanted}, makes {self.recipe.makes}, times {self.times}."
        return f"{self.recipe.item} using {self.using()}. {counts} {_listed(self.needs)}"

    def rest(self, start: int) -> str:
        """Said when an ingredient has been made, and the next is due."""
        made = f"{self.needs[start - 1].amount} {self.needs[start - 1].item}: made."
        left = _listed(self.needs[start:]) or "nothing."
        return f"{made} {self.recipe.item} using {self.using()}. Times {self.times}. Left: {left}"

    def last(self) -> str:
        """The part that finishes with what the others have made: it names what it uses."""
        needs = ", ".join(f"{need.each} {need.item}" for need in self.needs)
        return f"craft {self.wanted} {self.recipe.item} using {needs}"

    def parts(self, last: str) -> list[str]:
        """Subgoals: what has itself to be crafted; where nothing has, what is fetched; and the last craft."""
        chosen = [n for n in self.needs if n.verdict == "craft"] or [n for n in self.needs if n.verdict == "get"]
        return [*(f"{need.verdict} {need.amount} {need.item}" for need in chosen), last]


def _listed(needs: Sequence[Need]) -> str:
    return " ".join(need.written() for need in needs)


class Looked(Exception):
    """No error: it interrupts a program that has to take stock."""

    def __init__(self, bag: dict[str, int]) -> None:
        super().__init__()
        self.bag = bag


Program = Generator[str, Step, None]


def teacher(seen: Seen, sentences: Sequence[str]) -> str:
    """The next line of an agent, or the whole answer of a planner."""
    role, scene = _role(seen.system), read_scene(seen.opening)
    if role == "planner":
        return _plan(scene, seen.goal)
    line = _replayed(_program(scene, seen.goal, role), seen.steps, scene, role)
    if not line.startswith(ACT):
        return line
    return f"{ACT} {_possible(line.removeprefix(ACT).strip(), sentences, seen.steps, scene)}"


def read_scene(opening: str) -> Scene:
    recipes = tuple(_recipe(*found) for found in _LINE.findall(opening))
    return Scene(recipes, read_bag(opening))


def read_bag(told: str) -> dict[str, int]:
    inventory = told.rpartition("Inventory:")[2]
    return {item: int(count) for item, count in _HELD.findall(inventory)}


def _recipe(makes: str, item: str, needs: str) -> Recipe:
    return Recipe(item, int(makes), _needs(needs))


def _needs(listed: str) -> tuple[Ingredient, ...]:
    return tuple(need for need in map(counted, listed.split(",")) if need is not None)


def _akin(item: str, kind: str) -> bool:
    """`oak planks` is one of `planks`, and `oak slab` of `wooden slabs`."""
    return item.endswith(f" {kind}") or (" " in item and f"{item.split()[-1]}s" == kind.split()[-1])


# What is wanted ------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    verb: str
    amount: int
    item: str
    needs: tuple[Ingredient, ...]  # that the goal itself names

    @property
    def finishes(self) -> bool:
        """Is it to be made of what is held?"""
        return self.verb == "complete" or bool(self.needs)


def read_goal(goal: str) -> Wanted:
    found = _GOAL.fullmatch(goal)
    if found is None:
        raise BtError(f"`{goal}` is no goal of TextCraft", "goals read: craft oak door; craft 4 stick; get 2 string")
    verb, amount, item, needs = found.groups()
    return Wanted(verb, int(amount or 1), item, _needs(needs or ""))


def survey(scene: Scene, recipe: Recipe, wanted: int, bag: dict[str, int]) -> Work:
    """What each ingredient takes; `bag` is what may be used up."""
    needs, times = [], -(-wanted // recipe.makes)
    for each, name in recipe.needs:
        item, amount = scene.member(name) or name, each * times
        verdict: Verdict = "have" if bag.get(item, 0) >= amount else "craft" if scene.crafted(item) else "get"
        needs.append(Need(each, amount, name, item, verdict))
    return Work(recipe, wanted, tuple(needs))


def _work(scene: Scene, wanted: Wanted) -> Work | None:
    recipe = scene.recipe(wanted.item)
    if recipe is None:
        return None
    if wanted.needs:
        recipe = recipe._replace(makes=scene.makes(wanted), needs=wanted.needs)
    return survey(scene, recipe, wanted.amount, scene.bag if wanted.finishes else {})


def _last(wanted: Wanted, work: Work) -> str:
    """The part that finishes. One that is a last part itself has to be said otherwise than before."""
    return work.last() if not wanted.needs else f"complete {wanted.amount} {wanted.item}"


def _plan(scene: Scene, goal: str) -> str:
    wanted = read_goal(goal)
    work = _work(scene, wanted)
    if work is None:
        return f" No recipe makes {wanted.item}.\nStep 1: get {wanted.amount} {wanted.item}"
    steps = work.parts(_last(wanted, work))
    lines = [f"Step {i}: {step}" for i, step in enumerate(steps, 1)]
    order = " AND ".join(f"Step {i}" for i in range(1, len(steps) + 1))
    return "\n".join([f" {work.thought()}", *lines, f"Execution Order: ({order})"])


# What an agent does, line after line ----------------------------------------------------------------------


def _program(scene: Scene, goal: str, role: Role) -> Program:
    wanted = read_goal(goal)
    work = _work(scene, wanted)
    if wanted.verb == "get" and not scene.crafted(wanted.item):
        yield from _get(Need(wanted.amount, wanted.amount, wanted.item, wanted.item, "get"))
    elif work is None:
        yield f"{THINK} No recipe makes {wanted.item}."
        yield f"{ACT} failure"
    else:
        yield from _make(scene, work, role, _last(wanted, work))
    yield f"{ACT} done"


def _make(scene: Scene, work: Work, role: Role, last: str) -> Program:
    """Follows a recipe; starts again from what is there when the bag has been looked into."""
    made = 0
    while made < work.times:
        try:
            yield f"{THINK} {work.thought()}"
            if role in ("executor", "reactree") and any(need.verdict == "craft" for need in work.needs):
                yield _handed_on(work, role, last)
            taken: dict[str, str] = {}
            for i, need in enumerate(work.needs, 1):
                if need.verdict == "get":
                    taken[need.name] = yield from _get(need)
                elif need.verdict == "craft":
                    yield from _inner(scene, need, role)
                    yield f"{THINK} {work.rest(i)}"
            while made < work.times:
                yield f"{ACT} {work.recipe.command({n.name: n.item for n in work.needs} | taken)}"
                made += 1
                if work.times > 1:
                    yield f"{THINK} Made {made} of {work.times}."
        except Looked as looked:
            work = survey(scene, work.recipe, (work.times - made) * work.recipe.makes, looked.bag)
            made = 0


def _inner(scene: Scene, need: Need, role: Role) -> Program:
    work = _work(scene, Wanted("craft", need.amount, need.item, ()))
    if work is not None:
        yield from _make(scene, work, role, "")


def _handed_on(work: Work, role: Role, last: str) -> str:
    if role == "executor":
        return f"{ACT} failure"
    return "\n".join([EXPAND, "sequence:", *(f"- {part}" for part in work.parts(last))])


def _get(need: Need) -> Generator[str, Step, str]:
    """Gives the item that came: for a kind, one of it."""
    item = need.item
    for piece in need.pieces():
        step = yield f"{ACT} get {piece} {need.item}"
        came = counted(step.text.removeprefix("get "))
        item = came.item if came else item
    return item


def _replayed(program: Program, steps: Sequence[Step], scene: Scene, role: Role) -> str:
    """Goes through what was done so far: what the program says goes on, what it does not say is passed over."""
    line, shaken = next(program), False
    named = {n.item for r in scene.recipes for n in r.needs} | {r.item for r in scene.recipes}
    for step in steps:
        line = _past_thoughts(program, line, role)
        if _same(line, step, named):
            line = program.send(step)
        elif step.move == "act" and step.text == "inventory":
            line, shaken = program.throw(Looked(read_bag(step.observation))), False
        elif step.move == "act" and step.text.startswith("craft "):
            shaken = True
    line = _past_thoughts(program, line, role)
    return f"{ACT} inventory" if shaken and role != "acts" else line


def _past_thoughts(program: Program, line: str, role: Role) -> str:
    while role == "acts" and line.startswith(THINK):
        line = program.send(Step("think", ""))
    return line


def _same(line: str, step: Step, named: set[str]) -> bool:
    """Is this step what the line says? For a kind any of its items will do: one that no recipe names."""
    if step.move == "expand":
        return line.startswith(EXPAND)
    said = f"{THINK if step.move == 'think' else ACT} {step.text}"
    if said == line or step.move != "act" or not step.text.startswith("get "):
        return said == line
    wanted, came = counted(line.removeprefix(f"{ACT} get ")), counted(step.text.removeprefix("get "))
    return wanted is not None and came is not None and wanted.amount == came.amount and came.item not in named


def _possible(act: str, sentences: Sequence[str], steps: Sequence[Step], scene: Scene) -> str:
    """The act itself; for a kind to be fetched one of its items; otherwise a look into the bag, and at last failure."""
    if act in sentences:
        return act
    if act.startswith("get "):
        asked = counted(act.removeprefix("get ")) or Ingredient(1, "")
        named = {n.item for r in scene.recipes for n in r.needs}
        offered = [n for s in sentences if s.startswith("get ") and (n := counted(s.removeprefix("get ")))]
        fitting = [n for n in offered if n.amount == asked.amount and n.item not in named]
        if fitting:
            return f"get {asked.amount} {max(fitting, key=lambda n: _alike(n.item, asked.item)).item}"
    looks = sum(step.text == "inventory" for step in steps)
    return "inventory" if looks < 3 else "failure"


def _alike(item: str, kind: str) -> int:
    """The length of the longest run of letters that both share."""
    runs = ((i, j) for i in range(len(item)) for j in range(i + 1, len(item) + 1))
    return max((j - i for i, j in runs if item[i:j] in kind), default=0)


@lru_cache(maxsize=1)
def _roles() -> dict[str, Role]:
    return {
        system_text("agent", {"moves": ["think", "act"]}).strip(): "react",
        system_text("agent", {"moves": ["act"]}).strip(): "acts",
        system_text("agent", {"moves": ["think", "act", "expand"]}).strip(): "reactree",
        system_text("executor", {"moves": ["think", "act"]}).strip(): "executor",
        system_text("plan_steps", {"moves": ["expand"]}).strip(): "planner",
    }


def _role(system: str) -> Role:
    role = _roles().get(system.strip())
    if role is None:
        raise BtError("this prompt is of no strategy that the teacher knows", "teach react, reactree, adapt, lota")
    return role
