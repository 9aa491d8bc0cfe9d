"""A lesson: a teacher goes through a task in the real runtime, and what it was asked and answered becomes documents.

So the prompts are those of run time, to the letter: they are made by the same trees, nodes and functions. A teacher is
a function of a prompt; it knows nothing that the prompt does not tell. At times it slips: an answer that is not its
own is given, and not learnt, so that the way back from it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bt_lab.distill.documents import Document
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.agents.story import ACT, EXPAND
from bt_runtime.agents.surroundings import DONE
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.clock import Manual
from bt_runtime.types import Json, Question, Task, Verdict, World
from recipes.starter.errand import Errand
from recipes.starter.judge import judged, judges
from recipes.starter.seen import Seen, read
from recipes.starter.steps import ORDER

# what a teacher is told besides the prompt: the sentences that can be chosen now
Teacher = Callable[[Seen, Sequence[str]], str]
PLANNED = ("Expand:\n", "# Think:", "Next time:")  # how the prompt of a plan node ends, and that of a reflection

_NEXT_PART = "Think: Part "  # of an agent that takes one part after the other
_MISPLANNED = 2.5  # as often as another slip: plans are few


class Taught(NamedTuple):
    documents: list[Document]
    verdict: Verdict
    decisions: int


class Transcript:
    """Grows documents out of prompts, each of which goes on from an earlier one of the same node, or begins anew."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.open: list[tuple[str, list[tuple[int, int]]]] = []

    def note(self, prompt: str, answer: str, learn: bool) -> None:
        spans: list[tuple[int, int]] = []
        for i, (text, own) in enumerate(self.open):
            if prompt.startswith(text):
                del self.open[i]
                spans = own
                break
        if learn:
            spans.append((len(prompt), len(prompt) + len(answer)))
        self.open.append((prompt + answer, spans))

    def documents(self) -> list[Document]:
        return [Document(self.kind, text, tuple(spans)) for text, spans in self.open if spans]


class Slips(NamedTuple):
    """How often an answer is replaced by one that was not thought through."""

    often: float  # of the decisions to act
    rng: Random
    gives_up: float = 0.0  # how often one is a failure that need not be
    early: float = 0.0  # of the decisions to act, and of the plans of several parts: `done` too soon, a part left out
    astray: Teacher | None = None  # what is done when it slips; anything at all where nobody says


def teach(
    tree: Tree | str,
    world: World,
    task: Task,
    teacher: Teacher,
    *,
    kind: str = "",
    slips: Slips | None = None,
    recall: bool = True,
    decisions: float = 400,
    inputs: Mapping[str, Json] | None = None,
    memory: Any = None,
    prompts: str = "",
    told: Mapping[str, list[Errand]] | None = None,
) -> Taught:
    """One task by one strategy, from the start of the task to the end of the tree or of the budget."""
    world.reset(task)
    transcript = Transcript(kind or f"{task.kind}")
    count, looked = 0, False

    def judging(ask: Question) -> str:
        """After the first look at what was done there are no slips: the way to what is missing is to be seen."""
        nonlocal looked
        looked, answer = True, f" {judged(ask.prompt, told)}"
        transcript.note(ask.prompt, f"{answer}\n", True)
        return answer

    def script(ask: Question) -> str:
        nonlocal count
        count += 1
        prompt = ask.prompt
        if judges(prompt):
            return judging(ask)
        choosable = sentences(ask)
        said = teacher(read(prompt), choosable)
        planned = misplanned(said, prompt, slips)
        if ask.kind == "write":
            opening = next(o for o in PLANNED if prompt.endswith(o))
            answer = planned.removeprefix(opening)
            transcript.note(prompt, answer, planned == said)
            return answer
        slipped = slip(said, choosable, None if looked else slips, prompt) if planned == said else planned
        whole = f"{slipped}\n"
        asked = prompt.removesuffix(ACT)  # a node that can only act is asked for its sentence at once
        transcript.note(asked, whole, slipped == said)
        return slipped

    given: dict[str, Json] = {"goal": task.goal, **(inputs or {})}
    acting = acted(world)
    with Run(
        tree if isinstance(tree, Tree) else load(tree),
        inputs=given, world=acting, task=task if acting else None, model=ScriptedModel(script), recall=recall,
        clock=Manual(), budget=Budget(decisions=decisions), memory=memory, services={"prompts": prompts},
    ) as run:  # fmt: skip
        for _ in range(100_000):
            if not run.tick().running:
                break
        return Taught(transcript.documents(), world.verdict(), count)


def acted(world: World) -> World | None:
    """What only judges is not acted in."""
    return None if getattr(world, "judges", False) else world


def sentences(ask: Question) -> list[str]:
    """What can be acted now."""
    return [option.strip() for option in ask.options or ask.moves.get(ACT, ())]


def misplanned(said: str, prompt: str, slips: Slips | None) -> str:
    """At times a plan that is refused stands in the place of the teacher's: it looks for a thing in all places
    instead of in one after another, names a part twice, or is the goal itself. Once for a goal."""
    expands, steps = said.startswith(EXPAND), ORDER in said
    if slips is None or not (expands or steps) or slips.rng.random() >= _MISPLANNED * slips.often:
        return said
    goal = read(prompt).goal
    if "This plan cannot be used" in prompt.rpartition("Your task is to:")[2] or not goal or not goal.isprintable():
        return said
    if steps:
        return f" {goal}.\nStep 1: {goal}\n{ORDER} (Step 1)"
    if "\nfallback:" in said:
        return said.replace("\nfallback:", "\nsequence:")
    last = said.rpartition("\n")[2]
    return f"{said}\n{slips.rng.choice((last, last, f'- {goal}'))}"


def slip(said: str, sentences: Sequence[str], slips: Slips | None, prompt: str = "") -> str:
    if slips is None:
        return said
    if slips.gives_up:  # rather when something was found: there is more to be learnt from it
        holds = any(sentence.startswith("put down ") for sentence in sentences)
        if slips.rng.random() < slips.gives_up * (2 if holds else 0.3):
            return f"{ACT} failure"
    if slips.early and slips.rng.random() < slips.early * _ends_early(said):
        if said.startswith(EXPAND):
            return _shortened(said, slips.rng)
        return f"{ACT} {DONE}" if DONE in sentences else said
    if said.startswith(EXPAND) or slips.rng.random() >= slips.often:
        return said
    if slips.astray is not None:
        return slips.astray(read(prompt), sentences)
    others = [s for s in sentences if s not in ("done", "failure") and not s.startswith("recall ")]
    return f"{ACT} {slips.rng.choice(others)}" if others else said


def _ends_early(said: str) -> int:
    """How much likelier than at an act it is that what this begins is left out."""
    if said.startswith(_NEXT_PART):
        return 1 if said.startswith(f"{_NEXT_PART}1:") else 12
    return 4 if said.startswith(EXPAND) else said.startswith(ACT)


def _shortened(plan: str, rng: Random) -> str:
    """One part of three or more is forgotten."""
    lines = plan.split("\n")
    return "\n".join([*lines[:2], *_but_one(lines[2:], rng)]) if len(lines) > 4 and "fallback" not in plan else plan


def _but_one(parts: Sequence[str], rng: Random) -> list[str]:
    gone = rng.randrange(len(parts))
    return [part for at, part in enumerate(parts) if at != gone]
