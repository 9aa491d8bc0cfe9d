"""The teacher of questions that take two pages: what a small model can follow by one look at a time.

A thought says what the page told that was asked for, names the page to be searched next, and asks what it shall tell;
the last one says what follows from both. Whoever answers after somebody else goes on from the page that is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_envs.hotpotqa.wiki import Wiki
from bt_envs.hotpotqa.world import HotpotQA
from bt_lab.distill.documents import Document
from bt_runtime.agents.story import ACT, EXPAND, THINK, StoryStep
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Task, World
from recipes.starter.drills import Sheet
from recipes.starter.exercise import Exercise
from recipes.starter.hotpotqa.questions import Asked, Hop, Maker
from recipes.starter.lesson import Slips, Taught
from recipes.starter.policy import Policy, Thinks, played
from recipes.starter.seen import GOAL, Seen, role
from recipes.starter.steps import ORDER, written

_STRATEGIES = ("react",) * 8 + ("adapt",) * 6 + ("reactree",) * 3 + ("plan_and_execute",) * 3
_GIVES_UP = 0.4  # of ADaPT's lessons: it is planned after all
_SLIPPING, _SLIPS = 0.2, 0.2  # lessons with searches for another title, and how many of their acts
_SHEETS, _ON_SHEET = 0.5, 3  # of ReAct's lessons go on with other questions
_DRILLED, _YEARS = 0.3, 10  # lessons with a document of years alone, and how many pairs it has
_OPEN = re.compile(r"^The page (.+) is open\.$", re.MULTILINE)
_MISSING, _NO_ACT = "Could not find ", "Invalid action"
_SEARCH = re.compile(r"search\[(.+)\]")
FINISH = "finish with the answer"  # the last part of a plan: an agent is told the question as well


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many questions; the same numbers give the same lessons."""
    for made, rng in _exercises(seed, count, first, _STRATEGIES):
        taught = _taught(made)
        if taught.verdict.met < taught.verdict.total:
            continue
        documents = taught.documents
        if made.kind == "hotpotqa react" and rng.random() < _SHEETS:
            others = [_taught(_exercise(made.tree, "react", "t", rng)) for _ in range(1, _ON_SHEET)]
            documents = [joined([*documents, *(d for other in others for d in other.documents)])]
        yield taught._replace(documents=[*documents, years(rng)] if rng.random() < _DRILLED else documents)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """To be tried."""
    return _exercises(seed, count, first, ("react", "react", "react", "reactree"))


def _exercises(seed: int, count: int, first: int, strategies: Sequence[str]) -> Iterator[tuple[Exercise, Random]]:
    trees = {name: load(name) for name in dict.fromkeys(strategies)}
    for number in range(first, first + count):
        rng = Random(f"hotpotqa lesson {seed} {number}")
        name = rng.choice(strategies)
        yield _exercise(trees[name], name, f"questions-{seed}-{number}", rng), rng


def _exercise(tree: Tree, name: str, number: str, rng: Random) -> Exercise:
    made = Maker(rng)
    slips = Slips(_SLIPS, rng, astray=partial(astray, asked=made.asked, rng=rng)) if rng.random() < _SLIPPING else None
    gives_up = name == "adapt" and rng.random() < _GIVES_UP
    return exercise(tree, name, number, made.asked, Wiki.of(made.pages()), gives_up)._replace(slips=slips)


def _taught(made: Exercise) -> Taught:
    """Without an executor that only gives up."""
    taught = made.taught()
    return taught._replace(documents=[d for d in taught.documents if not d.text.endswith(f"{ACT} failure\n")])


def years(rng: Random) -> Document:
    """Which of two is first or last, again and again: it takes a look at four digits."""
    sheet, made = Sheet(), Maker(rng)
    for _ in range(_YEARS):
        asked = made.first(("founded",))
        judged = asked.judged.removeprefix(f"{asked.hops[1].told} {asked.hops[0].told}")
        sheet.say(f"Question: {asked.text}\n{THINK} {asked.judged.removesuffix(judged)}")
        sheet.answer(f"{judged} Finish with {asked.answer}.\n")
    return Document("hotpotqa years", sheet.text, tuple(sheet.learn))


