"""Ways to ask for things to be brought, made by a seed for lessons: none of them is one of the evaluation's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from random import Random
from re import compile as pattern

from bt_runtime.envs.house.suite import load_content
from bt_runtime.envs.house.tasks import Errand
from bt_runtime.envs.phrases import article, capital, listing, number, plural, spin
from bt_runtime.types import Json

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


_LEADS = (
    "", "", "", "", "", "please ", "now ", "next, ", "kindly ", "could you ", "can you ", "would you ", "you should ",
    "I want you to ", "I need you to ", "your job is to ", "it is time to ", "be so kind and ", "go and ", "hello, ",
    "hey, please ", "when you are ready, ", "first of all ", "help me to ", "do me a favour: ", "make sure to ",
)  # fmt: skip
_SCENES = (
    "", "", "", "", "", "", "Guests come at six. ", "Friends will drop by. ", "Dinner is at eight. ",
    "I am thirsty. ",
    "It is late already. ", "We want to sit down soon. ", "Somebody left a mess here. ", "It is getting warm. ",
    "I feel like eating something. ", "While I rest on the sofa, ", "The children are hungry. ", "Before you go: ",
    "After we sit down on the bed, ", "It is my birthday. ", "This home is untidy. ", "Breakfast is soon. ",
)  # fmt: skip
_ONTO = (
    "put {things} onto the {place}", "put {things} down on the {place}", "place {things} onto the {place}",
    "set {things} down on the {place}", "lay out {things} on the {place}", "leave {things} on the {place}",
    "bring me {things} to the {place}", "bring {things} and put {them} on the {place}",
    "carry {things} to the {place}",
    "move {things} onto the {place}", "fetch {things} and place {them} on the {place}",
    "serve {things} on the {place}",
    "get {things} onto the {place}", "take {things} to the {place}", "set up the {place} with {things}",
    "lay {things} ready on the {place}", "prepare the {place} with {things}", "get the {place} ready: {things}",
    "find {things} and lay {them} on the {place}", "arrange {things} on the {place}",
    "see that {things} get on the {place}",
    "have {things} stand on the {place}", "drop {things} on the {place}", "make a snack of {things} on the {place}",
    "serve a meal at the {place}: {things}", "lay the {place} for us with {things}",
)  # fmt: skip
_INTO = (
    "put {things} away in the {place}", "put {things} right into the {place}",
    "place {things} well inside the {place}",
    "store {things} away in the {place}", "keep {things} safe in the {place}",
    "bring {things} and put {them} in the {place}",
    "carry {things} into the {place}", "stow {things} in the {place}",
    "fetch {things} and place {them} inside the {place}",
    "get {things} and move {them} into the {place}", "fill up the {place} with {things}",
    "load {things} into the {place}",
    "tidy {things} away into the {place}", "find {things} and store {them} in the {place}",
    "chill {things} inside the {place}",
    "clear away {things}, into the {place}", "take {things} and lay {them} in the {place}",
    "pack {things} in the {place}",
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
    " Switch it on then.", " Then turn it on, please.", " Close it and turn it on.",
    " Run the {place} when that is done.",
    " Shut it and let it run.", " Then switch the {place} on.", " Start it at the end.", " Turn on the {place} then.",
)  # fmt: skip
_WASHES = (
    "wash up {things} with the {place}.", "wash {things} for me in the {place}.",
    "have {things} washed in the {place}.",
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
