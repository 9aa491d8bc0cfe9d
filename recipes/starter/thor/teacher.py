"""The teacher of ALFRED's tasks on THOR, as agent, executor and planner: one look at a time.

The first thought says in the world's own words what a person's sentence wants, thing by thing and in order; furniture
is looked at as a thought has listed it. Told by the prompt alone, but for what a person's sentence means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from bt_envs.alfred import kinds
from bt_envs.thor.goals import Goal
from bt_envs.thor.tasks import LAMPS
from bt_runtime.agents.story import EXPAND, StoryStep
from recipes.starter.policy import Policy, Thinks, played
from recipes.starter.reflection import REFLECTS, reflected
from recipes.starter.seen import Seen, role
from recipes.starter.steps import ORDER, written
from recipes.starter.thor.names import EITHER, LAMP, a, is_a, kind_of, names_in
from recipes.starter.thor.wish import TREATED, Told

_NAME = r"\w+ \(\d+\)"
_SIGHT = re.compile(r"(?:You see|you see) (\w+ \([^.]*\))\.")
_ARRIVED = re.compile(rf"You arrive at ({_NAME})\.")
_HELD = re.compile(rf"I am holding ({_NAME}) now")
_OPEN = re.compile(rf"({_NAME}) is open\.|You open ({_NAME})\.")
_SHUT = re.compile(rf"({_NAME}) is closed\.|You close ({_NAME})\.")
_FIND = re.compile(rf"find and pick up an? (\w+)(?: that is not at ({_NAME}))?(?: at ({_NAME}(?:, {_NAME})*))?")
_ANOTHER = re.compile(r"find and pick up another (\w+)")
_LIGHT = re.compile(rf"find and turn on a (\w+)(?: at ({_NAME}(?:, {_NAME})*))?")
_SLICE = re.compile(rf"slice an? (\w+)(?: at ({_NAME}(?:, {_NAME})*))? and pick up a slice")
_TREAT = re.compile(rf"(clean|heat|cool) the (\w+) in ({_NAME})")
_LOAD = re.compile(r"find a (\w+), put the (\w+) in it and pick it up")
_PUT = re.compile(rf"put the (\w+) on ({_NAME})")
_SAME = ("Sink", "Bathtub")  # as their basins
_CUT = re.compile(r"(\w+ \([\d, ]+\)) are sliced\.")
_BEFORE = re.compile(rf"was done: You put ({_NAME}) on ")
_SEARCHES = (
    (_FIND, "find and pick up {} at {}"),
    (_LIGHT, "find and turn on {} at {}"),
    (_SLICE, "slice {} at {} and pick up a slice"),
)
GROUP = 8  # places of a step that looks: with doors to open, as many as an executor can look at


def teacher(seen: Seen, sentences: Sequence[str], told: Mapping[str, Told] | None = None) -> str:
    """The next line of an agent, or the whole answer of a planner. `told`: what a person's sentence wants."""
    if REFLECTS in seen.system:
        return reflected(seen)
    agent = Agent(seen, sentences, told or {})
    return agent.planned() if ORDER in seen.system else agent.answer()


