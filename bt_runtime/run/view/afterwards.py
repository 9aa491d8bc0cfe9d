"""A question on the page of a run that is over: what its runs have taught a compiled tree, for instance."""

from __future__ import annotations

from collections.abc import Mapping
from queue import SimpleQueue

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.view.live import View
from bt_runtime.run.view.plain import clipped
from bt_runtime.types import Json

MOST = 20_000  # characters of a question
NUMBER = 0  # this question's number; the run's begin with 1


def ask(view: View, question: str) -> str:
    """Waits for a person's yes or no on the page. Ctrl-C ends the wait as KeyboardInterrupt."""
    answers: SimpleQueue[str] = SimpleQueue()

    def answer(given: Mapping[str, Json]) -> Json:
        if given.get("id") != NUMBER or not isinstance(text := given.get("text"), str):
            raise BtError("this question was already answered or withdrawn", "answer the open question")
        answers.put(text)
        return {}

    view.extra["answer"] = answer
    text = f"{clipped(question, MOST)} (yes or no)"
    _tell(view, [{"id": NUMBER, "text": text}])
    try:
        while True:
            said = answers.get()
            if said.strip():
                return said
    finally:
        del view.extra["answer"]
        _tell(view, [])


def _tell(view: View, open: list[Json]) -> None:
    view.feed.put({"k": "asks", "t": view.watch._now(), "open": open, "after": True})
