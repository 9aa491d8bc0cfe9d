"""Homes, errands and ways to ask for them, made by a seed for lessons: none of them is one of the evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from re import compile as pattern
from typing import Any

from bt_runtime.envs.house.catalogue import Catalogue
from bt_runtime.envs.house.layout import House, along_walls
from bt_runtime.envs.house.start import house_of
from bt_runtime.envs.house.suite import load_content
from bt_runtime.envs.house.tasks import Errand, make_task
from bt_runtime.envs.phrases import article, capital, listing, number, plural, spin
from bt_runtime.types import Json, Task

# furniture that a kind of room has always, and may have; a number is how many at most
_ALWAYS = {
    "kitchen": {"fridge": 1, "kitchen cabinet": 6, "kitchen counter": 3, "sink": 1, "faucet": 1, "stove": 1},
    "living room": {"sofa": 1, "coffee table": 1},
    "bedroom": {"bed": 1},
    "bathroom": {"sink": 2, "faucet": 2, "toilet": 1},
    "dining room": {"kitchen table": 1, "chair": 6},
    "pantry": {"pantry shelf": 3, "cupboard": 2},
    "hall": {"hall table": 1, "shoe rack": 1},
    "study": {"desk": 1, "chair": 1, "bookshelf": 2},
    "home office": {"desk": 2, "computer": 1, "chair": 2},
}
_AT_TIMES = {
    "kitchen": {
        "kitchen table": 1, "chair": 4, "bench": 2, "dishwasher": 1, "microwave oven": 1, "toaster": 1, "oven": 1,
        "coffee maker": 1, "kitchen counter drawer": 3, "garbage can": 1, "freezer": 1, "coffee table": 1, "sofa": 1,
        "light switch": 1, "cupboard": 1,
    },
    "living room": {
        "tv": 1, "tv stand": 1, "cabinet": 2, "bookshelf": 2, "armchair": 2, "side table": 2, "desk": 1, "computer": 1,
        "chair": 2, "piano": 1, "radio": 1, "closet": 1, "light switch": 1, "kitchen table": 1,
    },
    "bedroom": {
        "nightstand": 2, "closet": 2, "dresser": 1, "desk": 1, "chair": 1, "bookshelf": 1, "computer": 1, "cabinet": 1,
        "table lamp": 1, "armchair": 1, "light switch": 1, "shoe rack": 1,
    },
    "bathroom": {
        "bathroom cabinet": 1, "bathroom counter": 1, "bathtub": 1, "towel rack": 2, "washing machine": 1,
        "laundry basket": 1,
    },
    "dining room": {"cabinet": 1, "bench": 2, "side table": 1, "piano": 1},
    "pantry": {"freezer": 1, "washing machine": 1, "kitchen cabinet": 2},
    "hall": {"closet": 1, "bench": 1, "light switch": 1, "cabinet": 1},
    "study": {"cabinet": 1, "armchair": 1, "printer": 1, "computer": 1},
    "home office": {"printer": 1, "bookshelf": 1, "cabinet": 1},
}  # fmt: skip
_ONE_ROOM = ("kitchen", "living room", "bedroom")  # what a studio has in its living room
_SIZES = (2, 3, 3, 4, 4, 4, 5, 5, 6, 7)


def make_home(rng: Random, catalogue: Catalogue) -> dict[str, Json]:
    """A home as it travels with its task. One that an evaluation uses is thrown away."""
    while True:
        rooms = _rooms(rng)
        fixtures: list[Json] = []
        for index, (kinds, _) in enumerate(rooms):
            pieces = [kind for kind, count in _furniture(kinds, rng) for _ in range(count)]
            boxes = along_walls([catalogue.furniture[p].width for p in pieces], (100.0 * (index + 1), 0.0))
            fixtures += [[p, index, list(b.centre), list(b.size)] for p, b in zip(pieces, boxes, strict=True)]
        home: dict[str, Json] = {
            "name": f"home {rng.getrandbits(32):08x}",
            "rooms": [name for _, name in rooms],
            "fixtures": fixtures,
        }
        if outline(home) not in _kept_apart():
            return home


def outline(home: Mapping[str, Any]) -> frozenset[tuple[str, str, int]]:
    """What stands in which room, and how often: what tells one home from another."""
    return frozenset(
        (home["rooms"][room], kind, n)
        for (room, kind), n in Counter((room, kind) for kind, room, *_ in home["fixtures"]).items()
    )


@lru_cache(maxsize=1)
def _kept_apart() -> frozenset[frozenset[tuple[str, str, int]]]:
    content = load_content()
    return frozenset(_outline_of(home) for name, home in content.homes.items() if content.split[name] != "train")


def _outline_of(house: House) -> frozenset[tuple[str, str, int]]:
    rooms = [room.name for room in house.rooms]
    return outline({"rooms": rooms, "fixtures": [[f.furniture.name, f.room] for f in house.fixtures]})


def _rooms(rng: Random) -> list[tuple[tuple[str, ...], str]]:
    """(whose furniture it has, its name), in any order."""
    if rng.random() < 0.15:
        found: list[tuple[tuple[str, ...], str]] = [(_ONE_ROOM, "living room 1"), (("bathroom",), "bathroom 1")]
    else:
        kinds = ["kitchen", *rng.choices([k for k in _ALWAYS if k != "kitchen"], k=rng.choice(_SIZES) - 1)]
        if rng.random() < 0.8 and "living room" not in kinds:
            kinds.append("living room")
        numbers: Counter[str] = Counter()
        found = []
        for kind in kinds:
            numbers[kind] += 1
            found.append(((kind,), f"{kind} {numbers[kind]}"))
    rng.shuffle(found)
    return found


def _furniture(kinds: Sequence[str], rng: Random) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for kind in kinds:
        for name, most in _ALWAYS[kind].items():
            counts[name] += rng.randint(1, most if len(kinds) == 1 else min(most, 3))
        for name, most in _AT_TIMES[kind].items():
            if rng.random() < (0.55 if len(kinds) == 1 else 0.3):
                counts[name] += rng.randint(1, most)
    found = list(counts.items())
    rng.shuffle(found)
    yield from found


# Errands -----------------------------------------------------------------------------------------

_AMOUNTS = (1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6)


def make_errand(rng: Random, home: Mapping[str, Any], catalogue: Catalogue) -> Errand:
    """Something to a place that this home has; as a rule things that are used together."""
    there = {kind for kind, *_ in home["fixtures"]}
    places = [f for f in catalogue.furniture.values() if f.name in there and f.holds and f.seen]
    common = [f for f in places if f.name in ("kitchen table", "coffee table", "fridge", "dishwasher")]
    place = rng.choice(common if common and rng.random() < 0.6 else places)
    way = "in" if place.holds_in and (not place.holds_on or rng.random() < 0.5) else "on"
    usual = [e.things for e in load_content().errands.kinds.values()]
    kept = [name for name, thing in catalogue.things.items() if thing.kept]
    things = list(rng.choice(usual)) if rng.random() < 0.55 else rng.sample(kept, 7)
    then = "turned on" if place.guarded and way == "in" and rng.random() < 0.6 else ""
    return Errand("lesson", way, place.name, tuple(things), then, (phrase(rng, way, bool(then)),))


def make_lesson_task(seed: int, number: int) -> Task:
    """A task of its own home; at times one of its things is nowhere."""
    rng = Random(f"house lesson {seed} {number}")
    catalogue = load_content().catalogue
    home = make_home(rng, catalogue)
    errand = make_errand(rng, home, catalogue)
    amount = max(1, rng.choice(_AMOUNTS) - bool(errand.then))
    wanted = _wanted(errand.things, amount, rng)
    house = house_of(home, catalogue)
    said, order = asked(errand, wanted, rng)
    task = make_task(errand, house, catalogue, rng, f"lesson-house-{seed}-{number:06}", wanted, said)
    things = list(task.data["things"])
    if rng.random() < 0.06:
        gone = rng.choice(sorted(wanted))
        things = [entry for entry in things if entry[0] != gone]
    errands: Json = {"things": order, "way": errand.way, "place": errand.place, "runs": bool(errand.then)}
    return task._replace(data={**task.data, "house": home, "things": things, "asked": errands})


# what people call things besides their names; `of` stands for any vessel
_CALLED = {
    "cutlery fork": ("fork",), "cutlery knife": ("knife",), "water glass": ("glass of water", "glass for water"),
    "wine glass": ("glass for wine", "wineglass"), "wine": ("bottle of wine", "wine bottle"),
    "juice": ("bottle of juice", "carton of juice", "orange juice"), "coffee pot": ("pot of coffee", "coffee"),
    "pound cake": ("piece of pound cake", "poundcake"), "pudding": ("cup of pudding",), "cell phone": ("phone",),
    "remote control": ("remote",), "bar soap": ("soap", "bar of soap"), "milk": ("carton of milk",),
    "cupcake": ("cup cake",), "bread": ("loaf of bread",), "cereal": ("box of cereal",), "frying pan": ("pan",),
    "cooking pot": ("pot",), "washing sponge": ("sponge",), "candy bar": ("bar of candy",),
    "kitchen table": ("table in the kitchen", "dinner table", "table"), "fridge": ("refrigerator",),
    "coffee table": ("low table", "table by the sofa"), "dishwasher": ("dish washer", "washer for the dishes"),
    "sofa": ("couch",), "kitchen counter": ("counter in the kitchen", "worktop"), "microwave oven": ("microwave",),
    "bookshelf": ("shelf with the books",), "tv": ("television",), "nightstand": ("table by the bed",),
}  # fmt: skip


def asked(errand: Errand, wanted: Mapping[str, int], rng: Random) -> tuple[str, list[Json]]:
    """The instruction, and what it wants in the order in which it says so."""
    loose = rng.random() < 0.3  # words that are no names of this world
    style = rng.choice(("article", "article", "number", "the", "mixed"))
    order = rng.sample(sorted(wanted.items()), len(wanted))
    parts = []
    for thing, count in order:
        name = rng.choice(_CALLED[thing]) if loose and thing in _CALLED and rng.random() < 0.6 else thing
        own = rng.choice(("article", "number", "the")) if style == "mixed" else style
        if count > 1:
            head, of, rest = name.partition(" of ")
            parts.append(f"{number(count, rng)} {plural(head)}{of}{rest}")
        else:
            parts.append(
                f"{number(1, rng)} {name}" if own == "number" else article(name) if own == "article" else f"the {name}"
            )
    place = rng.choice(_CALLED[errand.place]) if loose and errand.place in _CALLED else errand.place
    them = "it" if sum(wanted.values()) == 1 else "them"
    said = spin(rng.choice(errand.say), rng).replace("{things}", listing(parts, rng))
    said = capital(said.replace("{them}", them).replace("{place}", place))
    if rng.random() < 0.04:
        said = said.lower()
    if rng.random() < 0.1:
        said = said.rstrip(".!")
    return said, [[thing, count] for thing, count in order]


def _wanted(things: Sequence[str], amount: int, rng: Random) -> dict[str, int]:
    counts: Counter[str] = Counter()
    while sum(counts.values()) < amount:
        open_ = [t for t in things if counts[t] < 2]
        fresh = [t for t in open_ if not counts[t]]
        if not open_:
            break
        counts[rng.choice(fresh if fresh and rng.random() < 0.75 else open_)] += 1
    return dict(counts)


# Phrasings ---------------------------------------------------------------------------------------

_LEADS = (
    "", "", "", "", "", "please ", "now ", "next, ", "kindly ", "could you ", "can you ", "would you ", "you should ",
    "I want you to ", "I need you to ", "your job is to ", "it is time to ", "be so kind and ", "go and ", "hello, ",
    "hey, please ", "when you are ready, ", "first of all ", "help me to ", "do me a favour: ", "make sure to ",
)  # fmt: skip
_SCENES = (
    "", "", "", "", "", "", "Guests come at six. ", "Friends will drop by. ", "Dinner is at eight. ", "I am thirsty. ",
    "It is late already. ", "We want to sit down soon. ", "Somebody left a mess here. ", "It is getting warm. ",
    "I feel like eating something. ", "While I rest on the sofa, ", "The children are hungry. ", "Before you go: ",
    "After we sit down on the bed, ", "It is my birthday. ", "This home is untidy. ", "Breakfast is soon. ",
)  # fmt: skip
_ONTO = (
    "put {things} onto the {place}", "put {things} down on the {place}", "place {things} onto the {place}",
    "set {things} down on the {place}", "lay out {things} on the {place}", "leave {things} on the {place}",
    "bring me {things} to the {place}", "bring {things} and put {them} on the {place}", "carry {things} to the {place}",
    "move {things} onto the {place}", "fetch {things} and place {them} on the {place}", "serve {things} on the {place}",
    "get {things} onto the {place}", "take {things} to the {place}", "set up the {place} with {things}",
    "lay {things} ready on the {place}", "prepare the {place} with {things}", "get the {place} ready: {things}",
    "find {things} and lay {them} on the {place}", "arrange {things} on the {place}", "see that {things} get on the {place}",
    "have {things} stand on the {place}", "drop {things} on the {place}", "make a snack of {things} on the {place}",
    "serve a meal at the {place}: {things}", "lay the {place} for us with {things}",
)  # fmt: skip
_INTO = (
    "put {things} away in the {place}", "put {things} right into the {place}", "place {things} well inside the {place}",
    "store {things} away in the {place}", "keep {things} safe in the {place}", "bring {things} and put {them} in the {place}",
    "carry {things} into the {place}", "stow {things} in the {place}", "fetch {things} and place {them} inside the {place}",
    "get {things} and move {them} into the {place}", "fill up the {place} with {things}", "load {things} into the {place}",
    "tidy {things} away into the {place}", "find {things} and store {them} in the {place}", "chill {things} inside the {place}",
    "clear away {things}, into the {place}", "take {things} and lay {them} in the {place}", "pack {things} in the {place}",
    "see that {things} end up in the {place}", "make room in the {place} and put {things} in it",
)  # fmt: skip
_FACTS = {
    "on": (
        "I need {things} on the {place}.", "There must be {things} on the {place}.", "The {place} lacks {things}.",
        "On the {place} I want to see {things}.", "The {place} is empty: it wants {things}.",
        "What is missing on the {place}: {things}.", "Onto the {place} go {things}.", "The {place} needs {things}.",
        "Wanted on the {place}: {things}.", "The {place} should hold {things}.", "For the {place} I need {things}.",
    ),
    "in": (
        "I need {things} in the {place}.", "There must be {things} in the {place}.", "Into the {place} go {things}.",
        "In the {place} I want to find {things}.", "Wanted inside the {place}: {things}.",
        "What is missing in the {place}: {things}.", "Inside the {place} there must be {things}.",
    ),
}  # fmt: skip
_TAILS = (".", ".", ".", ".", ", please.", ", thank you.", " now.", " for me.", ", if you can.", "!")
_STARTS = (
    " Then start the {place}.", " Turn the {place} on afterwards.", " After that, let the {place} run.",
    " Switch it on then.", " Then turn it on, please.", " Close it and turn it on.", " Run the {place} when that is done.",
    " Shut it and let it run.", " Then switch the {place} on.", " Start it at the end.", " Turn on the {place} then.",
)  # fmt: skip
_WASHES = (
    "wash up {things} with the {place}.", "wash {things} for me in the {place}.", "have {things} washed in the {place}.",
    "do the washing: {things} in the {place}, and run it.", "load the {place} with {things}, then run it.",
    "fill the {place} with {things} and start it.",
)  # fmt: skip


def phrase(rng: Random, way: str, runs: bool) -> str:
    """A sentence with {things}, {place} and {them}; never one of the evaluation's."""
    while True:
        said = _phrase(rng, way, runs)
        if said not in _evaluated():
            return said


