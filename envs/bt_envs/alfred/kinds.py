"""Lists the abilities of each object type in an AI2-THOR room, as one table of simulator facts."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SLICEABLE = _words("Apple Bread Lettuce Potato Tomato Egg")
SLICES = {"Apple": 6, "Bread": 7, "Lettuce": 7, "Potato": 8, "Tomato": 7, "Egg": 1}
KNIVES = _words("Knife ButterKnife")
FOOD = SLICEABLE
DISHES = _words("Mug Cup Bowl Plate Pot Pan")
CUTLERY = _words("Knife ButterKnife Fork Spoon Spatula Ladle")
TOOLS = _words("DishSponge Cloth Pen Pencil Watch KeyChain CreditCard CD CellPhone RemoteControl SoapBar Candle")
PICKUPABLE = (
    FOOD
    | DISHES
    | CUTLERY
    | TOOLS
    | _words(
        "AlarmClock BaseballBat BasketBall Book Boots Box Glassbottle HandTowel Kettle Laptop Newspaper PaperTowelRoll"
        " PepperShaker Pillow Plunger SaltShaker ScrubBrush SoapBottle SprayBottle Statue TeddyBear TennisRacket"
        " TissueBox ToiletPaper Towel Vase WateringCan WineBottle"
    )
)
OPENABLE = _words("Fridge Microwave Cabinet Drawer Safe Box Laptop Toilet ShowerDoor Blinds Book LaundryHamper")
CLOSED_HIDES = _words("Fridge Microwave Cabinet Drawer Safe LaundryHamper")
TOGGLEABLE = _words(
    "Faucet Microwave DeskLamp FloorLamp Toaster CoffeeMachine StoveKnob StoveBurner Television LightSwitch"
    " ShowerHead Candle CellPhone Laptop"
)
FURNITURE = _words(
    "ArmChair Bathtub BathtubBasin Bed Cabinet Cart CoffeeMachine CoffeeTable CounterTop Desk DiningTable Drawer"
    " Dresser Footstool Fridge GarbageCan HandTowelHolder LaundryHamper Microwave Ottoman Safe Shelf SideTable Sink"
    " SinkBasin Sofa StoveBurner Toaster Toilet ToiletPaperHanger TowelHolder TVStand"
)
# How far things may lie from the middle of wide furniture, in metres.
WIDE = {"CounterTop": 0.9, "DiningTable": 0.7, "Bed": 0.7, "Sofa": 0.6, "Desk": 0.5, "Dresser": 0.4, "TVStand": 0.5}
MOVABLE_RECEPTACLES = DISHES | _words("Box")
FIXED = _words(
    "Blinds Chair Curtains DeskLamp Faucet FloorLamp HousePlant Lamp LaundryHamperLid LightSwitch Mirror Painting"
    " Poster ShowerCurtain ShowerDoor ShowerGlass ShowerHead StoveKnob Television Window"
)
ALL = PICKUPABLE | FURNITURE | FIXED
INHERITED = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}  # a basin is a part of its parent, and named by it

# What a picky receptacle takes, and how much of it; every other receptacle takes anything that can be carried.
_ONLY = {
    "StoveBurner": _words("Pot Pan Kettle"),
    "CoffeeMachine": _words("Mug"),
    "Toaster": _words("BreadSliced"),
    "HandTowelHolder": _words("HandTowel"),
    "TowelHolder": _words("Towel"),
    "ToiletPaperHanger": _words("ToiletPaper"),
    "Mug": CUTLERY | TOOLS,
    "Cup": CUTLERY | TOOLS,
    "Microwave": FOOD | DISHES | CUTLERY,
}
_ONE = frozenset(_ONLY) - {"Mug", "Cup", "Microwave"}
_SMALL_HOLDERS = _words("Bowl Plate Pot Pan")
_BULKY = _words("BaseballBat BasketBall Boots Box Laptop Pillow Plunger Towel TeddyBear TennisRacket WateringCan")


class Kind(NamedTuple):
    name: str
    pickupable: bool
    receptacle: bool
    openable: bool
    toggleable: bool
    sliceable: bool


@cache
def kind(name: str) -> Kind:
    """The properties of a kind; a slice (`AppleSliced`) can be carried and nothing else."""
    sliced = name.endswith(("Sliced", "Cracked"))
    return Kind(
        name,
        pickupable=sliced or name in PICKUPABLE,
        receptacle=name in FURNITURE or name in MOVABLE_RECEPTACLES,
        openable=name in OPENABLE,
        toggleable=name in TOGGLEABLE,
        sliceable=name in SLICEABLE,
    )


def whole(name: str) -> str:
    """`AppleSliced` → `Apple`."""
    return re.sub(r"(Sliced|Cracked)$", "", name)


def slice_of(name: str) -> str:
    return f"{name}Cracked" if name == "Egg" else f"{name}Sliced"


def fits(carried: str, receptacle: str) -> bool:
    """True when a thing of this kind may lie in or on one of that kind."""
    if not kind(carried).pickupable or carried == receptacle:
        return False
    only = _ONLY.get(receptacle)
    if only is not None:
        return carried in only or whole(carried) in only
    if receptacle in _SMALL_HOLDERS:
        return carried not in _BULKY and whole(carried) not in DISHES - {"Mug", "Cup"}
    return kind(receptacle).receptacle


def room_for(receptacle: str) -> int:
    """Returns how many things the receptacle takes."""
    return 1 if receptacle in _ONE else 100


def id_kind(object_id: str) -> str:
    """Returns the kind in an object's id; for a basin the basin's kind: `Sink|1|1|1|SinkBasin` → `SinkBasin`."""
    parts = object_id.split("|")
    return parts[4] if len(parts) == 5 and parts[4] in INHERITED else parts[0]


def to_words(name: str) -> str:
    """`RemoteControl` → `remote control`; `CD` stays."""
    return name if name == "CD" else re.sub(r"(?<=\w)([A-Z])", r" \1", name).lower()


@cache
def _by_words() -> dict[str, str]:
    return {to_words(name).lower(): name for name in ALL}


def from_words(words: str) -> str:
    """`remote control` → `RemoteControl`; an unknown phrase becomes the name that the simulator would use for it."""
    plain = " ".join(words.split()).lower()
    return _by_words().get(plain) or "".join(word[:1].upper() + word[1:] for word in plain.split())


def without_article(phrase: str) -> str:
    """`the remote control` → `remote control`."""
    return re.sub(r"^(?:an?|the) ", "", phrase.strip())


def article(words: str) -> str:
    return "an" if words[:1].lower() in "aeio" or words.startswith(("umb", "und", "up")) else "a"
