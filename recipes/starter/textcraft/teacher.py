"""The teacher of TextCraft: what a small model can follow by one look at a time.

Every answer stands almost word for word in what was told. A recipe is copied from the list; each of its ingredients is
judged where its name has just been written; an act takes the next name of the last thought; what is done several
times is counted aloud. What a part needs it makes for itself, whatever lies in the bag, so nothing has to be kept in
mind; only a part that says `using` finishes with what the parts before it have made.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from bt_envs.textcraft.recipes import Ingredient, counted
from bt_runtime.agents.story import ACT, EXPAND, THINK, StoryStep
from bt_runtime.language.faults.diagnostic import BtError
from recipes.starter.reflection import LESSON, REFLECTS
from recipes.starter.seen import Role, Seen, role
from recipes.starter.steps import written
from recipes.starter.textcraft.recipe_plan import Need, Work, survey, work_for
from recipes.starter.textcraft.scene import Scene, Wanted, read_bag, read_goal, read_scene


class Looked(Exception):
    """No error: it interrupts a program that has to take stock."""

    def __init__(self, bag: dict[str, int]) -> None:
        super().__init__()
        self.bag = bag


Program = Generator[str, StoryStep, None]


def teacher(seen: Seen, sentences: Sequence[str]) -> str:
    """The next line of an agent, or the whole answer of a planner, or of whoever reflects."""
    if REFLECTS in seen.system:
        wanted = read_goal(seen.goal)
        return f"{LESSON} Still to do: {wanted.amount} {wanted.item}.\n"
    who, scene = _role(seen.system), read_scene(seen.opening)
    if who == "planner":
        return _plan(scene, seen.goal)
    line = _replayed(_program(scene, seen.goal, who), seen.steps, scene, who)
    if not line.startswith(ACT):
        return line
    return f"{ACT} {_possible(line.removeprefix(ACT).strip(), sentences, seen.steps, scene)}"


def _last(wanted: Wanted, work: Work) -> str:
    """The part that finishes. One that is a last part itself has to be said otherwise than before."""
    return work.last() if not wanted.needs else f"complete {wanted.amount} {wanted.item}"


def _plan(scene: Scene, goal: str) -> str:
    wanted = read_goal(goal)
    work = work_for(scene, wanted)
    if work is None:
        return f" No recipe makes {wanted.item}.\nStep 1: get {wanted.amount} {wanted.item}"
    return written(work.thought(), work.parts(_last(wanted, work)))


# What an agent does, line after line ----------------------------------------------------------------------


def _program(scene: Scene, goal: str, role: Role) -> Program:
    wanted = read_goal(goal)
    work = work_for(scene, wanted)
    if wanted.verb == "get" and not scene.crafted(wanted.item):
        yield from _steady(f"{ACT} get {wanted.amount} {wanted.item}")
    elif work is None:
        yield from _steady(f"{THINK} No recipe makes {wanted.item}.")
        yield from _steady(f"{ACT} failure")
    else:
        yield from _make(scene, work, role, _last(wanted, work))
    yield from _steady(f"{ACT} done")


def _steady(line: str) -> Program:
    """A line that a look into the bag does not change."""
    while True:
        try:
            yield line
        except Looked:
            continue
        return


def _make(scene: Scene, work: Work, role: Role, last: str) -> Program:
    """Follows a recipe; starts again from what is there when the bag has been looked into."""
    made = 0
    while made < work.wanted:
        try:
            yield f"{THINK} {work.thought()}"
            if role in ("executor", "reactree") and any(need.verdict == "craft" for need in work.needs):
                if role == "executor":
                    yield from _begun(work)
                yield _handed_on(work, role, last)
            for number, need in enumerate((need for need in work.needs if need.verdict == "craft"), 1):
                yield from _inner(scene, need, role)
                yield f"{THINK} {work.rest(number)}"
            while made < work.wanted:
                taken: dict[str, str] = {}
                for need in work.needs:
                    if need.verdict == "get":
                        taken[need.name] = yield from _get(need)
                yield f"{ACT} {work.recipe.command({n.name: n.item for n in work.needs} | taken)}"
                made += work.recipe.makes
                if work.wanted > 1:
                    yield f"{THINK} Made {made} of {work.wanted}."
        except Looked as looked:
            work = survey(scene, work.name, work.recipe, work.wanted - made, looked.bag)
            made = 0


def _inner(scene: Scene, need: Need, role: Role) -> Program:
    work = work_for(scene, Wanted("craft", need.amount, need.name, ()))
    if work is not None:
        yield from _make(scene, work, role, "")


def _begun(work: Work) -> Program:
    """The first ingredient that can be fetched: who finishes will have it."""
    for need in work.needs:
        if need.verdict == "get":
            yield from _get(need)
            return


def _handed_on(work: Work, role: Role, last: str) -> str:
    if role == "executor":
        return f"{ACT} failure"
    return "\n".join([EXPAND, "sequence:", *(f"- {part}" for part in work.parts(last))])


def _get(need: Need) -> Generator[str, StoryStep, str]:
    """Gives the item that came: for a kind, one of it."""
    step = yield f"{ACT} get {need.amount} {need.name}"
    came = counted(step.text.removeprefix("get "))
    return came.item if came else need.name


def _replayed(program: Program, steps: Sequence[StoryStep], scene: Scene, role: Role) -> str:
    """Goes through what was done so far: what the program says goes on, what it does not say is passed over."""
    line, shaken = next(program), False
    named = {need.item for recipe in scene.recipes for need in recipe.needs} | scene.products
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
        line = program.send(StoryStep("think", ""))
    return line


def _same(line: str, step: StoryStep, named: set[str]) -> bool:
    """Is this step what the line says? For a kind any of its items will do: one that no recipe names. A thought in the
    place of another is not argued with: what is done next is what matters."""
    if step.move == "think":
        return line.startswith(THINK)
    if step.move == "expand":
        return line.startswith(EXPAND) and not step.observation  # one that was refused is made anew
    said = f"{ACT} {step.text}"
    if step.text.startswith("craft "):  # whatever stands for a kind
        return said.partition(" using ")[0] == line.partition(" using ")[0]
    if said == line or not step.text.startswith("get "):
        return said == line
    wanted, came = counted(line.removeprefix(f"{ACT} get ")), counted(step.text.removeprefix("get "))
    return wanted is not None and came is not None and wanted.amount == came.amount and came.item not in named


def _possible(act: str, sentences: Sequence[str], steps: Sequence[StoryStep], scene: Scene) -> str:
    """The act itself; for a kind one of its items; otherwise a look into the bag, and at last failure."""
    if act in sentences:
        return act
    if act.startswith("get "):
        asked = counted(act.removeprefix("get ")) or Ingredient(1, "")
        named = {n.item for r in scene.recipes for n in r.needs}
        offered = [n for s in sentences if s.startswith("get ") and (n := counted(s.removeprefix("get ")))]
        fitting = [n for n in offered if n.amount == asked.amount and n.item not in named]
        if fitting:
            return f"get {asked.amount} {max(fitting, key=lambda n: _alike(n.item, asked.item)).item}"
    if act.startswith("craft "):
        product = f"{act.partition(' using ')[0]} using "
        if alike := [s for s in sentences if s.startswith(product)]:
            return alike[0]
    looks = sum(step.text == "inventory" for step in steps)
    return "inventory" if looks < 3 else "failure"


def _alike(item: str, kind: str) -> int:
    """The length of the longest run of letters that both share."""
    runs = ((i, j) for i in range(len(item)) for j in range(i + 1, len(item) + 1))
    return max((j - i for i, j in runs if item[i:j] in kind), default=0)


def _role(system: str) -> Role:
    found = role(system)
    if found is None:
        raise BtError("this prompt is of no strategy that the teacher knows", "teach react, reactree, adapt, lota")
    return found
