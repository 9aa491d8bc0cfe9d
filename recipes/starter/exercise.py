"""An exercise: one task by one strategy, which a teacher can show (a lesson) and a model can try (practice)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from bt_lab.distill.documents import Document
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Json, Model, Task, World
from recipes.starter.errand import Errand
from recipes.starter.lesson import Slips, Taught, Teacher, teach
from recipes.starter.practice import Practised, practise

_SHOWN, _MENDED = 3, 12  # documents of a task that was practised: of the way itself, and of what was mended


class Exercise(NamedTuple):
    kind: str  # of its documents
    tree: Tree
    world: World
    task: Task
    teacher: Teacher
    slips: Slips | None = None
    recall: bool = True
    decisions: int = 400
    inputs: Mapping[str, Json] = {}
    memory: Any = None  # whose experiences agents are shown
    told: Mapping[str, list[Errand]] | None = None  # what the instruction means, for whoever judges
    prompts: str = ""  # the register; the starter's own where none is named
    sieve: Callable[[Document], Sequence[Document]] | None = None  # what is to be learnt of a document
    corrects: bool = False  # who practises is set right at once, and goes on from there

    def taught(self) -> Taught:
        """The teacher goes."""
        taught = teach(
            self.tree, self.world, self.task, self.teacher, kind=self.kind, slips=self.slips, recall=self.recall,
            decisions=self.decisions, inputs=self.inputs, memory=self.memory, prompts=self.prompts,
            told=self.told,
        )  # fmt: skip
        return taught._replace(documents=self._sifted(taught.documents))

    def practised(self, model: Model) -> Practised:
        """The model goes; it may take no longer than an agent that is evaluated."""
        tried = practise(
            self.tree, self.world, self.task, model, self.teacher, kind=self.kind, recall=self.recall,
            decisions=min(150, self.decisions), inputs=self.inputs, memory=self.memory, prompts=self.prompts,
            told=self.told, corrects=self.corrects,
        )  # fmt: skip
        own = tried.taught._replace(documents=self._sifted(tried.taught.documents))
        return tried._replace(taught=own, mended=self._sifted(tried.mended))

    def _sifted(self, documents: list[Document]) -> list[Document]:
        return [each for document in documents for each in self.sieve(document)] if self.sieve else documents


@lru_cache
def strategy(name: str) -> Tree:
    """A strategy as it comes along, loaded once."""
    return load(name)


def worth(practised: Practised, rng: Random) -> list[Document]:
    """Of an exercise that was tried: some of the way, and more of what has to be learnt. One in which there was
    nothing to correct is known already."""
    if not practised.mended:
        return []
    return [*some(practised.taught.documents, _SHOWN, rng), *some(practised.mended, _MENDED, rng)]


def some(documents: Sequence[Document], most: int, rng: Random) -> list[Document]:
    """At most so many, in their order."""
    return [documents[i] for i in sorted(rng.sample(range(len(documents)), min(most, len(documents))))]


def solved(exercises: Iterable[tuple[Exercise, Random]], most: int) -> Iterator[Taught]:
    """Those that came out well, each with at most so many documents."""
    for exercise, rng in exercises:
        taught = exercise.taught()
        if taught.verdict.reached:
            yield taught._replace(documents=some(taught.documents, most, rng))
