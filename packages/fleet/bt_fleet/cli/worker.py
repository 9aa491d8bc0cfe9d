"""A process that has imported what a run needs, and waits: it answers what trees take, and runs one task after the
other while each one succeeds and leaves nothing behind.

A line of JSON on standard input asks; a line on the first standard output answers. Whatever a run prints goes to
standard error, so that it never reads as an answer.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import IO, Any

import bt_runtime
from bt_fleet.robot.hand_in import AGAIN
from bt_fleet.robot.relocate import relocate
from bt_runtime.cli import _guard, call
from bt_runtime.cli.recorded import resume as _resume  # noqa: F401 - imported before it is needed
from bt_runtime.cli.running import run as _run  # noqa: F401 - imported before it is needed
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.journal import folder as journals
from bt_runtime.journal import record as _record  # noqa: F401 - imported before it is needed
from bt_runtime.journal import writer
from bt_runtime.language import project
from bt_runtime.language.entry import REPEAT
from bt_runtime.language.faults.diagnostic import BtError, Faults, nearest
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import orphan, system, trust
from bt_runtime.language.spec import TreeSpec
from bt_runtime.run.run import load
from bt_runtime.skills.pool import POOL

_PLACES = ("stdlib", "purelib", "platlib")
_INSTALLED = (*map(sysconfig.get_path, _PLACES), str(Path(bt_runtime.__file__).parent))
_ERROR = re.compile(r"(?:\x1b\[[\d;]*m)?error(?:\[\w+\])?(?:\x1b\[[\d;]*m)*: (.*?)(?:\x1b\[[\d;]*m)?\Z")


def main() -> int:
    orphan.heed()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    trust.guard = _guard(True)  # what a tree names is imported from a trusted folder only
    imported: dict[str, int] = {}
    for line in sys.stdin:
        question = json.loads(line)
        if "known" in question:
            _tell(answers, known(question["known"]))
        elif "moved" in question:
            _tell(answers, moved(Path(question["moved"]), question["tree"]))
        else:
            if not fresh(imported):  # somebody has changed the project's Python since
                _tell(answers, {"stale": True})
                return 0
            if question.get("copies"):
                writer.elsewhere = Elsewhere(answers)
            before, trusted = surroundings(), os.environ.get(trust.VARIABLE)
            # the agent's own folder: what a run there imports is still the project's, and asked of its trust
            os.environ[trust.VARIABLE] = os.pathsep.join(filter(None, [trusted, question["folder"]]))
            answer = _alone(question["words"], Path(question["folder"]))
            os.environ.pop(trust.VARIABLE)
            if trusted is not None:
                os.environ[trust.VARIABLE] = trusted
            ends = bool(answer["exit"] != 0 or question.get("copies")) or surroundings() != before
            imported = sources(imported)
            _tell(answers, {**answer, "ends": ends})
            if ends:
                return 0
    return 0


def sources(known: dict[str, int]) -> dict[str, int]:
    """Returns the project's imported Python files with the time of their last write; a file that is known keeps its."""
    files = {getattr(module, "__file__", None) or _INSTALLED[0] for module in list(sys.modules.values())}
    return known | {file: _written(file) for file in files - known.keys() if not file.startswith(_INSTALLED)}


def fresh(imported: dict[str, int]) -> bool:
    """True while no file that has been imported was written since."""
    return all(_written(file) == at for file, at in imported.items())


