"""The versions of trees that a robot has, and fetches from the fleet when a task names another one."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from bt_fleet.server import names
from bt_fleet.server.link import Link, library
from bt_fleet.versions import bundle
from bt_fleet.versions.bundle import Terms
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.project import PROJECT_FILE, disk

ANEW = 5.0  # seconds after which a version that was refused is looked at again
_TERMS = ".terms"  # in a version's folder: the tree's file, and what was signed of it
_NEWEST = "newest.json"  # tree → the terms of the newest version that was here


class Taken(NamedTuple):
    """A version that is unpacked here."""

    path: Path  # path of its tree's file
    terms: Terms


class Versions:
    """One folder for each version, below the robot's own project; a file there holds the terms of the newest version
    of each tree."""

    def __init__(
        self, link: Link, project: Path, folder: Path, trusted: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.clock = clock
        self._refused: dict[tuple[str, str], tuple[float, BtError]] = {}
        self.link, self.project, self.folder, self.trusted = link, project, folder, trusted
        self._taken: dict[tuple[str, str], Taken] = {}
        self._newest: dict[str, list[Any]] = json.loads(disk.read_or_nothing(folder / _NEWEST) or b"{}")
        self._lock = asyncio.Lock()

    async def path(self, tree: str, digest: str) -> Path:
        """Returns the file of a version's tree; fetches, checks and unpacks it when it is not there."""
        async with self._lock:
            found = self._taken.get((tree, digest)) or self._kept(tree, digest)
            if found is None or not self._current(found.terms, digest):  # it may have been signed again since
                found = await self._asked(tree, digest)
            self._taken[tree, digest] = found
            own, copy = self.project / PROJECT_FILE, self.folder / digest / PROJECT_FILE
            if (text := disk.read_or_nothing(own)) != disk.read_or_nothing(copy):
                disk.write(copy, text)  # the robot's settings have changed since: they hold for its versions too
            return found.path

    async def _asked(self, tree: str, digest: str) -> Taken:
        """Takes a version. A refusal holds for a while: to find it again takes longer than a call for bids waits."""
        when, why = self._refused.get((tree, digest), (0.0, None))
        if why is not None and self.clock() - when < ANEW:
            raise BtError(why.message, why.hint)
        try:
            return await self._take(tree, digest)
        except BtError as error:
            self._refused[tree, digest] = self.clock(), error
            raise

    def _kept(self, tree: str, digest: str) -> Taken | None:
        """Returns what an earlier process of this robot has unpacked and checked."""
        try:
            file, terms = json.loads((self.folder / digest / _TERMS).read_bytes())
        except (OSError, ValueError):
            return None
        kept = Taken(self.folder / digest / file, Terms(*terms))
        return kept if kept.terms.tree == tree else None

    def _current(self, terms: Terms, digest: str) -> bool:
        """True unless a newer version of the tree was here, and did not replace this one."""
        newest = Terms(*self._newest[terms.tree]) if terms.tree in self._newest else terms
        return terms.number >= newest.number or digest == newest.before

    async def _take(self, tree: str, digest: str) -> Taken:
        found, terms = bundle.opened(await self._fetched(digest), digest, self.trusted)
        if terms.tree != tree:
            raise BtError(f"the version {digest} was signed as `{terms.tree}`, not as `{tree}`", "deploy it as that")
        if not self._current(terms, digest):
            raise BtError(
                f"the version {digest} of {tree} is older than one that was here",
                f"to go back: btr fleet deploy {tree} --back-to {digest}",
            )
        if not (self.folder / digest / _TERMS).is_file():
            shutil.rmtree(self.folder / digest, ignore_errors=True)  # of a process that was killed, or did not check it
        code = (self.project / ".fleet" / bundle.TAKES_CODE).exists()
        try:
            path = await asyncio.to_thread(bundle.unpacked, found, self.project, self.folder / digest, code)
        except Faults as faults:
            first = next((each.message for each in faults.diagnostics), str(faults))
            raise BtError(f"the version {digest} is at fault: {first}", "deploy one that is checked") from faults
        except (OSError, ValueError) as error:  # a name that cannot be a file's, a full disk
            raise BtError(f"the version {digest} cannot be laid down here: {error!s:.200}", "mend that") from error
        disk.write(self.folder / digest / _TERMS, json.dumps([found.tree, terms]))
        if terms.number > Terms(*self._newest.get(tree, ("", 0))).number:
            self._newest[tree] = list(terms)
            disk.write(self.folder / _NEWEST, json.dumps(self._newest))
        return Taken(path, terms)

    async def _fetched(self, digest: str) -> bytes:
        nats = library()
        try:
            entry = await (await self.link.bucket(names.TREES)).get(digest)
        except (nats.js.errors.NotFoundError, nats.errors.Error, TimeoutError) as error:
            raise BtError(f"the fleet has no version {digest}, or is not reached", "btr fleet versions") from error
        return bytes(entry.value or b"")
