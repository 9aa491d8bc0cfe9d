"""An experience: what one agent node set out to do, everything it read and did, and how that ended."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from json.encoder import encode_basestring
from pathlib import Path
from typing import get_args

from bt_runtime.language import schema_quick
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.language.project import disk
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.types import End, Json, Span

# What a file of experiences may hold: a trajectory has some thousand characters, a goal one line.
MOST_GOAL = 20_000  # characters
MOST_STORY = 2_000_000
MOST_NAME = 1_000  # … of every other field
MOST_TOKENS = 2**53
MOST_LINES = 100  # lines whose faults are listed; of more only the number
CODE = "BT401"  # the code of each fault in a line
ENDS: tuple[End, ...] = get_args(End)
_VERDICT = {True: "true", False: "false", None: "null"}
_UNPAIRED = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def normalise(goal: str) -> str:
    """Returns one text for goals that a person would call equal; only this text is embedded and indexed."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", goal).casefold())
    flat = _SPACE.sub(" ", folded).strip()
    return flat.rstrip(" .!") or flat


@dataclass(frozen=True)
class Experience:
    goal: str  # the goal as it was said
    text: str  # the whole trajectory, as an agent reads it
    end: End  # how the agent node itself ended
    namespace: str = "default"
    task: str = ""  # the task that it came from
    kind: str = ""  # the kind of that task
    run: str = ""
    place: str = ""  # the agent's path in the tree
    verdict: bool | None = None  # was the task achieved, by the world's own account; None: the world did not say
    tokens: int = 0  # by whoever wrote it; a reader counts again with its own tokenizer
    when: float = 0.0  # seconds since 1970
    labels: str = ""  # where what is in it came from, under a policy: `author,world`; no part of its id

    @cached_property
    def uid(self) -> str:
        """Returns the content id: equal experiences have equal ids."""
        told = (self.namespace, self.task, self.kind, self.run, self.place, self.goal, self.text, self.end)
        compact = (
            f"[{','.join(map(encode_basestring, told))},{_VERDICT[self.verdict]}]"  # JSON; an encoder takes longer
        )
        return blake2b(compact.encode(), digest_size=16).hexdigest()

    @property
    def key(self) -> str:
        return normalise(self.goal)

    def to_json(self) -> dict[str, Json]:
        told = {"id": self.uid, **asdict(self)}
        return told if self.labels else {name: value for name, value in told.items() if name != "labels"}


_SAID: Schema = {"pattern": r"\S", "errorMessage": "`goal` is empty"}
_NUMBER: Schema = {"type": "number", "minimum": -MOST_TOKENS, "maximum": MOST_TOKENS}
_SCHEMA: Schema = {
    "type": "object",
    "$comment": "an experience",
    **closed({
        "id": {},
        "goal": {"type": "string", "maxLength": MOST_GOAL, "allOf": [_SAID]},
        "text": {"type": "string", "maxLength": MOST_STORY},
        "end": {"enum": list(ENDS)},
        **{
            name: {"type": "string", "maxLength": MOST_NAME}
            for name in ("namespace", "task", "kind", "run", "place", "labels")
        },
        "verdict": {"type": ["boolean", "null"]},
        "tokens": {**_NUMBER, "type": "integer"},
        "when": _NUMBER,
    }, ("goal", "text", "end")),
}  # fmt: skip
CHECK = DocumentCheck(_SCHEMA, CODE, "an experience")


def wrong(record: Json) -> str | None:
    """Returns why a record is not an experience, in one line; None when it is one."""
    for fault in CHECK.of_json(record):
        return f"{fault.message}, {fault.label}" if fault.label else fault.message
    return _unpaired(record)


def _unpaired(record: dict[str, Json]) -> str | None:
    """Checks every character for unpaired surrogates, which is faster than a schema."""
    for name, value in record.items():
        if isinstance(value, str) and _UNPAIRED.search(value):
            return f"`{name}` holds half of a surrogate pair: not text"
    return None


def from_json(record: dict[str, Json]) -> Experience:
    fault = wrong(record)
    if fault:
        raise BtError(f"not an experience: {fault}", "see docs/memory.md for the fields")
    return _made(record)


def read_jsonl(path: Path) -> list[Experience]:
    """Every experience of the file, or `Faults` that names what is wrong in each bad line at once."""
    text, name = _text_of(path), str(path)
    found: list[Experience] = []
    faults: list[Diagnostic] = []
    bad = 0  # lines
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        read = _read(line, name, bad < MOST_LINES)
        if isinstance(read, Experience):
            found.append(read)
            continue
        bad += 1
        faults += (_on(fault, Span(number, 1, number, len(line) + 1)) for fault in read)
    if bad:
        if bad > MOST_LINES:
            faults[-1] = faults[-1]._replace(help=f"and {bad - MOST_LINES:,} more below; fix these first")
        raise Faults(faults, {name: text})
    return found


def _read(line: str, name: str, tell: bool) -> Experience | list[Diagnostic]:
    """The experience on a line, or its faults; without `tell` an empty list instead of the faults."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as failure:  # a line nested a thousand deep is bad input too
        return [Diagnostic(CODE, f"not JSON: {getattr(failure, 'msg', failure)}", name)] if tell else []
    if not schema_quick.fits(_SCHEMA, record):
        return CHECK.of_json(record, line, name) if tell else []
    unpaired = _unpaired(record)
    if unpaired is not None:
        return [Diagnostic(CODE, unpaired, name)] if tell else []
    return _made(record)


def _made(record: dict[str, Json]) -> Experience:
    return Experience(**{name: value for name, value in record.items() if name != "id"})


def _on(fault: Diagnostic, whole: Span) -> Diagnostic:
    """The fault of one line, in its file."""
    at = fault.span
    return fault._replace(span=whole if at is None else Span(whole.line, at.column, whole.line, at.end_column))


def _text_of(path: Path) -> str:
    try:
        return disk.read_text(path, disk.HUGE)
    except OSError as failure:
        raise BtError(f"cannot read {path}: {failure.strerror}", "check the path and its permissions") from failure
    except UnicodeDecodeError as failure:
        raise BtError(f"{path} is not UTF-8 text", "convert it, for instance with iconv") from failure


def lines(experiences: Iterable[Experience]) -> Iterator[str]:
    for experience in experiences:
        yield json.dumps(experience.to_json(), ensure_ascii=False) + "\n"


def judged(experiences: Sequence[Experience], verdict: bool | None) -> list[Experience]:
    return [replace(e, verdict=verdict) for e in experiences]
