"""How much of a bucket one writer may take: names and bytes. What is more is taken out of it again."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import NamedTuple

from bt_fleet.server import names
from bt_fleet.server.buckets import Kept, follow
from bt_fleet.server.forms import KB, MB
from bt_fleet.store.store import Store

_MESSAGE = 100  # bytes that the server needs for a message besides its name and value
MANY = 20  # messages too many after which all of the writer's are taken out: one by one would be too slow


class Quota(NamedTuple):
    """What one writer may have in a bucket; `keys` are those of a writer."""

    most: int
    size: int
    keys: str


QUOTAS = {names.ENTRIES: Quota(2000, 4 * MB, "*.{}"), names.LOCKS: Quota(1000, 512 * KB, "*.{}"),
          names.SETTINGS: Quota(1000, 512 * KB, "*.*.{}")}  # fmt: skip


class Share:
    """What one writer has in a bucket."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.size = 0
        self.excess = 0

    def put(self, key: str, size: int) -> None:
        self.size += size - self.sizes.pop(key, 0)
        if size:
            self.sizes[key] = size


class Quotas:
    """Holds each writer to its share, while `watch` runs."""

    def __init__(self, store: Store, quotas: dict[str, Quota] | None = None) -> None:
        self.store, self.quotas = store, QUOTAS if quotas is None else quotas
        self._shares: dict[tuple[str, str], Share] = defaultdict(Share)

    async def watch(self) -> None:
        self._shares.clear()
        try:
            async with asyncio.TaskGroup() as group:
                for bucket in self.quotas:
                    group.create_task(self._watch(bucket))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _watch(self, bucket: str) -> None:
        async for each in follow(self.store.link, bucket):
            if each is not None and not (bucket == names.SETTINGS and each.key.startswith("deploy.")):
                await self._taken(bucket, each)
            if self.store.link.closing:  # the server's answer and a cancel at once: the client loses the cancel
                return

    async def _taken(self, bucket: str, each: Kept) -> None:
        quota, writer = self.quotas[bucket], each.key.rpartition(".")[2]
        share = self._shares[bucket, writer]
        share.put(each.key, 0 if each.gone else len(each.value) + len(each.key) + _MESSAGE)
        if len(share.sizes) <= quota.most and share.size <= quota.size:
            return
        share.excess += 1
        key = each.key
        if share.excess % MANY == 0:
            self._shares[bucket, writer], key = Share(), quota.keys.format(writer)
        else:
            share.put(key, 0)
        await self.store.js.purge_stream(f"KV_{bucket}", subject=names.kept(bucket, key))
        subject = names.kept(bucket, each.key)
        self.store.intake.drop(subject, f"it has more than {quota.most} names or {quota.size} bytes there")
