"""Recipe books to learn reading from: made-up things with ordinary names, in families like a game's.

Nothing in them can be known by heart, and nothing of what is tested stands in them: no name is one of the game's
book, and no name could be one of the invented books that are kept for evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bt_runtime.distill.words import LOOKS, STUFFS, THINGS
from bt_runtime.envs.textcraft.invent import sounds_of
from bt_runtime.envs.textcraft.recipes import Book, Ingredient, Recipe
from bt_runtime.envs.textcraft.suite import books
from bt_runtime.envs.textcraft.tasks import commands, gold
from bt_runtime.types import Json, Task

_MAKES = (1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 6, 8, 9, 16)
_EACH = (1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9)
_FEW = (1, 1, 1, 1, 1, 2, 2, 3, 4, 6)  # of what has itself to be crafted: otherwise the work doubles with every level
_EVAL = sounds_of("eval")
_LETTERS = ("bcdfghjklmnprstvwyz", "aeiouaeiouy", "bdgklmnprstxyz")


class Names:
    """Names of one book, out of few words, so that many are alike; none twice, none that is reserved."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.used: set[str] = set()
        self.looks = [self.word(LOOKS) for _ in range(rng.randint(3, 8))]
        self.stuffs = [self.word(STUFFS) for _ in range(rng.randint(3, 8))]
        self.things = [self.word(THINGS) for _ in range(rng.randint(6, 14))]

    def word(self, pool: Sequence[str]) -> str:
        """An ordinary one, or at times one that means nothing."""
        if self.rng.random() < 0.65:
            return self.rng.choice(pool)
        return "".join(self.rng.choice(_LETTERS[i % 3]) for i in range(self.rng.choice((3, 3, 5, 6, 6, 8))))

    def new(self) -> str:
        while True:
            look, stuff, thing = map(self.rng.choice, (self.looks, self.stuffs, self.things))
            form = self.rng.choices(
                (stuff, thing, f"{look} {thing}", f"{stuff} {thing}", f"{look} {stuff}", f"{look} {stuff} {thing}",
                 f"{stuff} {self.rng.choice(('and', 'of the', 'on a', 'in a'))} {thing}"),
                (12, 18, 22, 26, 8, 10, 4),
            )[0]  # fmt: skip
            if self.take(form):
                return form
            self.things.append(self.word(THINGS))

    def take(self, name: str) -> bool:
        """Whether it is free, and then it is no more."""
        words = name.split()
        if name in self.used or reserved(name) or len(set(words)) < len(words):
            return False
        self.used.add(name)
        return True


def reserved(name: str) -> bool:
    """Is it a name of the game, or one that an invented book for evaluation can have?"""
    game = books(None)["game"]
    return name in game.items or name in game.kinds or all(_EVAL.fullmatch(word) for word in name.split())


