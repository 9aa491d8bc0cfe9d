"""Runs cases, each in a process forked from this one, and judges each by one rule."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pkgutil
import re
import resource
import select
import shutil
import signal
import tempfile
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.loader import Loader
from bt_runtime.language.project import plugins
from tests.hostile.case import KEY, SPARSE, USAGE, Case, lay
from tests.hostile.watched import FILE, MB, MEMORY, UNCAUGHT, live

LOOK = 0.5  # seconds between two looks at what a case does
SECONDS = 5  # of processor time, at the least
TIMES = 150  # … and what a sound tree of 2,000 nodes takes: the machine may be slow
IDLE = 40  # looks in a row at which a case waits and has used no processor time: it hangs, however busy the machine is
TELLING = 2000  # cases between two lines that tell how far it is
OUTPUT = 20 * MB  # of what is printed is looked at
SILENT = re.compile(r'^(?!.*"damage": ("[^"]|true|\{|\[))')  # the first line of a journal as JSON says of no damage
WAY_OUT = re.compile(r"help:|\[BT\d{3}\]|usage:|try:|instead")  # how words that refuse name what to do


class Ended(NamedTuple):
    code: int  # negative: the signal that ended it
    seconds: float  # of processor time
    memory: int  # bytes beyond those of the frame
    output: str
    size: int  # of all that was printed
    touched: tuple[str, ...]
    left: bool  # a process of its session lives on
    hung: bool


class Broken(NamedTuple):
    case: Case
    why: list[str]
    ended: Ended


class Running:
    """A case at work, and for how many looks it has done nothing."""

    def __init__(self, case: Case, around: Path) -> None:
        self.case = case
        self.folder, self.out, self.told = around / "a" / "here", around / "out", around / "told"
        self.looked, self.idle, self.used = time.monotonic(), 0, -1

    def hangs(self, pid: int) -> bool:
        """Looks at the process and its children. One that waits for its turn on a busy machine is no idle one."""
        if time.monotonic() - self.looked < LOOK:
            return False
        self.looked = time.monotonic()
        states, used = work_of(pid)
        self.idle = self.idle + 1 if used == self.used and not states & {"R", "D"} else 0
        self.used = used
        return self.idle >= IDLE


COLD = ("bt_lab.distill", "bt_runtime.llm.local.worker", "bt_lab", "bt_lab.optimise")


def warmed() -> None:
    """What commands import is imported once, here; the processes of the cases share it."""
    import bt_runtime

    for found in pkgutil.walk_packages(bt_runtime.__path__, "bt_runtime."):
        if not found.name.startswith(COLD) and not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(found.name)
    for name in ("tests.hostile.calls", "encodings.idna", "difflib", "html", "http.client"):
        import_module(name)
    for entry in plugins.entries("options"):
        plugins.load(entry)
    gc.collect()
    gc.freeze()  # pages that the collector does not write to stay shared


def most() -> int:
    """Seconds of processor time that a case may take: so many times what a sound tree takes on this machine, now."""
    text = "version: 1\ntree: sound\nroot:\n  sequence:\n" + "    - succeed: {}\n" * 2000
    spent = []
    for _ in range(5):
        began = time.process_time()
        assert not Loader().text(text).diagnostics
        spent.append(time.process_time() - began)
    return max(SECONDS, math.ceil(TIMES * min(spent)))


class Frame:
    """So many cases at a time. `address` is that of the hostile server, where one is needed."""

    def __init__(self, jobs: int = 0, address: str = "") -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self.address = address
        self.seconds, self.done = most(), 0
        self.folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        self.going: dict[int, Running] = {}

    def __enter__(self) -> Frame:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.going:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            killed(pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    def broken(self, cases: Iterable[Case]) -> Iterator[Broken]:
        """Those that break the rule, as they end."""
        todo = iter(cases)
        more = True
        while more or self.going:
            while more and len(self.going) < self.jobs:
                case = next(todo, None)
                more = case is not None
                if case is not None:
                    self.start(case)
            for case, ended in self.ended():
                self.done += 1
                why = judged(case, ended, self.seconds)
                if self.done % TELLING == 0:
                    print(f"  {self.done} cases so far", flush=True)
                if why:
                    yield Broken(case, why, ended)

    def start(self, case: Case) -> None:
        around = Path(tempfile.mkdtemp(dir=self.folder))
        running = Running(case, around)
        running.folder.mkdir(parents=True)
        lay(case, running.folder)
        out, told = (os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) for path in (running.out, running.told))
        assert threading.active_count() == 1, "a process with threads must not fork"
        pid = os.fork()
        if pid == 0:
            live(case, running.folder, out, told, self.address, self.seconds)
        os.close(out)
        os.close(told)
        self.going[pid] = running

    def ended(self) -> Iterator[tuple[Case, Ended]]:
        """Waits a little for any to end; ends those that hang."""
        if not self.going:
            return
        watched = {os.pidfd_open(pid): pid for pid in self.going}
        try:
            select.select(list(watched), [], [], LOOK)
        finally:
            for each in watched:
                os.close(each)
        for pid, running in list(self.going.items()):
            hung = running.hangs(pid)
            if hung:
                killed(pid)
            found, status, used = os.wait4(pid, 0 if hung else os.WNOHANG)
            if found:
                del self.going[pid]
                yield running.case, self.told(pid, running, status, used, hung)

    def told(self, pid: int, running: Running, status: int, used: resource.struct_rusage, hung: bool) -> Ended:
        left = killed(pid)
        with running.out.open("rb") as file:
            output, size = file.read(OUTPUT).decode("utf-8", "replace"), running.out.stat().st_size
        touched = tuple(dict.fromkeys(running.told.read_text(encoding="utf-8", errors="replace").splitlines()))
        ours = (running.folder, running.folder.parent, running.out, running.told)
        around = [*running.folder.parent.iterdir(), *running.folder.parent.parent.iterdir()]
        touched += tuple(f"made {path.name}" for path in around if path not in ours)
        touched += tuple(f"keeps the key in {path.name}" for path in keeping(running.folder))
        shutil.rmtree(running.folder.parent.parent, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        return Ended(code, used.ru_utime + used.ru_stime, grown(used), output, size, touched, left, hung)


def work_of(session: int) -> tuple[set[str], int]:
    """The states of all threads of a session, and the clock ticks of processor time that its processes have used."""
    states, used = set(), 0
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            told = fields(process)
            if int(told[3]) == session:
                used += sum(int(ticks) for ticks in told[11:15])
                states |= {fields(thread)[0] for thread in (process / "task").iterdir()}
    return states, used


def fields(process: Path) -> list[str]:
    """The fields of `stat` from the state on; the name before it may hold blanks and brackets."""
    return (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def keeping(folder: Path) -> Iterator[Path]:
    """Files in which the key was written down."""
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.stat().st_size >= SPARSE:
            continue
        if KEY.encode() in path.read_bytes():
            yield path


def killed(pid: int) -> bool:
    """Ends the case's whole session; true when there was anything left of it."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def grown(used: resource.struct_rusage) -> int:
    ours = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return max(0, used.ru_maxrss * 1024 - ours)


