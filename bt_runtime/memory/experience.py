"""An experience: what one agent node set out to do, everything it read and did, and how that ended."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import get_args

from bt_runtime.faults.diagnostic import BtError, Diagnostic, Faults, nearest
from bt_runtime.types import End, Json, Span

# What a file of experiences may hold: a trajectory has some thousand characters, a goal one line.
MOST_GOAL = 20_000  # characters
MOST_STORY = 2_000_000
MOST_NAME = 1_000  # … of every other field
MOST_TOKENS = 2**53
MOST_FAULTS = 100  # listed one by one; then their number only
ENDS: tuple[End, ...] = get_args(End)
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SPACE = re.compile(r"\s+")
_UNPAIRED = re.compile("[\ud800-\udfff]")


def normalise(goal: str) -> str:
    """Goals that a person would call the same become the same text; only these are embedded and indexed."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", goal).casefold())
    flat = _SPACE.sub(" ", folded).strip()
    return flat.rstrip(" .!") or flat


@dataclass(frozen=True)
class Experience:
    goal: str  # as it was said
    text: str  # the whole trajectory, as an agent reads it
    end: End  # how the agent node itself ended
    namespace: str = "default"
    task: str = ""  # which task it came from
    kind: str = ""  # the kind of that task
    run: str = ""
    place: str = ""  # the agent's path in the tree
    verdict: bool | None = None  # was the task achieved, by the world's own account; None: the world did not say
    tokens: int = 0  # by whoever wrote it; a reader counts again with its own tokenizer
    when: float = 0.0  # seconds since 1970

    @cached_property
    def uid(self) -> str:
        """Content id: the same experience written twice is one experience."""
        told = (self.namespace, self.task, self.kind, self.run, self.place, self.goal, self.text, self.end)
        return blake2b(_compact([*told, self.verdict]).encode(), digest_size=16).hexdigest()

    @property
    def key(self) -> str:
        return normalise(self.goal)

    def to_json(self) -> dict[str, Json]:
        return {"id": self.uid, **asdict(self)}


FIELDS = {f.name: f for f in fields(Experience)}
_KINDS: dict[str, tuple[type, ...]] = {"verdict": (bool, type(None)), "tokens": (int,), "when": (int, float)}


def wrong(record: Json) -> str | None:
    """Why this is not an experience, in one line; None when it is one."""
    if not isinstance(record, dict):
        return "an experience is a mapping"
    for name in ("goal", "text", "end"):
        if name not in record:
            return f"`{name}` is missing"
    for name, value in record.items():
        if name == "id":
            continue
        if name not in FIELDS:
            near = nearest(name, FIELDS)
            return f"unknown field `{name}`" + (f", did you mean `{near}`?" if near else "")
        kinds = _KINDS.get(name, (str,))
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            return f"`{name}` must be {' or '.join(k.__name__ for k in kinds)}, not {type(value).__name__}"
        if isinstance(value, str):
            if len(value) > (most := {"goal": MOST_GOAL, "text": MOST_STORY}.get(name, MOST_NAME)):
                return f"`{name}` has {len(value):,} characters, at most {most:,} are read"
            if _UNPAIRED.search(value):
                return f"`{name}` holds half of a surrogate pair: not text"
        elif isinstance(value, int | float) and not abs(value) <= MOST_TOKENS:
            return f"`{name}` must be a number of ordinary size"
    if record["end"] not in ENDS:
        return f"`end` must be one of {', '.join(ENDS)}, not `{record['end']}`"
    if not record["goal"].strip():
        return "`goal` is empty"
    return None


def from_json(record: dict[str, Json]) -> Experience:
    fault = wrong(record)
    if fault:
        raise BtError(f"not an experience: {fault}", "see docs/memory.md for the fields")
    return Experience(**{name: value for name, value in record.items() if name != "id"})


def read_jsonl(path: Path) -> list[Experience]:
    """Every experience of the file, or `Faults` that names every bad line at once."""
    text = _text_of(path)
    found: list[Experience] = []
    faults: list[Diagnostic] = []
    count = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            fault = wrong(record)
        except (ValueError, RecursionError) as failure:  # a line nested a thousand deep is bad input too
            fault = f"not JSON: {getattr(failure, 'msg', failure)}"
        if not fault:
            found.append(from_json(record))
            continue
        count += 1
        if count <= MOST_FAULTS:
            faults.append(Diagnostic("BT401", fault, str(path), Span(number, 1, number, len(line) + 1)))
    if faults:
        if count > MOST_FAULTS:
            faults[-1] = faults[-1]._replace(help=f"and {count - MOST_FAULTS:,} more below; fix these first")
        raise Faults(faults, {str(path): text})
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as failure:
        raise BtError(f"cannot read {path}: {failure.strerror}", "check the path and its permissions") from failure
    except UnicodeDecodeError as failure:
        raise BtError(f"{path} is not UTF-8 text", "convert it, for instance with iconv") from failure


def lines(experiences: Iterable[Experience]) -> Iterator[str]:
    for experience in experiences:
        yield json.dumps(experience.to_json(), ensure_ascii=False) + "\n"


def judged(experiences: Sequence[Experience], verdict: bool | None) -> list[Experience]:
    return [replace(e, verdict=verdict) for e in experiences]