def exercise(tree: Tree, name: str, number: str, asked: Asked, wiki: Wiki, gives_up: bool = False) -> Exercise:
    world: World = HotpotQA(lambda task: wiki)
    titles = [each.page for each in asked.hops]
    task = Task(number, "question", asked.text, {"question": asked.text, "answer": asked.answer, "titles": titles})
    return Exercise(f"hotpotqa {name}", tree, world, task, partial(teacher, asked=asked, gives_up=gives_up))


def joined(documents: Sequence[Document]) -> Document:
    """One after the other, under the system text of the first."""
    kind, text, learn = documents[0]
    for document in documents[1:]:
        cut = document.text.index(GOAL)
        learn += tuple((a - cut + len(text), b - cut + len(text)) for a, b in document.learn)
        text += document.text[cut:]
    return Document(kind, text, learn)


def astray(seen: Seen, sentences: Sequence[str], asked: Asked, rng: Random) -> str:
    """A title that is not the one: a letter or a word is missing. Only where something is searched."""
    said = teacher(seen, sentences, asked)
    title = _SEARCH.fullmatch(said.removeprefix(f"{ACT} "))
    if not title:
        return said
    at = rng.randrange(len(title[1]))
    lost = title[1][:at] + title[1][at + 1 :] if rng.random() < 0.6 else rng.choice(title[1].split())
    return f"{ACT} search[{lost.strip() or title[1]}]"


def teacher(seen: Seen, sentences: Sequence[str], asked: Asked, gives_up: bool = False) -> str:
    """The next line of an agent, or the whole answer of a planner."""
    if ORDER in seen.system:
        return written(f"First {asked.hops[0].find}.", _parts(asked))
    who = role(seen.system)
    whole = seen.goal == asked.text
    if whole and who == "reactree" and not (seen.steps and seen.steps[-1].observation):
        return "\n".join([EXPAND, "sequence:", *(f"- {part}" for part in _parts(asked))])
    if whole and who == "executor" and gives_up:
        return f"{ACT} failure"
    if "finish[" not in sentences:
        return f"{ACT} done"
    return Reader(seen, asked).answer()


def _parts(asked: Asked) -> list[str]:
    return [f"find {asked.hops[0].find}", FINISH]


class Reader(Thinks):
    """One agent, as its prompt tells of it."""

    def __init__(self, seen: Seen, asked: Asked) -> None:
        self.seen, self.asked = seen, asked
        self.step = StoryStep("think", "")
        found = _OPEN.search(seen.opening)
        self.open = found[1] if found else ""

    def answer(self) -> str:
        return played(self._policy(), self.seen.steps, self._note)[0]

    def _note(self, step: StoryStep) -> None:
        self.step = step
        searched = _SEARCH.fullmatch(step.text) if step.move == "act" else None
        if searched and not step.observation.startswith((_MISSING, _NO_ACT)):
            self.open = searched[1]

    def _policy(self) -> Policy:
        first, second = self.asked.hops
        finds = self.seen.goal == _parts(self.asked)[0]
        if not finds and self.asked.bridge and self.open == second.page:
            yield from self._read(_search(second), second)
        else:
            yield from self._read(_search(first), first)
            if finds and not self.asked.bridge:
                return True
            if finds:
                yield from self._read(f"{first.told} Search {second.page}.", second)
                return True
            yield from self._read(f"{first.told} {_search(second)}", second)
        yield from self._think(f"{self.asked.judged} Finish with {self.asked.answer}.")
        while True:
            yield f"{ACT} finish[{self.asked.answer}]"

    def _read(self, thought: str, hop: Hop) -> Policy:
        """Its page is open, and was shown."""
        yield from self._think(thought)
        self.open = ""
        while self.open != hop.page:
            yield f"{ACT} search[{hop.page}]"
        return True


def _search(hop: Hop) -> str:
    return f"Search {hop.page}: {hop.ask}"
