"""A model behind HTTP: llama.cpp's server, vLLM, Ollama, or anything that speaks the OpenAI protocol.

Such a server is never trusted to have obeyed: every answer is read again, and asked for again when it is not in order.
Nor is it trusted to mean well: what it sends is bounded in time, size, length and type (`http.py`, `answer.py`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.decoding.grammar import accepts, check
from bt_runtime.llm.job import Answer, Cancelled
from bt_runtime.llm.question import sampled, sound
from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered, too_long
from bt_runtime.llm.server.chat_server import TOKEN_BYTES, TRIES
from bt_runtime.llm.server.flavour import Flavour, Greeting, ServerText, Setup, recognised
from bt_runtime.llm.server.http import SAID, HttpServer
from bt_runtime.llm.server.pool import RequestPool
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.llm.server.retry import BUSY, WAIT, RetryWait
from bt_runtime.llm.server.thought import EFFORT, TOKENS
from bt_runtime.types import Json, Model, Question, Spent, Wake, Writing

TIMEOUT = 120.0  # seconds of one exchange when nobody says
OPENING = 8.0  # seconds in which a server has to say what it is
_AT_ONCE = 8
_REFUSED = (400, 413, 422, 500)  # HTTP codes that may mean a prompt is too long
MOST_DIMENSIONS = 65_536  # numbers of one embedding


class Endpoint(Model):
    """A model on a server, with a local model's interface. `stats()["capabilities"]` lists the server's abilities.

    `name`: the model, on a server with several. `chat`: True uses its template, None decides by the model.
    `context`: the tokens that an Ollama holds. `turns`, `sampler`, `seed`: see `Settings`. `wait`: the pause before
    a retry. `effort`, `think_tokens`: how much a reasoning model thinks, and the tokens that it has for that."""

    def __init__(
        self,
        address: str,
        name: str = "",
        terminator: str = "\n",
        timeout: float = TIMEOUT,
        key: str | None = None,
        chat: bool | None = None,
        context: int = 0,
        sampler: Mapping[str, float] | None = None,
        turns: Literal["chat", "one"] = "chat",
        seed: int = 0,
        wait: RetryWait = WAIT,
        effort: str = EFFORT,
        think_tokens: int = TOKENS,
    ) -> None:
        self.server = HttpServer(address, timeout, key)
        self.name, self.terminator, self.chat, self.context = name, terminator, chat, context
        self.turns, self.sampler, self.seed = turns, dict(sampler or {}), seed
        self._wait, self.effort, self.think_tokens = wait, effort, think_tokens
        self._pool = RequestPool(_AT_ONCE, "btr-endpoint")
        self._lock, self._probing = threading.Lock(), threading.Lock()
        self._dialect: Flavour | None = None
        self._figures = dict.fromkeys(("asked", "answered", "failed", "cancelled", "asked_again"), 0)
        self._spent = Spent()

    def ready(self, timeout: float | None = None) -> Self:
        """Probes the server's protocol; a BtError when it is unreachable."""
        until = time.monotonic() + (timeout or 0.0)
        while True:
            try:
                with RequestLine(self.server, self._wait, min(OPENING, self.server.timeout)) as line:
                    self._probe(line)
                return self
            except Unanswered as fault:  # a server that is loading says so, and is waited for
                if fault.status not in BUSY or time.monotonic() > until:
                    raise self._fault(fault) from None

    @property
    def chat_template(self) -> Chat | None:  # type: ignore[override]
        """The chat template. The server is probed first when it was not yet."""
        if self._dialect is None:
            self.ready()
        return self._dialect.chat if self._dialect else None

    @property
    def constrains(self) -> bool:  # type: ignore[override]
        """False for a server without grammars: it would be asked repeatedly in vain, which would end the run."""
        if self._dialect is None:
            self.ready()
        return self._dialect is None or self._dialect.constrains

    def opening(self, wake: Wake | None = None) -> Answer[bool] | None:
        if self._dialect is not None:
            return None
        line = RequestLine(self.server, self._wait, min(OPENING, self.server.timeout))
        job: Answer[bool] = Answer(lambda _: line.cut(), wake)

        def work() -> None:
            error: BaseException | None = None
            try:
                with line:
                    self._probe(line)
            except Unanswered as fault:
                error = self._fault(fault)
            except Exception as fault:  # whatever the server's answer did to us, the job is told
                error = fault
            job.finish(True, error)

        if not self._pool.submit(work):
            job.finish(error=BtError("the model was closed", "open it again, or ask before its run is closed"))
        return job

    def ask(self, question: Question) -> Answer[Any]:
        question = sound(sampled(question, self.sampler, self.seed), self.terminator)
        ways: dict[str, Callable[[RequestLine, Question], Any]] = {
            "choose": lambda line, asked: self._probe(line).choose(line, asked),
            "decide": lambda line, asked: self._probe(line).decide(line, asked),
            "write": self._write, "embed": self._embed,
        }  # fmt: skip
        line = RequestLine(self.server, self._wait)

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
        return self.counting((text,)).wait()[0]

    def counting(self, texts: Sequence[str], wake: Wake | None = None) -> Answer[Sequence[int]]:
        """Counts by the server; one that counts nothing is given an upper bound, always the same."""
        line = RequestLine(self.server, self._wait)
        job: Answer[Sequence[int]] = Answer(lambda _: line.cut(), wake)

        def way(line: RequestLine, _: Question) -> list[int]:
            dialect = self._probe(line)
            return [dialect.count(line, text) if dialect.counts else most_tokens(text) for text in texts]

        dialect = self._dialect
        known = [_known(dialect, text) for text in texts]
        if None not in known:
            job.finish([count for count in known if count is not None])
        elif not self._pool.submit(lambda: self._run(line, way, Question("embed", texts=tuple(texts)), job)):
            job.finish(error=BtError("the model was closed", "open it again, or ask before its run is closed"))
        return job

    @property
    def flavour(self) -> str:
        return self._dialect.flavour if self._dialect else ""

    def stats(self) -> Mapping[str, Json]:
        dialect = self._dialect
        able = [*dialect.able] if dialect else []
        return {
            "model": self.server.address,
            "name": self.name,
            "flavour": self.flavour,
            "chat": bool(dialect and dialect.chat),
            "capabilities": {"choose": able, "write": dialect.writes if dialect else ""},
            **self._figures,
            "requests": self.server.requests,
            "bytes": self.server.bytes,
            "prompt_tokens": self._spent.prompt,
            "reused_tokens": self._spent.reused,
            "computed_tokens": self._spent.computed,
            "shared": round(self._spent.reused / self._spent.prompt, 4) if self._spent.prompt else 0.0,
        }

    def close(self) -> None:
        self.server.close()
        self._pool.close()

    # jobs

    def _run(
        self, line: RequestLine, way: Callable[[RequestLine, Question], Any], question: Question, job: Answer[Any]
    ) -> None:
        start = time.monotonic()
        value, error = None, None
        line.begin()
        try:
            with line:
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
        if fault.status in _REFUSED and (measure := too_long(str(fault))) is not None:
            return TooLong(
                f"{self.server.address}: {fault}", "shorten the prompt, or start the server with more context", *measure
            )
        return BtError(f"{self.server.address}: {fault}", self.server.way_out(fault.status))

    def _add(self, figure: str) -> None:
        with self._lock:
            self._figures[figure] += 1

    # what it speaks

    def _probe(self, line: RequestLine) -> Flavour:
        """The first caller probes the server; others wait for the result, and probe again only after a failure."""
        if self._dialect is not None:
            return self._dialect
        with self._probing:
            if self._dialect is None:
                found = self._found(line)
                if self.turns == "one" and found.chat is not None:
                    found.chat = found.chat.in_one_turn()
                self._dialect = found
            return self._dialect

    def _found(self, line: RequestLine) -> Flavour:
        greeting = Greeting(line)
        again = lambda: self._add("asked_again")  # noqa: E731
        thinking = (self.effort, self.think_tokens)
        found = recognised(greeting)(Setup(self.name, self.context, self.chat, self.terminator, again, *thinking))
        found.open(line, greeting)
        self.name = found.name
        return found

    # writing

    def _write(self, line: RequestLine, question: Question) -> Writing:
        dialect = self._probe(line)
        grammar, most = question.grammar, question.max_tokens
        if grammar is not None:
            check(grammar)  # some servers ignore a grammar that they cannot read
        written = None
        for attempt in range(TRIES if grammar else 1):
            ask = {
                "prompt": question.prompt, "stop": [*question.stop],
                "temperature": max(question.temperature, 0.3 * attempt), "top_p": question.top_p,
                "min_p": question.min_p, "top_k": question.top_k, "seed": question.seed + attempt,
            }  # fmt: skip
            found = dialect.write(line, ask, grammar, most)
            written = self._read(line, most, found)._replace(thought=self.server.key.blotted(found.thought))
            if grammar is None:
                return written
            said = written.text.strip() if grammar.kind == "json_schema" else written.text  # blanks say nothing there
            if accepts(grammar, said):
                return Writing(said, "grammar", written.tokens, written.thought)
            self._add("asked_again")
        assert written is not None
        if written.ended == "length":
            return written
        raise BtError(
            f"{self.server.address} did not keep to the grammar in {TRIES} tries; "
            f"last: {self.server.quoted(repr(written.text[:80]))}",
            "a larger model, or a server that constrains its answers",
        )

    def _read(self, line: RequestLine, most: int, written: ServerText) -> Writing:
        """The written text, cut to the requested length, with its tokens counted even when the server does not."""
        longest, cut = most * TOKEN_BYTES, written.cut
        text = self.server.key.blotted(
            answer.text(written.entry, written.key, longest + SAID)
        )  # a key may span the end
        if len(text) > longest:
            text, cut = text[:longest], True
        room = most + self.think_tokens if written.thought else most
        return Writing(text, "length" if cut else "stop", line.note(written.answer, written.prompt, room, text, cut))

    def _embed(self, line: RequestLine, question: Question) -> Sequence[Sequence[float]]:
        texts = question.texts
        if not texts:
            return []
        said = line.post("/v1/embeddings", {"input": [*texts], "model": self.name})
        rows = sorted(answer.listed(said, "data"), key=lambda row: answer.figure(row, "index", len(texts)))
        vectors = [_unit(answer.vector(row, "embedding", MOST_DIMENSIONS)) for row in rows]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise Unanswered(f"{len(texts)} texts were answered by {len(vectors)} vectors, or by unequal ones", 200)
        return vectors


def _unit(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


def most_tokens(text: str) -> int:
    """Returns how many tokens a text has at most: none is less than a byte."""
    return len(text.encode("utf-8", "surrogatepass")) + 1


def _known(dialect: Flavour | None, text: str) -> int | None:
    """Returns a count that takes no request; None for none."""
    if dialect is None:
        return None
    return dialect.known_count(text) if dialect.counts else most_tokens(text)
