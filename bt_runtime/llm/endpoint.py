"""A model behind HTTP: llama.cpp's server, vLLM, Ollama, or anything that speaks the OpenAI protocol.

Such a server is never trusted to have obeyed: every answer is read again, and asked for again when it is not in order.
Nor is it trusted to mean well: what it sends is bounded in time, size, length and type (`http.py`, `answer.py`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import answer
from bt_runtime.llm.answer import Unanswered
from bt_runtime.llm.chat import Chat
from bt_runtime.llm.chat_servers import TOKEN_BYTES, TRIES, ChatServer, Flavour
from bt_runtime.llm.grammar import accepts, check
from bt_runtime.llm.http import SAID, Server
from bt_runtime.llm.job import Answer, Cancelled
from bt_runtime.llm.llama_server import LlamaServer
from bt_runtime.llm.pool import Pool
from bt_runtime.llm.question import sampled, sound
from bt_runtime.llm.request import Line
from bt_runtime.llm.retry import BUSY, WAIT, Wait
from bt_runtime.types import Json, Model, Question, Spent, Writing

TIMEOUT = 120.0  # seconds of one exchange when nobody says
OPENING = 8.0  # seconds in which a server has to say what it is
_AT_ONCE = 8
_COUNT_WAIT = 0.05
_NAMED = 8  # models of a server that a fault names
MOST_MODELS = 4096  # that a server may list
MOST_DIMENSIONS = 65_536  # of an embedding


class Endpoint(Model):
    """The same protocol as a local model. `stats()["capabilities"]` says what this server can do.

    `name`: the server's model, where it has several. `chat`: asked through its template? None: as it is made for.
    `context`: tokens that an Ollama is to hold. `sampler`: see `Settings`. `wait`: how one waits for another try.
    """

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
        wait: Wait = WAIT,
    ) -> None:
        self.server = Server(address, timeout, key)
        self.name, self.terminator, self.chat, self.context = name, terminator, chat, context
        self.sampler = dict(sampler or {})
        self._wait = wait
        self._pool = Pool(_AT_ONCE, "btr-endpoint")
        self._lock, self._probing = threading.Lock(), threading.Lock()
        self._counting = False
        self._dialect: LlamaServer | ChatServer | None = None
        self._figures = dict.fromkeys(("asked", "answered", "failed", "cancelled", "asked_again"), 0)
        self._spent = Spent()

    def ready(self, timeout: float | None = None) -> Self:
        """Find out what it speaks; a BtError when nobody is there."""
        until = time.monotonic() + (timeout or 0.0)
        while True:
            try:
                self._probe(Line(self.server, self._wait, min(OPENING, self.server.timeout)))
                return self
            except Unanswered as fault:  # one that is loading says so, and is waited for as long as was asked
                if fault.status not in BUSY or time.monotonic() > until:
                    raise self._fault(fault) from None

    @property
    def chat_template(self) -> Chat | None:  # type: ignore[override]
        """How its prompts are written; asked of the server when nobody has waited for it."""
        if self._dialect is None:
            self.ready()
        return self._dialect.chat if self._dialect else None

    @property
    def constrains(self) -> bool:  # type: ignore[override]
        """A server that knows no grammars would be asked again and again, and then break the run."""
        if self._dialect is None:
            self.ready()
        return isinstance(self._dialect, LlamaServer) or self._dialect is None or self._dialect.flavour == "vllm"

    def ask(self, question: Question) -> Answer[Any]:
        question = sound(sampled(question, self.sampler), self.terminator)
        ways: dict[str, Callable[[Line, Question], Any]] = {
            "choose": lambda line, asked: self._probe(line).choose(line, asked),
            "decide": lambda line, asked: self._probe(line).decide(line, asked),
            "write": self._write, "embed": self._embed,
        }  # fmt: skip
        line = Line(self.server, self._wait)

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
        known = None
        if isinstance(llama := self._dialect, LlamaServer):
            known = llama.spelling.known.get(text)
            if known is None and not self._counting:
                known = self._counted(llama, text)
        return len(text.encode("utf-8", "surrogatepass")) + 1 if known is None else len(known)

    def _counted(self, llama: LlamaServer, text: str) -> list[int] | None:
        """Asks, and waits a moment; while a slow answer is under way, nobody waits for another."""
        found: list[list[int]] = []
        told = threading.Event()

        def work() -> None:
            with suppress(Exception):  # the bound is told instead
                found.append(llama.spelling.tokens(Line(self.server, self._wait), text))
            self._counting = False
            told.set()

        self._counting = True
        if not self._pool.submit(work):
            self._counting = False
        elif told.wait(_COUNT_WAIT) and found:
            return found[0]
        return None

    @property
    def flavour(self) -> str:
        if isinstance(self._dialect, ChatServer):
            return self._dialect.flavour
        return "llama-server" if self._dialect else ""

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

    # what it speaks

    def _probe(self, line: Line) -> LlamaServer | ChatServer:
        if self._dialect is None:
            self._dialect = self._found(line)
        return self._dialect

    def _found(self, line: Line) -> LlamaServer | ChatServer:
        again = lambda: self._add("asked_again")  # noqa: E731
        try:
            props = line.get("/props")
            if "default_generation_settings" in props:
                llama = LlamaServer(self.terminator, again)
                llama.open(line, props, self.chat)
                return llama
        except Unanswered as fault:
            if fault.status is None and not fault.again:
                raise BtError(f"nobody answers at {self.server.address}: {fault}", "start the server first") from None
            if fault.status in (None, 0, *BUSY):
                raise  # too slow, too much, or not now
        flavour = self._listed(line)
        other = ChatServer(flavour, self.name, self.context, again)
        other.open(line, self.chat)
        return other

    def _listed(self, line: Line) -> Flavour:
        """The model that was named must be there; one that was not named must be the only one."""
        found = line.get("/v1/models").get("data")
        rows = [row for row in found[:MOST_MODELS] if isinstance(row, dict)] if isinstance(found, list) else []
        names = [self.server.quoted(str(row.get("id", "")), SAID) for row in rows]
        owners = {str(row.get("owned_by"))[:SAID] for row in rows}
        listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        if not self.name and len(names) > 1:
            raise BtError(
                f"{self.server.address} has {len(names)} models: {listed}",
                f"name one: `model: {{server: {self.server.address}, name: …}}`",
            )
        if self.name and names and not {self.name, f"{self.name}:latest"} & {*names}:
            raise BtError(f"{self.server.address} has no model `{self.name}`; it has {listed}", "name one of these")
        self.name = self.name or (names[0] if names else "")
        return "vllm" if "vllm" in owners else "ollama" if "library" in owners else "openai"

    # writing

    def _write(self, line: Line, question: Question) -> Writing:
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
            written = self._read(line, most, *dialect.write(line, ask, grammar, most))
            if grammar is None:
                return written
            if accepts(grammar, written.text):
                return Writing(written.text, "grammar", written.tokens)
            self._add("asked_again")
        assert written is not None
        if written.ended == "length":
            return written
        raise BtError(
            f"{self.server.address} did not keep to the grammar in {TRIES} tries; "
            f"last: {self.server.quoted(repr(written.text[:80]))}",
            "a larger model, or a server that constrains its answers",
        )

    def _read(
        self,
        line: Line,
        most: int,
        said: Mapping[str, Any],
        entry: Mapping[str, Any],
        name: str,
        cut: bool,
        prompt: int,
    ) -> Writing:
        """What was written, no longer than was asked for, and counted even where the server does not."""
        longest = most * TOKEN_BYTES
        text = self.server.key.blotted(answer.text(entry, name, longest + SAID))  # a key may stand across the end
        if len(text) > longest:
            text, cut = text[:longest], True
        return Writing(text, "length" if cut else "stop", line.note(said, prompt, most, text))

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


def _unit(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]
