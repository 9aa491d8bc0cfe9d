"""No key fills what all share: what one sends too often is dropped, what one keeps too much of is taken out again."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")

from bt_fleet.coordinator import quotas
from bt_fleet.coordinator.quotas import MANY, Quota
from bt_fleet.server import forms, names
from bt_fleet.server.buckets import snapshot
from bt_fleet.server.link import Link
from bt_fleet.server.messages import Intake
from bt_fleet.store import store as stores
from bt_fleet.store.store import FIRST, NO, Store
from bt_fleet.store.task import Task
from packages.fleet.tests.test_keys import guarded_fleet


def played(folder: Path, play: Callable[[dict[str, Link]], Awaitable[None]]) -> None:
    async def main() -> None:
        async with guarded_fleet(folder) as (_, links):
            for robot in ("r7", "r8"):
                await Store(links["coordinator"]).ordering(robot)
            await play(links)

    asyncio.run(asyncio.wait_for(main(), 300))


def dropped(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage().partition(":")[0] for each in caplog.records if "are dropped" in each.getMessage()]


def test_what_one_sends_too_often_is_dropped_counted_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """By a clock that is moved by hand: ten seconds' worth at once, then so many a second; others are not affected."""
    now = [0.0]
    intake, often = Intake(lambda: now[0]), forms.ASKS.often

    def taken(robot: str, count: int) -> int:
        body = b'{"id":"q","text":"May I?","open":true}'
        each = SimpleNamespace(subject=names.said(robot, "asks"), data=body)
        return sum(intake.read(forms.ASKS, each) is not None for _ in range(count))

    assert taken("r7", 20 * often) == 10 * often
    assert taken("r8", often) == often
    now[0] += 1.0
    assert taken("r7", 5 * often) == often
    assert (intake.dropped["r7"], intake.dropped["r8"]) == (14 * often, 0)
    assert dropped(caplog) == ["r7"]


def test_heartbeats_and_wishes_that_come_too_often_keep_nobody_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """r7 and ann send without a pause. r8 is answered, and ann's own wishes are taken again after a while."""

    async def play(links: dict[str, Link]) -> None:
        while sorted(dropped(caplog)) != ["ann", "r7"]:
            for _ in range(1000):
                await links["r7"].nc.publish(names.alive("r7"), b"{}")
                await links["ann"].nc.publish(names.wish("send", "ann"), b"{}")
            await links["r7"].nc.flush(60)
            await links["ann"].nc.flush(60)
        await links["r8"].nc.request(names.alive("r8"), b"{}", timeout=60)
        assert (await Store(links["ann"]).wish("send", {"task": Task("late", "patrol").plain()}))["new"]
        assert sorted(dropped(caplog)) == ["ann", "r7"]

    caplog.set_level(logging.WARNING)
    played(tmp_path, play)


def test_claims_of_one_robot_fill_only_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """r7 claims what nobody gave it until no more goes: it can claim nothing, and r8 everything."""
    monkeypatch.setattr(stores, "CLAIMED", 160 * 50)

    async def play(links: dict[str, Link]) -> None:
        robot = Store(links["r7"])
        how = [await robot.claim("r7", f"t{number}", 1, "r7") for number in range(60)]
        assert how[:20] == [FIRST] * 20
        assert how[-1] == NO
        assert await Store(links["r8"]).claim("r8", "t", 1, "r8") == FIRST

    played(tmp_path, play)


@pytest.mark.parametrize("size", [10, 3000])
def test_entries_of_one_robot_are_bounded_in_number_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    """r7 writes entry after entry under its own name. What is too much is taken out; r8's entry stays."""
    monkeypatch.setattr(quotas, "QUOTAS", {names.ENTRIES: Quota(30, 60_000, "*.{}")})

    async def play(links: dict[str, Link]) -> None:
        body = json.dumps({"value": "x" * size}).encode()
        await links["r8"].js.publish(names.kept(names.ENTRIES, "door.r8"), body)
        for number in range(300):
            await links["r7"].nc.publish(names.kept(names.ENTRIES, f"e{number}.r7"), body)
        await links["r7"].nc.flush(60)

        def own(found: list[str]) -> int:
            return sum(key.endswith(".r7") for key in found)

        while True:
            keys = [each.key for each in await snapshot(links["coordinator"], names.ENTRIES)]
            if dropped(caplog) and own(keys) <= 30:
                break
            await asyncio.sleep(0.05)
        assert own(keys) * size <= 60_000
        assert "door.r8" in keys
        assert dropped(caplog) == ["r7"]

    played(tmp_path, play)
    assert MANY < 30
