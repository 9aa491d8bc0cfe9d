"""Practice: a model goes through tasks itself, and a teacher says at every step what it would have said.

Where the two agree the model's own way becomes a document; where they do not, the teacher's answer in the place where
the model had got to becomes one of its own. So a model learns in the situations that it brings about (DAgger). Where
one wrong answer spoils all that follows, the teacher's can be taken in its place: then every task shows all that the
model would get wrong on the right way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bt_lab.distill.documents import Document
from bt_runtime.agents.story import ACT
from bt_runtime.llm.model_wrapper import MappedJob, WrappedModel
from bt_runtime.run.run import Run, Tree, load
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


class Watched(WrappedModel):
    """A model with the teacher looking over its shoulder; answers are the model's, unless it is corrected."""

    def __init__(
        self,
        model: Model,
        teacher: Teacher,
        kind: str,
        told: Mapping[str, list[Errand]] | None = None,
        corrects: bool = False,
    ) -> None:
        super().__init__(model)
        self.corrects = corrects  # the teacher's answer is taken where the model's is another
        self.told = told  # what an instruction means, for the judge
        self.teacher = teacher
        self.transcript = Transcript(kind)
        self.mended: list[Document] = []
        self.differences: list[Difference] = []
        self.decisions = 0
        self.kind = kind
        self._begun: dict[str, tuple[str, str]] = {}  # what is to be written on: prompt with opening → prompt, label
        self._told: dict[str, str] = {}  # what is to be written there in place of the model's

    def ask(self, question: Question) -> Job[Any]:
        job, prompt = self.model.ask(question), question.prompt
        if question.kind == "embed":
            return job
        if judges(prompt):
            return MappedJob(job, lambda said: self._judged(prompt, said))
        if question.kind == "write":
            begun = self._begun.pop(prompt.removesuffix("\n"), None)
            told = self._told.pop(prompt.removesuffix("\n"), "")
            if told:
                return MappedJob(job, lambda writing: writing._replace(text=told, ended="stop"))
            return MappedJob(job, lambda writing: self._wrote(prompt, begun, writing))
        label = self._label(question)
        return MappedJob(job, lambda choice: self._chose(question, label, choice))

    def _judged(self, prompt: str, said: Any) -> Any:
        """Of a thought each part, and then the answer."""
        self._note(prompt, f" {said.text.strip()}\n", f" {judged(prompt, self.told)}\n")
        return said

    def _chose(self, question: Question, label: str, choice: Choice) -> Choice:
        asked = question.prompt
        if question.kind == "choose":
            self._note(asked.removesuffix(ACT), f"{ACT}{choice.text}\n", f"{label}\n")
            return self._corrected(question, label.removeprefix(ACT).strip(), choice)
        if question.moves.get(choice.text) == () and not (self.corrects and not label.startswith(choice.text.strip())):
            self._begun[asked + choice.text] = (asked, label)
            return choice
        if _begins(choice.text, label):
            self._begun[asked + choice.text.rstrip()] = (asked, label)
            return choice
        self._note(asked, f"{choice.text}\n", f"{label}\n")
        return self._corrected(question, label, choice)

    def _corrected(self, question: Question, label: str, choice: Choice) -> Choice:
        """The teacher's choice, if it can be made; what has to be written for it is told then."""
        if not self.corrects or choice.text.strip() == label:
            return choice
        for index, text in enumerate(question.alternatives):
            if question.moves.get(text) == () and label.startswith(text.strip()):
                self._told[question.prompt + text.rstrip("\n")] = label.removeprefix(text.strip()).lstrip("\n")
                return choice._replace(text=text, index=index)
            if _begins(text, label):
                self._told[question.prompt + text.rstrip()] = label.removeprefix(text.rstrip())
                return choice._replace(text=text, index=index)
            if text.strip() == label:
                return choice._replace(text=text, index=index)
        return choice

    def _wrote(self, prompt: str, begun: tuple[str, str] | None, writing: Writing) -> Writing:
        if begun is not None:
            asked, label = begun
            opening = prompt[len(asked) :]
            joined = "" if label.startswith(opening) and label[len(opening) :][:1] != " " else " "
            text = writing.text.strip("\n") if opening.endswith("\n") else f"{joined}{' '.join(writing.text.split())}"
            self._note(asked, f"{opening}{text}\n", f"{label}\n")
            told = label.removeprefix(opening)
        elif prompt.endswith(PLANNED):
            opening = next(o for o in PLANNED if prompt.endswith(o))
            told = self.teacher(read(prompt), ()).removeprefix(opening)
            self._note(prompt, writing.text, told)
        else:
            return writing
        return writing._replace(text=told, ended="stop") if self.corrects else writing

    def _label(self, question: Question) -> str:
        return self.teacher(read(question.prompt), sentences(question))

    def _note(self, prompt: str, said: str, wanted: str) -> None:
        self.decisions += 1
        same = said.rstrip("\n") == wanted.rstrip("\n")
        if not same:
            self.differences.append(Difference(prompt, said, wanted))
            span = (len(prompt), len(prompt) + len(wanted))
            self.mended.append(Document(f"{self.kind} mended", prompt + wanted, (span,)))
        self.transcript.note(prompt, wanted if self.corrects else said, same)


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
    corrects: bool = False,
) -> Practised:
    """One task by one strategy; the model decides, or the teacher in its place where it would decide otherwise."""
    world.reset(task)
    acting = acted(world)
    watched = Watched(model, teacher, kind, told, corrects)
    with Run(
        tree if isinstance(tree, Tree) else load(tree),
        inputs={"goal": task.goal, **(inputs or {})}, world=acting, task=task if acting else None, model=watched,
        recall=recall, budget=Budget(decisions=decisions), memory=memory, services={"prompts": prompts},
    ) as run:  # fmt: skip
        run.spin()
    taught = Taught(watched.transcript.documents(), world.verdict(), watched.decisions)
    return Practised(taught, watched.mended, watched.differences)


def _begins(sentence: str, label: str) -> bool:
    """Is the rest of the sentence to be written, and does what the teacher says begin with it?"""
    return sentence.endswith(" ") and label.startswith(sentence.rstrip())
