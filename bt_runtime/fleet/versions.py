"""The versions of trees that a robot has, and fetches from the fleet when a task names another one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError, Faults
from bt_runtime.fleet import bundle, names
from bt_runtime.fleet.link import Link, library


class Versions:
    """One folder for each version, below the robot's own project."""

    def __init__(self, link: Link, project: Path, folder: Path, trusted: Collection[str]) -> None:
        self.link, self.project, self.folder, self.trusted = link, project, folder, trusted
        self._paths: dict[str, Path] = {}
        self._lock = asyncio.Lock()

    async def path(self, digest: str) -> Path:
        """Returns the file of a version's tree; fetches, checks and unpacks it when it is not there."""
        async with self._lock:
            if digest not in self._paths:
                self._paths[digest] = await self._taken(digest)
            return self._paths[digest]

    async def _taken(self, digest: str) -> Path:
        kept = self.folder / digest / "version"
        if not kept.is_file():
            data = await self._fetched(digest)
            found = bundle.opened(data, digest, self.trusted)
            code = (self.project / ".fleet" / bundle.TAKES_CODE).exists()
            try:
                await asyncio.to_thread(bundle.unpacked, found, self.project, self.folder / digest, code)
            except Faults as faults:
                first = str(faults).partition("\n")[0]
                raise BtError(f"the version {digest} is at fault: {first}", "deploy one that is checked") from faults
            kept.write_text(found.tree, "utf-8")
        return self.folder / digest / kept.read_text("utf-8")

    async def _fetched(self, digest: str) -> bytes:
        nats = library()
        try:
            entry = await (await self.link.bucket(names.TREES)).get(digest)
        except (nats.js.errors.NotFoundError, nats.errors.Error, TimeoutError) as error:
            raise BtError(f"the fleet has no version {digest}, or is not reached", "btr fleet versions") from error
        return bytes(entry.value or b"")
