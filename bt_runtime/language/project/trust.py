"""The folders and journals that the user trusts, stored in the user's state folder. This module never asks: commands
ask (`cli/setup/trust_prompt.py`), and programs decide for themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Protocol

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import real

VARIABLE = "BTR_TRUST"  # folders and journals, as in PATH: what a person's environment says holds without a question
FOLDERS, JOURNALS = "folders", "journals"


class TrustGuard(Protocol):
    """Raises for what may not be run, or (`sends`) not be sent."""

    def __call__(self, what: str, folder: Path, sends: bool = False) -> None: ...


guard: TrustGuard | None = None  # this process's guard; None: the calling program decides


class TrustEntry(NamedTuple):
    path: str
    digest: str = ""  # a journal's digest; a folder has none


def may_run(what: str, folder: Path) -> None:
    """Called before Python is imported that a file of this folder names; raises if the folder is not trusted."""
    if guard is not None:
        guard(what, folder)


def may_describe(what: str, folder: Path) -> None:
    """Called before Python is imported that defines the kinds of a project's trees, by every command that reads
    trees."""
    if guard is not None and not knows(folder):
        raise BtError(f"{folder} is not trusted, and names {what}", f"look at it, then: btr trust {folder}")


def may_send(address: str, folder: Path) -> None:
    """Called before anything is sent to an address that a file of this folder names."""
    if guard is not None and beyond(address):
        guard(f"the address {address}", folder, sends=True)


def may_configure(file: Path) -> None:
    """Called before a server lets in whom this file names; raises if somebody else has written it."""
    if guard is not None and not knows(file):
        raise BtError(f"{file} says who may connect, and is not of your making", f"look at it, then: btr trust {file}")


def beyond(address: str) -> bool:
    """True when the address belongs to another machine."""
    from urllib.parse import urlsplit

    from bt_runtime.language.project.address import is_loopback

    try:
        return not is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return True


def knows(path: Path) -> bool:
    """True when this folder, or one above it, is trusted, or this journal with its present content."""
    path = real(path)
    above = {str(p) for p in (path, *path.parents)}
    kept = _kept()
    if not above.isdisjoint({*kept[FOLDERS], *_of_environment()}):
        return True
    return path.is_file() and bool(kept[JOURNALS]) and digest(path) in kept[JOURNALS]


def remember(path: Path) -> TrustEntry:
    """Stores trust in a folder by its path, in a file by its digest: a changed file is asked about again."""
    path = real(path)
    if not path.exists():
        raise BtError(f"there is no {path}", "name a folder, or a journal")
    kept = _kept()
    entry = TrustEntry(str(path), "" if path.is_dir() else digest(path))
    if entry.digest:
        kept[JOURNALS][entry.digest] = entry.path
    else:
        kept[FOLDERS][entry.path] = ""
    _keep(kept)
    return entry


def forget(path: Path) -> bool:
    """Removes the entry; True when there was one."""
    kept, name = _kept(), str(real(path))
    digests = [d for d, where in kept[JOURNALS].items() if where == name]
    known = kept[FOLDERS].pop(name, None) is not None or bool(digests)
    for each in digests:
        del kept[JOURNALS][each]
    if known:
        _keep(kept)
    return known


def listed() -> list[TrustEntry]:
    kept = _kept()
    return [
        *(TrustEntry(p) for p in sorted(kept[FOLDERS])),
        *(TrustEntry(p, d) for d, p in sorted(kept[JOURNALS].items())),
    ]


def digest(path: Path) -> str:
    """Returns the digest of a journal, including SQLite's write-ahead log beside it."""
    from hashlib import sha256

    found = sha256()
    for each in (path, path.with_name(f"{path.name}-wal")):
        if each.is_file():
            with each.open("rb") as file:
                while part := file.read(1 << 20):
                    found.update(part)
    return found.hexdigest()


def place() -> Path:
    """Returns the file that stores the trusted places."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "bt_runtime" / "trust.json"


def _of_environment() -> set[str]:
    named = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    for part in named:
        if not Path(part).is_absolute():
            raise BtError(
                f"{VARIABLE}: {part} is not an absolute path", f"write it from / on: {VARIABLE}={real(Path(part))}"
            )
    return {str(real(Path(part))) for part in named}


def _kept() -> dict[str, dict[str, str]]:
    import json

    from bt_runtime.language.project import disk

    found: object = {}
    try:
        found = json.loads(disk.read(place()))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        raise BtError(f"{place()} cannot be read: {error}", "fix it, or remove it: you will be asked again") from error
    parts = found if isinstance(found, dict) else {}
    return {name: _texts(parts.get(name)) for name in (FOLDERS, JOURNALS)}


def _texts(found: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _keep(kept: dict[str, dict[str, str]]) -> None:
    """Writes the file atomically, readable and writable by this user only."""
    import json

    from bt_runtime.language.project import disk

    home = real(place())  # a link is the person's own
    try:
        home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        disk.write(home, json.dumps(kept, indent=1), mode=0o600)
    except OSError as error:
        hint = f"{VARIABLE}=FOLDER says it for one command"
        raise BtError(f"{home} cannot be written: {error.strerror}", hint) from error
