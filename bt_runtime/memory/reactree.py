"""Reads the released ReAcTree trajectories: one text file per agent node, in a folder or in tar.gz files."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.memory.experience import Experience
from bt_runtime.types import TASK, End

_GOAL = f"{TASK} "
_OPENS = "You are in the house"  # the first observation ends a goal of several lines
_PLACE = re.compile(r"_(dec\d+_depth\d+(?:_\d+)?)$")
_WAH = re.compile(r"(\d+)_(\w+)")
_TOO_LARGE = 1 << 20


@dataclass
class Imported:
    """The imported experiences, and counts in which every file appears exactly once."""

    experiences: list[Experience] = field(default_factory=list)
    ends: Counter[End] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)  # file, why

    @property
    def files(self) -> int:
        return len(self.experiences) + len(self.prompts) + len(self.refused)


def read(places: Iterable[Path]) -> Imported:
    imported = Imported()
    for place in places:
        for name, raw in _files(place):
            _sort(imported, name, raw)
    return imported


def _sort(imported: Imported, name: str, raw: bytes) -> None:
    path = PurePosixPath(name)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        imported.refused.append((name, "not UTF-8 text"))
        return
    if path.parent.name == "sys_prompt":
        imported.prompts.append(name)
        return
    goal = goal_of(text)
    if goal is None:
        imported.refused.append((name, f"no line `{_GOAL.strip()}`"))
        return
    experience = _experience(path, goal, text.rstrip())
    imported.experiences.append(experience)
    imported.ends[experience.end] += 1


def goal_of(text: str) -> str | None:
    """The agent's own goal; that of a whole task may take several lines."""
    rows = text.split("\n")
    at = next((i for i, row in enumerate(rows) if row.startswith(_GOAL)), None)
    if at is None:
        return None
    goal = [rows[at].removeprefix(_GOAL)]
    for row in rows[at + 1 :]:
        if row.startswith((_OPENS, "Think:", "Act:", "Expand:")):
            break
        goal.append(row)
    return "\n".join(goal).strip() or None


def end_of(text: str) -> End:
    """Returns how the node ended: by its last decision, or as a failure without one."""
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    if last == "Act: done":
        return "success"
    return "expand" if last.startswith("- subgoals:") else "failure"


def _experience(path: PurePosixPath, goal: str, text: str) -> Experience:
    found = _PLACE.search(path.stem)
    place = found[1] if found else ""
    task = path.stem.removesuffix(f"_{place}") if place else path.stem
    numbered = _WAH.fullmatch(task)
    kind = numbered[2] if numbered else task.partition("-")[0]
    world, source, variant = _origin(path)
    # The human trajectories lie there twice, the successful ones of the model as well: same run, same experience.
    run = source.removeprefix("collect_").removeprefix("em_")
    verdict = True if source.startswith("em_") or source == "collect_human" else None
    return Experience(goal, text, end_of(text), f"{world}/{variant}", task, kind, run, place, verdict)


def _origin(path: PurePosixPath) -> tuple[str, str, str]:
    """…/wah/em_llm/reactree_wm/… → wah, em_llm, reactree_wm."""
    parts = path.parts
    at = next((i for i, part in enumerate(parts) if part.startswith(("em_", "collect_"))), None)
    if at is None or at + 1 >= len(parts) - 1:
        return "reactree", "import", path.parent.name or "import"
    return (parts[at - 1] if at else "reactree"), parts[at], parts[at + 1]


def _files(place: Path) -> Iterator[tuple[str, bytes]]:
    try:
        if place.is_dir():
            for path in sorted(place.rglob("*.txt")):
                yield str(path.relative_to(place)), disk.read(path)
            for path in sorted(place.rglob("*.tar.gz")):
                yield from _members(path)
        elif tarfile.is_tarfile(place):
            yield from _members(place)
        else:
            yield place.name, disk.read(place)
    except (OSError, tarfile.TarError, EOFError) as failure:
        raise BtError(f"cannot read {place}: {failure}", "a folder of .txt files, or a .tar.gz of them") from failure


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the files of an archive, read in memory and never unpacked, so that no name in it can reach the disk."""
    with tarfile.open(archive) as opened:
        found: dict[str, bytes] = {}
        for member in opened:  # in the order of the archive: going back in a gz reads it again from its beginning
            if not member.isfile() or not member.name.endswith(".txt"):
                continue
            if member.size > _TOO_LARGE:
                raise BtError(
                    f"{archive}: {member.name} has {member.size} bytes; a trajectory has some thousands", "leave it out"
                )
            content = opened.extractfile(member)
            found[member.name] = content.read() if content else b""
    yield from sorted(found.items())
