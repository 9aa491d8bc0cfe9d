"""A small world of errands, told as documents: what is asked for stands somewhere, and the prompt says where."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bt_runtime.distill.documents import Document

THINGS = "apple bread bowl cup egg fork glass jar kettle knife lamp mug pan plate pot spoon towel vase".split()
PLACES = "bench cabinet counter cupboard desk drawer fridge shelf sink sofa stove table".split()
SYSTEM = "You fetch things in a house.\nAt every step you do one of these: Think, Act.\n"


def errand(rng: random.Random, rooms: int = 4, stops: int = 2) -> Document:
    """One task: look, go there, take it, once per stop; the answers are the lines that begin with a move."""
    things = rng.sample(THINGS, rooms)
    places = [f"{place} {rng.randint(1, 9)}" for place in rng.sample(PLACES, rooms)]
    wanted = rng.sample(range(rooms), stops)
    text = SYSTEM + f"\nYour task is to: fetch the {', then the '.join(things[i] for i in wanted)}\n"
    text += "".join(f"The {thing} is on {place}.\n" for thing, place in zip(things, places, strict=True))
    learn = []
    for i in wanted:
        for answer, heard in (
            (f"Think: I need the {things[i]}, it is on {places[i]}\n", "OK.\n"),
            (f"Act: go to {places[i]}\n", f"You are at {places[i]}.\n"),
            (f"Act: take {things[i]}\n", f"You have the {things[i]}.\n"),
        ):
            learn.append((len(text), len(text) + len(answer)))
            text += answer + heard
    learn.append((len(text), len(text) + len("Act: done\n")))
    return Document("errand", text + "Act: done\n", tuple(learn))


def errands(count: int, seed: int = 0, rooms: int = 4, stops: int = 2) -> Iterator[Document]:
    rng = random.Random(seed)
    for _ in range(count):
        yield errand(rng, rooms, stops)
