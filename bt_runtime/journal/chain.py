"""A hash chain over finished journals, so that a changed, removed or exchanged one is noticed.

`chain.jsonl` in the folder has a line for each sealed journal: its name, the SHA-256 of its file, and a link over these
and the link before. Who may write the folder can also make a new chain: keep the last link elsewhere, or seal with
a key, which makes each link an HMAC. Journals themselves have checksums, which show accidents."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import folder
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.journal.opening import fits
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system

CHAIN = "chain.jsonl"
FIRST = "0" * 64  # the link before the first one


class Sealed(NamedTuple):
    run: str
    sha256: str
    link: str


def seal(place: Path, key: bytes = b"") -> tuple[list[str], str]:
    """Adds each finished journal that has no line yet. Returns their names and the last link."""
    if not place.is_dir():
        raise BtError(f"there is no folder {place}", "run a tree first: `btr run TREE`")
    descriptor = os.open(place / CHAIN, os.O_RDWR | os.O_CREAT | system.NO_FOLLOW | system.PLAIN, 0o644)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        system.lock(descriptor, wait=True)
        chain, faults = _read(file.read(), key)
        if faults:
            raise BtError(f"{place / CHAIN} is not whole: {faults[0]}", "look at `btr runs verify`, and keep the file")
        known, link, added = {each.run for each in chain}, chain[-1].link if chain else FIRST, list[str]()
        for path in folder.journals(place):
            name = path.name.removesuffix(SUFFIX)
            if name not in known and not _written(path) and _ended(path) == (True, ""):
                digest = _digest(path)
                link = _link(link, name, digest, key)
                file.write(json.dumps(Sealed(name, digest, link)._asdict()) + "\n")
                added.append(name)
        file.flush()
        os.fsync(file.fileno())
    return added, link


class Verified(NamedTuple):
    whole: int  # journals that are as they were sealed
    faults: list[str]
    unsealed: list[str]  # finished journals without a line
    unfinished: list[str]  # sound journals of runs that have not ended; a damaged one is a fault


def verify(place: Path, key: bytes = b"", head: str = "") -> Verified:
    """Compares the journals of a folder with its chain.

    `head`: a link that was kept elsewhere; the chain must have it, else its end was cut off."""
    try:
        text = (place / CHAIN).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        hint = "`btr runs seal` begins one; one that was there has been removed"
        raise BtError(f"there is no chain in {place}: {error.strerror}", hint) from error
    chain, faults = _read(text, key)
    whole = 0
    for each in chain:
        path = place / f"{each.run}{SUFFIX}"
        if not path.is_file():
            faults.append(f"{each.run}: the journal was removed")
        elif _digest(path) != each.sha256:
            faults.append(f"{each.run}: the journal was changed or exchanged")
        else:
            whole += 1
    if head and all(each.link != head for each in chain):
        faults.append(f"no line has the link {head:.16}…: the chain was cut off or made anew")
    told = {each.run for each in chain}
    unsealed, unfinished = list[str](), list[str]()
    for path in folder.journals(place):
        name = path.name.removesuffix(SUFFIX)
        if name in told:
            continue
        ended, damage = _ended(path)
        if damage:
            faults.append(f"{name}: {'not sealed' if ended else 'unfinished'}, and damaged: {damage}")
        elif not ended:
            unfinished.append(name)
        elif not _written(path):
            unsealed.append(name)
    return Verified(whole, faults, unsealed, unfinished)


def _ended(path: Path) -> tuple[bool, str]:
    try:
        recording = Recording(path)
    except BtError as error:
        return False, error.message
    return bool(recording.result), recording.damage


def key_of(path: Path | None) -> bytes:
    """Reads the key; at least 16 bytes."""
    if path is None:
        return b""
    try:
        found = path.read_bytes().strip()
    except OSError as error:
        raise BtError(f"the key {path} cannot be read: {error.strerror}", "name a file with a secret") from error
    if len(found) < 16:
        raise BtError(f"the key {path} is too short", "at least 16 bytes: `openssl rand -hex 32 > seal.key`")
    return found


def _read(text: str, key: bytes) -> tuple[list[Sealed], list[str]]:
    chain: list[Sealed] = []
    faults: list[str] = []
    seen: set[str] = set()
    lines = text.splitlines() if not text or text.endswith("\n") else [*text.splitlines(), ""]  # the last one was cut
    for number, line in enumerate(lines, 1):
        each, link = _sealed(line), chain[-1].link if chain else FIRST
        if each is None:
            faults.append(f"line {number} of {CHAIN} cannot be read")
            continue
        if not hmac.compare_digest(_link(link, each.run, each.sha256, key), each.link):
            faults.append(f"line {number} of {CHAIN} ({each.run}) does not follow the one before, or has another key")
        elif each.run in seen:
            faults.append(f"line {number} of {CHAIN} names {each.run} another time")
        chain.append(each)
        seen.add(each.run)
    return chain, faults


def _sealed(line: str) -> Sealed | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not fits(found, dict.fromkeys(Sealed._fields, str)) or len(found) > len(Sealed._fields):
        return None
    each = Sealed(**found)
    return each if each.run == Path(each.run).name and each.link.isascii() else None


def _written(path: Path) -> bool:
    """True while a process writes the journal, or one that was killed has left its last writes beside it."""
    return folder.is_live(path) or Path(f"{path}-wal").exists()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _link(before: str, run: str, sha256: str, key: bytes) -> str:
    body = json.dumps([before, run, sha256]).encode()
    return hmac.new(key, body, "sha256").hexdigest() if key else hashlib.sha256(body).hexdigest()
