"""A local model as a run holds it: it takes jobs, never blocks, and answers by poll. A worker process does the work."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Self

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.job import Answer
from bt_runtime.llm.local import mmproj
from bt_runtime.llm.local.header import Header, read_header, register_with
from bt_runtime.llm.local.sizing import fit
from bt_runtime.llm.local.worker_client import Ask, WorkerClient
from bt_runtime.llm.question import sampled, sound
from bt_runtime.llm.settings import Settings
from bt_runtime.types import Json, Model, Question

_ENOUGH = 1 << 62  # bytes: the worker knows what memory there is, on the GPU too
_COUNTED = 4096  # texts whose length is remembered
_COUNT_WAIT = 0.05  # seconds that `count` may take before it answers with an upper bound


class LocalModel(Model):
    """Opens in the background; `ready` waits for it. Every method may be called from any thread."""

    def __init__(self, settings: Settings) -> None:
        header = read_header(settings.model)
        fit(header, settings, _ENOUGH)  # what the file itself forbids is told at once
        if settings.mmproj:
            mmproj.check(settings.mmproj, header)
        self.sees = bool(settings.mmproj)
        self.settings = settings
        self._ids = itertools.count(1)
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counting = threading.Lock()
        self._worker = WorkerClient(settings)
        self.register = register_with(header, [adapter.file for adapter in settings.lora])
        self.chat_template = self._chat = self._opened(header)  # while the worker starts

    def _opened(self, header: Header) -> Chat | None:
        template = header.chat_template if self.settings.chat else None
        try:
            chat = Chat.of(template, header.markers, header.ends) if template else None
            return chat.in_one_turn() if chat is not None and self.settings.turns == "one" else chat
        except BtError:
            self.close()
            raise

    def ready(self, timeout: float | None = None) -> Self:
        """Waits until the model is loaded; raises the reason when it cannot be loaded."""
        if not self._worker.opened.wait(timeout):
            raise BtError(
                f"{self.settings.model} is not loaded after {timeout:g} s", "give it more time, or take a smaller file"
            )
        if self._worker.failed:
            raise self._worker.failed
        return self

    def ask(self, question: Question) -> Answer[Any]:
        question = sampled(question, self.settings.sampler, self.settings.seed)
        question = sound(question, self.settings.terminator, self.sees)
        id = next(self._ids)
        job: Answer[Any] = Answer(lambda _: self._worker.cancel(id), question.wake)
        self._worker.post(Ask(id, question._replace(wake=None), job))  # what is called stays on this side
        return job

    def count(self, text: str) -> int:
        """Counts the tokens of a text within a prompt. Returns an upper bound while the worker is being replaced,
        because a tick never waits for that."""
        text = self._chat.harmless(text) if self._chat is not None else text
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
        self._worker.ask_count(id, text, tell)
        if not heard.wait(_COUNT_WAIT):
            self._worker.counts.pop(id, None)
            return len(text.encode("utf-8", "surrogatepass")) + 1  # no token is less than a byte
        with self._counting:
            self._counts[text] = found[0]
            if len(self._counts) > _COUNTED:
                self._counts.popitem(last=False)
        return found[0]

    def stats(self) -> Mapping[str, Json]:
        """Statistics: the model's placement, the questions, and the share of prompt tokens found in the cache."""
        spent = self._worker.spent
        return {
            **self._worker.facts,
            **self._worker.figures,
            **self._worker.moment,
            "prompt_tokens": spent.prompt,
            "reused_tokens": spent.reused,
            "computed_tokens": spent.computed,
            "shared": round(spent.reused / spent.prompt, 4) if spent.prompt else 0.0,
        }

    def close(self) -> None:
        self._worker.close()

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._worker.pid
