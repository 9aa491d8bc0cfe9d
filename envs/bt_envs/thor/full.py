"""The fully observed setting of LoTa-Bench: `find an apple`, `pick up the apple`. A kind means its nearest object."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator

from bt_envs.alfred import kinds
from bt_envs.thor.choice import Object, choose, same_kind
from bt_envs.thor.hands import Hands
from bt_runtime.types import Observation

_SENTENCE = re.compile(
    r"(?P<verb>find|pick up|put down|drop|open|close|turn on|turn off|slice)(?: (?:an?|the))? (?P<object>\S.*)"
)
EXAMPLES = "find a fridge, pick up the apple, put down the apple, open the fridge, turn on the faucet"
_WANTING = {
    "open": "openable",
    "close": "openable",
    "turn on": "toggleable",
    "turn off": "toggleable",
    "slice": "sliceable",
}
_VERBS = ("pick up", *_WANTING)
EMPTY = "Robot is not holding any object"
PUT_FAILED = "put down failed"


def unknown(sentence: str, examples: str) -> Observation:
    return Observation(f"There is no action `{sentence}`. Actions look like: {examples}.", False, "not an action")


class FullView:
    """Remembers the receptacle found last and whether an object was sliced: both decide which object a name refers
    to."""

    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.scene = "room"
        self.goal_of_put = ""  # the kind found last; forgotten after anything but opening and putting down
        self.sliced = False

    def begin(self, scene: str, named: Container[str] = ()) -> Observation:
        self.scene, self.goal_of_put, self.sliced = scene, "", False
        return self.look()

    def look(self) -> Observation:
        """Describes every object and what is held."""
        words = sorted({kinds.to_words(kinds.id_kind(i)) for i in self.hands.objects})
        held = kinds.to_words(_name(self.hands.held)) if self.hands.held is not None else ""
        hand = f" You are holding the {held}." if held else ""
        return Observation(f"You are in a {self.scene}. There are: {', '.join(words)}.{hand}")

    def act(self, sentence: str) -> Observation:
        found = _SENTENCE.fullmatch(" ".join(sentence.split()))
        if found is None:
            return unknown(sentence, EXAMPLES)
        verb, words = found["verb"], found["object"]
        if verb not in ("put down", "open"):
            self.goal_of_put = ""
        why = self._do(verb, kinds.from_words(words))
        if why:
            return Observation(f"This action failed: {why}.", False, why)
        return Observation(f"You {verb} the {words}.")

    def _do(self, verb: str, kind: str) -> str:
        """Carries out one act; returns why it failed, or ""."""
        if verb == "find":
            return self._find(kind)
        if verb == "pick up":
            return self._pick_up(kind)
        if verb in ("put down", "drop"):
            return self._put_down(drop=verb == "drop")
        entry = self._meant(verb, kind)
        if entry is None:
            return f"Cannot find {kind} to {verb}"
        deeds: dict[str, Callable[[str], bool]] = {
            "open": self.hands.open,
            "close": self.hands.close,
            "slice": self.hands.slice,
            "turn on": self.hands.turn_on,
            "turn off": self.hands.turn_off,
        }
        done = deeds[verb](entry["objectId"])
        self.sliced = self.sliced or (verb == "slice" and done)
        return "" if done else f"{verb.capitalize()} action failed, {self.hands.error}"

    def _find(self, kind: str) -> str:
        entry = choose(self.hands.objects, kind, visible_first=True, slices_first=self.sliced)
        if entry is None:
            return f"Cannot find {kind}"
        self.goal_of_put = kind
        return "" if self.hands.go_to(entry["objectId"]) else f"Cannot move to {kind}"

    def _pick_up(self, kind: str) -> str:
        hands = self.hands
        entry = self._meant("pick up", kind)
        if entry is None:
            return f"Cannot find {kind} to pick up"
        if hands.held is None and hands.pick_up(entry["objectId"]):
            return ""
        if hands.held is not None:
            return f"Robot is currently holding {_name(hands.held)}"
        parents = entry["parentReceptacles"]
        if not entry["visible"] and parents:
            return f"{kind} is not visible because it is in {_name(parents[0])}"
        return f"{kind} is too far away to pick up"

    def _put_down(self, drop: bool) -> str:
        hands = self.hands
        if hands.held is None:
            return EMPTY
        if drop:
            return "" if hands.drop() else "Drop action failed"
        if self.goal_of_put and self._put(self.goal_of_put):
            return ""
        hands.drop()
        return PUT_FAILED

    def _put(self, kind: str) -> bool:
        """Puts the held object on the nearest receptacle of that kind or in its basin, else on the next nearest."""
        tried: list[str] = []
        for _ in range(2):
            without = [*tried, str(self.hands.held)]
            entry = choose(self.hands.objects, kind, wanting="receptacle", without=without)
            if entry is None:
                return False
            places = dict.fromkeys((entry["objectId"], self.hands.basin_of(entry["objectId"])))
            if any(self.hands.put(place) for place in places):
                return True
            tried += places
        return False

    def named(self, phrase: str) -> list[Object]:
        """Returns every object that this phrase can mean."""
        kind = kinds.from_words(kinds.without_article(phrase))
        return [e for e in self.hands.objects.values() if same_kind(e, kind) and not e["isSliced"]]

    def skills(self) -> list[str]:
        return list(dict.fromkeys(self._sentences()))

    def _sentences(self) -> Iterator[str]:
        entries = sorted((kinds.to_words(kinds.id_kind(i)), i) for i in self.hands.objects)
        things = [(words, self.hands.objects[i]) for words, i in entries if not self.hands.objects[i]["isSliced"]]
        for words, entry in things:
            if not entry["isPickedUp"]:
                yield f"find {kinds.article(words)} {words}"
        if self.hands.held is not None:
            words = kinds.to_words(_name(self.hands.held))
            yield f"put down the {words}"
            yield f"drop the {words}"
        for words in dict.fromkeys(words for words, entry in things if entry["visible"]):
            yield from (f"{verb} the {words}" for verb in _VERBS if self._can(verb, kinds.from_words(words)))

    def _can(self, verb: str, kind: str) -> bool:
        """True when the object of this action is in sight and in a state that allows it."""
        entry = self._meant(verb, kind)
        return entry is not None and bool(entry["visible"]) and verb in possible(entry, self.hands)

    def _meant(self, verb: str, kind: str) -> Object | None:
        if verb == "pick up":
            sliced = self.sliced
            return choose(self.hands.objects, kind, wanting="pickupable", visible_first=True, slices_first=sliced)
        return choose(self.hands.objects, kind, wanting=_WANTING[verb])


def possible(entry: Object, hands: Hands) -> Iterator[str]:
    """Yields the verbs for an object in sight, except going to it and putting things on it."""
    if entry["pickupable"] and hands.held is None:
        yield "pick up"
    if entry["openable"]:
        yield "close" if entry["isOpen"] else "open"
    if entry["toggleable"]:
        yield "turn off" if entry["isToggled"] else "turn on"
    armed = hands.held is not None and hands.objects[hands.held]["objectType"] in kinds.KNIVES
    if entry["sliceable"] and not entry["isSliced"] and armed:
        yield "slice"


def _name(object_id: str) -> str:
    return kinds.id_kind(object_id)
