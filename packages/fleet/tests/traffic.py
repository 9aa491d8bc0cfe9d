"""Vehicles on a grid of single lanes, with kills, partitions, late writes and breakdowns; by a seed, without a server.

The vehicles run the product's own `Claims` and `Map`. The world knows where each one truly is."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from bt_fleet.shared.traffic.claims import FREE, Claims, Holding, Write, circle
from bt_fleet.shared.traffic.map import Map


@dataclass(frozen=True)
class Plan:
    vehicles: int = 50
    crossings: int = 10_000
    wide: int = 12
    high: int = 10
    kills: float = 0.0005  # chances of each turn of a vehicle
    cuts: float = 0.0005
    stops: float = 0.002
    losses: float = 0.02  # of each write
    wrecks: int = 5  # vehicles that never come back, whose places a person frees
    patience: int = 100_000  # turns of all vehicles in which a deadlock must be told
    seed: int = 0


@dataclass
class Found:
    crossings: int = 0
    collisions: list[str] = field(default_factory=list)  # also a vehicle in a place that it does not hold
    untold: list[str] = field(default_factory=list)
    told: int = 0
    misfortunes: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    arrivals: Counter[str] = field(default_factory=Counter)

    @property
    def sound(self) -> bool:
        return not (self.collisions or self.untold)


def grid(wide: int, high: int) -> Map:
    """Waiting places in rows and columns; between neighbours one place to drive through, in both directions."""
    spots = [(x, y) for x in range(wide) for y in range(high)]
    ways: dict[str, list[str]] = {f"w{x}-{y}": [] for x, y in spots}
    for x, y in spots:
        for other in ((x + 1, y), (x, y + 1)):
            if other in spots:
                here, there = f"w{x}-{y}", f"w{other[0]}-{other[1]}"
                lane = f"l{here}-{there}"
                ways[here].append(lane)
                ways[there].append(lane)
                ways[lane] = [here, there]
    return Map([f"w{x}-{y}" for x, y in spots], ways)


class Store:
    """What the server keeps: messages in one order. A write is taken when its base is the last revision."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Holding]] = []
        self.last: dict[str, Holding] = {}

    def take(self, robot: str, process: str, write: Write) -> int:
        if self.last.get(write.place, FREE).revision != write.base:
            return 0
        self.put(write.place, Holding("" if write.gives_back else robot, len(self.log) + 1, process, write.wants))
        return len(self.log)

    def put(self, place: str, seen: Holding) -> None:
        self.log.append((place, seen))
        self.last[place] = seen


class Car:
    """A vehicle: where it truly is, and its process, which may be dead for a while or cut off."""

    def __init__(self, name: str, at: str) -> None:
        self.name, self.at, self.goal = name, at, ""
        self.process = 0
        self.claims = Claims(name, f"{name}-0")
        self.heard = 0  # how much of the store's log it has seen
        self.doing = ""  # "", "waits", "drives"
        self.dead = self.cut = 0  # turns for which it lasts


