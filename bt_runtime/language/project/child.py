"""Starts child processes, asks them, and ends them. None of them imports a module from the folder it is started in.

Python puts the working directory first when it is started with `-m` or `-c`: a `queue.py` in a folder that somebody
was sent would then run as soon as a worker starts there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.project import system

if TYPE_CHECKING:  # `btr --help` starts none, and waits for none of these
    import subprocess
    from multiprocessing.context import SpawnContext

HOME = str(Path(__file__).resolve().parents[3])  # the folder that holds the package


def python(module: str, *words: str) -> list[str]:
    """Returns the command line that runs one of our modules."""
    return [sys.executable, "-P", "-m", module, *words]


def search_path() -> list[str]:
    """The module search path for a child: ours, without the script's folder and the working directory. It always
    includes the package's own folder."""
    script = str(Path(sys.argv[0]).resolve().parent) if sys.argv and sys.argv[0] else ""
    left_out = {script, _here()}
    kept = [entry for entry in sys.path if Path(entry).is_absolute() and entry not in left_out]
    return kept if HOME in kept else [*kept, HOME]


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""  # the folder is gone


def environment(**more: str) -> dict[str, str]:
    """Returns the environment of a child: it finds the same modules as this process, and none in the folder where it
    starts."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(search_path()), "PYTHONSAFEPATH": "1", **more}


def start(
    words: Sequence[str],
    env: dict[str, str] | None = None,
    at_death: int = system.KILL,
    **how: Any,
) -> subprocess.Popen[bytes]:
    """Starts a child process that ends with this one. `at_death`: the signal sent to it when this process dies,
    where it handles one. SIGCONT suits a child with clean-up to do: even a stopped one wakes, finds its pipe closed,
    and ends."""
    import subprocess

    from bt_runtime.language.project import orphan

    surroundings = {**(env or environment()), **orphan.named(at_death)}
    return orphan.kept(lambda: subprocess.Popen(list(words), env=surroundings, **how))


def start_apart(words: Sequence[str]) -> None:
    """Starts a program of the person, such as an editor, which goes on when this process ends."""
    import subprocess
    import threading

    nothing = subprocess.DEVNULL
    made = subprocess.Popen(list(words), stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    threading.Thread(target=made.wait, name="bt-apart", daemon=True).start()  # leaves no zombie


def end(process: subprocess.Popen[bytes], patience: float = 0.0, group: bool = False) -> int:
    """Ends a child and returns its exit status. May be called again.

    A child that ends by itself within `patience` seconds is not killed. `group`: the child leads a process group, and
    what is left of the group is killed as well.
    """
    import subprocess

    if patience:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
    if group:
        with suppress(ProcessLookupError, PermissionError):
            system.end_group(process.pid)
    process.kill()
    return process.wait()


def answer(words: Sequence[str], question: bytes, seconds: float, **how: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs a child that reads one question and writes one answer. Kills it and raises TimeoutError when the answer
    takes longer."""
    import subprocess

    with start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how) as process:
        try:
            output, errors = process.communicate(question, timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise TimeoutError(f"no answer within {seconds:g} s") from None
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def last_line(log: bytes) -> str:
    """Returns the last line of a child's log, which usually names the cause of its end; "" for an empty log."""
    return log.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()


def output_of(code: str, seconds: float) -> str:
    """Returns the output of a few lines of Python, run in a process of their own. Raises as `subprocess` does."""
    import subprocess

    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=True, env=environment())
    return done.stdout


@contextmanager
def spawning() -> Iterator[SpawnContext]:
    """Yields a `multiprocessing` context whose processes also ignore modules in the working directory."""
    from multiprocessing import get_context

    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield get_context("spawn")
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def standing_at_home() -> Iterator[None]:
    """Changes to the home folder meanwhile, for a library that passes its working directory on to child processes."""
    before = Path.cwd()
    os.chdir(HOME)
    try:
        yield
    finally:
        os.chdir(before)
