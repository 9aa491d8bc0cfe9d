"""Proves the properties of open trees in the background, and tells the broken and the vacuous ones as diagnostics."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import TreeSpec

if TYPE_CHECKING:
    from bt_author.proof.decide import Verdict

CODE = "proof"
PAUSE = 0.3  # seconds without an edit before a proof begins
SECONDS, STATES = 3.0, 20_000  # bounds of one property's proof
KEPT = 200  # results by content
LINES = 8  # lines of a story
REST = 0.0005  # seconds that the proof leaves to the editor every few states


class Proofs:
    """One proof at a time. `told` is called with a file whose diagnostics have changed, in the server's thread."""

    def __init__(self, told: Callable[[Path], object]) -> None:
        self.told = told
        self.known: dict[str, tuple[Diagnostic, ...]] = {}
        self.shown: dict[Path, tuple[Diagnostic, ...]] = {}
        self.todo: dict[Path, TreeSpec] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.job: _Job | None = None

    def edited(self, path: Path) -> None:
        """Drops what was shown of a file, and ends the proof of its old text."""
        self.shown.pop(path, None)
        self.todo.pop(path, None)
        if self.job is not None and self.job.path == path:
            self.job.cancelled = True

    def ask(self, path: Path, spec: TreeSpec) -> None:
        """Asks for the proofs of a checked tree; a result that is known is shown at once."""
        if not own(spec) or not _whole(spec):
            self.edited(path)
            return
        found = self.known.get(content(spec))
        if found is not None:
            self.show(path, found)
            return
        self.todo[path] = spec
        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(PAUSE, self.begin)

    def begin(self) -> None:
        if self.todo and self.job is None:
            path = next(reversed(self.todo))
            self.job = _Job(path, self.todo.pop(path), asyncio.get_running_loop(), self.ended)
            threading.Thread(target=self.job.run, name="proof", daemon=True).start()

    def ended(self, job: _Job, found: tuple[Diagnostic, ...]) -> None:
        self.job = None
        if not job.cancelled:
            while len(self.known) >= KEPT:
                del self.known[next(iter(self.known))]
            self.known[content(job.spec)] = found
            self.show(job.path, found)
        self.begin()

    def show(self, path: Path, found: tuple[Diagnostic, ...]) -> None:
        if self.shown.get(path, ()) != found:
            self.shown[path] = found
            self.told(path)


class _Job:
    def __init__(
        self, path: Path, spec: TreeSpec, loop: asyncio.AbstractEventLoop,
        ended: Callable[[_Job, tuple[Diagnostic, ...]], None],
    ) -> None:  # fmt: skip
        self.path, self.spec, self.loop, self.ended = path, spec, loop, ended
        self.cancelled = False

    def run(self) -> None:
        found: list[Diagnostic] = []
        for property in own(self.spec):
            if self.cancelled:
                break
            try:
                found += self.one(property)
            except BtError as error:
                found.append(_diagnostic(property, error.message, error.hint))
            except Exception:  # a proof that fails leaves the editor as it was
                continue
        try:
            self.loop.call_soon_threadsafe(self.ended, self, tuple(found))
        except RuntimeError:
            return  # the server has ended

    def one(self, property: Property) -> Iterator[Diagnostic]:
        from bt_author.proof.decide import Asked, decide
        from bt_author.proof.search import Limits

        limits = Limits(STATES, time.monotonic() + SECONDS, lambda states, left: time.sleep(REST), 4, self.clock)
        verdict = decide(Asked(self.spec, limits=limits), property)
        if not self.cancelled:
            yield from told(verdict)

    def clock(self) -> float:
        return math.inf if self.cancelled else time.monotonic()


def told(verdict: Verdict) -> Iterator[Diagnostic]:
    """The diagnostics of a verdict: nothing for a proof, and nothing for what was not decided in its time."""
    from bt_author.proof.decide import assumption
    from bt_author.proof.story import words

    property = verdict.property
    impossible = any(remark.startswith("no run can keep it") for remark in verdict.remarks)
    if verdict.outcome == "refuted" and verdict.telling is not None and not impossible:
        lines = list(words(verdict.telling))
        more = [f"… {len(lines) - LINES} more ticks"] if len(lines) > LINES else []
        story = "\n".join([*lines[:LINES], *more])
        yield _diagnostic(property, f"{property.words}: a run can break it", story)
    if verdict.assumes:
        assumed, help = assumption(verdict.assumes)
        yield _diagnostic(property, f"{property.words}: proved{assumed}", help)
    for remark in verdict.remarks:
        yield _diagnostic(property, f"{property.words}: {remark}")


def own(spec: TreeSpec) -> tuple[Property, ...]:
    """The properties that stand in the file of the tree."""
    return tuple(each for each in spec.properties if each.origin == "tree" and each.file == spec.file)


def content(spec: TreeSpec) -> str:
    """A digest of all that the result depends on."""
    from bt_runtime.language.nodes import walk

    texts = {id(tree): tree.text for node in walk(spec) for tree in (node.subtree, node.again) if tree is not None}
    skills = sorted(repr(kind.data.get("entry")) for kind in spec.registry if kind.family == "skill")
    return hashlib.sha256(repr((spec.text, *texts.values(), skills)).encode()).hexdigest()


def _whole(spec: TreeSpec) -> bool:
    """Whether all included trees are there."""
    todo, seen = [spec], set[int]()
    for each in todo:
        for node in each.root.walk():
            inner = node.subtree or node.again
            if node.kind.includes and inner is None:
                return False
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                todo.append(inner)
    return True


def _diagnostic(property: Property, message: str, help: str = "") -> Diagnostic:
    return Diagnostic(CODE, message, property.file, property.span, help=help, severity="warning")
