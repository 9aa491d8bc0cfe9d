"""HotpotQA: search an encyclopedia, look words up on a page, finish with an answer.

Replies are worded as in ReAct's environment; `wording: autoplan` takes AutoPlan's for a title that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from bt_envs.hotpotqa.score import exact, f1
from bt_envs.hotpotqa.wiki import Page, Wiki
from bt_runtime.skills.worlds.text_world import TextWorld, one_of
from bt_runtime.types import Observation, Task, Verdict

Wording = Literal["react", "autoplan"]
SHOWN = 5  # sentences of a page that a search shows
OPENING = "Interact with Wikipedia using search[], lookup[], and finish[]."
_ACT = re.compile(r"\s*(search|lookup|finish|think)\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)
_FORMS = "the sentences are: search[a title], lookup[a word of the page], finish[the answer]"
_WORDINGS: Mapping[str, Callable[[str, list[str]], str]] = {
    "react": lambda entity, titles: f"Could not find {entity}. Similar: {titles}.",
    "autoplan": lambda entity, titles: (
        f'Could not find exact match of "{entity}". Available entities in the database: '
        + ", ".join(f'"{title}"' for title in titles)
        + ". The search API only returns the paragraph if the search query matches every character to an entity in the"
        " database."
    ),
}


class HotpotQA(TextWorld):
    called, name = "HotpotQA", "hotpotqa"
    label = "outside"  # anybody writes its paragraphs
    rules = (
        "- A search opens the page of exactly that title, or names titles that are alike.",
        "- Lookup goes through the sentences of the open page that have a word in them, one at a time.",
        "- Finish gives the answer, in a few words, yes or no, and ends the task: it can be given once.",
    )

    def __init__(self, wiki_of: Callable[[Task], Wiki], wording: str = "react") -> None:
        """Creates a world. `wiki_of` returns the encyclopedia of a task."""
        one_of(wording, get_args(Wording), "wording", "wordings")
        self._wiki_of, self._wording = wiki_of, wording
        self._wiki: Wiki | None = None
        self._page: Page | None = None
        self._named: tuple[str, ...] = ()  # titles that the last search gave instead of a page
        self._sought, self._next = "", 0
        self._hits: list[str] = []
        self._answer: str | None = None

    def begin(self, task: Task) -> Observation:
        """Begins a task. `task.data`: question, answer, titles of the pages with the answer, and what `wiki_of`
        needs."""
        str(task.data["question"]), str(task.data["answer"])
        self._wiki, self._task = self._wiki_of(task), task
        self._page, self._named, self._answer = None, (), None
        self._forget()
        return self.look()

    def _forget(self) -> None:
        self._sought, self._hits, self._next = "", [], 0

    def look(self) -> Observation:
        """Describes the question and the open page."""
        at = f"\nThe page {self._page.title} is open." if self._page is not None else ""
        return Observation(f"{OPENING}\nQuestion: {self._question}{at}")

    @property
    def _question(self) -> str:
        return str(self._task.data["question"]) if self._task else ""

    def skills(self) -> Sequence[str]:
        """Lists the sentences that need no free text: searches for the titles of the last result, and the next
        lookup."""
        if self._answer is not None:
            return ()
        again = [f"lookup[{self._sought}]"] if self._next < len(self._hits) else []
        return (*(f"search[{title}]" for title in self._named), *again)

    def written(self) -> Sequence[str]:
        if self._answer is not None:
            return ()
        return ("search[{entity}]", *(("lookup[{word}]",) if self._page else ()), "finish[{answer}]")

    def act(self, sentence: str) -> Observation:
        if self._answer is not None:
            return Observation(f"Episode finished, reward = {int(self._right())}")
        found = _ACT.fullmatch(sentence)
        if found is None or self._task is None:
            return Observation(f"Invalid action: {sentence.strip()}", False, _FORMS)
        move, said = found[1].lower(), found[2].strip()
        if move == "think":
            return Observation("Nice thought.")
        return {"search": self._search, "lookup": self._lookup, "finish": self._finish}[move](said)

    def _search(self, entity: str) -> Observation:
        assert self._wiki is not None
        found = self._wiki.page(entity)
        if found is None:  # the page that was open stays open
            self._named = tuple(self._wiki.similar(entity))
            return Observation(_WORDINGS[self._wording](entity, [*self._named]), False, f"no page is called {entity}")
        self._page, self._named = found, ()
        self._forget()
        return Observation(" ".join(found.sentences[:SHOWN]))

    def _lookup(self, word: str) -> Observation:
        if self._page is None:
            return Observation("No more results.", False, "no page is open: search for one first")
        if word != self._sought:
            self._sought, self._next = word, 0
            self._hits = [s for s in self._page.sentences if word.lower() in s.lower()]
        if self._next >= len(self._hits):
            return Observation("No more results.", False, f"{self._page.title} says no more of {word}")
        self._next += 1
        return Observation(f"(Result {self._next} / {len(self._hits)}) {self._hits[self._next - 1]}")

    def says(self, word: str) -> bool:
        """True when a sentence of the open page contains the word."""
        return self._page is not None and any(word.lower() in s.lower() for s in self._page.sentences)

    def _finish(self, answer: str) -> Observation:
        self._answer = answer
        return Observation(f"Episode finished, reward = {int(self._right())}")

    def _right(self) -> bool:
        return self._task is not None and exact(self._answer or "", str(self._task.data["answer"]))

    def verdict(self) -> Verdict:
        """Returns the score in hundredths: 100 for an exact match, else the words' F1, at most 99."""
        if self._task is None or self._answer is None:
            return Verdict(0, 100)
        part = round(100 * f1(self._answer, str(self._task.data["answer"])))
        return Verdict(100 if self._right() else min(part, 99), 100)

    def revealed(self) -> Sequence[str]:
        """Returns the answer and the titles of its pages. Plan revision may read them after the episode."""
        if self._task is None:
            return ()
        titles = ", ".join(str(t) for t in self._task.data.get("titles", ()))
        where = [f"It stands on these pages: {titles}."] if titles else []
        return (f"The answer is {self._task.data['answer']}.", *where)

    def holds(self, fact: str) -> bool | None:
        """Tests a fact: `{title} is open`, `the question is answered`."""
        if fact == "the question is answered":
            return self._answer is not None
        if fact.endswith(" is open"):
            return self._page is not None and self._page.title == fact.removesuffix(" is open")
        return None

    def page(self) -> str:
        page = self._page
        shown = "\n".join([page.title, *page.sentences]) if page is not None else "No page is open."
        answer = f"\n\nAnswer: {self._answer}" if self._answer is not None else ""
        return f"{self._question}\n\n{shown}{answer}"

    def kept(self) -> dict[str, Any]:
        return {
            "page": self._page.title if self._page else None, "named": self._named, "sought": self._sought,
            "next": self._next, "answer": self._answer,
        }  # fmt: skip

    def recover(self, task: Task | None, kept: Mapping[str, Any]) -> None:
        sought, after, named = str(kept["sought"]), int(kept["next"]), tuple(map(str, kept["named"]))
        if task is not None:
            self.begin(task)
        if kept["page"] is not None and self._wiki is not None:
            self._search(kept["page"])
            if sought:
                self._lookup(sought)
                self._next = after
        self._named, self._answer = named, kept["answer"]
