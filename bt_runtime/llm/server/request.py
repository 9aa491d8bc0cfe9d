"""The requests of one job to a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Self

from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.http import HttpServer
from bt_runtime.llm.server.retry import TRIES, WAIT, RetryWait
from bt_runtime.types import Spent

WHOLE = 5  # times the time of one exchange, for all exchanges of one answer
_USUAL_BYTES = 4  # bytes of a token's text, where a server does not count


class RequestLine:
    """The requests of one job. They can be cancelled from outside, share one time limit, and count the time and tokens
    used.

    What a busy server refuses, and what got lost on the way, is asked for again. Use it in a `with`, whose end closes
    the connection.
    """

    def __init__(self, server: HttpServer, wait: RetryWait = WAIT, limit: float = 0.0) -> None:
        """Creates a request. `limit`: seconds for all its exchanges; by default a multiple of one exchange's
        timeout."""
        self.server, self.spent = server, Spent()
        self._limit = limit or WHOLE * server.timeout
        self._call, self._wait, self._off = server.call(), wait, threading.Event()
        self.begin()

    def begin(self) -> None:
        self._until = time.monotonic() + self._limit

    def get(self, path: str) -> dict[str, Any]:
        return self._send("GET", path, None)

    def post(self, path: str, body: dict[str, Any], several: bool = False) -> dict[str, Any]:
        return self._send("POST", path, body, several)

    def _send(self, method: str, path: str, body: dict[str, Any] | None, several: bool = False) -> dict[str, Any]:
        for tries in range(1, TRIES + 1):
            left = self._until - time.monotonic()
            if left <= 0:
                raise Unanswered(f"no whole answer within {self._limit:g} s", 0)
            try:
                return self._call.send(method, path, body, left, several)
            except Unanswered as fault:
                seconds = self._wait.seconds(tries, fault.after)
                if not fault.again or tries == TRIES or seconds > self._until - time.monotonic():
                    raise
                if self._wait.sleep(seconds, self._off):
                    raise Unanswered("cancelled") from None
        raise AssertionError("the last try returns or raises")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call.close()

    def cut(self) -> None:
        self._off.set()
        self._call.cut()

    def note(self, said: Mapping[str, Any], prompt: int, most: int, text: str = "", cut: bool = False) -> int:
        """Adds the server's usage figures to `spent` and returns the number of output tokens. Ignores implausible
        figures and estimates missing ones, never as zero.
        `prompt` is the prompt's length in tokens or characters, `most` the limit of output tokens. `cut` is True
        when the answer reached that limit."""
        usage, timings = said.get("usage"), said.get("timings")
        reused = answer.figure(timings, "cache_n", 4 * prompt + 4096)
        run = answer.figure(timings, "prompt_n", 4 * prompt + 4096)
        run = run or answer.figure(usage, "prompt_tokens", 4 * prompt + 4096) or prompt * (not reused) // _USUAL_BYTES
        wrote = answer.figure(said, "tokens_predicted", most) or answer.figure(timings, "predicted_n", most)
        wrote = wrote or answer.figure(usage, "completion_tokens", most)
        wrote = wrote or (most if cut else min(most, max(1, len(text.encode()) // _USUAL_BYTES)))
        self.spent = self.spent.plus(Spent(prompt=reused + run, reused=reused, computed=run + wrote))
        return wrote
