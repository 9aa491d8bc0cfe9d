"""A model behind HTTP: llama.cpp's server, or anything that speaks the OpenAI completions protocol (vLLM, Ollama).

Such a server is never trusted to have obeyed: every answer is read again, and asked for again when it is not in order.
Nor is it trusted to mean well: what it sends is bounded in time, size, length and type (`http.py`, `answer.py`).
"""

from __future__ import annotations

import difflib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import answer
from bt_runtime.llm.answer import Unanswered
from bt_runtime.llm.choice import ROOT, Trie, check_apart, combine, ended, search
from bt_runtime.llm.grammar import accepts, check
from bt_runtime.llm.http import SAID, Server
from bt_runtime.llm.job import Answer, Cancelled
from bt_runtime.llm.pool import Pool
from bt_runtime.llm.question import NO_SCORES, sound
from bt_runtime.llm.request import Line
from bt_runtime.llm.spelling import Spelling
from bt_runtime.llm.token_boundary import BoundaryFinder
from bt_runtime.types import Choice, Grammar, Json, Model, Question, Spent, Writing

_TRIES = 3  # how often an answer that is not in order is asked for
_AT_ONCE = 8
_COUNT_WAIT = 0.05
_LIKE = 0.8  # how near to an option an answer has to be
MOST_PROBABILITIES = 32_768  # of one place, that are asked for: what is less likely than these is as likely as the last
MOST_DIMENSIONS = 65_536  # of an embedding
TOKEN_BYTES = 32  # of a token's text, on the average of an answer: a longer answer is cut off there


