"""Six vehicles on a real server, over connections that are cut, with processes that end without a word."""

from __future__ import annotations

import asyncio
import gc
import os
import random
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.server import buckets, names
from bt_fleet.server.link import Address, Link
from bt_fleet.shared.traffic.places import PREFIX, Places, Stretch
from packages.fleet.tests.proxy import Proxy
from packages.fleet.tests.serving import served
from packages.fleet.tests.traffic import grid

MAP = grid(4, 3)
CROSSINGS = 600 if os.environ.get("BTR_TRAFFIC") else 150


class World:
    """Where the vehicles truly are, and what happened to them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.at: dict[str, str] = {}
        self.crossings = self.kills = self.cuts = self.told = 0

    @property
    def over(self) -> bool:
        return self.crossings >= CROSSINGS and self.kills > 0 and self.cuts > 0

    def moves(self, name: str, to: str) -> None:
        assert to not in self.at.values(), f"two vehicles in {to}"
        self.at[name] = to
        self.crossings += 1


async def process(world: World, name: str, proxy: Proxy) -> None:
    """One process of a vehicle, until there were enough crossings or it is killed."""
    async with Link(Address(proxy.url), name) as link:
        places = Places(link, name)
        await places.start()
        try:
            while not world.over:
                goal = world.dice.choice(sorted(MAP.waiting))
                await drive(world, name, places, places.ask(MAP.stretch(world.at[name], goal, places.taken())))
        finally:
            for task in places._tasks:  # killed: nothing is given back
                task.cancel()


async def drive(world: World, name: str, places: Places, stretch: Stretch) -> None:
    while not (stretch.granted or stretch.failed) and not world.over:
        await asyncio.sleep(0.002)
    world.told += "deadlock" in stretch.failed
    for place in stretch.route[1:] if stretch.granted else ():
        world.moves(name, place)
        await asyncio.sleep(0.002)
    arrived = stretch.granted and not stretch.failed
    places.finish(stretch, "arrived" if arrived else "stopped")


async def vehicle(world: World, name: str, port: int) -> None:
    proxy = await Proxy(port).start()
    while not world.over:
        running = asyncio.create_task(process(world, name, proxy))
        await asyncio.wait({running}, timeout=world.dice.uniform(0.2, 1))
        if not running.done() and (not world.cuts or world.dice.random() < 0.5):
            proxy.cut()
            world.cuts += 1
            await asyncio.wait({running}, timeout=world.dice.uniform(0.1, 0.5))
            proxy.mend()
            await asyncio.wait({running}, timeout=1)
        if running.done():
            running.result()
            break
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        world.kills += 1
    await proxy.close()


def test_no_two_vehicles_are_in_one_place_of_a_real_store(tmp_path: Path) -> None:
    """Kills in the middle of a drive, and cut connections: each process takes its vehicle up where it is."""
    world = World(seed=1)

    async def all_of_them() -> None:
        async with served(tmp_path) as server:
            world.at = {f"r{n}": place for n, place in enumerate(world.dice.sample(sorted(MAP.waiting), 6))}
            async with Link(server.address) as link:
                await buckets.made(link.js, names.LOCKS)
                for name, place in world.at.items():  # each holds the place where it begins
                    await buckets.write(link, names.LOCKS, buckets.own_key(PREFIX + place, name), 0, b"{}", 10.0)
            for_all = (vehicle(world, name, server.port) for name in world.at)
            await asyncio.wait_for(asyncio.gather(*for_all), 120)

    try:
        asyncio.run(all_of_them())
    finally:
        gc.collect()  # here, where those sockets are expected
    assert world.over