class Agent(Thinks):
    """One agent, as its prompt tells of it."""

    def __init__(self, seen: Seen, sentences: Sequence[str], told: Mapping[str, Told]) -> None:
        self.seen, self.sentences, self.told = seen, sentences, told
        self.expands = "think, act, expand" in seen.system
        self.hands_on = role(seen.system) == "executor"  # then somebody plans it
        self.off, self.at = "", list[str]()  # where not to look, and where alone
        room = _SIGHT.search(seen.opening)
        self.places = names_in(room[1]) if room else []
        self.step = StoryStep("think", "")
        self.here, self.held = "", ""
        self.sight: list[str] = []
        self.met: list[str] = []  # all that was ever in sight, in that order
        self.open: dict[str, bool] = {}
        self.looked: set[str] = set()
        self.put_away: dict[str, bool] = {}  # in that order
        self.failed: set[str] = set()  # where a thing could not be put
        self.slices: list[str] = []  # what was cut last
        self.taken = ""  # where a thing was picked up last
        self.said: list[str] = []
        if held := _HELD.search(seen.opening):
            self.held = held[1]

    def answer(self) -> str:
        return played(self._policy(), self.seen.steps, self._note)[0]

    def _note(self, step: StoryStep) -> None:
        self.step = step
        if step.move != "act":
            return
        text = step.observation
        self.said.append(step.text)
        if found := _ARRIVED.search(text):
            self.here = found[1]
        if found := _SIGHT.search(text):
            self.sight = names_in(found[1])
            gone = step.text.removeprefix("slice ") if text.startswith("You slice") else ""
            self.met = [name for name in self.met if name != gone]
            self.met += [name for name in self.sight if name not in self.met]
        for found in _OPEN.finditer(text):
            self.open[found[1] or found[2]] = True
        for found in _SHUT.finditer(text):
            self.open[found[1] or found[2]] = False
        if self.here in self.places and self.open.get(self.here, True) and _SIGHT.search(text):
            self.looked.add(self.here)
        if cut := _CUT.search(text):
            self.slices = names_in(cut[1])
        if text.startswith("You pick up "):
            self.taken = self.here
        before, held = self.held, _HELD.search(text)
        self.held = held[1] if held else ""
        if before and not self.held and step.text.startswith("put down") and text.startswith("You put down failed"):
            self.failed.add(self.here)

    def _policy(self) -> Policy:
        if part := self._part(self.seen.goal):
            return part
        wanted = self.told.get(self.seen.goal)
        if wanted is None or self.hands_on:
            return self._left()
        return self._whole(wanted)

    def _part(self, goal: str) -> Policy | None:
        """What carries out a part, if this is one."""
        if found := _FIND.fullmatch(goal):
            self.off, self.at = found[2] or "", names_in(found[3] or "")
            return self._other(found[1]) if _BEFORE.search(self.seen.before) and self.off else self._find(found[1])
        if found := _LIGHT.fullmatch(goal):
            self.at = names_in(found[2] or "")
            return self._light(found[1])
        if found := _SLICE.fullmatch(goal):
            self.at = names_in(found[2] or "")
            return self._slice(found[1])
        if found := _TREAT.fullmatch(goal):
            return self._treat(*found.groups())
        if found := _LOAD.fullmatch(goal):
            return self._load(*found.groups())
        if found := _PUT.fullmatch(goal):
            return self._put(*found.groups())
        if found := _ANOTHER.fullmatch(goal):
            return self._another(found[1])
        return None

    def _left(self) -> Policy:
        yield from ()
        return False

    # steps, for others to carry out -------------------------------------------------------------------------

    def planned(self) -> str:
        """Of a whole task what its words mean, and its parts; of a search that failed, some places at a time."""
        goal = self.seen.goal
        if wanted := self.told.get(goal):
            return written(self.reading(wanted), self._steps(wanted.goal))
        for shape, doing in _SEARCHES:
            if found := shape.fullmatch(goal):
                return self._searches(found[1], names_in(found[shape.groups] or ""), doing)
        treat, put = _TREAT.fullmatch(goal), _PUT.fullmatch(goal)
        thing = treat[2] if treat else put[1] if put else ""
        steps = [f"find and pick up {a(thing)}", goal] if thing else [f"look after {goal}"]
        return written(f"{', '.join(steps)}.", steps)

    def _searches(self, kind: str, at: list[str], doing: str) -> str:
        places = at or self._may(kind)
        groups = [", ".join(places[i : i + GROUP]) for i in range(0, len(places), GROUP)]
        steps = [doing.format(a(kind), group) for group in groups] or [f"look for {a(kind)}"]
        return written(f"{self._sought(kind)} may be at {', '.join(places)}.", steps, "OR")

    def _steps(self, goal: Goal) -> list[str]:
        """The parts, for those who know nothing of the others: which one is put away is told by its place."""
        another = f"find and pick up another {goal.object}"
        elsewhere = f"find and pick up {a(goal.object)} that is not at {self._first(goal.parent)}"
        return [elsewhere if part == another else part for part in self._parts(goal)]

    # the whole task -----------------------------------------------------------------------------------------

    def _whole(self, told: Told) -> Policy:
        """First what is meant by each of the person's words, then what is to be done."""
        goal = told.goal
        yield from self._think(self.reading(told))
        if self.expands and goal.type != "pick_two_obj_and_place":
            return (yield from self._expanded(goal))
        return (yield from self._flat(goal))

    def reading(self, told: Told) -> str:
        """`apple slice means sliced Apple, rinsed means clean in SinkBasin (1), bin means GarbageCan (1).`"""
        goal, words = told
        thing = f"sliced {goal.object}" if goal.sliced else goal.object
        two = goal.type == "pick_two_obj_and_place"
        meant = [(words.get("object") or kinds.to_words(goal.object), f"two {thing}" if two else thing)]
        if goal.type in TREATED:
            verb, tool = TREATED[goal.type]
            meant.append((words.get("how") or verb, f"{verb} in {self._first(tool)}"))
        if goal.movable:
            meant.append((words.get("movable") or kinds.to_words(goal.movable), f"put in {goal.movable}"))
        if goal.toggle:
            meant.append((words.get("toggle") or kinds.to_words(goal.toggle), f"turn on {goal.toggle}"))
        if goal.parent:
            meant.append((words.get("parent") or kinds.to_words(goal.parent), self._first(goal.parent)))
        return f"{', '.join(f'{said} means {what}' for said, what in meant)}."

    def _parts(self, goal: Goal) -> list[str]:
        thing, target = goal.object, self._first(goal.parent)
        if goal.sliced:
            parts = ["find and pick up a knife", f"slice {a(thing)} and pick up a slice"]
        else:
            parts = [f"find and pick up {a(thing)}"]
        if goal.type == "look_at_obj_in_light":
            return [*parts, f"find and turn on a {goal.toggle}"]
        if goal.type in TREATED:
            verb, tool = TREATED[goal.type]
            parts.append(f"{verb} the {thing} in {self._first(tool)}")
        if goal.type == "pick_and_place_with_movable_recep":
            parts.append(f"find a {goal.movable}, put the {thing} in it and pick it up")
            thing = goal.movable
        put = f"put the {thing} on {target}"
        if goal.type == "pick_two_obj_and_place":
            again = f"find and pick up another {thing}"
            return [*parts, put, again, put]
        return [*parts, put]

    def _first(self, kind: str) -> str:
        return next((p for p in self.places if kind_of(p) == kind), f"{kind} (1)")

    def _expanded(self, goal: Goal) -> Policy:
        plan = "\n".join(["sequence:", *(f"- {part}" for part in self._parts(goal))])
        while not (self.step.move == "expand" and self.step.observation):
            yield f"{EXPAND}\n{plan}"
        return True

    def _flat(self, goal: Goal) -> Policy:
        parts = self._parts(goal)
        yield from self._think(f"{', '.join(parts)}.")
        for number, part in enumerate(parts, 1):
            if not self.expands:
                yield from self._think(f"Part {number}: {part}.")
                self._begin_anew(part)
            if not (yield from self._part(part) or self._left()):
                return False
        return True

    def _begin_anew(self, part: str) -> None:
        """As an agent of this part alone: what was seen for another is too far above."""
        if not _ANOTHER.fullmatch(part):
            self.here, self.sight, self.met, self.looked = "", [], [], set()

    # its parts ----------------------------------------------------------------------------------------------

    def _find(self, kind: str) -> Policy:
        return (yield from self._until(kind, lambda: is_a(self.held, kind), self._takes))

    def _other(self, kind: str) -> Policy:
        """Another than the one that was put away just before."""
        told = _BEFORE.search(self.seen.before)
        self.put_away = {told[1]: True} if told else {}
        return (yield from self._until(kind, lambda: is_a(self.held, kind), self._takes, self._may(kind)))

    def _another(self, kind: str) -> Policy:
        """Which one is put away is said first; then on from where it was, since there was none before."""
        places = self._may(kind)
        left = places[places.index(self.taken) :] if self.taken in places else places
        left = [place for place in left if place != self.here] or [self.here]
        self.met, self.looked = [], self.looked - set(left) | {self.here}
        return (yield from self._until(kind, lambda: is_a(self.held, kind), self._takes, left))

    def _takes(self, name: str) -> str:
        return f"Act: drop {self.held}" if self.held else f"Act: pick up {name}"

    def _light(self, lamp: str) -> Policy:
        def lit() -> bool:
            return any(is_a(said.removeprefix("turn on "), lamp) for said in self.said)

        return (yield from self._until(lamp, lit, lambda name: f"Act: turn on {name}"))

    def _slice(self, kind: str) -> Policy:
        def cut() -> bool:
            return any(said.startswith(f"slice {kind} ") for said in self.said)

        if not (yield from self._until(kind, cut, lambda name: f"Act: slice {name}")):
            return False
        while self.held and not is_a(self.held, kind):
            yield f"Act: drop {self.held}"
        return (yield from self._find(kind))

    def _load(self, movable: str, thing: str) -> Policy:
        """What is in the hand goes into the dish, and the dish is taken."""

        def loaded() -> bool:
            return is_a(self.held, movable)

        def load(name: str) -> str:
            if not self.held:
                return f"Act: pick up {name}"
            return f"Act: put down {self.held}" if self.here == name else f"Act: go to {name}"

        return (yield from self._until(movable, loaded, load))

    def _until(self, kind: str, had: Callable[[], bool], act: Callable[[str], str], anew: Sequence[str] = ()) -> Policy:
        """Looks at one piece of furniture after the other; does what is to be done with the first that is seen.
        `anew`: where to look whatever was seen before, for another than the one that is put away."""
        sought = self._sought(kind)
        if anew:
            sought = f"another {sought} than {', '.join(self.put_away)}"
            yield from self._looks(kind, had, anew, f"{sought} may be at {', '.join(anew)}.")
        while not had():
            if seen := self._seen(kind):
                yield act(seen)
                continue
            if known := next((n for n in self.met if self._wanted(n, kind)), ""):
                if self.step.text != f"go to {known}":  # it was seen before
                    yield f"Act: go to {known}"
                    continue
                self.met.remove(known)
            left = [p for p in self._may(kind) if p not in self.looked]
            if not left:
                return False
            yield from self._looks(kind, had, left, f"{sought} may be at {', '.join(left)}.")
        return True

    def _sought(self, kind: str) -> str:
        return " or ".join(sorted(EITHER.get(kind, (kind,)), reverse=True))

    def _looks(self, kind: str, had: Callable[[], bool], places: Sequence[str], thought: str) -> Policy:
        """From one to the next, until it is seen."""
        yield from self._think(thought)
        for place in places:
            while not (self._seen(kind) or had() or place in self.looked):
                yield f"Act: open {place}" if self.here == place else f"Act: go to {place}"
            if self._seen(kind) or had():
                break
        return True

    def _wanted(self, name: str, kind: str) -> bool:
        whole = any(kind_of(name) == kind_of(cut) for cut in self.slices) and name not in self.slices
        return is_a(name, kind) and name not in self.put_away and name != self.held and not whole

    def _seen(self, kind: str) -> str:
        return next((name for name in self.sight if self._wanted(name, kind)), "")

    def _may(self, kind: str) -> list[str]:
        return self.at or [place for place in self._kept_at(kind) if place != self.off]

    def _kept_at(self, kind: str) -> list[str]:
        lamp = kind in (*LAMPS, LAMP)
        if lamp and (listed := [p for p in self.places if is_a(p, kind)]):
            return listed
        lying = [p for p in self.places if kind_of(p) not in (*_SAME, *LAMPS)]
        lies = "Knife" if kind == "knife" else kind
        return [p for p in lying if lamp or kinds.fits(lies, kind_of(p))]

    def _treat(self, verb: str, thing: str, tool: str) -> Policy:
        if not (yield from self._find(thing)):
            return False
        name, begun = self.held, len(self.said)

        def did(said: str) -> bool:
            return said in self.said[begun:]

        while not did(f"put down {name}"):
            if self.here != tool:
                yield f"Act: go to {tool}"
            elif self.open.get(tool) is False:
                yield f"Act: open {tool}"
            else:
                yield f"Act: put down {name}"
        for said in self._process(verb, tool):
            while not did(said):
                yield f"Act: {said}"
        while self.held != name:
            yield f"Act: open {tool}" if self.open.get(tool) is False else f"Act: pick up {name}"
        return True

    def _process(self, verb: str, tool: str) -> list[str]:
        if verb == "clean":
            faucet = next((name for name in self.sight if kind_of(name) == "Faucet"), "Faucet (1)")
            return [f"turn on {faucet}", f"turn off {faucet}"]
        powered = [f"turn on {tool}", f"turn off {tool}"] if verb == "heat" else []
        return [f"close {tool}", *powered]

    def _put(self, thing: str, target: str) -> Policy:
        name = self.held
        while self.held or not name or not self._has_put(name):
            if not self.held:
                if name and name in self.sight:  # it was dropped
                    yield f"Act: pick up {name}"
                    continue
                if not (yield from self._find(thing)):
                    return False
                name = self.held
                continue
            others = [p for p in self.places if kind_of(p) == kind_of(target) and p not in self.failed]
            place = target if target not in self.failed else next(iter(others), target)
            if self.here != place:
                yield f"Act: go to {place}"
            elif self.open.get(place) is False:
                yield f"Act: open {place}"
            else:
                yield f"Act: put down {self.held}"
        self.put_away[name] = True
        return True

    def _has_put(self, name: str) -> bool:
        return self.step.observation.startswith(f"You put {name} on ")
