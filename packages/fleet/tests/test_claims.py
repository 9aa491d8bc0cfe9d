"""The protocol of claims, explored: every order of writes, losses, delays, kills and cancels that two vehicles can
meet.

The explorer runs the product's own `Claims`. It holds the store, what is still under way, and where each vehicle truly
is, and follows every possible next event from every state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from bt_fleet.shared.traffic.claims import FREE, Claims, Holding, Write, circle


class Vehicle(NamedTuple):
    """A vehicle in the world, and its process as plain values."""

    name: str
    at: str  # where it truly is
    routes: tuple[tuple[str, ...], ...]  # what it still has to drive
    process: int = 0  # how often it was killed
    doing: str = ""  # "", "waits", "drives"
    seen: tuple[tuple[str, Holding], ...] = ()
    written: tuple[tuple[str, int], ...] = ()
    clear: frozenset[str] = frozenset()

    def claims(self) -> Claims:
        claims = Claims(self.name, f"{self.name}{self.process}")
        claims.seen, claims.written, claims.clear = dict(self.seen), dict(self.written), set(self.clear)
        if self.doing:
            claims.route, claims.granted = self.route, self.doing == "drives"
        return claims

    @property
    def route(self) -> tuple[str, ...]:
        """The stretch from where the vehicle is, as its tree asks for it."""
        first = self.routes[0]
        return first[first.index(self.at) :] if not self.doing else first

    def after(self, claims: Claims, **more: object) -> Vehicle:
        if claims.granted and self.doing == "waits":
            more.setdefault("doing", "drives")
        return self._replace(
            seen=tuple(sorted(claims.seen.items())), written=tuple(sorted(claims.written.items())),
            clear=frozenset(claims.clear), **more,
        )  # fmt: skip


class State(NamedTuple):
    store: tuple[tuple[str, Holding], ...]
    vehicles: tuple[Vehicle, ...]
    late: tuple[tuple[str, str, Write], ...] = ()  # writes that nobody has heard of: robot, process, write
    kills: int = 0
    losses: int = 0
    stops: int = 0

    def with_vehicle(self, vehicle: Vehicle, **more: object) -> State:
        return self._replace(
            vehicles=tuple(vehicle if each.name == vehicle.name else each for each in self.vehicles), **more
        )


def taken(store: dict[str, Holding], robot: str, process: str, write: Write) -> int:
    """Returns the revision of a write that the store takes; 0: it was refused."""
    before = store.get(write.place, FREE)
    if before.revision != write.base:
        return 0
    revision = max(each.revision for each in store.values()) + 1
    store[write.place] = Holding("" if write.gives_back else robot, revision, process, write.wants)
    return revision


def ranked(state: State) -> State:
    """The same state with its revisions numbered from 1: nothing but their order counts."""
    seen = [each for vehicle in state.vehicles for _, each in vehicle.seen]
    known = {each.revision for _, each in state.store} | {each.revision for each in seen} | {0}
    known |= {each for vehicle in state.vehicles for _, each in vehicle.written} | {w.base for *_, w in state.late}
    rank = {revision: number for number, revision in enumerate(sorted(known))}
    if rank == {number: number for number in rank}:
        return state

    def of(found: tuple[tuple[str, Holding], ...]) -> tuple[tuple[str, Holding], ...]:
        return tuple((place, each._replace(revision=rank[each.revision])) for place, each in found)

    vehicles = tuple(
        each._replace(seen=of(each.seen), written=tuple((place, rank[old]) for place, old in each.written))
        for each in state.vehicles
    )
    late = tuple((robot, process, write._replace(base=rank[write.base])) for robot, process, write in state.late)
    return state._replace(store=of(state.store), vehicles=vehicles, late=late)


class Bounds(NamedTuple):
    kills: int = 1
    losses: int = 1
    stops: int = 1


def events(state: State, bounds: Bounds) -> Iterator[tuple[str, State]]:
    """Yields everything that may happen next."""
    for number, (robot, process, write) in enumerate(state.late):  # a late write arrives
        store = dict(state.store)
        taken(store, robot, process, write)
        rest = state.late[:number] + state.late[number + 1 :]
        yield f"late {write}", state._replace(store=tuple(sorted(store.items())), late=rest)
    for vehicle in state.vehicles:
        yield from _of(state, vehicle, bounds)


def _of(state: State, vehicle: Vehicle, bounds: Bounds) -> Iterator[tuple[str, State]]:
    name = vehicle.name
    for place, seen in state.store:  # the vehicle hears of one place
        if dict(vehicle.seen).get(place, FREE).revision < seen.revision:
            claims = vehicle.claims()
            claims.observe(place, seen)
            yield f"{name} sees {place}", state.with_vehicle(vehicle.after(claims))
    claims = vehicle.claims()
    write = claims.next()
    if write is not None:
        store = dict(state.store)
        revision = taken(store, name, claims.process, write)
        if revision:
            claims.done(write, revision)
        else:
            claims.observe(write.place, store[write.place])
        yield f"{name} {write}", state.with_vehicle(vehicle.after(claims), store=tuple(sorted(store.items())))
        if state.losses < bounds.losses:  # nobody answers: it arrives later, or never
            lost = vehicle.claims()
            lost.next()
            late = (*state.late, (name, lost.process, write))
            yield f"{name} lost {write}", state.with_vehicle(vehicle.after(lost), late=late, losses=state.losses + 1)
    elif claims.granted and vehicle.doing == "waits":
        yield f"{name} may go", state.with_vehicle(vehicle.after(claims))
    if not vehicle.doing and vehicle.routes:
        route = vehicle.route
        routes = (route, *vehicle.routes[1:])
        yield f"{name} wants", state.with_vehicle(vehicle._replace(routes=routes, doing="waits"))
    if vehicle.doing == "drives":
        yield from _drives(state, vehicle, bounds)
    if vehicle.doing == "waits" and state.stops < bounds.stops:
        claims = vehicle.claims()
        claims.stopped()
        yield f"{name} stops", state.with_vehicle(vehicle.after(claims, doing=""), stops=state.stops + 1)
    if state.kills < bounds.kills:  # a new process knows nothing; the vehicle stays where it is
        new = Vehicle(name, vehicle.at, vehicle.routes, vehicle.process + 1)
        yield f"{name} killed", state.with_vehicle(new, kills=state.kills + 1)


def _drives(state: State, vehicle: Vehicle, bounds: Bounds) -> Iterator[tuple[str, State]]:
    place = vehicle.route.index(vehicle.at)
    claims = vehicle.claims()
    if place + 1 < len(vehicle.route):
        after = vehicle._replace(at=vehicle.route[place + 1])
        yield f"{vehicle.name} drives to {after.at}", state.with_vehicle(after)
        if state.stops < bounds.stops:
            claims.stopped()
            yield f"{vehicle.name} fails", state.with_vehicle(vehicle.after(claims, doing=""), stops=state.stops + 1)
    else:
        claims.arrived()
        done = vehicle.after(claims, doing="", routes=vehicle.routes[1:])
        yield f"{vehicle.name} arrives", state.with_vehicle(done)


def wrong(state: State) -> str:
    """Returns what must never be so; "" when all is well. Two vehicles in one place would break the first sentence."""
    store = dict(state.store)
    for vehicle in state.vehicles:
        if store.get(vehicle.at, FREE).robot != vehicle.name:
            return f"{vehicle.name} stands in {vehicle.at}, which it does not hold"
    return ""


def explored(first: State, bounds: Bounds, most: int = 2_000_000) -> tuple[int, int]:
    """Follows everything. Returns how many states there are, and in how many of them a circle was told."""
    known: dict[State, tuple[State, str] | None] = {first: None}
    frontier, told = [first], 0
    while frontier:
        state = frontier.pop()
        moved = False
        for what, after in events(state, bounds):
            moved = moved or not what.endswith(("killed", "stops"))
            after = ranked(after)
            if after in known:
                continue
            known[after] = (state, what)
            assert len(known) < most, "more states than this test has time for"
            if found := wrong(after):
                raise AssertionError(f"{found}:\n{_story(known, after)}")
            frontier.append(after)
        if not moved and any(each.routes for each in state.vehicles):
            told += _told(state, known)
    return len(known), told


def _told(state: State, known: dict[State, tuple[State, str] | None]) -> int:
    """Asserts that a state in which nothing moves has a circle that its vehicles see, or waits for one that is done."""
    waiting = [each for each in state.vehicles if each.doing == "waits"]
    circles = [circle(each.claims().seen, each.name) for each in waiting]
    if any(circles):
        return 1
    resting = {each.name for each in state.vehicles if not each.doing and not each.routes}
    for each in waiting:
        holders = {*each.claims().blocked().values()}
        assert holders & resting, f"nothing moves, and nobody is told why:\n{_story(known, state)}"
    return 0


def _story(known: dict[State, tuple[State, str] | None], state: State) -> str:
    lines = []
    while (came := known[state]) is not None:
        state, what = came
        lines.append(what)
    return "\n".join(reversed(lines))


def scene(*routes: tuple[tuple[str, ...], ...]) -> State:
    """Vehicles that stand in the first place of their first stretch, and hold it."""
    vehicles, store = [], {}
    for number, each in enumerate(routes):
        name, place = f"r{number}", each[0][0]
        store[place] = Holding(name, number + 1, f"{name}0")
        claims = Claims(name, f"{name}0")
        claims.observe(place, store[place])
        claims.written[place] = number + 1
        vehicles.append(Vehicle(name, place, each).after(claims))
    return State(tuple(sorted(store.items())), tuple(vehicles))


FOLLOWING = scene((("a", "b"),), (("c", "a"),))  # the second one goes where the first one stands
BACK = scene((("a", "b"), ("b", "a")))  # there and back
LANE = scene((("a", "x", "b"),), (("c", "x", "a"),))  # … by one lane, from two sides
OPPOSED = scene((("a", "x", "b"),), (("b", "x", "a"),))  # each wants where the other stands


@pytest.mark.parametrize(("first", "bounds"), [
    (FOLLOWING, Bounds(1, 0, 1)), (FOLLOWING, Bounds(0, 1, 1)), (OPPOSED, Bounds(1, 1, 0)), (LANE, Bounds(0, 0, 0)),
    (BACK, Bounds(2, 1, 1)),
], ids=["killed", "lost", "opposed", "lane", "back"])  # fmt: skip
def test_no_claim_ends_under_a_vehicle_whatever_is_killed_lost_late_or_stopped(first: State, bounds: Bounds) -> None:
    """In every reachable state each vehicle holds the place where it is, and what stands still was told."""
    states, _ = explored(first, bounds)
    assert states > 1000


def test_two_that_face_each_other_are_told_in_every_order_of_events() -> None:
    """Neither can go on, and both see the circle, also after a kill."""
    _, told = explored(OPPOSED, Bounds(1, 0, 0))
    assert told > 0


class Hasty(Claims):
    """Counts a claim of an earlier process as granted, without writing it anew."""

    def observe(self, place: str, seen: Holding) -> None:
        super().observe(place, seen)
        if seen.robot == self.robot:
            self.written[place] = seen.revision


class Tidy(Claims):
    """Gives back what it does not know of, as an end of a process once did."""

    def stands(self) -> list[str]:
        return [place for place in super().stands() if place in self.written]

    def held(self) -> list[str]:
        held = super().held()
        if not self.route:
            self.clear |= {place for place in held if self.seen[place].process != self.process}
        return held


@pytest.mark.parametrize("broken", [Hasty, Tidy])
def test_the_explorer_finds_a_protocol_that_frees_a_place_too_early(
    broken: type[Claims], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that is not written anew ends by a late give-back, and one that is given back unknown ends at once."""
    monkeypatch.setitem(Vehicle.claims.__globals__, "Claims", broken)
    with pytest.raises(AssertionError, match="which it does not hold"):
        explored(BACK, Bounds(1, 1, 0))
