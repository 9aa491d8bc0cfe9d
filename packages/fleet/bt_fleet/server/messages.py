"""The one reader of what comes through the server: a message's form, its size and depth, finite numbers, sound names.

A message that does not fit is counted and logged with its sender's name, and taken no further. Who sent it is what its
subject says, because the server checks subjects; nothing in a body names the sender.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from bt_fleet.server import names
from bt_fleet.server.forms import Form, Schema
from bt_fleet.server.names import SOMEBODY
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.schema_quick import fits
from bt_runtime.types import Json

DEPTH = 40  # lists and mappings inside each other
DIGITS = 60  # digits of a whole number
_BOARDS = (names.ENTRIES, names.LOCKS, names.SETTINGS)  # buckets in which each writer's keys end with its name
_LOG = logging.getLogger(__name__)


class Malformed(BtError):
    """A message that does not fit its form."""


class Sent(Protocol):
    """What is read of a message of the NATS client."""

    subject: str
    data: bytes


def read(form: Form, data: bytes) -> Any:
    """Returns what a message holds; raises Malformed and nothing else."""
    body = parsed(data, form.what, form.largest)
    if not fits(form.schema, body):
        raise Malformed(f"this is no {form.what}: {_why(form.schema, body)}", "see docs/fleet-keys.md")
    return body


def parsed(data: bytes, what: str, largest: int) -> Json:
    """Returns JSON of bounded size and depth, without NaN, infinities, enormous numbers and lone surrogates."""
    if len(data) > largest:
        raise Malformed(f"this {what} has {len(data)} bytes", f"send at most {largest}")
    try:
        body = json.loads(data.decode("utf-8"), parse_constant=_refused, parse_float=_finite, parse_int=_whole)
        if b"\\u" in data:
            json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else f"{error!s:.100}"
        raise Malformed(f"this {what} is no JSON: {why}", "send JSON of finite numbers") from error
    if deeper(body, DEPTH):
        raise Malformed(f"this {what} is nested too deeply", f"at most {DEPTH} lists and mappings in each other")
    return body


def deeper(body: Json, depth: int) -> bool:
    """True when lists and mappings stand in each other more than `depth` times."""
    level = [body]
    for _ in range(depth + 1):
        parts = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text:.20} is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _why(schema: Schema, body: Json) -> str:
    """Names the first part at the top that is missing or does not fit."""
    if not isinstance(body, dict):
        return "it is no mapping"
    if lacks := [key for key in schema.get("required", ()) if key not in body]:
        return f"`{lacks[0]}` is missing"
    parts = schema.get("properties", {})
    odd = [key for key, value in body.items() if key in parts and not fits(parts[key], value)]
    return f"`{odd[0]}` cannot be {body[odd[0]]!r:.60}" if odd else "its parts do not go together"


def sender(subject: str) -> str:
    """Returns whose name stands in a subject; "" where it names nobody."""
    parts = subject.split(".")
    if parts[:2] == ["fleet", "news"] and len(parts) > 3:
        return sender(f"fleet.{subject.split('.', 2)[2]}")
    if parts[0] == "fleet" and len(parts) > 2 and parts[1] != "changed":
        return parts[-1] if parts[1] in ("answer", "wish") else parts[2]
    own = any(subject.startswith(start(bucket, "")) for start in (names.kept, names.changed) for bucket in _BOARDS)
    return parts[-1] if own and len(parts) > 3 else ""


def whose(subject: str, by: Any = "") -> str:
    """Says whose a message is: the key's owner, whom the server knows and the subject ends with, and how a person at
    the owner's program is called. Who has no key is whoever they say."""
    owner, by = subject.rpartition(".")[2], " ".join(str(by).split())
    return owner if by in ("", owner) else by if owner == SOMEBODY else f"{by} (key of {owner})"


class Intake:
    """Reads the messages of one consumer, and counts by sender those that do not fit."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.refused: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()  # more than is taken of one sender
        self.clock = clock
        self._full: dict[tuple[str, str], tuple[float, float]] = {}  # sender and form → messages, as of when

    def read(self, form: Form, message: Sent, at: float | None = None) -> Any | None:
        """Returns what the message holds; None for one that does not fit, or is one too many: it is counted and logged.
        `at`: when the server took it, where it may have lain there."""
        if self.too_often(form, message.subject, at):
            return None
        try:
            return read(form, message.data)
        except Malformed as error:
            self.refuse(message.subject, error.message)
            return None

    def too_often(self, form: Form, subject: str, at: float | None = None) -> bool:
        """Counts a message, and what is one too many. A sender's count drains away at the form's rate."""
        if not form.often:
            return False
        now = self.clock() if at is None else at
        who = sender(subject), form.what
        if len(self._full) > 10_000:
            self._full.clear()
        count, before = self._full.get(who, (0.0, now))
        count = max(0.0, count - max(0.0, now - before) * form.often) + 1
        if count > 10 * form.often:
            self.drop(subject, f"more than {form.often} of the form `{form.what}` a second")
            return True
        self._full[who] = count, max(now, before)
        return False

    def drop(self, subject: str, why: str) -> None:
        """Counts what is more than a sender may send, and logs the first."""
        who = sender(subject) or "somebody"
        self.dropped[who] += 1
        if self.dropped[who] == 1:
            _LOG.warning("%s: %s and more are dropped: %s", who, subject[:120], why)

    def refuse(self, subject: str, why: str) -> None:
        """Counts a message that is not taken, and logs the 1st, 2nd, 4th, 8th, … of its sender."""
        who = sender(subject) or "somebody"
        if len(self.refused) >= 1000 and who not in self.refused:
            who = "others"
        self.refused[who] += 1
        number = self.refused[who]
        if number & (number - 1) == 0:
            _LOG.warning("%s: %s not taken: %s (%d of this sender so far)", who, subject[:120], why, number)

    def each(self, form: Form, taken: Callable[[str, Any], None]) -> Callable[[Any], Any]:
        """Returns a subscription's callback: it gives subject and body of what fits to `taken`."""

        async def heard(message: Sent) -> None:
            if (body := self.read(form, message)) is not None:
                taken(message.subject, body)

        return heard
