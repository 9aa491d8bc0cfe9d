"""Practice: a model goes through tasks itself, and a teacher says at every step what it would have said.

Where the two agree the model's own way becomes a document; where they do not, the teacher's answer in the place where
the model had got to becomes one of its own. So a model learns in the situations that it brings about (DAgger).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.agents.story import ACT
from bt_runtime.distill.documents import Document
from bt_runtime.run.run import Run, Tree
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Choice, Json, Model, Task, World, Writing
from recipes.starter.lesson import PLANNED, Taught, Teacher, Transcript
from recipes.starter.seen import read


class Difference(NamedTuple):
    """One step at which the model and the teacher were not of one mind."""

    prompt: str
    said: str
    wanted: str


class Watched:
    """A model with the teacher looking over its shoulder; answers are the model's."""

    def __init__(self, model: Model, teacher: Teacher, kind: str) -> None:
        self.model, self.teacher = model, teacher
        self.transcript = Transcript(kind)
        self.mended: list[Document] = []
        self.differences: list[Difference] = []
        self.decisions = 0
        self.kind = kind
        self._begun: dict[str, tuple[str, str]] = {}  # what is to be written on: prompt with opening → prompt, label

    @property
    def chat_template(self) -> str | None:
        return getattr(self.model, "chat_template", None)

    def choose(self, prompt: str, options: Sequence[str], **how: Any) -> Any:
        asked, label = prompt.removesuffix(ACT), self._label(prompt, options)
        return _Then(
            self.model.choose(prompt, options, **how), lambda c: self._note(asked, f"{ACT}{c.text}\n", f"{label}\n")
        )

    def decide(self, prompt: str, moves: Mapping[str, Sequence[str]], **how: Any) -> Any:
        label = self._label(prompt, moves.get(ACT, ()))

        def decided(choice: Choice) -> None:
            if moves.get(choice.text) == ():
                self._begun[prompt + choice.text] = (prompt, label)
            else:
                self._note(prompt, f"{choice.text}\n", f"{label}\n")

        return _Then(self.model.decide(prompt, moves, **how), decided)

    def write(self, prompt: str, **how: Any) -> Any:
        begun = self._begun.pop(prompt.removesuffix("\n"), None)

        def wrote(writing: Writing) -> None:
            if begun is not None:
                asked, label = begun
                opening = prompt[len(asked) :]
                text = writing.text.strip("\n") if opening.endswith("\n") else f" {' '.join(writing.text.split())}"
                self._note(asked, f"{opening}{text}\n", f"{label}\n")
            elif prompt.endswith(PLANNED):
                opening = next(o for o in PLANNED if prompt.endswith(o))
                label = self.teacher(read(prompt), ()).removeprefix(opening)
                self._note(prompt, writing.text, label)

        return _Then(self.model.write(prompt, **how), wrote)

    def _label(self, prompt: str, options: Sequence[str]) -> str:
        return self.teacher(read(prompt), [o.strip() for o in options])

    def _note(self, prompt: str, said: str, wanted: str) -> None:
        self.decisions += 1
        same = said.rstrip("\n") == wanted.rstrip("\n")
        if not same:
            self.differences.append(Difference(prompt, said, wanted))
            span = (len(prompt), len(prompt) + len(wanted))
            self.mended.append(Document(f"{self.kind} mended", prompt + wanted, (span,)))
        self.transcript.note(prompt, said, same)

    def count(self, text: str) -> int:
        return self.model.count(text)

    def embed(self, texts: Sequence[str]) -> Any:
        return self.model.embed(texts)

    def stats(self) -> Mapping[str, Json]:
        return self.model.stats()

    def close(self) -> None:
        """The model belongs to whoever opened it."""


class _Then:
    """A job whose answer is looked at when it comes."""

    def __init__(self, job: Any, look: Callable[[Any], None]) -> None:
        self.job, self.look = job, look

    def poll(self) -> Any:
        answer = self.job.poll()
        if answer is not None:
            self.look(answer)
        return answer

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)


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
) -> Practised:
    """One task by one strategy; the model decides."""
    world.reset(task)
    watched = Watched(model, teacher, kind)
    with Run(
        tree, inputs={"goal": task.goal, **(inputs or {})}, world=world, task=task, model=watched, recall=recall,
        budget=Budget(decisions=decisions),
    ) as run:  # fmt: skip
        run.spin()
    taught = Taught(watched.transcript.documents(), world.verdict(), watched.decisions)
    return Practised(taught, watched.mended, watched.differences)
