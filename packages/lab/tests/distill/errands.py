"""A small world of errands, told as documents: everything has its place, and whoever has learnt it goes there."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bt_lab.distill.documents import Document
from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import StoryStep

SYSTEM = "You fetch things in a house.\nAt every step you do one of these: think, act.\n"
PLACES = {
    "apple": "fridge 1",
    "book": "shelf 2",
    "cup": "sink 1",
    "jar": "cupboard 3",
    "key": "drawer 4",
    "lamp": "desk 1",
    "plate": "table 2",
    "towel": "bench 1",
}


def prompt(thing: str, steps: tuple[StoryStep, ...] = (), hour: int = 12) -> str:
    """What the runtime would ask: the same functions write it."""
    return agent_prompt(SYSTEM, f"fetch the {thing}", f"You are in the house. It is {hour} o'clock.", steps).text()


def errand(thing: str, hour: int = 12) -> Document:
    """Think where it is, go there, take it."""
    place = PLACES[thing]
    steps = (
        StoryStep("think", f"the {thing} is on {place}"),
        StoryStep("act", f"go to {place}", f"You are at {place}."),
        StoryStep("act", f"take {thing}", f"You have the {thing}."),
    )
    text, learn = prompt(thing, hour=hour), []
    for number, step in enumerate(steps):
        opening = step.written().partition("\n")[0] + "\n"
        learn.append((len(text), len(text) + len(opening)))
        text = prompt(thing, steps[: number + 1], hour)
    learn.append((len(text), len(text) + len("Act: done\n")))
    return Document("errand", text + "Act: done\n", tuple(learn))


def errands(count: int, seed: int = 0) -> Iterator[Document]:
    rng = random.Random(seed)
    for _ in range(count):
        yield errand(rng.choice(sorted(PLACES)), rng.randrange(24))
