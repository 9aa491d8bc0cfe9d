"""A lesson: a teacher goes through a task in the real runtime, and what it was asked and answered becomes documents.

So the prompts are those of run time, to the letter: they are made by the same trees, nodes and functions. A teacher is
a function of a prompt; it knows nothing that the prompt does not tell. At times it slips: an answer that is not its
own is given, and not learnt, so that the way back from it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.agents.story import ACT, EXPAND
from bt_runtime.distill.documents import Document
from bt_runtime.run.run import Run, Tree
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.clock import Manual
from bt_runtime.types import Json, Question, Task, Verdict, World
from recipes.starter.seen import Seen, read

# what a teacher is told besides the prompt: the sentences that can be chosen now
Teacher = Callable[[Seen, Sequence[str]], str]
PLANNED = ("Expand:\n", "# Think:")  # how the prompt of a plan node ends


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
) -> Taught:
    """One task by one strategy, from the start of the task to the end of the tree or of the budget."""
    world.reset(task)
    transcript = Transcript(kind or f"{task.kind}")
    count = 0

    def script(ask: Question) -> str:
        nonlocal count
        count += 1
        prompt = ask.prompt
        choosable = sentences(ask)
        said = teacher(read(prompt), choosable)
        if ask.kind == "write":
            opening = next(o for o in PLANNED if prompt.endswith(o))
            answer = said.removeprefix(opening)
            transcript.note(prompt, answer, True)
            return answer
        slipped = slip(said, choosable, slips)
        whole = f"{slipped}\n"
        asked = prompt.removesuffix(ACT)  # a node that can only act is asked for its sentence at once
        transcript.note(asked, whole, slipped == said)
        return slipped

    given: dict[str, Json] = {"goal": task.goal, **(inputs or {})}
    acting = None if getattr(world, "judges", False) else world  # what only judges is not acted in
    with Run(
        tree, inputs=given, world=acting, task=task if acting else None, model=ScriptedModel(script), recall=recall,
        clock=Manual(), budget=Budget(decisions=decisions),
    ) as run:  # fmt: skip
        for _ in range(100_000):
            if not run.tick().running:
                break
        return Taught(transcript.documents(), world.verdict(), count)


def sentences(ask: Question) -> list[str]:
    """What can be acted now."""
    return [option.strip() for option in ask.options or ask.moves.get(ACT, ())]


def slip(said: str, sentences: Sequence[str], slips: Slips | None) -> str:
    if slips is None or said.startswith(EXPAND) or slips.rng.random() >= slips.often:
        return said
    others = [s for s in sentences if s not in ("done", "failure") and not s.startswith("recall ")]
    return f"{ACT} {slips.rng.choice(others)}" if others else said
