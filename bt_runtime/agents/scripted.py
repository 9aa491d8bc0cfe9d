"""A model that answers by a script: for tests, for teachers, and to capture questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bt_runtime.agents.story import ACT
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Choice, Job, Json, Model, Question, Spent, Writing

Script = Callable[[Question], str]


class Misplayed(BtError):
    """Raised when a scripted model is asked a question for which its script has no answer."""


class ScriptedAnswer(Job[Any]):
    """A job that has its answer and returns it after some polls."""

    spent = Spent()  # a script spends nothing

    def __init__(self, answer: Any, polls: int = 0) -> None:
        self.answer, self.polls = answer, polls
        self.cancelled = ""

    def poll(self) -> Any:
        if self.cancelled:
            raise Misplayed(f"polled after it was cancelled: {self.cancelled}")
        if self.polls > 0:
            self.polls -= 1
            return None
        return self.answer

    def cancel(self, reason: str) -> None:
        self.cancelled = reason


class ScriptedModel(Model):
    """Answers from a list of lines, or from a function of what was asked. It is no agent: it knows the answers.

    A line such as `Act: go to fridge 1` answers the choice of a move and the sentence; `Think: …` and `Expand:` answer
    the move, and the text that is asked for next.
    """

    register = "starter"  # scripts are written for these prompts

    def __init__(self, script: Iterable[str] | Script, polls: int = 0) -> None:
        self.lines = None if callable(script) else list(script)
        self.script: Script = script if callable(script) else self.next_line
        self.polls = polls  # how often each job says "not yet"
        self.asked: list[Question] = []
        self.jobs: list[ScriptedAnswer] = []
        self.rest = ""  # of a line whose opening was chosen: the text that will be asked for

    def next_line(self, question: Question) -> str:
        if not self.lines:
            raise Misplayed(f"the script has ended, and the model is asked to {question.kind}", question.prompt[-200:])
        return self.lines.pop(0)

    def ask(self, question: Question) -> ScriptedAnswer:
        if question.kind == "embed":
            raise Misplayed("a scripted model embeds nothing", "use the hashing embedder")
        self.asked.append(question)
        if question.kind == "write" and self.rest:
            said, self.rest = self.rest, ""
        else:
            said = self.script(question)
        read = {"choose": self._chosen, "decide": self._decided, "write": self._written}[question.kind]
        self.jobs.append(ScriptedAnswer(read(question, said), self.polls))
        return self.jobs[-1]

    def _chosen(self, question: Question, said: str) -> Choice:
        line = said.removeprefix(ACT).strip() if question.prompt.endswith(ACT) else said.strip()
        return self._picked(question, "", line, question.options, "cannot be chosen")

    def _decided(self, question: Question, said: str) -> Choice:
        moves = question.moves
        move = next((m for m in moves if said.startswith(m)), None)
        if move is None:
            raise Misplayed(f"the script says {said[:80]!r}, which is no move", _some(list(moves)))
        rest = said[len(move) :]
        if not moves[move]:
            self.rest = rest.strip(" ").removeprefix("\n")
            return Choice(move, question.before(move), 0.0, 1.0)
        line = rest.strip()
        return self._picked(question, move, line, moves[move], "cannot be done now")

    def _picked(self, question: Question, move: str, line: str, options: Sequence[str], why: str) -> Choice:
        """Picks an option by a line's beginning; the rest of the line answers the next question."""
        chosen, rest = picked(options, line)
        if chosen is None:
            raise Misplayed(f"the script says {line[:80]!r}, which {why}", _some(options))
        self.rest = rest or self.rest
        return Choice(move + chosen, question.alternatives.index(move + chosen), 0.0, 1.0)

    def _written(self, question: Question, said: str) -> Writing:
        return Writing(said, "stop", self.count(said))

    def stats(self) -> Mapping[str, Json]:
        return {"model": "scripted", "asked": len(self.asked)}


def picked(options: Sequence[str], line: str) -> tuple[str | None, str]:
    """The option that a line names, or the longest option that it begins with, and the rest of the line."""
    whole = next((o for o in options if o.strip() == line), None)
    if whole is not None:
        return whole, ""
    open = [o for o in options if o.endswith(" ") and line.startswith(o.strip())]
    begun = max(open, key=len, default=None)
    return begun, line[len(begun.strip()) :] if begun is not None else ""


def _some(options: Sequence[str]) -> str:
    return f"can be chosen: {', '.join(o.strip() for o in options)[:400]}"
