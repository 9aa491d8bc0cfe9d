"""Several processes that train one network: each learns from other documents, and all take the same step.

One process with two threads waits for the slower one after every small operation; two processes meet once a step. All
hold the same weights, and the mean of their gradients moves them all. The first is the one that was asked to train: it
alone reads documents, tells, looks at what was held back and saves; the others hear from it what there is to do.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from bt_runtime.distill.needs import torch
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project.child import spawning

_PATIENCE = timedelta(days=1)  # while the first one encodes documents; a process that ends is noticed at once
_FAREWELL = 10.0  # seconds in which a process ends by itself
_HERE = "here"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Crew:
    """The processes of a run as one of them sees them."""

    place: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        return self.place == 0

    def heard(self, made: Callable[[], T]) -> T:
        """What the first one makes, for all."""
        if self.count == 1:
            return made()
        told: list[Any] = [made() if self.leads else None]
        torch.distributed.broadcast_object_list(told)
        return told[0]  # type: ignore[no-any-return]

    def joined(self, weights: Iterable[Any], *numbers: Any) -> Sequence[Any]:
        """Makes the gradients the mean over all; answers the sums of these numbers, the same everywhere."""
        if self.count == 1:
            return numbers
        grown = [w for w in weights if w.grad is not None]
        beside = torch.stack([torch.as_tensor(n, dtype=torch.float32, device="cpu") for n in numbers])
        flat = torch.cat([*(w.grad.reshape(-1) for w in grown), beside.to(grown[0].device)])
        torch.distributed.all_reduce(flat)
        at = 0
        for weight in grown:
            weight.grad.copy_(flat[at : at + weight.numel()].view_as(weight) / self.count)
            at += weight.numel()
        return flat[at:].tolist()  # type: ignore[no-any-return]


ALONE = Crew()
Work = Callable[..., Any]


class _Mate(NamedTuple):
    process: Any
    voice: Connection

    def here(self) -> None:
        """Returns when it is about to meet the others."""
        try:
            said = self.voice.recv()
        except EOFError:
            said = ""
        if said != _HERE:
            self.process.join(_FAREWELL)
            raise self.ended(said)

    def ended(self, said: str = "") -> BtError:
        with suppress(EOFError, OSError):
            while self.voice.poll():
                said = self.voice.recv() or said
        why = said or f"exit code {self.process.exitcode}"
        return BtError(f"a process of the training ended: {why}", "the same command goes on from the last checkpoint")


@contextmanager
def hired(count: int, work: Work, *given: Any) -> Iterator[Crew]:
    """The crew as this process sees it, which leads; in each of the others `work` is called with its crew and these."""
    if count == 1:
        yield ALONE
        return
    mates = list[_Mate]()
    shares, threads = _shares(count), max(1, torch.get_num_threads() // count)
    with TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        try:
            with spawning() as spawn:
                for place in range(1, count):
                    voice, theirs = spawn.Pipe(duplex=False)
                    args = Crew(place, count), meeting, shares[place], threads, theirs, work, given
                    process = spawn.Process(target=_mate, args=args, daemon=True)
                    process.start()
                    theirs.close()
                    mates.append(_Mate(process, voice))
            for mate in mates:
                mate.here()
            with _settled(shares[0], threads), _met(meeting, Crew(0, count)) as crew:
                yield crew
            for mate in mates:
                mate.process.join(_FAREWELL)
        except RuntimeError as fault:
            wait([mate.process.sentinel for mate in mates], _FAREWELL)
            for mate in mates:
                mate.process.join(0.1)  # its end shows a little before its exit code does
                if mate.process.exitcode:
                    raise mate.ended() from fault
            raise
        finally:
            for mate in mates:
                mate.process.terminate()
                mate.process.join()
                mate.voice.close()


def _mate(
    crew: Crew, meeting: str, cpus: Collection[int], threads: int, voice: Connection, work: Work, given: Sequence[Any]
) -> None:
    """The life of another process: it ends with its work or with the first one, which alone hears Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_first, daemon=True).start()
    try:
        with _settled(cpus, threads):
            voice.send(_HERE)
            with _met(meeting, crew):
                work(crew, *given)
    except Exception as fault:
        with suppress(OSError):
            voice.send(f"{type(fault).__name__}: {fault}")
        raise SystemExit(1) from None


def _leave_with_the_first() -> None:
    first = parent_process()
    if first is not None:
        first.join()
    os._exit(1)


@contextmanager
def _met(meeting: str, crew: Crew) -> Iterator[Crew]:
    torch.distributed.init_process_group(
        "gloo", init_method=meeting, rank=crew.place, world_size=crew.count, timeout=_PATIENCE
    )
    try:
        torch.distributed.barrier()  # who left while another is still connecting would be waited for
        yield crew
    finally:
        torch.distributed.destroy_process_group()


@contextmanager
def _settled(cpus: Collection[int], threads: int) -> Iterator[None]:
    """On its share of the processors, so that no two of the crew get in each other's way."""
    before, threads_before = _processors(), torch.get_num_threads()
    torch.set_num_threads(threads)
    _move(cpus)
    try:
        yield
    finally:
        _move(before)
        torch.set_num_threads(threads_before)


def _shares(count: int) -> list[list[int]]:
    """The processors that this process may use, dealt out; some are shared when they are too few."""
    cpus = _processors()
    if not cpus:
        return [[]] * count
    if count > len(cpus):
        return [[cpus[place % len(cpus)]] for place in range(count)]
    return [cpus[len(cpus) * place // count : len(cpus) * (place + 1) // count] for place in range(count)]


def _processors() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _move(cpus: Collection[int]) -> None:
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)
