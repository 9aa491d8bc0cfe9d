"""Data-parallel training in several processes with torch's DistributedDataParallel. Each process learns from other
documents, and all take one step. Two processes synchronise once a step, while one process with two threads would
wait after every small operation. Gradients are averaged over all. Rank 0 is the process that was started: it alone
reads documents, reports, evaluates and saves; it tells the others what to do."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from bt_lab.distill.torch_imports import torch
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project.child import spawning

_PATIENCE = timedelta(days=1)  # while rank 0 encodes documents; a process that ends is noticed at once
_FAREWELL = 10.0  # seconds in which a process ends by itself
_GLANCE = 0.05  # seconds between two looks at whether all have come
_BUCKET = 1 / 2**20  # MiB: one byte, so that each gradient travels by itself
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """The processes of a run, as one of them sees them."""

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def broadcast(self, make: Callable[[], T]) -> T:
        """Broadcasts rank 0's value to all processes."""
        if self.count == 1:
            return make()
        made: list[Any] = [make() if self.leads else None]
        torch.distributed.broadcast_object_list(made)
        return made[0]  # type: ignore[no-any-return]

    def averaging(self, network: Any, passed: Callable[[Any], Any]) -> Any:
        """Wraps the network so that its gradients are averaged over all processes; `passed` is any number that it
        computes. The order of summation depends on how torch groups gradients into buckets. The first backward pass
        uses one bucket, and later passes use _BUCKET; a resumed run would differ. So the first pass is made without
        learning."""
        if self.count == 1:
            return network
        averaging = torch.nn.parallel.DistributedDataParallel(
            network, bucket_cap_mb=_BUCKET, gradient_as_bucket_view=True
        )
        with torch.compiler.set_stance("force_eager"):
            passed(averaging).backward()
        averaging.zero_grad(set_to_none=True)
        return averaging

    def sums(self, *numbers: Any) -> Sequence[Any]:
        """The sums of these numbers over all processes."""
        if self.count == 1:
            return numbers
        added = torch.stack([torch.as_tensor(n, dtype=torch.float32, device="cpu") for n in numbers])
        torch.distributed.all_reduce(added)
        return added.tolist()  # type: ignore[no-any-return]


ALONE = ProcessGroup()
Work = Callable[..., Any]


@contextmanager
def launched(count: int, work: Work, *given: Any) -> Iterator[ProcessGroup]:
    """Starts the other processes, each of which calls `work` with its group and the given values. Yields the group of
    this process, which is rank 0."""
    if count == 1:
        yield ALONE
        return
    threads_before = torch.get_num_threads()
    threads = max(1, threads_before // count)
    with TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        with spawning():
            others = torch.multiprocessing.start_processes(
                _other, (count, meeting, threads, work, given), count - 1, join=False, daemon=True
            )
        try:
            store = torch.distributed.FileStore(meeting, count)
            _gather(others, store, count)
            torch.set_num_threads(threads)
            with _met(store, ProcessGroup(0, count)) as group:
                try:
                    yield group
                except RuntimeError as fault:  # of torch: its own, or what it says when another process is gone
                    _ended(others, fault)
                    raise
            while not others.join(_FAREWELL, _FAREWELL):
                pass
        finally:
            torch.set_num_threads(threads_before)
            for process in others.processes:
                process.terminate()
                process.join()


def _gather(others: Any, store: Any, count: int) -> None:
    """Returns when all are about to meet; one that ends before would be waited for."""
    while not store.check([f"here {rank}" for rank in range(1, count)]):
        _ended(others)
    store.set("all here", "")


def _ended(others: Any, fault: BaseException | None = None) -> None:
    """Raises when another process has ended; after a fault it is given time to."""
    try:
        gone = others.join(_FAREWELL if fault else _GLANCE, _FAREWELL)
    except torch.multiprocessing.ProcessExitedException as end:
        why = end.signal_name or f"exit code {end.exit_code}"
    except torch.multiprocessing.ProcessRaisedException as end:
        why = str(end).strip().splitlines()[-1]
    else:
        why = "without a word" if gone else ""
    if why:
        hint = "the same command goes on from the last checkpoint"
        raise BtError(f"a process of the training ended: {why}", hint) from fault


def _other(place: int, count: int, meeting: str, threads: int, work: Work, given: Any) -> None:
    """Runs in each other process: ends with its work or with rank 0, the only process that handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    rank, first = place + 1, parent_process()
    store = torch.distributed.FileStore(meeting, count)
    store.set(f"here {rank}", "")
    while not store.check(["all here"]):
        if first is not None:
            first.join(_GLANCE)
            if not first.is_alive():
                return
    with _met(store, ProcessGroup(rank, count)) as group:
        work(group, *given)
    # Work is done and said: the interpreter's own way out may meet a thread of gloo that still runs, and abort.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def _met(store: Any, group: ProcessGroup) -> Iterator[ProcessGroup]:
    torch.distributed.init_process_group(
        "gloo", store=store, rank=group.rank, world_size=group.count, timeout=_PATIENCE
    )
    try:
        torch.distributed.barrier()  # who left while another is still connecting would be waited for
        yield group
    finally:
        torch.distributed.destroy_process_group()