class Traffic:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.found = plan, Found()
        self.dice = random.Random(plan.seed)
        self.map, self.store = grid(plan.wide, plan.high), Store()
        self.late: list[tuple[str, str, Write]] = []
        self.circles: dict[frozenset[str], int] = {}  # true circles, and since which turn
        self.cars: list[Car] = []
        starts = self.dice.sample(sorted(self.map.waiting), plan.vehicles)
        for number, place in enumerate(starts):
            car = Car(f"r{number:02}", place)
            self.store.put(place, Holding(car.name, len(self.store.log) + 1, car.claims.process))
            self.cars.append(car)

    def run(self) -> Found:
        plan, found = self.plan, self.found
        wrecked = 0
        while found.crossings < plan.crossings and found.sound:
            found.turns += 1
            assert found.turns < 2000 * plan.crossings, f"nothing moves any more: {found}"
            if self.late and self.dice.random() < 0.02:
                self.store.take(*self.late.pop(self.dice.randrange(len(self.late))))
            self.turn(self.dice.choice(self.cars))
            if found.turns % 500 == 0:
                self.watch()
            if wrecked < plan.wrecks and found.crossings > plan.crossings * (wrecked + 1) // (plan.wrecks + 2):
                wrecked += 1
                self.wreck(self.dice.choice(self.cars))
        return found

    def turn(self, car: Car) -> None:
        dice, plan, found = self.dice, self.plan, self.found
        if car.dead:
            car.dead -= 1
            return
        car.cut = max(0, car.cut - 1)
        if dice.random() < plan.kills:
            found.misfortunes["kills"] += 1
            car.process += 1
            car.claims, car.heard, car.doing = Claims(car.name, f"{car.name}-{car.process}"), 0, ""
            car.dead = dice.randrange(200)
            return
        if not car.cut and dice.random() < plan.cuts:
            found.misfortunes["cuts"] += 1
            car.cut = dice.randrange(200)
        if not car.cut and (car.heard == 0 or dice.random() < 0.8):
            upto = len(self.store.log) if car.heard == 0 else min(len(self.store.log), car.heard + dice.randrange(200))
            for place, seen in self.store.log[car.heard : upto]:
                car.claims.observe(place, seen)
            car.heard = upto
        if car.heard:
            self.act(car)

    def act(self, car: Car) -> None:
        dice, claims = self.dice, car.claims
        if car.doing == "drives":
            self.drive(car)
            return
        if not car.doing:
            self.want(car)
        write = claims.next()
        if write is not None:
            self.send(car, write)
        elif claims.granted:
            car.doing = "drives"
        elif claims.blocked():
            ring = circle(claims.seen, car.name)
            if ring and all(self.store.last[place].revision == seen.revision
                            for place, seen in claims.seen.items() if seen.robot in ring):  # fmt: skip
                self.circles.pop(frozenset(ring), None)
                if car.name == max(ring):
                    self.found.told += 1
                    self.round(car)
            elif dice.random() < 0.01:
                self.round(car)

    def round(self, car: Car) -> None:
        """Gives up the stretch, and goes to some place whose way begins with a stretch that is free."""
        self.stop(car)
        taken = self.taken(car)
        for goal in self.dice.sample(sorted(self.map.waiting), 20):
            if not taken & {*self.map.stretch(car.at, goal, taken)}:
                car.goal = goal
                return

    def taken(self, car: Car) -> set[str]:
        return {place for place, seen in car.claims.seen.items() if seen.robot not in ("", car.name)}

    def want(self, car: Car) -> None:
        if not car.goal or car.goal == car.at:
            car.goal = self.dice.choice(sorted(self.map.waiting))
        route = self.map.stretch(car.at, car.goal, self.taken(car))
        if len(route) > 1:
            car.claims.want(tuple(route))
            car.doing = "waits"

    def drive(self, car: Car) -> None:
        route = car.claims.route
        if self.dice.random() < self.plan.stops:
            self.found.misfortunes["breakdowns"] += 1
            self.stop(car)
        elif car.at == route[-1]:
            car.claims.arrived()
            self.found.arrivals[car.name] += 1
            car.doing = ""
        else:
            car.at = route[route.index(car.at) + 1]
            self.found.crossings += 1
            self.look(car)

    def look(self, car: Car) -> None:
        """Compares the world with the store."""
        there = [other.name for other in self.cars if other.at == car.at]
        if len(there) > 1 or self.store.last[car.at].robot != car.name:
            self.found.collisions.append(f"{car.at}: {there}, held by {self.store.last[car.at].robot}")

    def stop(self, car: Car) -> None:
        car.claims.stopped()
        car.doing = ""

    def send(self, car: Car, write: Write) -> None:
        claims = car.claims
        if car.cut or self.dice.random() < self.plan.losses:
            self.found.misfortunes["writes lost or late"] += 1
            if self.dice.random() < 0.5:
                self.late.append((car.name, claims.process, write))
            elif not car.cut:
                self.store.take(car.name, claims.process, write)  # taken, and the answer is lost
            return
        revision = self.store.take(car.name, claims.process, write)
        if revision:
            claims.done(write, revision)
        else:
            claims.observe(write.place, self.store.last[write.place])

    def wreck(self, car: Car) -> None:
        """The vehicle never comes back: others wait, until a person has towed it away and frees its places."""
        self.found.misfortunes["wrecks"] += 1
        self.cars.remove(car)
        self.late = [each for each in self.late if each[0] != car.name]
        for place, seen in list(self.store.last.items()):
            if seen.robot == car.name:
                self.store.put(place, Holding("", len(self.store.log) + 1, "ann", (), "ann: towed away"))

    def watch(self) -> None:
        """Finds the true circles of vehicles that are alive and wait; one that stands too long was not told."""
        waiting = {car.name: car for car in self.cars if car.doing == "waits" and not car.dead and not car.cut}
        last = self.store.last
        graph = {name: {last.get(place, FREE).robot for place in car.claims.route} - {"", name}
                 for name, car in waiting.items()}  # fmt: skip
        true: set[frozenset[str]] = set()
        for name in graph:
            ways: list[tuple[str, ...]] = [(name,)]
            reached = {name}
            for way in ways:
                for after in graph.get(way[-1], ()):
                    if after == name:
                        true.add(frozenset(way))
                    elif after in graph and after not in reached:
                        reached.add(after)
                        ways.append((*way, after))
        self.circles = {ring: since for ring, since in self.circles.items() if ring in true}
        for ring in true:
            since = self.circles.setdefault(ring, self.found.turns)
            if self.found.turns - since > self.plan.patience:
                self.found.untold.append(" ".join(sorted(ring)))
