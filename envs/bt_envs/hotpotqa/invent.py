"""Invents encyclopedias with questions that need two pages, by split and number, so that no model knows them by
heart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from bt_envs.hotpotqa.files import Question
from bt_envs.hotpotqa.wiki import Page, Wiki

EACH = 24  # towns, people, books, companies
_STARTS = ("Ba", "Bre", "Da", "Dro", "Fe", "Fla", "Go", "Gra", "Ke", "Kro", "La", "Mi", "No", "Pe", "Ra", "Ste", "Zo")
_MIDDLES = ("la", "ri", "no", "mu", "te", "sha", "vo", "ki", "be", "dro")
# The last sounds tell the split, so that no name of one is ever met in another.
_ENDS = {
    "train": ("bel", "dan", "gor", "lin", "mer"),
    "dev": ("cas", "fon", "hul", "rik", "tos"),
    "eval": ("jam", "nev", "sib", "wold", "zet"),
}
_COUNTRIES = ("north", "south", "east", "west")
_TRADES = ("painter", "botanist", "clockmaker", "surveyor", "composer", "printer", "glassblower", "astronomer")
_GENRES = ("novel", "travel book", "play", "collection of poems")
_GOODS = ("lamps", "paper", "bells", "bicycles", "tea", "maps", "soap", "pianos")


class Entry(NamedTuple):
    """One fact record of the invented world, from which its pages are written."""

    name: str
    year: int
    of: int  # the number of what it belongs to: a person's town, a book's author, a company's founder
    trait: str
    river: str = ""


class Encyclopedia(NamedTuple):
    towns: tuple[Entry, ...]
    people: tuple[Entry, ...]
    books: tuple[Entry, ...]
    firms: tuple[Entry, ...]

    def pages(self) -> Iterator[Page]:
        for town in self.towns:
            yield Page(town.name, (
                f"{town.name} is a town in the {town.trait} of the island.",
                f"It lies on the river {town.river} and was founded in {town.year}.",
                f"Its market hall was built {town.year % 60 + 40} years later.",
            ))  # fmt: skip
        for who in self.people:
            town = self.towns[who.of]
            yield Page(who.name, (
                f"{who.name} was a {who.trait}, born in {who.year} in {town.name}.",
                f"{who.name.split()[0]} learnt the trade of a {who.trait} from an aunt.",
            ))  # fmt: skip
        for book in self.books:
            author = self.people[book.of]
            yield Page(book.name, (
                f"{book.name} is a {book.trait} by {author.name}.",
                f"It was printed in {book.year} and sold out within {book.year % 9 + 2} weeks.",
            ))  # fmt: skip
        for firm in self.firms:
            founder = self.people[firm.of]
            yield Page(firm.name, (
                f"{firm.name} is a company that makes {firm.trait}.",
                f"It was founded in {firm.year} by {founder.name}.",
            ))  # fmt: skip

    def bridges(self, rng: Random) -> Iterator[tuple[str, str, tuple[str, str]]]:
        """Draws questions with their answers and the two pages that contain the facts."""
        book, firm, who = rng.choice(self.books), rng.choice(self.firms), rng.choice(self.people)
        author, founder, home = self.people[book.of], self.people[firm.of], self.towns[who.of]
        yield f"In which town was the author of {book.name} born?", self.towns[author.of].name, (book.name, author.name)
        yield f"What was the trade of the founder of {firm.name}?", founder.trait, (firm.name, founder.name)
        yield f"In what year was the author of {book.name} born?", str(author.year), (book.name, author.name)
        yield f"On which river lies the town where {who.name} was born?", home.river, (who.name, home.name)
        yield f"In what year was the town founded in which {who.name} was born?", str(home.year), (who.name, home.name)

    def comparisons(self, rng: Random) -> Iterator[tuple[str, str, tuple[str, str]]]:
        one, two = rng.sample(self.towns, 2)
        first, second = rng.sample(self.people, 2)
        older = one if one.year < two.year else two
        born = first if first.year < second.year else second
        yield f"Which town was founded first, {one.name} or {two.name}?", older.name, (one.name, two.name)
        yield f"Who was born first, {first.name} or {second.name}?", born.name, (first.name, second.name)
        same = "yes" if first.of == second.of else "no"
        yield f"Were {first.name} and {second.name} born in the same town?", same, (first.name, second.name)


@lru_cache(maxsize=16)
def encyclopedia(split: str, number: int) -> Encyclopedia:
    rng = Random(f"hotpotqa {split} {number}")
    names = _names(rng, _ENDS[split])
    years = rng.sample(range(1400, 1900), 4 * EACH)  # all different, so that each comparison has an answer
    rivers = [next(names) for _ in range(EACH // 3)]
    towns = tuple(
        Entry(next(names), years.pop(), 0, rng.choice(_COUNTRIES), rivers[i % len(rivers)]) for i in range(EACH)
    )
    people = tuple(
        Entry(f"{next(names)} {next(names)}", years.pop(), rng.randrange(EACH // 2), rng.choice(_TRADES))
        for _ in range(EACH)
    )
    titles = (f"The {rng.choice(_TRADES).title()} of {next(names)}" for _ in range(EACH))
    books = tuple(Entry(title, years.pop(), rng.randrange(EACH), rng.choice(_GENRES)) for title in titles)
    firms = tuple(
        Entry(f"{next(names)} and Daughters", years.pop(), rng.randrange(EACH), rng.choice(_GOODS)) for _ in range(EACH)
    )
    return Encyclopedia(towns, people, books, firms)


@lru_cache(maxsize=16)
def wiki(split: str, number: int) -> Wiki:
    return Wiki.of(encyclopedia(split, number).pages())


def question(split: str, number: int, kind: str, index: int) -> Question:
    """Invents a question, equal for equal arguments."""
    rng, known = Random(f"hotpotqa {split} {number} {kind} {index}"), encyclopedia(split, number)
    asked = [*(known.bridges(rng) if kind == "bridge" else known.comparisons(rng))]
    text, answer, titles = asked[index % len(asked)]
    return Question(f"{split}-{number}-{index:04}", text, answer, kind, "made up", titles, ())


def _names(rng: Random, ends: tuple[str, ...]) -> Iterator[str]:
    """Yields distinct names."""
    known = set()
    while True:
        middle = rng.choice(_MIDDLES) + (rng.choice(_MIDDLES) if rng.random() < 0.4 else "")
        name = rng.choice(_STARTS) + middle + rng.choice(ends)
        if name not in known:
            known.add(name)
            yield name