class Shelf:
    """A book in the making: layer by layer, each of things of the layers below."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = Names(rng)
        self.kinds: dict[str, list[str]] = {}
        self.recipes: list[Recipe] = []
        self.layers: list[list[str]] = [[self.names.new() for _ in range(rng.randint(5, 14))], []]

    def add(self, level: int, item: str, makes: int, *needs: tuple[int, str]) -> None:
        while len(self.layers) <= level:
            self.layers.append([])
        if item not in self.layers[level]:
            self.layers[level].append(item)
        self.recipes.append(Recipe(item, makes, tuple(Ingredient(count, name) for count, name in needs)))

    def made_kind(self) -> None:
        """Such as planks: each of them is made of something of its own."""
        thing = self.rng.choice(self.names.things)
        kind = self.rng.choice((thing, f"{thing}s", f"{thing}s", f"{self.rng.choice(self.names.looks)} {thing}s"))
        member = thing if kind != f"{thing}s" or self.rng.random() < 0.4 else kind
        source = self.rng.choice([t for t in self.names.things if t != thing])
        own = [s for s in dict.fromkeys(self.names.stuffs) if self.names.take(f"{s} {member}")]
        if len(own) < 2 or not self.names.take(kind):
            return
        self.kinds[kind] = [f"{s} {member}" for s in own]
        makes, each = self.rng.choice(_MAKES), self.rng.choice((1, 1, 2, 3, 4))
        for stuff in own:
            raw = f"{stuff} {source}" if self.names.take(f"{stuff} {source}") else self.names.new()
            self.add(1, f"{stuff} {member}", makes, (each, raw))

    def fetched_kind(self) -> None:
        """Such as stone tool materials: what is of it lies around, and no recipe names it."""
        stuff = self.rng.choice(self.names.stuffs)
        kind = self.rng.choice((f"{stuff}s", f"{stuff} {self.rng.choice(self.names.things)} materials"))
        members = [f"{self.names.word(LOOKS)}{stuff}", f"{self.rng.choice(self.names.looks)} {stuff}"]
        if self.names.take(kind):
            self.kinds[kind] = [name for name in members if self.names.take(name)]
            if not self.kinds[kind]:
                del self.kinds[kind]

    def coloured(self) -> None:
        """Such as dyes, what is dyed with them, and what is made of that: the plain thing is no kind."""
        things = self.rng.sample(sorted(set(self.names.things)), 3)
        plain, each, makes = self.names.new(), self.rng.choice(_EACH), self.rng.choice(_MAKES)
        many, last = self.rng.choice(_FEW), self.rng.choice(_MAKES)
        for look in dict.fromkeys(self.names.looks):
            paint, dyed, product = f"{look} {things[0]}", f"{look} {plain}", f"{look} {plain} {things[1]}"
            if all(map(self.names.take, (paint, dyed, product))):
                for _ in range(self.rng.choice((1, 1, 2))):
                    self.add(1, paint, self.rng.choice((1, 1, 1, 2, 3)), (1, self.names.new()))
                self.add(2, dyed, makes, (each, plain), (1, paint))
                self.add(3, product, last, (many, dyed))

    def anything(self, level: int) -> None:
        """One ingredient of the layer just below, so that the depth is what it should be, and others from anywhere."""
        below = self.layers[level - 1] + (list(self.kinds) if level == 2 else [])
        needs = {self.rng.choice(below): self.rng.choice(_FEW if level > 1 else _EACH)}
        pool = [name for layer in self.layers[:level] for name in layer] + [*self.kinds] * (3 if level > 1 else 0)
        for _ in range(self.rng.choice((0, 0, 1, 1, 1, 2, 2, 3, 4))):
            other = self.rng.choice(self.layers[0] if self.rng.random() < 0.5 else pool)
            if other not in needs and not self.akin(other, needs):
                needs[other] = self.rng.choice(_EACH if other in self.layers[0] else _FEW)
        listed = list(needs.items())
        self.rng.shuffle(listed)
        makes = self.rng.choice(_MAKES)
        item = self.named_after(listed[0][0]) if self.rng.random() < 0.3 else self.names.new()
        self.add(level, item, makes, *((count, name) for name, count in listed))
        if self.rng.random() < 0.12:  # another way to it
            self.add(level, item, self.rng.choice(_MAKES), (self.rng.choice(_EACH), self.rng.choice(self.layers[0])))

    def named_after(self, ingredient: str) -> str:
        """`oak plank door` of `oak plank`."""
        name = f"{ingredient} {self.rng.choice(self.names.things)}"
        return name if len(name.split()) < 5 and self.names.take(name) else self.names.new()

    def akin(self, name: str, needs: dict[str, int]) -> bool:
        """A kind and one of it never stand side by side."""
        return any(name in self.kinds.get(n, ()) or n in self.kinds.get(name, ()) for n in needs)


def imagine(rng: Random, deepest: int = 4) -> Book:
    """A book with things of every depth up to `deepest`."""
    shelf = Shelf(rng)
    for form, often in ((shelf.made_kind, 0.6), (shelf.fetched_kind, 0.3), (shelf.coloured, 0.35)):
        if rng.random() < often:
            form()
    for level in range(1, deepest + 1):
        if len(shelf.layers) <= level:
            shelf.layers.append([])
        for _ in range(rng.randint(3, 12)):
            shelf.anything(level)
    return Book("imagined", shelf.recipes, shelf.kinds)


def imagined(rng: Random, depth: int, name: str) -> Task | None:
    """A task that carries such a book; between none and ten of the commands shown lead astray."""
    book = imagine(rng, max(depth, 2))
    goals = book.goals(depth)
    if not goals:
        return None
    goal = rng.choice(goals)
    needed = set(gold(book, goal))
    share = rng.random()
    shown = [r for r in commands(book, goal, rng) if r in needed or rng.random() < share]
    data: dict[str, Json] = {"goal": goal, "commands": [r.line() for r in shown]}
    data["recipes"] = [r.line() for r in book.recipes]
    data["kinds"] = {kind: list(members) for kind, members in book.kinds.items()}
    return Task(name, f"depth {depth}", f"craft {goal}", data)
