"""Models for tests, behind the protocol of the real ones: one says what it was told to, one records and plays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from bt_runtime.agents.story import ACT
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Choice, Grammar, Job, Json, Model, Writing

Ask = Mapping[str, Any]  # what was asked: kind, prompt, and options, moves or stop
Script = Callable[[Ask], str]


class Misplayed(BtError):
    """A scripted model was asked for something that its script has no answer to."""


class Answered:
    """A job with its answer, after some polls."""

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


class ScriptedModel:
    """Answers from a list of lines, or from a function of what was asked. It is no agent: it knows the answers.

    A line such as `Act: go to fridge 1` answers the choice of a move and the sentence; `Think: …` and `Expand:` answer
    the move, and the text that is asked for next.
    """

    chat_template: str | None = None

    def __init__(self, script: Iterable[str] | Script, polls: int = 0) -> None:
        self.lines = None if callable(script) else list(script)
        self.script: Script = script if callable(script) else self.next_line
        self.polls = polls  # how often each job says "not yet"
        self.asked: list[Ask] = []
        self.jobs: list[Answered] = []
        self.rest = ""  # of a line whose opening was chosen: the text that will be asked for

    def next_line(self, ask: Ask) -> str:
        if not self.lines:
            raise Misplayed(f"the script has ended, and the model is asked to {ask['kind']}", ask["prompt"][-200:])
        return self.lines.pop(0)

    def answer(self, ask: Ask) -> str:
        self.asked.append(ask)
        if ask["kind"] == "write" and self.rest:
            text, self.rest = self.rest, ""
            return text
        return self.script(ask)

    def job(self, answer: Any) -> Any:
        self.jobs.append(Answered(answer, self.polls))
        return self.jobs[-1]

    def choose(
        self,
        prompt: str,
        options: Sequence[str],
        *,
        mode: Literal["exact", "greedy", "scores"] = "exact",
        normalise: bool = False,
    ) -> Any:
        said = self.answer({"kind": "choose", "prompt": prompt, "options": tuple(options)})
        line = said.removeprefix(ACT).strip() if prompt.endswith(ACT) else said.strip()
        chosen = next((o for o in options if o.strip() == line), None)
        if chosen is None:
            raise Misplayed(f"the script says {line[:80]!r}, which cannot be chosen", _some(options))
        return self.job(Choice(chosen, list(options).index(chosen), 0.0, 1.0))

    def decide(
        self,
        prompt: str,
        moves: Mapping[str, Sequence[str]],
        *,
        mode: Literal["exact", "greedy"] = "exact",
        normalise: bool = False,
    ) -> Any:
        said = self.answer({"kind": "decide", "prompt": prompt, "moves": {m: tuple(o) for m, o in moves.items()}})
        move = next((m for m in moves if said.startswith(m)), None)
        if move is None:
            raise Misplayed(f"the script says {said[:80]!r}, which is no move", _some(list(moves)))
        before = sum(
            len(options) or 1 for m, options in moves.items() if list(moves).index(m) < list(moves).index(move)
        )
        rest = said[len(move) :]
        if not moves[move]:
            self.rest = rest.strip(" ").removeprefix("\n")
            return self.job(Choice(move, before, 0.0, 1.0))
        chosen = next((o for o in moves[move] if o.strip() == rest.strip()), None)
        if chosen is None:
            raise Misplayed(f"the script says {rest.strip()[:80]!r}, which cannot be done now", _some(moves[move]))
        return self.job(Choice(move + chosen, before + list(moves[move]).index(chosen), 0.0, 1.0))

    def write(
        self, prompt: str, *, grammar: Grammar | None = None, stop: Sequence[str] = (), max_tokens: int = 256,
        temperature: float = 0.0, top_p: float = 1.0, min_p: float = 0.0, seed: int = 0,
    ) -> Any:  # fmt: skip
        text = self.answer({"kind": "write", "prompt": prompt, "stop": tuple(stop)})
        return self.job(Writing(text, "stop", self.count(text)))

    def count(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Job[Sequence[Sequence[float]]]:
        raise Misplayed("a scripted model embeds nothing", "use the hashing embedder")

    def stats(self) -> Mapping[str, Json]:
        return {"model": "scripted", "asked": len(self.asked)}

    def close(self) -> None:
        """Nothing is held."""


class RecordingModel:
    """Passes questions on to a real model and writes down the answers; or plays them back, where a miss is an error."""

    def __init__(self, file: Path | str, model: Model | None = None) -> None:
        self.file = Path(file)
        self.model = model
        self.known: dict[str, Json] = {}
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry["answer"]
        elif model is None:
            raise BtError(f"there is no recording {self.file}", "record one first, with a model")

    @property
    def chat_template(self) -> str | None:
        return getattr(self.model, "chat_template", None)

    def choose(self, prompt: str, options: Sequence[str], **how: Any) -> Any:
        asked = {"kind": "choose", "prompt": prompt, "options": list(options), **_plain(how)}
        return self._job(asked, lambda m: m.choose(prompt, options, **how), lambda a: Choice(*a))

    def decide(self, prompt: str, moves: Mapping[str, Sequence[str]], **how: Any) -> Any:
        asked = {"kind": "decide", "prompt": prompt, "moves": {m: list(o) for m, o in moves.items()}, **_plain(how)}
        return self._job(asked, lambda m: m.decide(prompt, moves, **how), lambda a: Choice(*a))

    def write(self, prompt: str, **how: Any) -> Any:
        asked = {"kind": "write", "prompt": prompt, **_plain(how)}
        return self._job(asked, lambda m: m.write(prompt, **how), lambda a: Writing(*a))

    def count(self, text: str) -> int:
        return self.model.count(text) if self.model is not None else len(text.split())

    def embed(self, texts: Sequence[str]) -> Any:
        return self._job({"kind": "embed", "texts": list(texts)}, lambda m: m.embed(texts), lambda a: a)

    def stats(self) -> Mapping[str, Json]:
        return self.model.stats() if self.model is not None else {"model": f"recording {self.file}"}

    def close(self) -> None:
        if self.model is not None:
            self.model.close()

    def _job(self, asked: dict[str, Json], ask: Callable[[Model], Job[Any]], read: Callable[[Any], Any]) -> Any:
        key = blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=12).hexdigest()
        if key in self.known:
            return Answered(read(self.known[key]))
        if self.model is None:
            raise Misplayed(
                f"the recording {self.file.name} has no answer to this {asked['kind']}",
                str(asked.get("prompt", ""))[-300:],
            )
        return _Recorded(ask(self.model), lambda answer: self._keep(key, answer))

    def _keep(self, key: str, answer: Any) -> None:
        kept = list(answer) if isinstance(answer, tuple) else answer
        self.known[key] = kept
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"key": key, "answer": kept}) + "\n")


class _Recorded:
    def __init__(self, job: Job[Any], keep: Callable[[Any], None]) -> None:
        self.job, self.keep = job, keep

    def poll(self) -> Any:
        answer = self.job.poll()
        if answer is not None:
            self.keep(answer)
        return answer

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)


def _some(options: Sequence[str]) -> str:
    return f"can be chosen: {', '.join(o.strip() for o in options)[:400]}"


def _plain(how: Mapping[str, Any]) -> dict[str, Json]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in how.items() if v is not None}
