"""A local model as a run holds it: it takes jobs, never blocks, and answers by poll. A worker process does the work."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.job import Answer
from bt_runtime.llm.local import mmproj
from bt_runtime.llm.local.header import ModelHeader, read_header, register_with
from bt_runtime.llm.local.sizing import fit
from bt_runtime.llm.local.worker_client import Ask, WorkerClient
from bt_runtime.llm.question import sampled, sound
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.types import Json, Model, Question, Wake

_ENOUGH = 1 << 62  # bytes: the worker knows what memory there is, on the GPU too
_COUNTED = 4096  # texts whose length is remembered


class LocalModel(Model):
    """Opens in the background; `ready` waits for it. Every method may be called from any thread."""

    def __init__(self, settings: WorkerSettings) -> None:
        header = read_header(settings.model)
        fit(header, settings, _ENOUGH)  # told at once: settings that the file does not allow
        if settings.mmproj:
            mmproj.check(settings.mmproj, header)
        self.sees = bool(settings.mmproj)
        self.settings = settings
        self._ids = itertools.count(1)
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counting = threading.Lock()
        self._worker = WorkerClient(settings)
        self.register = register_with(header, [adapter.file for adapter in settings.lora])
        self.chat_template = self._chat = self._opened(header)  # read while the worker starts

    def _opened(self, header: ModelHeader) -> Chat | None:
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
        self._worker.post(Ask(id, question._replace(wake=None), job))  # the callback stays in this process
        return job

    def count(self, text: str) -> int:
        return self.counting((text,)).wait()[0]

    def counting(self, texts: Sequence[str], wake: Wake | None = None) -> Answer[Sequence[int]]:
        """Counts within a prompt, where no text can form a marker of the template. A text is counted once."""
        said = [self._chat.harmless(text) if self._chat is not None else text for text in texts]
        with self._counting:
            found = {text: self._counts[text] for text in said if text in self._counts}
        left = [text for text in dict.fromkeys(said) if text not in found]
        job: Answer[Sequence[int]] = Answer(wake=wake)

        def tell(text: str, count: int | BtError) -> None:
            if isinstance(count, BtError):
                job.finish(error=count)
                return
            found[text] = count
            self._keep(text, count)
            if len(found) == len({*said}):
                job.finish([found[each] for each in said])

        for text in left:
            self._worker.ask_count(next(self._ids), text, partial(tell, text))
        if not left:
            job.finish([found[each] for each in said])
        return job

    def _keep(self, text: str, count: int) -> None:
        with self._counting:
            self._counts[text] = count
            if len(self._counts) > _COUNTED:
                self._counts.popitem(last=False)

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
