"""A model behind HTTP: llama.cpp's server, or anything that speaks the OpenAI completions protocol (vLLM, Ollama).

Such a server is never trusted to have obeyed: every answer is read again, and asked for again when it is not in order.
"""

from __future__ import annotations

import difflib
import itertools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, TypeVar

from bt_runtime.diagnose import BtError
from bt_runtime.llm.choice import Mode, Trie, check_options, combine, search
from bt_runtime.llm.grammar import accepts, check
from bt_runtime.llm.http import Server, Unanswered
from bt_runtime.llm.job import Answer, Cancelled, Spent
from bt_runtime.llm.seam import Tailor
from bt_runtime.types import Choice, Grammar, Json, Wake, Writing

T = TypeVar("T")
_TRIES = 3  # how often an answer that is not in order is asked for
_AT_ONCE = 8
_COUNT_WAIT = 0.05
_LIKE = 0.8  # how near to an option an answer has to be


class Endpoint:
    """The same protocol as a local model. `stats()["capabilities"]` says what this server can do."""

    def __init__(
        self, address: str, name: str = "", terminator: str = "\n", timeout: float = 120.0, wake: Wake | None = None
    ) -> None:
        self.server = Server(address, timeout)
        self.name, self.terminator, self.wake = name, terminator, wake
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="btr-endpoint")
        self._lock = threading.Lock()
        self._tokens: dict[str, list[int]] = {}
        self._pieces: dict[int, bytes] = {}
        self._flavour: Literal["", "llama-server", "openai"] = ""
        self._vocabulary = 0
        self._figures = dict.fromkeys(("asked", "answered", "failed", "cancelled", "asked_again"), 0)
        self._spent = Spent()

    def ready(self, timeout: float | None = None) -> Endpoint:
        """Find out what it speaks; a BtError when nobody is there."""
        self._probe(Line(self.server))
        return self

    def choose(
        self, prompt: str, options: Sequence[str], *, mode: Mode = "exact", normalise: bool = False
    ) -> Answer[Choice]:
        check_options(options, self.terminator)
        return self._ask(lambda line: self._choose(line, prompt, list(options), mode, normalise, self.terminator))

    def decide(
        self, prompt: str, moves: Mapping[str, Sequence[str]], *, mode: Mode = "exact", normalise: bool = False
    ) -> Answer[Choice]:
        check_options([*moves], self.terminator)

        def work(line: Line) -> Choice:
            move = self._choose(line, prompt, [*moves], mode, normalise, "")
            before = sum(len(options) or 1 for options in list(moves.values())[: move.index])
            options = list(moves[move.text])
            if not options:
                return Choice(move.text, before, move.logprob, move.margin)
            then = self._choose(line, prompt + move.text, options, mode, normalise, self.terminator)
            return combine(move, then, before)

        return self._ask(work)

    def write(
        self,
        prompt: str,
        *,
        grammar: Grammar | None = None,
        stop: Sequence[str] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
    ) -> Answer[Writing]:
        style = {"temperature": temperature, "top_p": top_p, "min_p": min_p}
        if max_tokens < 1:
            raise BtError(f"max_tokens is {max_tokens}", "ask for at least one")
        return self._ask(lambda line: self._write(line, prompt, grammar, list(stop), max_tokens, style, seed))

    def count(self, text: str) -> int:
        """Tokens of a text; an upper bound where the server does not tell in time."""
        if text not in self._tokens:
            try:
                future = self._pool.submit(lambda: self._tokenise(Line(self.server), text))
                return len(future.result(_COUNT_WAIT))
            except (BtError, Unanswered, TimeoutError, RuntimeError):  # the last: closed
                return len(text.encode("utf-8", "surrogatepass")) + 1
        return len(self._tokens[text])

    def embed(self, texts: Sequence[str]) -> Answer[Sequence[Sequence[float]]]:
        def work(line: Line) -> Sequence[Sequence[float]]:
            if not texts:
                return []
            said = line.post("/v1/embeddings", {"input": list(texts), "model": self.name})
            vectors = [entry["embedding"] for entry in sorted(said["data"], key=lambda e: e.get("index", 0))]
            return [_unit(vector) for vector in vectors]

        return self._ask(work)

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
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Endpoint:
        return self.ready()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # jobs

    def _ask(self, work: Callable[[Line], T]) -> Answer[T]:
        line = Line(self.server)

        def cancelled(_: Answer[T]) -> None:
            self._add("cancelled")
            line.cut()

        job: Answer[T] = Answer(cancelled, self.wake)
        self._add("asked")
        try:
            self._pool.submit(self._run, line, work, job)
        except RuntimeError:  # the pool is shut down
            self._add("failed")
            job.finish(error=BtError("the model was closed"))
        return job

    def _run(self, line: Line, work: Callable[[Line], T], job: Answer[T]) -> None:
        start = time.monotonic()
        try:
            self._probe(line)
            value, error = work(line), None
        except (BtError, Cancelled) as fault:
            value, error = None, fault
        except Unanswered as fault:
            error = BtError(f"{self.server.address}: {fault}", "is the server up, and is this its address?")
            value = None
        except Exception as fault:  # whatever the server's answer did to us, the job is told
            value, error = None, BtError(f"{self.server.address} gave an answer that cannot be read: {fault!r}")
        spent = line.spent._replace(seconds=time.monotonic() - start)
        if job.finish(value, error, spent):
            self._add("failed" if error else "answered")
            with self._lock:
                self._spent = self._spent.plus(spent)

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
                raise BtError(f"nobody answers at {self.server.address}: {fault}", "start the server first") from fault
            models = line.get("/v1/models").get("data") or [{}]
            self.name = self.name or str(models[0].get("id", ""))
            self._flavour = "openai"

    # choosing

    def _choose(self, line: Line, prompt: str, options: list[str], mode: Mode, normalise: bool, end: str) -> Choice:
        if self._flavour == "llama-server":
            return self._walk(line, prompt, options, mode, normalise, end)
        if mode == "scores":
            raise BtError(
                f"{self.server.address} tells no log-probabilities", "ask for another mode, or use a local model"
            )
        return self._pick(line, prompt, options)

    def _walk(self, line: Line, prompt: str, options: list[str], mode: Mode, normalise: bool, end: str) -> Choice:
        """The same search as on a local model; each node is a request."""
        tailor = Tailor(lambda text: self._tokenise(line, text), self._pieces.__getitem__)
        before = self._tokenise(line, prompt, begin=True)
        seam = tailor.join(before, [option + end for option in options])
        trie = seam.trie
        quest = search(trie, options, mode, 1 if mode == "exact" else 32, normalise)
        try:
            nodes = next(quest)
            while True:
                nodes = quest.send([self._below(line, seam.prompt, trie, node) for node in nodes])
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
            top = said["completion_probabilities"][0]["top_logprobs"]
            known = {entry["id"]: float(entry["logprob"]) for entry in top}
            line.note(said)
            if len(top) < most or all(token in known for token in wanted):
                return [known.get(token, -math.inf) for token in wanted]
            most *= 16  # an unlikely option: ask for more of the vocabulary

    def _pick(self, line: Line, prompt: str, options: list[str]) -> Choice:
        """A server without log-probabilities: it answers, and we look which option that is."""
        stripped = [option.strip() for option in options]
        ask, hint = prompt, "\n(Answer with one of these, and nothing else: " + "; ".join(stripped) + ")\n"
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
                    "guided_choice": options,
                    "structured_outputs": {"choice": options},
                },
            )
            text = str(said["choices"][0]["text"]).strip()
            line.note(said)
            found = [text] if text in stripped else difflib.get_close_matches(text, stripped, 1, _LIKE)
            if found:
                index = stripped.index(found[0])
                return Choice(options[index], index, math.nan, math.nan)
            self._add("asked_again")
            ask = prompt + hint
        raise BtError(
            f"{self.server.address} chose none of the {len(options)} options in {_TRIES} tries; last: {text!r}"
        )

    # writing

    def _write(
        self,
        line: Line,
        prompt: str,
        grammar: Grammar | None,
        stop: list[str],
        most: int,
        style: dict[str, float],
        seed: int,
    ) -> Writing:
        if grammar is not None:
            check(grammar)  # some servers ignore a grammar that they cannot read
        written = None
        for attempt in range(_TRIES if grammar else 1):
            how = {**style, "temperature": max(style["temperature"], 0.3 * attempt), "seed": seed + attempt}
            make = self._llama_write if self._flavour == "llama-server" else self._openai_write
            written = make(line, {"prompt": prompt, "stop": stop, **how}, grammar, most)
            if grammar is None:
                return written
            if accepts(grammar, written.text):
                return Writing(written.text, "grammar", written.tokens)
            self._add("asked_again")
        assert written is not None
        if written.ended == "length":
            return written
        raise BtError(
            f"{self.server.address} did not keep to the grammar in {_TRIES} tries; last: {written.text[:80]!r}"
        )

    def _llama_write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> Writing:
        if grammar is not None:
            if grammar.kind == "json_schema":
                ask["json_schema"] = _json(grammar.text)
            else:
                text = grammar.text if grammar.kind == "lark" else f"start: /{_slashed(grammar.text)}/"
                ask["grammar"] = "%llguidance {}\n" + text
        said = line.post("/completion", {**ask, "n_predict": most, "repeat_penalty": 1.0, "top_k": 0, **_PLAIN})
        line.note(said)
        ended: Any = "length" if said.get("stop_type") == "limit" else "stop"
        return Writing(str(said["content"]), ended, int(said.get("tokens_predicted", 0)))

    def _openai_write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> Writing:
        if grammar is not None:
            kind = {"json_schema": "json", "regex": "regex", "lark": "grammar"}[grammar.kind]
            value = _json(grammar.text) if kind == "json" else grammar.text
            ask |= {f"guided_{kind}": value, "structured_outputs": {kind: value}}
        said = line.post("/v1/completions", {"model": self.name, **ask, "max_tokens": most})
        line.note(said)
        entry = said["choices"][0]
        ended: Any = "length" if entry.get("finish_reason") == "length" else "stop"
        return Writing(str(entry["text"]), ended, int(said.get("usage", {}).get("completion_tokens", 0)))

    def _tokenise(self, line: Line, text: str, begin: bool = False) -> list[int]:
        if self._flavour == "openai":
            raise BtError(f"{self.server.address} does not tell its tokens")
        if not begin and text in self._tokens:
            return self._tokens[text]
        said = line.post("/tokenize", {"content": text, "add_special": begin, "with_pieces": True})["tokens"]
        for entry in said:
            piece = entry["piece"]
            self._pieces[entry["id"]] = bytes(piece) if isinstance(piece, list) else str(piece).encode()
        tokens = [int(entry["id"]) for entry in said]
        if not begin:
            if len(self._tokens) > 50_000:
                self._tokens.clear()
            self._tokens[text] = tokens
        return tokens


