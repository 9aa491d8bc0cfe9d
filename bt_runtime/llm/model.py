"""A local model, as a run holds it: takes jobs, never blocks, answers by poll. The work goes on in a worker process."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.chat import Chat
from bt_runtime.llm.choice import check_options
from bt_runtime.llm.fit import fit
from bt_runtime.llm.header import Header, read_header
from bt_runtime.llm.job import Answer
from bt_runtime.llm.line import Ask, Line
from bt_runtime.llm.settings import Settings
from bt_runtime.llm.style import Style
from bt_runtime.types import Choice, Grammar, Json, Wake, Writing

_ENOUGH = 1 << 62  # bytes: the worker knows what memory there is, on the GPU too
_COUNTED = 4096  # texts whose length is remembered
_COUNT_WAIT = 0.05  # seconds that `count` may take before it answers with an upper bound


class LocalModel:
    """Opens in the background; `ready` waits for it. Every method may be called from any thread."""

    def __init__(self, settings: Settings, wake: Wake | None = None) -> None:
        header = read_header(settings.model)
        fit(header, settings, _ENOUGH)  # what the file itself forbids is told at once
        self.settings = settings
        self.wake = wake
        self._ids = itertools.count(1)
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counting = threading.Lock()
        self._line = Line(settings)
        self.chat_template = self._chat(header)  # while the worker starts

    def _chat(self, header: Header) -> Chat | None:
        template = header.chat_template if self.settings.chat else None
        try:
            return Chat.of(template, header.markers) if template else None
        except BtError:
            self.close()
            raise

    def ready(self, timeout: float | None = None) -> LocalModel:
        """Wait until the model is loaded; raises why it is not."""
        if not self._line.opened.wait(timeout):
            raise BtError(f"{self.settings.model} is not loaded after {timeout:g} s")
        if self._line.failed:
            raise self._line.failed
        return self

    def choose(
        self,
        prompt: str,
        options: Sequence[str],
        *,
        mode: Literal["exact", "greedy", "scores"] = "exact",
        normalise: bool = False,
    ) -> Answer[Choice]:
        check_options(options, self.settings.terminator)
        wanted = {"prompt": prompt, "options": tuple(options), "mode": mode, "normalise": normalise}
        return self._ask("choose", wanted)

    def decide(
        self,
        prompt: str,
        moves: Mapping[str, Sequence[str]],
        *,
        mode: Literal["exact", "greedy"] = "exact",
        normalise: bool = False,
    ) -> Answer[Choice]:
        """First one of the moves, then one of its options, in one job: `{"Think:": (), "Act:": (" go to sink", …)}`.

        The index counts all options in order, a move without options as one.
        """
        check_options([*moves], self.settings.terminator)
        for options in filter(None, moves.values()):
            check_options(options, self.settings.terminator)
        wanted = {"prompt": prompt, "moves": {m: tuple(o) for m, o in moves.items()}}
        return self._ask("decide", {**wanted, "mode": mode, "normalise": normalise})

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
        style = Style(temperature, top_p, min_p, seed).checked()
        if type(max_tokens) is not int or max_tokens < 0:
            raise BtError(f"max_tokens is {max_tokens!r:.40}", "it takes a whole number, 0 or more")
        wanted = {
            "prompt": prompt,
            "grammar": grammar,
            "stop": tuple(stop),
            "max_tokens": max_tokens,
            "style": style,
        }
        return self._ask("write", wanted)

    def embed(self, texts: Sequence[str]) -> Answer[Sequence[Sequence[float]]]:
        return self._ask("embed", {"texts": tuple(texts)})

    def count(self, text: str) -> int:
        """Tokens of a text. An upper bound while the worker is being replaced: a tick never waits for that."""
        with self._counting:
            known = self._counts.get(text)
        if known is not None:
            return known
        heard = threading.Event()
        found: list[int] = []

        def tell(count: int) -> None:
            found.append(count)
            heard.set()

        id = next(self._ids)
        self._line.ask_count(id, text, tell)
        if not heard.wait(_COUNT_WAIT):
            self._line.counts.pop(id, None)
            return len(text.encode("utf-8", "surrogatepass")) + 1  # no token is less than a byte
        with self._counting:
            self._counts[text] = found[0]
            if len(self._counts) > _COUNTED:
                self._counts.popitem(last=False)
        return found[0]

    def stats(self) -> Mapping[str, Json]:
        """What runs where, what was asked, and what share of the prompts was in the cache already."""
        spent = self._line.spent
        return {
            **self._line.facts,
            **self._line.figures,
            "prompt_tokens": spent.prompt,
            "reused_tokens": spent.reused,
            "computed_tokens": spent.computed,
            "shared": round(spent.reused / spent.prompt, 4) if spent.prompt else 0.0,
        }

    def close(self) -> None:
        self._line.close()

    def __enter__(self) -> LocalModel:
        return self.ready()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._line.pid

    def _ask(self, kind: str, wanted: dict[str, Any]) -> Answer[Any]:
        id = next(self._ids)
        job: Answer[Any] = Answer(lambda _: self._line.cancel(id), self.wake)
        self._line.post(Ask(id, kind, wanted, job))
        return job
