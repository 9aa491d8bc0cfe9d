"""The process that owns a model. One thread computes, one listens. The process ends when the other end of its socket
closes.

Started by `process.py` as `python -m bt_runtime.llm.local.worker DESCRIPTOR`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import queue
import socket
import sys
import threading
import time
from array import array
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llama_cpp

from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.language.project import orphan, system
from bt_runtime.llm.local import offload, spelling, wire
from bt_runtime.llm.local.aside import Aside
from bt_runtime.llm.local.batch import Batch
from bt_runtime.llm.local.context import SEQUENCES, SequenceCache
from bt_runtime.llm.local.cores import Cores
from bt_runtime.llm.local.header import ModelHeader, read_header
from bt_runtime.llm.local.lanes import Lanes
from bt_runtime.llm.local.llama import Device, Weights, begin, devices
from bt_runtime.llm.local.prompt_store import PromptStore, key
from bt_runtime.llm.local.sizing import Fit, fit, free_memory
from bt_runtime.llm.local.sizing import size as in_words
from bt_runtime.llm.local.states import StateBatch, sequences
from bt_runtime.llm.local.stored_batch import StoredBatch
from bt_runtime.llm.local.task import LocalTask
from bt_runtime.llm.local.task_factory import TaskFactory
from bt_runtime.llm.settings import WorkerSettings, default_threads
from bt_runtime.types import Spent

if TYPE_CHECKING:
    from bt_runtime.llm.local.projector import Projector

_BEAT = 0.5  # seconds between signs of life
_LEAST_STATES = 64 << 20  # bytes for the states of a model that keeps one
MOST_FILES = 1024  # open at once: a GPU's driver has some hundreds
_EMBEDDED = 512  # tokens of a text that count for its embedding


class Worker:
    def __init__(self, sock: socket.socket, settings: WorkerSettings) -> None:
        self.sock, self.settings = sock, settings
        self.sending = threading.Lock()
        self.inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.embeds: deque[tuple[int, list[str], list[list[float]]]] = deque()
        self.before: dict[int, Spent] = {}  # what a job's first part spent
        self.beaten = 0.0
        self.notes: list[str] = []
        self.facts: dict[str, Any] = {}
        self._embedder: SequenceCache | None = None
        self.projector: Projector | None = None

    def send(self, kind: str, *rest: Any, numbers: array[float] | None = None) -> None:
        data = wire.frame(kind, *rest, numbers=numbers)
        with self.sending:
            self.sock.sendall(data)

    def beat(self) -> None:
        now = time.monotonic()
        if now - self.beaten > _BEAT:
            self.beaten = now
            self.send("beat")

    # opening

    def open(self) -> None:
        """Loads the model and reports the result."""
        begin()
        header = read_header(self.settings.model)
        found = [d for d in devices() if d.gpu]
        taken = Path(self.settings.mmproj).stat().st_size if self.settings.mmproj else 0
        memory = max(free_memory(), sum(d.free for d in found)) - taken
        sizes = fit(header, self.settings, memory, [d.free for d in found])
        self.threads = self.settings.threads or default_threads()
        began = time.monotonic()
        (self.weights, context), layers = offload.load(
            self._layers(header, sizes, found), lambda n: self._load(n, sizes), self.notes.append
        )
        self.batch = self._batch(context, sizes)
        self.task_factory = TaskFactory(self.weights, sizes.lane, self.settings, sizes.context, self.projector)
        self.task_factory.prepare()
        self.facts = {
            "model": self.settings.model,
            "about": self.weights.describe(),
            "context": sizes.context,
            "room": sizes.room,
            "lanes": sizes.lanes,
            "batches": sizes.batches,
            "chunk": sizes.chunk,
            "vocabulary": self.weights.size,
            "threads": self.threads,
            "gpu_layers": layers,
            "layers": header.layers,
            "devices": [d.name for d in found] if layers else ["CPU"],
            "notes": self.notes,
            "load_seconds": round(time.monotonic() - began, 3),
        }

    def _layers(self, header: ModelHeader, sizes: Fit, gpus: Sequence[Device]) -> int:
        if self.settings.gpu_layers != "auto":
            if gpus or not self.settings.gpu_layers:
                return self.settings.gpu_layers
            self.notes.append(f"{self.settings.gpu_layers} layers were to go to a GPU, and llama.cpp finds none")
            return 0
        need = offload.Need(header.layers, header.weights, sizes.cache_bytes, sizes.logits_bytes)
        return offload.layers_that_fit(need, [d.free for d in gpus])

    def _load(self, layers: int, sizes: Fit) -> tuple[Weights, SequenceCache]:
        weights = Weights(self.settings.model, layers, self.beat, self.settings.main_gpu, self.settings.tensor_split)
        if not weights.writes:
            kind = weights.describe()
            weights.close()
            raise BtError(
                f"{self.settings.model} ({kind}) writes no text",
                "take a model that does; encoders can only embed, see docs/memory.md",
            )
        try:
            for adapter in self.settings.lora:
                weights.adapt(adapter.file, adapter.scale)
            self._project(weights, layers != 0)
            return weights, self._context(weights, sizes)
        except BtError:
            weights.close()
            raise

    def _project(self, weights: Weights, gpu: bool) -> None:
        """Loads the projector for pictures, if the model has one."""
        if self.settings.mmproj:
            from bt_runtime.llm.local.projector import Projector

            self.projector = Projector(self.settings.mmproj, weights, self.threads, gpu, self.beat)

    def _context(self, weights: Weights, sizes: Fit) -> SequenceCache:
        """Opens a context. On the processor flash attention sums in another order and with less precision, so that
        other choices are made: it is used there only where it is asked for, or where the cache's type needs it."""
        processor = weights.gpu_layers == 0 and not self.settings.quantised
        flash = False if self.settings.flash is None and processor else self.settings.flash
        kind = self.settings.cache_type
        states = self._states(weights, sizes) if weights.forgets else SEQUENCES
        if self.projector is None:
            return SequenceCache(
                weights, sizes.lane, sizes.chunk, self.threads, flash=flash, cache_type=kind, sequences=states
            )
        from bt_runtime.llm.local.picture_context import PictureContext

        return PictureContext(
            self.projector, weights, sizes.lane, sizes.chunk, self.threads, flash=flash, cache_type=kind
        )

    def _states(self, weights: Weights, sizes: Fit) -> int:
        """Returns how many sequences of a recurrent model fit in a cache's memory."""
        probe = SequenceCache(weights, 256, 32, self.threads, sequences=1)
        try:
            size = probe.state_size()
        finally:
            probe.close()
        count = sequences(size, max(sizes.cache_bytes, _LEAST_STATES), SEQUENCES)
        self.notes.append(f"it keeps a state of {in_words(size)}: {count} at once, {in_words(size * count)}")
        return count

    def _batch(self, context: SequenceCache, sizes: Fit) -> Batch | Lanes | Cores:
        if self.weights.forgets:
            return StateBatch(context, sizes.lane, self._done, sizes.chunk, self.settings.repeatable)
        store = self._store(sizes)

        def batch(context: SequenceCache) -> Batch:
            if store is not None or sizes.aside_bytes:
                aside = Aside(sizes.aside_bytes // sizes.batches)
                return StoredBatch(context, sizes.lane, self._done, sizes.chunk, store=store, aside=aside)
            return Batch(context, sizes.lane, self._done, sizes.chunk, self.settings.repeatable, sizes.lanes > 1)

        def another() -> Batch:
            return batch(self._context(self.weights, sizes))

        if sizes.lanes > 1:
            return Lanes(batch(context), another, sizes.lanes)
        if sizes.batches > 1:
            return Cores(batch(context), another, sizes.batches, lambda told: self.inbox.put(("computed", told)))
        return batch(context)

    def _store(self, sizes: Fit) -> PromptStore | None:
        """The prompts of earlier starts; None where they are of no use, or cannot be kept."""
        most = sizes.keep
        if not most or self.settings.repeatable or sizes.lanes > 1:
            return None
        try:
            return PromptStore(key(self.settings, llama_cpp.__version__), most << 20, self._note)
        except OSError as fault:
            self.notes.append(f"states of prompts are not kept on disk: {fault.strerror}")
            return None

    def _note(self, text: str) -> None:
        """Adds a note; those after the start are sent."""
        self.notes.append(text)
        if self.facts:
            self.send("note", text)

    # the listening thread

    def listen(self) -> None:
        try:
            for kind, rest, _ in wire.messages(self.sock):
                if kind == "count":
                    self.send("counted", rest[0], len(self.weights.tokens(rest[1])))
                else:
                    self.inbox.put((kind, *rest))
                    if kind == "close":
                        self.batch.stop()
                    elif kind == "cancel" and self.batch.runs(rest[0]):
                        self.batch.stop(rest[0])
        finally:
            os._exit(0)  # the tick process is gone: nothing to clean that the system does not clean

    # the computing thread

    def run(self) -> None:
        while True:
            self.batch.go_on()
            self._read_inbox()
            self.beat()
            if self.batch.ready:
                self.batch.step()
            if self.embeds:
                self._embed()

    def _read_inbox(self) -> None:
        while not (self.inbox.empty() and (self.batch.ready or self.embeds)):
            if self.inbox.empty() and not self.batch.busy:
                self.batch.idle()
            kind, *rest = self.inbox.get()
            if kind == "ask":
                self._ask(*rest)
            elif kind == "cancel":
                self.batch.cancel(rest[0])
                self.task_factory.forget(rest[0])
                self.before.pop(rest[0], None)
                self.embeds = deque(e for e in self.embeds if e[0] != rest[0])
                self.send("gone", rest[0])
            elif kind == "computed" and isinstance(self.batch, Cores):
                self.batch.computed(rest[0])
            elif kind == "close":
                os._exit(0)

    def _ask(self, id: int, asked: dict[str, Any]) -> None:
        try:
            question = spelling.question_of(asked)
            if question.kind == "embed":
                self.embeds.append((id, list(question.texts), []))
                return
            self.batch.ask(self.task_factory.task(id, question))
        except (BtError, ValueError, RuntimeError) as fault:
            self._done(id, None, fault, Spent())

    def _embed(self) -> None:
        """Embeds one text, then returns to the batch."""
        id, texts, vectors = self.embeds[0]
        try:
            if self._embedder is None:
                size = min(_EMBEDDED, self.weights.trained)
                self._embedder = SequenceCache(self.weights, size, size, self.threads, embed=True)
            if len(vectors) < len(texts):
                tokens = self.weights.tokens(texts[len(vectors)], begin=True)[: self._embedder.batch]
                vectors.append(self._embedder.vector(tokens))
            if len(vectors) < len(texts):
                return
            self.embeds.popleft()
            self._done(id, vectors, None, Spent())
        except (BtError, ValueError, RuntimeError) as fault:
            self.embeds.popleft()
            self._done(id, None, fault, Spent())

    def _done(self, id: int, value: Any, error: BaseException | None, spent: Spent) -> None:
        spent = spent.plus(self.before.pop(id, Spent()))
        try:
            value = value if error else self.task_factory.follow(id, value)
        except (BtError, ValueError, RuntimeError) as fault:
            error = fault
        if isinstance(value, LocalTask) and error is None:
            self.before[id] = spent
            self.batch.ask(value, first=True)
        elif error is None:
            spelled = spelling.answer_as(value)
            self.send("answer", id, spelled.data, spent, numbers=spelled.numbers)
        else:
            self.task_factory.forget(id)
            message, hint = (error.message, error.hint) if isinstance(error, BtError) else (str(error), "")
            measure = (error.tokens, error.limit) if isinstance(error, TooLong) else None
            self.send("error", id, message, hint, spent, measure)


def _stand_back(settings: WorkerSettings) -> None:
    """Lowers this process's priority below the tick's, and makes it the first to be killed when memory runs out."""
    with contextlib.suppress(OSError):
        os.nice(settings.niceness)
    if settings.background:
        with contextlib.suppress(OSError, AttributeError):  # Linux only
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")
    for limit, most in (("RLIMIT_CORE", 0), ("RLIMIT_NOFILE", MOST_FILES)):  # prompts are in no core
        with contextlib.suppress(OSError, ValueError):
            system.limit(limit, most)


def main(descriptor: int) -> int:
    faulthandler.enable()
    sys.setswitchinterval(0.0005)  # the listening thread is to be heard beside the computing one
    sock = socket.socket(fileno=descriptor)
    inbox = wire.WireInbox()
    settings: WorkerSettings | None = None
    while settings is None:
        data = sock.recv(1 << 16)
        if not data:
            return 0
        for message in inbox.add(data):
            settings = spelling.settings_of(message.rest[0])
    _stand_back(settings)
    worker = Worker(sock, settings)
    try:
        worker.open()
    except BtError as fault:
        worker.send("failed", fault.message, fault.hint)
        return 1
    gc.freeze()  # imported modules stay: collections skip them
    threading.Thread(target=worker.listen, name="listen", daemon=True).start()
    worker.send("ready", worker.facts)
    worker.run()
    return 0


if __name__ == "__main__":
    orphan.heed()
    raise SystemExit(main(int(sys.argv[1])))