_PLAIN = {"cache_prompt": True, "stream": False}


class Line:
    """The requests of one job: they can be cut off from outside, and count what they took."""

    def __init__(self, server: Server) -> None:
        self.server, self.spent = server, Spent()
        self._ids = itertools.count()
        self._call = server.call()

    def get(self, path: str) -> dict[str, Any]:
        return self._call.send("GET", path, None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._call.send("POST", path, body)

    def cut(self) -> None:
        self._call.cut()

    def note(self, said: dict[str, Any]) -> None:
        """What the server says it computed."""
        usage, timings = said.get("usage") or {}, said.get("timings") or {}
        reused = int(timings.get("cache_n", 0) or 0)
        run = int(timings.get("prompt_n", usage.get("prompt_tokens", 0)) or 0)
        wrote = int(timings.get("predicted_n", usage.get("completion_tokens", 0)) or 0)
        self.spent = self.spent.plus(Spent(prompt=reused + run, reused=reused, computed=run + wrote))


def _unit(vector: Sequence[float]) -> list[float]:
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


def _json(text: str) -> Any:
    import json

    return json.loads(text)


def _slashed(pattern: str) -> str:
    """A regular expression inside the slashes of a Lark terminal."""
    return pattern.replace("/", "\\/").replace("\n", "\\n")