def _phrase(rng: Random, way: str, runs: bool) -> str:
    scene = rng.choice(_SCENES)
    if runs and rng.random() < 0.4:
        return _joined(scene, rng.choice(_LEADS) + rng.choice(_WASHES))
    if rng.random() < 0.25:
        said = _joined(scene, rng.choice(_FACTS[way]))
    else:
        said = _joined(scene, rng.choice(_LEADS) + rng.choice(_ONTO if way == "on" else _INTO) + rng.choice(_TAILS))
    return said + rng.choice(_STARTS) if runs else said


def _joined(scene: str, said: str) -> str:
    lowered = said if scene.endswith((", ", ": ")) else said[:1].upper() + said[1:]
    return f"{scene}{lowered}"


@lru_cache(maxsize=1)
def _evaluated() -> frozenset[str]:
    """Every way in which the suite's own tasks may be put."""
    return frozenset(
        said for errand in load_content().errands.kinds.values() for text in errand.say for said in ways(text)
    )


_CHOICE = pattern(r"\[([^\[\]]*)\]")


def ways(text: str) -> Iterator[str]:
    """All that `spin` could make of a text."""
    pieces = _CHOICE.split(text)
    options = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    for chosen in product(*options):
        said = "".join(chosen)
        yield said[:1].upper() + said[1:]