def judged(case: Case, ended: Ended, seconds: float) -> list[str]:
    """The rule: words with a way out, an exit code of its class, bounded memory and time, and nothing else happened."""
    why = []
    if ended.hung:
        why.append("hangs")
    elif ended.code in (-signal.SIGXCPU, -signal.SIGKILL) or ended.seconds > seconds:
        why.append(f"takes {ended.seconds:.1f} s of processor time")
    elif ended.code < 0:
        why.append(f"dies of signal {-ended.code}")
    elif ended.code == UNCAUGHT or "Traceback (most recent call last)" in ended.output:
        why.append("a traceback")
    elif "internal error" in ended.output or ended.code == 3:
        why.append("an internal error")
    elif ended.code not in case.codes:
        why.append(f"exit code {ended.code}")
    elif ended.code == USAGE and not WAY_OUT.search(ended.output):
        why.append("refuses without a way out")
    elif ended.code and not ended.output.strip():
        why.append(f"exit code {ended.code} without a word")
    if KEY in ended.output:
        why.append("tells the key")
    if ended.memory > MEMORY:
        why.append(f"takes {ended.memory / MB:.0f} MB")
    raw = next((c for c in ended.output if moves(c)), "")
    if raw:
        why.append(f"prints {raw!a} raw")
    if ended.size >= FILE:
        why.append("prints without end")
    why += ended.touched[:3]
    if ended.left:
        why.append("leaves a process behind")
    if case.sound and ended.code == 0 and ended.output != case.sound and SILENT.search(ended.output):
        why.append("tells another story without a word")
    return why


def moves(character: str) -> bool:
    """Would a terminal obey it, or show the rest of the line the other way round?"""
    if character in "\n\t" or "\x20" <= character < "\x7f":
        return False
    kind = unicodedata.category(character)
    return kind in ("Cc", "Zl", "Zp") or (kind == "Cf" and "\u202a" <= character <= "\u2069")
