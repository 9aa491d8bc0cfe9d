"""The pictures of a run: named by a path or a mark, read and checked outside the tick, kept by their digests.

Prompts, stories and journals hold a picture's mark, `[picture DIGEST]`; a model that sees gets the file, too."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.services import Album, agent_services
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.llm import picture
from bt_runtime.llm.job import Answer
from bt_runtime.llm.question import SIGHT
from bt_runtime.skills.pool import POOL
from bt_runtime.types import Job, Wake

if TYPE_CHECKING:
    from bt_runtime.agents.model_node import ModelNode

MOST_KEPT = 256 << 20  # bytes in one folder of pictures; those kept first go first
_SHOWN = re.compile(r"\[picture ([^\[\]\n]{1,400})\]")
_PRIVATE = 0o600


class Pictures:
    """Keeps pictures in the user's cache, and beside the journal of a run that has one (`folder`)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.taken: set[str] = set()  # digests that this run has shown

    def take(self, named: str, wake: Wake | None = None) -> Job[str]:
        job: Answer[str] = Answer(wake=wake)

        def work() -> None:
            try:
                job.finish(self._taken(named))
            except BtError as fault:
                job.finish(error=fault)
            except Exception as fault:
                job.finish(error=BtError(f"the picture {named:.200} cannot be kept: {fault}", "see what the disk says"))

        POOL.run(work)
        return job

    def files(self, prompt: str) -> tuple[str, ...]:
        found = {digest: self._file(digest) for digest in picture.marks(prompt) if digest in self.taken}
        lost = [digest for digest, file in found.items() if file is None]
        if lost:
            raise BtError(
                f"the picture {lost[0]} is kept no more",
                f"it lay beside the journal, or in {disk.cache('pictures')}: put it back, or start a new run",
            )
        return tuple([str(file) for file in found.values() if file is not None])

    def _taken(self, named: str) -> str:
        digest = "".join(picture.marks(named)[:1])
        kept = self._file(digest) if digest else None
        if digest and kept is None:
            raise BtError(f"the picture {digest} is not kept here", "show it by the path of its file")
        found, data = picture.read(kept if kept is not None else below(named))
        self.taken.add(found.digest)
        for folder in filter(None, (disk.cache("pictures"), self.folder)):
            keep(folder, found, data)
        return found.mark

    def _file(self, digest: str) -> Path | None:
        places = [place for place in (self.folder, disk.cache("pictures")) if place is not None]
        files = (place / f"{digest}.{kind}" for place in places for kind in ("png", "jpg"))
        return next((file for file in files if file.is_file()), None)


def keep_picture(data: bytes) -> str:
    """Keeps the bytes of a PNG or JPEG, and returns its mark: for skills and worlds that have no file of it."""
    found = picture.of(data)
    keep(disk.cache("pictures"), found, data)
    return found.mark


def keep(folder: Path, found: picture.Picture, data: bytes) -> None:
    """Writes a picture under its digest, unless it is there; removes the oldest ones beyond the folder's bound."""
    if (folder / found.file).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    there = sorted((each.stat().st_mtime, each.stat().st_size, each) for each in folder.glob("*.[pj][np]g"))
    total = sum(size for _, size, _ in there) + len(data)
    for _, size, each in there:
        if total <= MOST_KEPT:
            break
        each.unlink(missing_ok=True)
        total -= size
    disk.write(folder / found.file, data, mode=_PRIVATE)


def below(named: str) -> Path:
    """Returns the file of a path below the project (without one, below the working directory)."""
    root = project.real(project.find_root() or Path.cwd())
    path = project.real(root / named)
    if not path.is_relative_to(root):
        raise BtError(f"the picture {named:.200} lies outside {root}", "show files below the project only")
    return path


# What nodes do -----------------------------------------------------------------------------------


def album(node: ModelNode) -> Album:
    """The run's pictures; raises where the node's model sees none."""
    if not node.model().sees:
        raise BtError(
            f"{node.path} shows pictures, and its model sees none: only a local file with `mmproj` does", SIGHT
        )
    agents = agent_services(node.context)
    if agents.pictures is None:
        agents.pictures = Pictures()
    return agents.pictures


def marked(node: ModelNode, named: str) -> Generator[Any, Any, str]:
    """Takes a picture for a node; returns its mark."""
    mark: str = yield album(node).take(named, node.context.wake)
    return mark


def observed(node: ModelNode, text: str) -> Generator[Any, Any, str]:
    """Puts its mark in the place of each `[picture PATH]` of an observation; one that cannot be shown is told."""
    album(node)
    found = text
    for shown in [*_SHOWN.finditer(text)][: picture.MOST_PICTURES]:
        try:
            mark = yield from marked(node, shown[0] if picture.marks(shown[0]) else shown[1])
        except BtError as fault:
            mark = f"({fault.message})"
        found = found.replace(shown[0], mark, 1)
    return found
