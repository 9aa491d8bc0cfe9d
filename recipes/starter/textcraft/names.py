"""Names of made-up things: ordinary words, and none that the game's book or an invented book for evaluation has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from bt_envs.textcraft.invent import sounds_of
from bt_envs.textcraft.suite import books
from recipes.starter.words import LOOKS, STUFFS, THINGS

_EVAL = sounds_of("eval")
ENDINGS = ("s", "x", "ch", "sh")
SORTS = ("materials", "blocks", "items", "parts", "goods", "pieces")  # of a tag: things that serve alike
# What the game has besides, smelted, smithed or found: in no recipe of the crafting table.
FURTHER = (
    "charcoal", "cactus", "potato", "kelp", "sea pickle", "sponge", "wet sponge", "snow", "netherrack",
    "ancient debris", "chorus fruit", "beef", "chicken", "cod", "mutton", "porkchop", "rabbit", "salmon",
    "tropical fish", "suspicious stew", "firework rocket", "firework star", "tipped arrow", "gold ores",
    "logs that burn", "purpur stairs",
    *(f"cooked {meat}" for meat in ("beef", "chicken", "cod", "mutton", "porkchop", "salmon")),
    *(f"cracked {bricks}" for bricks in ("stone bricks", "nether bricks", "polished blackstone bricks")),
    *(f"{what} ore" for what in ("coal", "diamond", "emerald", "gold", "iron", "lapis", "nether quartz", "redstone")),
    *(f"quartz {shape}" for shape in ("bricks", "pillar", "stairs")),
    *(f"{metal} horse armor" for metal in ("iron", "golden", "diamond")),
    *(f"netherite {what}" for what in ("axe", "hoe", "pickaxe", "shovel", "sword")),
    *(f"{stuff} {what}" for stuff in ("chainmail", "netherite")
      for what in ("boots", "chestplate", "helmet", "leggings")),
)  # fmt: skip
_SHORT = tuple(word for word in (*STUFFS, *THINGS) if len(word) < 5)
_LONG = tuple(word for word in (*STUFFS, *THINGS) if len(word) > 5)
_LETTERS = ("bcdfghjklmnprstvwyz", "aeiouaeiouy", "bdgklmnprstxyz")


class Names:
    """Names of one book, out of few words, so that many are alike; none twice, none that is reserved."""

    def __init__(self, rng: Random, wide: bool) -> None:
        self.rng = rng
        self.used: set[str] = set()
        self.ends = [rng.choice(_LONG)[-rng.randint(3, 4) :] for _ in range(2)]
        self.looks = [self.word(LOOKS) for _ in range(rng.randint(5, 16) if wide else rng.randint(3, 6))]
        self.stuffs = [self.word(STUFFS) for _ in range(rng.randint(4, 10) if wide else rng.randint(3, 6))]
        self.things = [self.word(THINGS) for _ in range(rng.randint(8, 24) if wide else rng.randint(6, 12))]
        self.twofold(self.looks, 0.75)
        self.twofold(self.stuffs, 0.5)

    def twofold(self, words: list[str], often: float) -> None:
        """At times `dark oak` beside `oak`, and `pale red` beside `red`: names that differ in how they begin."""
        if self.rng.random() < often:
            look = self.word(LOOKS)
            for word in self.rng.sample(words, min(len(words), self.rng.choice((1, 1, 2, 3)))):
                if word != look:
                    words.insert(self.rng.randrange(len(words) + 1), f"{look} {word}")

    def word(self, pool: Sequence[str]) -> str:
        """An ordinary one, or at times one of two (`sunflower`), one that means nothing, or one that ends as others of
        the book do (`andesite` beside `diorite`): what is torn into tokens that stand in other names too."""
        sort = self.rng.random()
        if sort < 0.76:
            return self.rng.choice(pool)
        if sort < 0.84:
            return f"{self.rng.choice(_SHORT)}{self.rng.choice(_SHORT)}"
        nothing = "".join(self.rng.choice(_LETTERS[i % 3]) for i in range(self.rng.choice((3, 3, 5, 6, 6, 8))))
        return nothing if sort < 0.92 else f"{nothing[:5]}{self.rng.choice(self.ends)}"

    def new(self) -> str:
        while True:
            look, stuff, thing = map(self.rng.choice, (self.looks, self.stuffs, self.things))
            form = self.rng.choices(
                (stuff, thing, f"{look} {thing}", f"{stuff} {thing}", f"{look} {stuff}", f"{look} {stuff} {thing}",
                 f"{stuff} {self.rng.choice(('and', 'of the', 'on a', 'in a'))} {thing}"),
                (12, 18, 22, 26, 8, 10, 4),
            )[0]  # fmt: skip
            form = self.several(form)
            if self.take(form):
                return form
            self.things.append(self.word(THINGS))

    def several(self, name: str) -> str:
        """At times a plural, as games name what is one thing all the same (`oak logs`, `bricks` beside `brick`)."""
        if name.endswith(ENDINGS) or self.rng.random() >= 0.37:
            return name
        return f"{name}s" if self.rng.random() < 0.9 else f"{name} {self.rng.choice(SORTS)}"

    def keep(self, thing: str) -> None:
        """No other name will end with it: it is what a kind is known by."""
        ends = (thing, f"{thing}s", thing.removesuffix("s"))
        self.things = [self.word([t for t in THINGS if t not in ends]) if t in ends else t for t in self.things]

    def take(self, name: str) -> bool:
        """Whether it is free, and then it is no more."""
        words = name.split()
        if name in self.used or reserved(name) or len(set(words)) < len(words):
            return False
        self.used.add(name)
        return True


def reserved(name: str) -> bool:
    """Is it a name of the game, in the singular or the plural, or one that an invented book for evaluation can have?"""
    forms = {name, f"{name}s", name.removesuffix("s")}
    return not forms.isdisjoint(_game()) or all(_EVAL.fullmatch(word) for word in name.split())


@lru_cache(maxsize=1)
def _game() -> frozenset[str]:
    game = books(None)["game"]
    glazed = (f"{item.removesuffix(' dye')} glazed terracotta" for item in game.items if item.endswith(" dye"))
    return game.items | game.kinds.keys() | {*FURTHER, *glazed}
