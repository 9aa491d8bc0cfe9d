"""Documents: texts as the runtime asks and answers them, with the parts that the model is to learn marked.

A shard is a file of one JSON object a line. Shards are written whole and never changed, so that a folder of them may
grow while a training run reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.types import Json

SUFFIX = ".jsonl"


class Document(NamedTuple):
    kind: str  # "house reactree": figures are told by kind
    text: str  # a prompt as the runtime builds it, and what was answered
    learn: tuple[tuple[int, int], ...]  # characters of `text` that are the model's own


def read(path: Path) -> Iterator[Document]:
    """The documents of a shard; the first damaged line raises with its number."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield parse(line, f"{path}:{number}")


def parse(line: bytes | str, where: str) -> Document:
    try:
        given = json.loads(line)
    except ValueError as fault:
        raise BtError(f"{where}: this line is not JSON: {fault}", "remove the line, or write the shard anew") from fault
    wrong = _wrong(given)
    if wrong:
        raise BtError(f"{where}: {wrong}", 'a document is {"kind": "…", "text": "…", "learn": [[start, end], …]}')
    return Document(given["kind"], given["text"], tuple((start, end) for start, end in given["learn"]))


def _wrong(given: Json) -> str:
    """Returns why the value is no valid document; "" when it is one."""
    if not isinstance(given, dict):
        return "a document is an object"
    for key in ("kind", "text"):
        if not isinstance(given.get(key), str) or not given[key]:
            return f"`{key}` must be a text"
    spans = given.get("learn")
    if not isinstance(spans, list) or not spans:
        return "`learn` must be a list of spans, one at least"
    at = 0
    for span in spans:
        if not (isinstance(span, list) and len(span) == 2 and all(type(x) is int for x in span)):
            return f"{json.dumps(span)} is not a span of two whole numbers"
        if not at <= span[0] < span[1] <= len(given["text"]):
            return f"the span {span} is empty, out of order, or outside the {len(given['text'])} characters of the text"
        at = span[1]
    return ""


def write(path: Path, documents: Iterable[Document]) -> int:
    """Writes a shard; it appears under its name when it is complete. Returns the number of documents."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with disk.draft(path) as partial, partial.open("w", encoding="utf-8") as file:
        for count, document in enumerate(documents, 1):  # noqa: B007
            file.write(json.dumps(document._asdict(), ensure_ascii=False) + "\n")
    return count


def shards(places: Iterable[Path]) -> list[Path]:
    """Returns the present shards in these files and folders."""
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            found += sorted(p for p in place.rglob(f"*{SUFFIX}") if not p.name.startswith("."))
        elif place.is_file():
            found.append(place)
        else:
            raise BtError(f"there are no documents at {place}", f"name a file or a folder of files *{SUFFIX}")
    return list(dict.fromkeys(found))


def digest(*parts: bytes | str) -> str:
    """Returns a short digest of the shards' content, independent of their place."""
    told = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        told.update(len(data).to_bytes(8, "little") + data)
    return told.hexdigest()