def _written(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0


def surroundings() -> object:
    """Returns what a task must leave as it was, if the next one is to run in this process: threads, child processes,
    the folder, the environment. Where there is a child, or none can be asked for, no two are equal."""
    if not hasattr(os, "waitid"):
        return object()
    with suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return object()  # a child process runs already
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    threads = {each for each in threading.enumerate() if each.name != "bt-skill"}
    return threads, _at_work(), Path.cwd(), dict(os.environ), handlers


def _at_work() -> int:
    """Returns how many threads of the pool for skills still do something, after a moment in which they may end."""
    for _ in range(20):
        at_work = sum(each.name == "bt-skill" for each in threading.enumerate()) - len(POOL._idle)
        if at_work <= 0:
            break
        time.sleep(0.005)
    return max(at_work, 0)


class Elsewhere:
    """Asks the agent to copy the journal to the fleet's store, and waits until the store has it."""

    def __init__(self, answers: IO[str]) -> None:
        self._answers, self._count, self._read = answers, 0, b""

    def __call__(self, path: Path, closing: Callable[[], bool]) -> str:
        why = AGAIN
        while why == AGAIN and not closing():
            self._count += 1
            _tell(self._answers, {"copy": self._count})
            why = self._answer(closing)
        return "the run ends" if why == AGAIN else why

    def _answer(self, closing: Callable[[], bool]) -> str:
        """Returns what the agent says of the latest question; AGAIN while it says nothing."""
        while not closing():
            if select.select([0], [], [], 0.1)[0]:
                piece = os.read(0, 65536)
                if not piece:
                    return "the robot's agent is gone"
                *lines, self._read = (self._read + piece).split(b"\n")
                for line in map(json.loads, lines):
                    if line.get("copied") == self._count:
                        return str(line["why"])
        return AGAIN


def _tell(answers: IO[str], body: dict[str, Any]) -> None:
    print(json.dumps(body), file=answers, flush=True)


def known(tree: str) -> dict[str, Any]:
    """Returns what the robot must know of a tree before it has run it: its policy, what it is expected to take."""
    try:
        trust_prompt.kinds()
        spec = load(tree).spec
    except Faults as faults:
        if Loader().locate(tree) is None:
            return {"cannot": _missing(tree)}
        return {"cannot": next((each.message for each in faults.diagnostics), str(faults))}
    except BtError as error:
        return {"cannot": str(error).partition("\n")[0]}
    skills, agents = _skills(spec)
    repeat = not agents and all(entry.on_resume == REPEAT or entry.instant for entry in skills)
    takes = sum(entry.takes or 0.0 for entry in skills)
    policy = "moves" if spec.moves and not agents else "repeat" if repeat else "stays"
    return {"policy": policy, "takes": takes or None, "inputs": sorted(spec.inputs)}


def _missing(tree: str) -> str:
    close = nearest(tree, project.names("trees"))
    return f"there is no tree `{tree}` in its project" + (f" (did you mean `{close}`?)" if close else "")


def moved(journal: Path, tree: str) -> dict[str, Any]:
    """Prepares the journal of another robot's run; returns why it cannot go on here."""
    try:
        home = project.find_root(Path(tree).parent) if Path(tree).is_absolute() else project.find_root()
        relocate(journal, home or Path.cwd())
    except (BtError, Faults, OSError, ValueError) as error:
        return {"why": str(error).partition("\n")[0]}
    return {"why": ""}


def _skills(spec: TreeSpec) -> tuple[list[Any], bool]:
    skills, agents = [], False
    for node in spec.root.walk():
        entry = node.kind.data.get("entry") if node.kind.data else None
        if entry is not None:
            skills.append(entry)
        agents = agents or node.kind.asks
        for inner in (node.subtree, node.again):
            if inner is not None and inner is not spec:
                more, also = _skills(inner)
                skills, agents = skills + more, agents or also
    return skills, agents


def _alone(words: list[str], folder: Path) -> dict[str, Any]:
    """Runs a command as the only process that writes into this folder of runs. An earlier worker may still be at it,
    and may have begun a journal since: then nothing is run."""
    with (folder / "lock").open("w") as lock:
        system.lock(lock.fileno(), wait=True)
        begun = journals.last_begun(folder)
        if words[0] == "run" and begun is not None:
            return {"exit": None, "result": None}
        for path in journals.journals(folder) if begun is None else ():
            journals.remove(path)  # its process was killed before the run began
        return _ran(words)


def _ran(words: list[str]) -> dict[str, Any]:
    """Runs one command of `btr`, and returns its exit status, the JSON that it printed, and its error in words."""
    printed, told = StringIO(), Heard(sys.stderr)
    with redirect_stdout(printed), redirect_stderr(told):
        code = call(words)
    text = printed.getvalue().strip()
    try:
        said = json.loads(text) if text else None
    except ValueError:
        said = None
    return {"exit": code, "result": said, "said": told.error}


class Heard(StringIO):
    """Standard error, which also keeps the first error that was told there."""

    def __init__(self, to: IO[str]) -> None:
        super().__init__()
        self.to, self.error = to, ""

    def write(self, text: str) -> int:
        for line in text.splitlines():
            if not self.error and (found := _ERROR.match(line)):
                self.error = found[1][:500]
        return self.to.write(text)

    def flush(self) -> None:
        self.to.flush()

    def fileno(self) -> int:
        return self.to.fileno()


if __name__ == "__main__":
    raise SystemExit(main())
