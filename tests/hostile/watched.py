"""The forked process of one case: limits, a watch on what it touches, the command, and an end like a program's own."""

from __future__ import annotations

import atexit
import os
import resource
import signal
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.hostile.case import KEY, Case

MB = 2**20
MEMORY = 256 * MB  # beyond what the interpreter and the package take before the case begins
GUARD = 4 * MEMORY  # of address space: what stops a bomb before the machine feels it
FILE = 400 * MB
UNCAUGHT = 99

# audit events → which of their arguments name a file that is about to change
_TOUCHES = {
    "os.remove": (0,), "os.rename": (0, 1), "os.mkdir": (0,), "os.rmdir": (0,), "os.truncate": (0,), "os.chmod": (0,),
    "os.link": (1,), "os.symlink": (1,), "shutil.rmtree": (0,), "sqlite3.connect": (0,),
}  # fmt: skip
_STARTS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pty.spawn")
_HARMLESS = ("/dev/", "/proc/")
OURS = ("git", "ldconfig", "nvidia-smi")  # what `btr doctor` asks
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Watch:
    """What Python is asked to do by this process; `seen` goes to the parent, whatever the case does with its output."""

    def __init__(self, folder: Path, executes: bool, out: int) -> None:
        self.folder, self.executes, self.out = os.fspath(folder), executes, out

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            if args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self.touched("writes", args[0])
        elif event in _TOUCHES:
            for number in _TOUCHES[event]:
                self.touched(event, args[number])
        elif event == "exec" and not self.executes:
            name = getattr(args[0], "co_filename", "")
            if isinstance(name, str) and name[:1] != "<" and self.within(name):
                self.told(f"executes {name}")
        elif event in _STARTS and not self.executes:
            if sys.executable != str(args[0]) and Path(str(args[0])).name not in OURS:
                self.told(f"{event} {args[0]!r}")
        elif event == "socket.connect" and isinstance(args[1], tuple) and args[1][0] not in LOOPBACK:
            self.told(f"connects to {args[1]!r}")

    def within(self, name: str) -> bool:
        return os.path.realpath(name).startswith(self.folder + "/")

    def touched(self, what: str, path: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        name = os.fsdecode(path)
        if name.startswith("file:"):
            name = name[5:].partition("?")[0]
        if not name or name == ":memory:":
            return
        real = os.path.realpath(name)
        if not real.startswith(self.folder + "/") and real != self.folder and not real.startswith(_HARMLESS):
            self.told(f"{what} {real}")

    def told(self, line: str) -> None:
        os.write(self.out, (line[:300] + "\n").encode("utf-8", "replace"))


def live(case: Case, folder: Path, out: int, told: int, address: str, seconds: int) -> None:
    """Never returns."""
    code = UNCAUGHT
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, file in enumerate((nothing, out, out)):
            os.dup2(file, number)
        surround(folder)
        if case.executes:
            os.environ["BTR_TRUST"] = str(folder)
        limit(seconds)
        sys.addaudithook(Watch(folder, case.executes, told))
        code = call(case, [word.replace("{server}", address) for word in case.words])
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does: threads that never end hang here
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
        code = UNCAUGHT
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = UNCAUGHT
        os._exit(code if isinstance(code, int) and 0 <= code < 256 else UNCAUGHT)


def call(case: Case, words: list[str]) -> int:
    module, _, function = (case.call or "bt_runtime.cli:main").partition(":")
    found = getattr(import_module(module), function)
    try:
        return int(found(words) or 0)
    except SystemExit as end:  # argparse's own words
        return end.code if isinstance(end.code, int) else 1


def surround(folder: Path) -> None:
    """Nothing of this machine's user: home, caches and temporary files lie in the case's folder."""
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("BTR_", "XDG_"))]:
        del os.environ[name]
    home = folder / ".home"
    home.mkdir()
    os.environ.update(HOME=str(home), TMPDIR=str(home), NO_COLOR="1", COLUMNS="100", BTR_MODEL_KEY=KEY)
    import tempfile

    tempfile.tempdir = str(home)


def limit(seconds: int) -> None:
    """Of memory what is used now and a guard above; the parent judges by what was really taken."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    limits = {"AS": used + GUARD, "CPU": seconds + 1, "FSIZE": FILE, "CORE": 0}
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
