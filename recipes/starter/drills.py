"""Drills: looking things up in what was said before, with nothing else to think of.

A small network learns to copy and to look up late, and all at once; before that it learns next to nothing from whole
tasks. A short text in which every line is a question about an earlier one gets it there in a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from bt_lab.distill.documents import Document
from recipes.starter.textcraft.names import Names


class Sheet:
    """A text in the making; what is answered is what is learnt."""

    def __init__(self) -> None:
        self.text = ""
        self.learn: list[tuple[int, int]] = []

    def say(self, text: str) -> None:
        self.text += text

    def answer(self, text: str) -> None:
        self.learn.append((len(self.text), len(self.text) + len(text)))
        self.text += text


def drills(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """So many, of every sort; the same numbers give the same drills."""
    for number in range(first, first + count):
        rng = Random(f"drill {seed} {number}")
        sheet = Sheet()
        rng.choice(_SORTS)(rng, sheet)
        yield Document("drill", sheet.text, tuple(sheet.learn))


def _recipes(rng: Random, sheet: Sheet) -> None:
    """Which recipe makes this?"""
    names = Names(rng, wide=False)
    lines: dict[str, tuple[int, str]] = {}
    for _ in range(rng.randint(2, 14)):
        parts = [f"{rng.choice((1, 1, 2, 2, 3, 4, 6, 8))} {names.new()}" for _ in range(rng.randint(1, 3))]
        lines[names.new()] = (rng.choice((1, 1, 1, 2, 3, 4, 6)), ", ".join(parts))
    sheet.say("Crafting commands:\n")
    for item, (makes, needs) in lines.items():
        sheet.say(f"craft {makes} {item} using {needs}\n")
    sheet.say("\n")
    for item in rng.sample(list(lines), len(lines)):
        makes, needs = lines[item]
        wants = rng.randint(1, 6)
        sheet.say(f"Your task is to: craft {wants} {item}\nThink:")
        sheet.answer(f" {item} using {needs}. Wants {wants}.\n")
        sheet.say("OK.\nAct:")
        sheet.answer(f" craft {makes} {item} using {needs}\n")


def _repeat(rng: Random, sheet: Sheet) -> None:
    """The same line again, another one, and the first again."""
    names = Names(rng, wide=False)
    lines = [", ".join(names.new() for _ in range(rng.randint(2, 8))) for _ in range(rng.randint(1, 4))]
    for line in lines:
        sheet.say(f"{line}\n")
    for _ in range(2):
        for line in rng.sample(lines, len(lines)):
            first, comma, rest = line.partition(",")
            sheet.say(first)
            sheet.answer(f"{comma}{rest}\n")


def _next(rng: Random, sheet: Sheet) -> None:
    """What comes after this one in the list?"""
    names = Names(rng, wide=False)
    places = [f"{names.new()} {n}" for _ in range(rng.randint(2, 7)) for n in range(1, rng.choice((1, 1, 1, 2, 4)) + 1)]
    sheet.say(f"Think: {names.new()} may be at {', '.join(places)}.\nOK.\n")
    starts = rng.sample(range(len(places) - 1), min(4, len(places) - 1))
    for start in starts:
        here = places[start]
        sheet.say(f"Act: go to {here}\n")
        for place in places[start + 1 : start + rng.randint(2, 4)]:
            sheet.say(f"You arrive at the {here.rpartition(' ')[0]} ({here.rpartition(' ')[2]}).\nAct:")
            sheet.answer(f" go to {place}\n")
            here = place


def _which(rng: Random, sheet: Sheet) -> None:
    """Is there one of these in the list, and which?"""
    names = Names(rng, wide=False)
    for _ in range(rng.randint(2, 5)):
        seen = {names.new(): rng.sample(range(1, 5), rng.choice((1, 1, 2))) for _ in range(rng.randint(2, 8))}
        there = rng.random() < 0.6
        wanted = rng.choice(list(seen)) if there else names.new()
        listed = ", ".join(f"{name} ({', '.join(map(str, sorted(n)))})" for name, n in sorted(seen.items()))
        sheet.say(f"Your task is to: find and pick up the {wanted}\nYou see {listed}\nAct:")
        sheet.answer(f" pick up {wanted} {min(seen[wanted])}\n" if there else " failure\n")


def _times(rng: Random, sheet: Sheet) -> None:
    """So many for each, and so many times: of what is crafted all of it, of what is fetched one time's."""
    names = Names(rng, wide=False)
    for _ in range(rng.randint(6, 12)):
        item, needs = names.new(), [(rng.randint(1, 9), names.new()) for _ in range(rng.choice((1, 1, 2, 3)))]
        wants = rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24, rng.randint(1, 24), rng.randint(1, 24)))
        sheet.say(f"Think: {item} using {', '.join(f'{each} {name}' for each, name in needs)}. Wants {wants}.")
        for each, name in needs:
            verdict, amount = ("craft", each * wants) if rng.random() < 0.75 else ("get", each)
            sheet.say(f" {name}: {verdict}")
            sheet.answer(f" {amount} {name}.")
        sheet.say("\n")


def _counted(rng: Random, sheet: Sheet) -> None:
    """So many at a time: how many are made, and is it enough? No loop is told from its beginning."""
    names = Names(rng, wide=False)
    for _ in range(rng.randint(3, 6)):
        item, need, each = names.new(), names.new(), rng.randint(1, 9)
        makes = rng.choice((1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 9, 16))
        wants = rng.choice((2, 3, 4, 6, 8, 12, 16, 18, 24, rng.randint(2, 48), rng.randint(2, 48)))
        made = makes * max(0, -(-wants // makes) - rng.randint(1, 4))
        fetched = f"Act: get {each} {need}\nGot {each} {need}\n"
        sheet.say(f"Your task is to: craft {wants} {item}\nThink: {item} using {each} {need}. Wants {wants}.\nOK.\n")
        sheet.say(f"Think: Made {made} of {wants}.\nOK.\n{fetched}" if made else fetched)
        while made < wants:
            made += makes
            sheet.say(f"Act: craft {makes} {item} using {each} {need}\n")
            sheet.say(f"Crafted {makes} minecraft:{item.replace(' ', '_')}\n")
            sheet.answer(f"Think: Made {made} of {wants}.\n")
            sheet.say("OK.\n")
            sheet.answer("Act: done\n" if made >= wants else f"Act: get {each} {need}\n")
            if made < wants:
                sheet.say(f"Got {each} {need}\n")


_SORTS: tuple[Callable[[Random, Sheet], None], ...] = (_recipes, _repeat, _next, _which, _times, _counted, _counted)