class Endpoint(Model):
    """The same protocol as a local model. `stats()["capabilities"]` says what this server can do."""

    def __init__(
        self,
        address: str,
        name: str = "",
        terminator: str = "\n",
        timeout: float = 120.0,
        key: str | None = None,
    ) -> None:
        self.server = Server(address, timeout, key)
        self.name, self.terminator = name, terminator
        self._pool = Pool(_AT_ONCE, "btr-endpoint")
        self._lock = threading.Lock()
        self._counting = False
        self._spelling = Spelling()
        self._flavour: Literal["", "llama-server", "openai"] = ""
        self._vocabulary = 0
        self._figures = dict.fromkeys(("asked", "answered", "failed", "cancelled", "asked_again"), 0)
        self._spent = Spent()

    def ready(self, timeout: float | None = None) -> Self:
        """Find out what it speaks; a BtError when nobody is there."""
        try:
            self._probe(Line(self.server))
        except Unanswered as fault:
            raise self._fault(fault) from None
        return self

    def ask(self, question: Question) -> Answer[Any]:
        sound(question, self.terminator)
        ways: dict[str, Callable[[Line, Question], Any]] = {
            "choose": self._choose, "decide": self._decide, "write": self._write, "embed": self._embed,
        }  # fmt: skip
        line = Line(self.server)

        def cancelled(_: Answer[Any]) -> None:
            self._add("cancelled")
            line.cut()

        job: Answer[Any] = Answer(cancelled, question.wake)
        self._add("asked")
        if not self._pool.submit(lambda: self._run(line, ways[question.kind], question, job)):
            self._add("failed")
            job.finish(error=BtError("the model was closed", "open it again, or ask before its run is closed"))
        return job

    def count(self, text: str) -> int:
        """Tokens of a text; an upper bound where the server does not tell in time."""
        known = self._spelling.known.get(text)
        if known is None and self._flavour != "openai" and not self._counting:
            known = self._counted(text)
        return len(text.encode("utf-8", "surrogatepass")) + 1 if known is None else len(known)

    def _counted(self, text: str) -> list[int] | None:
        """Asks, and waits a moment; while a slow answer is under way, nobody waits for another."""
        found: list[list[int]] = []
        told = threading.Event()

        def work() -> None:
            with suppress(Exception):  # the bound is told instead
                found.append(self._tokenise(Line(self.server), text))
            self._counting = False
            told.set()

        self._counting = True
        if not self._pool.submit(work):
            self._counting = False
        elif told.wait(_COUNT_WAIT) and found:
            return found[0]
        return None

    def stats(self) -> Mapping[str, Json]:
        llama = self._flavour == "llama-server"
        able = ["exact", "greedy", "scores"] if llama else ["asked and checked"]
        return {
            "model": self.server.address,
            "flavour": self._flavour,
            "capabilities": {"choose": able, "write": "constrained and checked" if llama else "asked and checked"},
            **self._figures,
            "prompt_tokens": self._spent.prompt,
            "reused_tokens": self._spent.reused,
            "computed_tokens": self._spent.computed,
            "shared": round(self._spent.reused / self._spent.prompt, 4) if self._spent.prompt else 0.0,
        }

    def close(self) -> None:
        self.server.close()
        self._pool.close()

    # jobs

    def _run(self, line: Line, way: Callable[[Line, Question], Any], question: Question, job: Answer[Any]) -> None:
        start = time.monotonic()
        value, error = None, None
        line.begin()
        try:
            self._probe(line)
            value = way(line, question)
        except (BtError, Cancelled) as fault:
            error = fault
        except Unanswered as fault:
            error = self._fault(fault)
        except Exception as fault:  # whatever the server's answer did to us, the job is told
            said = self.server.quoted(repr(fault))
            error = BtError(f"{self.server.address} gave an answer that cannot be read: {said}", "ask another server")
        spent = line.spent._replace(seconds=time.monotonic() - start)
        if job.finish(value, error, spent):
            self._add("failed" if error else "answered")
            with self._lock:
                self._spent = self._spent.plus(spent)

    def _fault(self, fault: Unanswered) -> BtError:
        return BtError(f"{self.server.address}: {fault}", self.server.way_out(fault.status))

    def _add(self, figure: str) -> None:
        with self._lock:
            self._figures[figure] += 1

    def _probe(self, line: Line) -> None:
        if self._flavour:
            return
        try:
            props = line.get("/props")
            line.post("/tokenize", {"content": "a"})
            self._flavour = "llama-server" if "default_generation_settings" in props else "openai"
        except Unanswered as fault:
            if fault.status is None:
                raise BtError(f"nobody answers at {self.server.address}: {fault}", "start the server first") from None
            if fault.status == 0:
                raise  # too slow, or too much
            self.name = self.name or self._first_model(line)
            self._flavour = "openai"

    def _first_model(self, line: Line) -> str:
        found = line.get("/v1/models").get("data")
        first = found[0] if isinstance(found, list) and found else None
        named = first.get("id", "") if isinstance(first, dict) else ""
        return self.server.quoted(str(named), SAID)

    # choosing

    def _choose(self, line: Line, question: Question, end: str | None = None) -> Choice:
        if self._flavour == "llama-server":
            return self._walk(line, question, self.terminator if end is None else end)
        if question.mode == "scores":
            raise BtError(f"{self.server.address} {NO_SCORES}", "ask for another mode, or use a local model")
        return self._pick(line, question)

    def _decide(self, line: Line, question: Question) -> Choice:
        move = self._choose(line, question._replace(options=tuple(question.moves)), "")
        before, options = question.before(move.text), question.moves[move.text]
        if not options:
            return Choice(move.text, before, move.logprob, move.margin)
        then = self._choose(line, question._replace(prompt=question.prompt + move.text, options=options))
        return combine(move, then, before)

    def _walk(self, line: Line, question: Question, end: str) -> Choice:
        """The same search as on a local model; each node is a request."""
        boundaries = BoundaryFinder(lambda text: self._tokenise(line, text), self._spelling.pieces.__getitem__)
        options, mode = question.options, question.mode
        before = self._tokenise(line, question.prompt, begin=True)
        boundary = boundaries.join(before, ended(options, end))
        trie = boundary.trie
        if mode == "scores":
            check_apart(options, trie)
        if ROOT in trie.leaf_of:
            raise Unanswered("/tokenize makes no tokens of an option", 200)
        quest = search(trie, options, mode, 1 if mode == "exact" else 32, question.normalise)
        try:
            nodes = next(quest)
            while True:
                nodes = quest.send([self._below(line, boundary.prompt, trie, node) for node in nodes])
        except StopIteration as finished:
            choice: Choice = finished.value
            return choice

    def _below(self, line: Line, prompt: list[int], trie: Trie, node: int) -> list[float]:
        path: list[int] = []
        children = trie.children[node]
        while node:
            path.append(trie.token[node])
            node = trie.parent[node]
        wanted = [trie.token[child] for child in children]
        most = 128
        while True:
            ask = {"prompt": [*prompt, *path[::-1]], "n_predict": 1, "n_probs": most, "temperature": 0, **_PLAIN}
            said = line.post("/completion", ask)
            top = answer.listed(answer.entry(said, "completion_probabilities"), "top_logprobs")
            known, least = _likely(top, frozenset(wanted))
            line.note(said, len(prompt) + len(path), 1)
            if len(top) < most or all(token in known for token in wanted):
                return [known.get(token, -math.inf) for token in wanted]
            if most == MOST_PROBABILITIES:
                return [known.get(token, least) for token in wanted]
            most *= 16  # an unlikely option: ask for more of the vocabulary

    def _pick(self, line: Line, question: Question) -> Choice:
        """A server without log-probabilities: it answers, and we look which option that is."""
        options = question.options
        stripped = [option.strip() for option in options]
        ask, hint = question.prompt, "\n(Answer with one of these, and nothing else: " + "; ".join(stripped) + ")\n"
        for attempt in range(_TRIES):
            said = line.post(
                "/v1/completions",
                {
                    "model": self.name,
                    "prompt": ask,
                    "max_tokens": 64,
                    "temperature": 0.0 if attempt == 0 else 0.7,
                    "seed": attempt,
                    "stop": ["\n"],
                    "guided_choice": [*options],
                    "structured_outputs": {"choice": [*options]},
                },
            )
            text = answer.text(answer.entry(said, "choices"), "text", 64 * TOKEN_BYTES).strip()
            line.note(said, len(ask), 64, text)
            found = [text] if text in stripped else difflib.get_close_matches(text, stripped, 1, _LIKE)
            if found:
                index = stripped.index(found[0])
                return Choice(options[index], index, math.nan, math.nan)
            self._add("asked_again")
            ask = question.prompt + hint
        raise BtError(
            f"{self.server.address} chose none of the {len(options)} options in {_TRIES} tries; "
            f"last: {self.server.quoted(repr(text))}",
            "a larger model, or a llama-server, which is asked for probabilities",
        )

    # writing

    def _write(self, line: Line, question: Question) -> Writing:
        grammar, most = question.grammar, question.max_tokens
        if grammar is not None:
            check(grammar)  # some servers ignore a grammar that they cannot read
        written = None
        for attempt in range(_TRIES if grammar else 1):
            ask = {
                "prompt": question.prompt, "stop": [*question.stop],
                "temperature": max(question.temperature, 0.3 * attempt), "top_p": question.top_p,
                "min_p": question.min_p, "seed": question.seed + attempt,
            }  # fmt: skip
            make = self._llama_write if self._flavour == "llama-server" else self._openai_write
            written = make(line, ask, grammar, most)
            if grammar is None:
                return written
            if accepts(grammar, written.text):
                return Writing(written.text, "grammar", written.tokens)
            self._add("asked_again")
        assert written is not None
        if written.ended == "length":
            return written
        raise BtError(
            f"{self.server.address} did not keep to the grammar in {_TRIES} tries; "
            f"last: {self.server.quoted(repr(written.text[:80]))}",
            "a larger model, or a server that constrains its answers",
        )

    def _llama_write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> Writing:
        if grammar is not None:
            if grammar.kind == "json_schema":
                ask["json_schema"] = _json(grammar.text)
            else:
                text = grammar.text if grammar.kind == "lark" else f"start: /{_slashed(grammar.text)}/"
                ask["grammar"] = "%llguidance {}\n" + text
        said = line.post("/completion", {**ask, "n_predict": most, "repeat_penalty": 1.0, "top_k": 0, **_PLAIN})
        return self._read(line, said, said, "content", said.get("stop_type") == "limit", ask["prompt"], most)

    def _openai_write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> Writing:
        if grammar is not None:
            kind = {"json_schema": "json", "regex": "regex", "lark": "grammar"}[grammar.kind]
            value = _json(grammar.text) if kind == "json" else grammar.text
            ask |= {f"guided_{kind}": value, "structured_outputs": {kind: value}}
        said = line.post("/v1/completions", {"model": self.name, **ask, "max_tokens": most})
        entry = answer.entry(said, "choices")
        return self._read(line, said, entry, "text", entry.get("finish_reason") == "length", ask["prompt"], most)

    def _read(
        self,
        line: Line,
        said: Mapping[str, Any],
        entry: Mapping[str, Any],
        name: str,
        cut: bool,
        prompt: str,
        most: int,
    ) -> Writing:
        """What was written, no longer than was asked for, and counted even where the server does not."""
        longest = most * TOKEN_BYTES
        text = self.server.key.blotted(answer.text(entry, name, longest + SAID))  # a key may stand across the end
        if len(text) > longest:
            text, cut = text[:longest], True
        return Writing(text, "length" if cut else "stop", line.note(said, len(prompt), most, text))

    def _embed(self, line: Line, question: Question) -> Sequence[Sequence[float]]:
        texts = question.texts
        if not texts:
            return []
        said = line.post("/v1/embeddings", {"input": [*texts], "model": self.name})
        rows = sorted(answer.listed(said, "data"), key=lambda row: answer.figure(row, "index", len(texts)))
        vectors = [_unit(answer.vector(row, "embedding", MOST_DIMENSIONS)) for row in rows]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise Unanswered(f"{len(texts)} texts were answered by {len(vectors)} vectors, or by unequal ones", 200)
        return vectors

    def _tokenise(self, line: Line, text: str, begin: bool = False) -> list[int]:
        if self._flavour == "openai":
            raise BtError(
                f"{self.server.address} does not tell its tokens",
                "a server of llama.cpp tells them; or name the model's file instead",
            )
        return self._spelling.tokens(line, text, begin)


_PLAIN = {"cache_prompt": True, "stream": False}


def _likely(top: Sequence[Any], wanted: frozenset[int]) -> tuple[dict[int, float], float]:
    """The log-probabilities of the tokens that are wanted, and the least of all that are told."""
    known: dict[int, float] = {}
    least = 0.0
    for row in top:
        if not isinstance(row, dict):
            raise Unanswered("the answer's `top_logprobs` has something in it that is not an object", 200)
        value = answer.logprob(row)
        least = min(least, value)
        if (token := answer.whole(row, "id")) in wanted:
            known[token] = value
    return known, least


def _unit(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


def _json(text: str) -> Any:
    import json

    return json.loads(text)


def _slashed(pattern: str) -> str:
    """A regular expression inside the slashes of a Lark terminal."""
    return pattern.replace("/", "\\/").replace("\n", "\\n")
