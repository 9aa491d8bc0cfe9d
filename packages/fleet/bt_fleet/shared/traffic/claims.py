"""The protocol by which vehicles claim places, without any input or output: what is seen goes in, writes come out.

A claim is a message in the store, written as a compare-and-set, that no time limit ends. A place that a vehicle holds
counts as one where it may stand, except where this process knows better: it took the place for a stretch that was not
granted, or the vehicle has arrived elsewhere since. Only such places are given back. So a process that begins after a
kill, which knows nothing, gives nothing back until its vehicle has arrived somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Holding(NamedTuple):
    """The last message about a place."""

    robot: str = ""  # robot that holds the place; "": none
    revision: int = 0
    process: str = ""  # process of that robot that wrote the claim
    wants: tuple[str, ...] = ()  # the places that its holder waits for
    note: str = ""  # the reason of whoever freed it


class Write(NamedTuple):
    """A message that the store takes only while `base` is the last revision of the place."""

    place: str
    base: int
    wants: tuple[str, ...] = ()
    gives_back: bool = False


FREE = Holding()


class Claims:
    """One process's side of the protocol. The caller does one write at a time and tells how it ended: `done`, or
    `observe` with what the store has, when it was refused or nobody answered."""

    def __init__(self, robot: str, process: str) -> None:
        self.robot, self.process = robot, process
        self.seen: dict[str, Holding] = {}
        self.written: dict[str, int] = {}  # our claims: revisions of this process, with no give-back under way
        self.clear: set[str] = set()  # where the vehicle cannot be, though a claim may say that we hold the place
        self.route: tuple[str, ...] = ()  # the stretch that is wanted, or was granted
        self.granted = False

    # What the vehicle does ---------------------------------------------------------------------

    def want(self, route: tuple[str, ...]) -> None:
        """Asks for a stretch. Its first place is where the vehicle stands; it can wait at the last one."""
        self.route, self.granted = route, False

    def arrived(self) -> None:
        """The vehicle stands at the last place of its stretch, and nowhere else."""
        last = self.route[-1]
        self.clear |= {*self.held(), *self.route} - {last}
        self.route, self.granted = (), False

    def stopped(self) -> None:
        """The stretch is wanted no more. If it was granted, the vehicle may be anywhere in it."""
        self.route, self.granted = (), False

    # What the store says -----------------------------------------------------------------------

    def observe(self, place: str, seen: Holding) -> None:
        """Takes what the store has, unless something later is known. Where an earlier process has claimed a place, the
        vehicle may stand, whatever this process has tried there meanwhile."""
        if seen.revision <= self.seen.get(place, FREE).revision:
            return
        self.seen[place] = seen
        if seen.robot != self.robot:
            self.written.pop(place, None)
        elif seen.process != self.process:
            self.clear.discard(place)

    def done(self, write: Write, revision: int) -> None:
        """The store has taken a write."""
        if not write.gives_back:
            self.written[write.place] = revision
        self.observe(write.place, Holding("" if write.gives_back else self.robot, revision, self.process, write.wants))

    # What follows ------------------------------------------------------------------------------

    def held(self) -> list[str]:
        """Returns the places that this robot holds."""
        return sorted(place for place, seen in self.seen.items() if seen.robot == self.robot)

    def stands(self) -> list[str]:
        """Returns the places where the vehicle may stand."""
        return [place for place in self.held() if place not in self.clear]

    def lost(self) -> str:
        """Returns a place of the granted stretch that is ours no more, because a person has freed it."""
        return next((p for p in self.route if self.granted and self.seen[p].robot != self.robot), "")

    def blocked(self) -> dict[str, str]:
        """Returns the places of the wanted stretch that others hold, with their holders."""
        if self.granted:
            return {}
        holders = ((place, self.seen.get(place, FREE).robot) for place in self.route)
        return {place: holder for place, holder in holders if holder not in ("", self.robot)}

    def next(self) -> Write | None:
        """Returns the next write; None: there is nothing to do until something changes. Grants the stretch when every
        place of it was written by this process.

        A claim of an earlier process is written anew first: a late give-back of that process then finds another
        revision. The places are taken in the order of their names, and none is kept while another is held by
        somebody else."""
        wanted = self.route and not self.granted
        blocked = self.blocked()
        if wanted and not blocked:
            for place in sorted(self.route):
                if place not in self.written:
                    seen = self.seen.get(place, FREE)
                    if seen.robot != self.robot:
                        self.clear.add(place)
                    return Write(place, seen.revision)
            self.granted = True
            self.clear -= {*self.route}
        kept = self.route if self.granted else ()
        for place in self.held():
            if place in self.clear and place not in kept:
                self.written.pop(place, None)  # before it is sent: from now on the answer may be lost
                return Write(place, self.seen[place].revision, gives_back=True)
        return self._told(tuple(sorted(blocked)) if wanted else ())

    def _told(self, wants: tuple[str, ...]) -> Write | None:
        """Writes what the vehicle waits for into its latest claim, so that others see a circle."""
        latest = max(self.stands(), key=lambda place: self.seen[place].revision, default="")
        if self.granted or not latest or self.seen[latest].wants == wants:
            return None
        return Write(latest, self.seen[latest].revision, wants)


def waits(seen: Mapping[str, Holding]) -> dict[str, set[str]]:
    """Returns who waits for whom, by the latest claim of each robot."""
    latest: dict[str, Holding] = {}
    for each in seen.values():
        if each.robot and each.revision > latest.get(each.robot, FREE).revision:
            latest[each.robot] = each
    return {
        robot: {seen[place].robot for place in each.wants if place in seen} - {"", robot}
        for robot, each in latest.items()
    }


def circle(seen: Mapping[str, Holding], robot: str) -> tuple[str, ...]:
    """Returns the shortest circle of robots that wait for each other, from this robot on; () when there is none. A
    vehicle waits for every place of its stretch, so that none in a circle can go on by itself."""
    graph = waits(seen)
    ways: list[tuple[str, ...]] = [(robot,)]
    reached = {robot}
    for way in ways:
        for after in sorted(graph.get(way[-1], ())):
            if after == robot:
                return way
            if after not in reached:
                reached.add(after)
                ways.append((*way, after))
    return ()
