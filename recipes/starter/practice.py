"""Practice: a model goes through tasks itself, and a teacher says at every step what it would have said.

Where the two agree the model's own way becomes a document; where they do not, the teacher's answer in the place where
the model had got to becomes one of its own. So a model learns in the situations that it brings about (DAgger).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bt_runtime.agents.story import ACT
from bt_runtime.distill.documents import Document
from bt_runtime.llm.front import Front, Mapped
from bt_runtime.run.run import Run, Tree
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Choice, Job, Json, Model, Question, Task, World, Writing
from recipes.starter.errand import Errand
from recipes.starter.judge import judged, judges
from recipes.starter.lesson import PLANNED, Taught, Teacher, Transcript, acted, sentences
from recipes.starter.seen import read


class Difference(NamedTuple):
    """One step at which the model and the teacher were not of one mind."""

    prompt: str
    said: str
    wanted: str


class Watched(Front):
    """A model with the teacher looking over its shoulder; answers are the model's."""

    def __init__(
        self, model: Model, teacher: Teacher, kind: str, told: Mapping[str, list[Errand]] | None = None
    ) -> None:
        super().__init__(model)
        self.told = told  # what an instruction means, for the judge
        self.teacher = teacher
        self.transcript = Transcript(kind)
        self.mended: list[Document] = []
        self.differences: list[Difference] = []
        self.decisions = 0
        self.kind = kind
        self._begun: dict[str, tuple[str, str]] = {}  # what is to be written on: prompt with opening → prompt, label

    def ask(self, question: Question) -> Job[Any]:
        job, prompt = self.model.ask(question), question.prompt
        if question.kind == "embed":
            return job
        if judges(prompt):
            return Mapped(job, lambda said: self._judged(prompt, said))
        if question.kind == "write":
            begun = self._begun.pop(prompt.removesuffix("\n"), None)
            return Mapped(job, lambda writing: self._wrote(prompt, begun, writing))
        label = self._label(question)
        return Mapped(job, lambda choice: self._chose(question, label, choice))

    def _judged(self, prompt: str, said: Any) -> Any:
        """Of a thought each part, and then the answer."""
        self._note(prompt, f" {said.text.strip()}\n", f" {judged(prompt, self.told)}\n")
        return said

    def _chose(self, question: Question, label: str, choice: Choice) -> Choice:
        asked = question.prompt
        if question.kind == "choose":
            self._note(asked.removesuffix(ACT), f"{ACT}{choice.text}\n", f"{label}\n")
        elif question.moves.get(choice.text) == ():
            self._begun[asked + choice.text] = (asked, label)
        else:
            self._note(asked, f"{choice.text}\n", f"{label}\n")
        return choice

    def _wrote(self, prompt: str, begun: tuple[str, str] | None, writing: Writing) -> Writing:
        if begun is not None:
            asked, label = begun
            opening = prompt[len(asked) :]
            text = writing.text.strip("\n") if opening.endswith("\n") else f" {' '.join(writing.text.split())}"
            self._note(asked, f"{opening}{text}\n", f"{label}\n")
        elif prompt.endswith(PLANNED):
            opening = next(o for o in PLANNED if prompt.endswith(o))
            label = self.teacher(read(prompt), ()).removeprefix(opening)
            self._note(prompt, writing.text, label)
        return writing

    def _label(self, question: Question) -> str:
        return self.teacher(read(question.prompt), sentences(question))

    def _note(self, prompt: str, said: str, wanted: str) -> None:
        self.decisions += 1
        same = said.rstrip("\n") == wanted.rstrip("\n")
        if not same:
            self.differences.append(Difference(prompt, said, wanted))
            span = (len(prompt), len(prompt) + len(wanted))
            self.mended.append(Document(f"{self.kind} mended", prompt + wanted, (span,)))
        self.transcript.note(prompt, said, same)


class Practised(NamedTuple):
    taught: Taught  # the model's own way, as far as the teacher would have gone it
    mended: list[Document]  # the teacher's answer, where it would not
    differences: list[Difference]


def practise(
    tree: Tree | str,
    world: World,
    task: Task,
    model: Model,
    teacher: Teacher,
    *,
    kind: str,
    recall: bool = True,
    decisions: float = 250,
    inputs: Mapping[str, Json] | None = None,
    memory: Any = None,
    prompts: str = "",
    told: Mapping[str, list[Errand]] | None = None,
) -> Practised:
    """One task by one strategy; the model decides."""
    world.reset(task)
    acting = acted(world)
    watched = Watched(model, teacher, kind, told)
    with Run(
        tree, inputs={"goal": task.goal, **(inputs or {})}, world=acting, task=task if acting else None, model=watched,
        recall=recall, budget=Budget(decisions=decisions), memory=memory, services={"prompts": prompts},
    ) as run:  # fmt: skip
        run.spin()
    taught = Taught(watched.transcript.documents(), world.verdict(), watched.decisions)
    return Practised(taught, watched.mended, watched.differences)
