"""Recipe books to learn reading from: made-up things with ordinary names, in families like a game's.

Nothing in them can be known by heart, and nothing of what is tested stands in them: no name is one of the game's
book, and no name could be one of the invented books that are kept for evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

from bt_envs.textcraft.recipes import Book, Ingredient, Recipe
from bt_envs.textcraft.tasks import commands, gold
from bt_runtime.types import Json, Task
from recipes.starter.textcraft.names import ENDINGS, Names
from recipes.starter.textcraft.scene import Scene
from recipes.starter.words import LOOKS

_MAKES = (1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 6, 8, 9, 16)
_EACH = (1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9)
# Of what has itself to be crafted: otherwise the work doubles with every level.
_FEW = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6, 8)
_KINDS = 0.5  # of the goals have one of a kind to be made on the way, as half of a game's have
_WEIGHT, _MOST = 2, 6  # a goal counts by so many of its recipes that are misread
_CROWD, _CROWDED = 7, 8  # products whose names begin with one word; the weight of a goal among them
_SIFTED = 4  # times: what is left may be misnamed anew


class BookBuilder:
    """A book in the making: layer by layer, each of things of the layers below."""

    def __init__(self, rng: Random, wide: bool) -> None:
        self.rng = rng
        self.names = Names(rng, wide)
        self.kinds: dict[str, list[str]] = {}
        self.recipes: list[Recipe] = []
        self.handle = ""
        self.layers: list[list[str]] = [[self.names.new() for _ in range(rng.randint(5, 14))], []]

    def add(self, level: int, item: str, makes: int, *needs: tuple[int, str]) -> None:
        while len(self.layers) <= level:
            self.layers.append([])
        if item not in self.layers[level]:
            self.layers[level].append(item)
        recipe = Recipe(item, makes, tuple(Ingredient(count, name) for count, name in needs))
        if recipe not in self.recipes and len({need.item for need in recipe.needs}) == len(needs):
            self.recipes.append(recipe)

    def made_kind(self) -> None:
        """Such as planks: each of them is made of something of its own."""
        thing = self.rng.choice(self.names.things)
        kind = self.rng.choice((thing, f"{thing}s", f"{thing}s", f"{self.rng.choice(self.names.looks)} {thing}s"))
        member = thing if kind != f"{thing}s" or self.rng.random() < 0.4 else kind
        source = self.rng.choice([t for t in self.names.things if t != thing])
        sources = f"{source}s" if self.rng.random() < 0.5 and not source.endswith(ENDINGS) else source
        own = [s for s in dict.fromkeys(self.names.stuffs) if self.names.take(f"{s} {member}")]
        if len(own) < 2 or not self.names.take(kind):
            return
        self.kinds[kind] = [f"{s} {member}" for s in own]
        self.names.keep(thing)
        makes, each = self.rng.choice((1, 2, 3, 4, 4, 4, 6, 9)), self.rng.choice((1, 1, 2, 3, 4))
        for stuff in own:
            raw = f"{stuff} {sources}" if self.names.take(f"{stuff} {sources}") else self.names.new()
            self.add(1, f"{stuff} {member}", makes, (each, raw))
        if self.rng.random() < 0.5:
            self.stick(kind)
        if self.rng.random() < 0.4:
            self.kind_of_kind(own, member)
        if self.rng.random() < 0.75:
            self.shapes(own, member, 2)

    def stick(self, kind: str) -> None:
        """Of one of the kind, or of what lies around; much else takes it."""
        self.handle = self.names.new()
        ways = [kind, *self.rng.sample(self.layers[0], self.rng.choice((0, 1, 1)))]
        self.rng.shuffle(ways)
        for of in ways:
            self.add(2, self.handle, self.rng.choice(_MAKES), (self.rng.choice((1, 2, 2, 3)), of))

    def of_kind(self) -> None:
        """Such as what is made of planks, by itself or with something else: one kind stands in many recipes."""
        made = [kind for kind, members in self.kinds.items() if set(members) & {r.item for r in self.recipes}]
        if not made:
            return
        kind = self.rng.choice(made)
        level = 1 + max(at for at, layer in enumerate(self.layers) if set(layer) & set(self.kinds[kind]))
        for _ in range(self.rng.randint(2, 8)):
            others = [name for name in (*self.layers[0], *self.layers[1]) if not self.akin(name, {kind: 1})]
            others += [self.handle] if self.handle else []
            chosen = [kind, *self.rng.sample(others, self.rng.choice((0, 0, 0, 1, 1, 1, 2)))]
            needs = [(self.rng.choice(_EACH if name in self.layers[0] else _FEW), name) for name in chosen]
            self.rng.shuffle(needs)
            item = self.names.new()
            self.add(level, item, self.rng.choice(_MAKES), *needs)
            if self.rng.random() < 0.25:
                self.another_way(level, item, needs)

    def shapes(self, stuffs: Sequence[str], material: str, level: int) -> None:
        """Such as doors, fences and buttons of every wood, or axes and hoes of every metal: long lists of recipes that
        are almost the same."""
        handle = self.handle or self.rng.choice([name for layer in self.layers[:2] for name in layer])
        level += bool(self.handle)
        for shape in self.rng.sample(self.names.things, min(len(self.names.things), self.rng.randint(2, 6))):
            makes, each, held = self.rng.choice(_MAKES), self.rng.choice(_FEW), self.rng.choice((0, 0, 1, 2, 4))
            for stuff in stuffs:
                of = f"{stuff} {material}".strip()
                if of != handle and self.names.take(f"{stuff} {shape}"):
                    more = [(held, handle)] if held else []
                    self.add(level, f"{stuff} {shape}", makes, (each, of), *more)

    def of_one_stuff(self) -> None:
        """A thing of one stuff and many shapes of it, such as birch planks and all that is made of them. Their names
        begin with the same word, and so does the name of what is fetched for them."""
        stuff = self.rng.choice(self.names.stuffs)
        member, source, *shapes = self.rng.sample(self.names.things, len(self.names.things))
        made, raw = (f"{stuff} {self.names.several(name)}" for name in (member, f"{source}s"))
        if source == member or not (self.names.take(made) and self.names.take(raw)):
            return
        self.add(1, made, self.rng.choice((1, 2, 3, 4, 4, 4, 6)), (self.rng.choice((1, 1, 1, 2, 3)), raw))
        for shape in shapes[: self.rng.randint(_CROWD, _CROWD + 6)]:
            if self.names.take(f"{stuff} {shape}"):
                others = [self.handle] if self.handle else self.layers[0]
                more = [(self.rng.choice((1, 2, 4)), self.rng.choice(others))] if self.rng.random() < 0.3 else []
                self.add(
                    2,
                    f"{stuff} {shape}",
                    self.rng.choice(_MAKES),
                    *self.either_way((self.rng.choice(_FEW), made), *more),
                )

    def tools(self) -> None:
        """Of stuffs that lie around."""
        stuffs = self.rng.sample(self.names.stuffs, min(len(self.names.stuffs), self.rng.randint(2, 5)))
        found = list(filter(self.names.take, stuffs))
        self.layers[0] += found
        self.shapes(found, "", 1)

    def kind_of_kind(self, stuffs: Sequence[str], member: str) -> None:
        """Such as wooden slabs, each of planks of its own."""
        thing = self.rng.choice([t for t in self.names.things if t != member])
        kind = f"{self.rng.choice(self.names.looks)} {thing}s"
        own = [s for s in stuffs if self.names.take(f"{s} {thing}")]
        if len(own) > 1 and self.names.take(kind):
            self.kinds[kind] = [f"{s} {thing}" for s in own]
            self.names.keep(thing)
            makes, each = self.rng.choice(_MAKES), self.rng.choice(_FEW)
            for stuff in own:
                self.add(2, f"{stuff} {thing}", makes, (each, f"{stuff} {member}"))

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
        """Such as dyes, which are also mixed of one another, what is dyed with them, and what is made of that."""
        paint, *shapes = self.rng.sample(sorted(set(self.names.things)), 4)
        looks = list(dict.fromkeys(self.names.looks))
        plain, base, each = self.undyed(looks[0])
        makes, many, last = self.rng.choice(_MAKES), self.rng.choice(_FEW), self.rng.choice(_MAKES)
        more = [(self.rng.choice((1, 2, 4)), self.names.new()) for _ in range(self.rng.choice((0, 1, 2)))]
        bright = [look for look in looks if self.names.take(f"{look} {paint}")]
        mixed = self.rng.choice((0.0, 0.3, 0.5, 0.7))
        beside = self.beside(plain) if self.rng.random() < 0.5 else []
        for i, look in enumerate(bright):
            if not all(map(self.names.take, (f"{look} {plain}", f"{look} {shapes[0]}", f"{look} {shapes[1]}"))):
                continue
            blended = i > 1 and self.rng.random() < mixed
            for _ in range(self.rng.choice((1, 1, 2)) if blended else 0):
                some = self.blend(look, bright[:i])
                self.add(2, f"{look} {paint}", len(some), *((1, f"{other} {paint}") for other in some))
            if not blended or self.rng.random() < 0.4:
                for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
                    self.add(1, f"{look} {paint}", self.rng.choice((1, 1, 1, 2, 3)), (1, self.names.new()))
            self.add(2, f"{look} {plain}", makes, *self.either_way((each, base), (1, f"{look} {paint}")))
            self.add(3, f"{look} {shapes[0]}", last, (many, f"{look} {plain}"), *beside)
            if more:
                self.add(2, f"{look} {shapes[1]}", makes, (1, f"{look} {paint}"), *more)
            if plain in self.kinds:
                self.kinds[plain].append(f"{look} {plain}")
        self.repainted(looks, paint, shapes[0])

    def beside(self, plain: str) -> list[tuple[int, str]]:
        """What stands beside every colour in turn, as planks do in beds."""
        others = [*self.kinds, *self.kinds, *self.layers[0], *self.layers[1]]
        return [(self.rng.choice(_FEW), self.rng.choice([name for name in others if name != plain]))]

    def blend(self, look: str, others: Sequence[str]) -> list[str]:
        """What is mixed to it: pale red most often of red and another."""
        some = self.rng.sample(others, self.rng.choice((2, 2, 2, min(3, len(others)))))
        own = look.rpartition(" ")[2]
        if own in others and own not in some and self.rng.random() < 0.8:
            some[self.rng.randrange(len(some))] = own
        return some

    def repainted(self, looks: Sequence[str], paint: str, shape: str) -> None:
        """Such as a bed, which is also made of the first one by a dye: two ways to one thing."""
        if self.rng.random() < 0.5 and f"{looks[0]} {shape}" in self.names.used:
            for look in looks[1:]:
                if {f"{look} {paint}", f"{look} {shape}"} <= self.names.used:
                    self.add(
                        3, f"{look} {shape}", 1, *self.either_way((1, f"{looks[0]} {shape}"), (1, f"{look} {paint}"))
                    )

    def either_way(self, *needs: tuple[int, str]) -> tuple[tuple[int, str], ...]:
        return needs if self.rng.random() < 0.5 else needs[::-1]

    def undyed(self, look: str) -> tuple[str, str, int]:
        """What is dyed: a plain thing that is no kind, like glass, or one of the kind itself, like white wool."""
        plain = self.names.new()
        if self.rng.random() < 0.6 or not self.names.take(f"{look} {plain}"):
            return plain, plain, self.rng.choice(_EACH)
        self.kinds[plain] = [f"{look} {plain}"]
        self.add(1, f"{look} {plain}", 1, (self.rng.choice(_EACH), self.names.new()))
        return plain, f"{look} {plain}", 1

    def anything(self, level: int) -> None:
        """One ingredient of the layer just below, so that the depth is what it should be, and others from anywhere."""
        below = self.layers[level - 1] + ([*self.kinds] * 4 if level == 2 else [])
        needs = {self.rng.choice(below): self.rng.choice(_FEW if level > 1 else _EACH)}
        pool = [name for layer in self.layers[:level] for name in layer] + [*self.kinds] * (3 if level > 1 else 0)
        for _ in range(self.rng.choice((0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4))):
            other = self.rng.choice(self.layers[0] if self.rng.random() < 0.5 else pool)
            if other not in needs and not self.akin(other, needs):
                needs[other] = self.rng.choice(_EACH if other in self.layers[0] else _FEW)
        listed = list(needs.items())
        self.rng.shuffle(listed)
        makes = self.rng.choice(_MAKES)
        item = self.named_after(listed[0][0]) if self.rng.random() < 0.3 else self.names.new()
        self.add(level, item, makes, *((count, name) for name, count in listed))
        if self.rng.random() < (0.5 if level == 1 else 0.3):
            self.another_way(level, item, [(count, name) for name, count in listed])

    def another_way(self, level: int, item: str, needs: Sequence[tuple[int, str]]) -> None:
        """Of what lies around, or of several things: such as a stew with the other mushroom, or a bed that is dyed."""
        if self.rng.random() < 0.4:
            self.add(level, item, self.rng.choice(_MAKES), (self.rng.choice(_EACH), self.rng.choice(self.layers[0])))
            return
        kept = self.rng.sample(needs, self.rng.randint(min(1, len(needs) - 1), len(needs) - 1))
        pool = [*self.layers[0], *(name for layer in self.layers[:level] for name in layer)]
        own = {name: 1 for _, name in needs}
        fresh = [name for name in dict.fromkeys(pool) if name not in own and not self.akin(name, own)]
        for other in self.rng.sample(fresh, min(len(fresh), self.rng.choice((1, 1, 2)))):
            kept.append((self.rng.choice(_EACH if other in self.layers[0] else _FEW), other))
        self.rng.shuffle(kept)
        self.add(level, item, self.rng.choice(_MAKES), *kept)

    def adorned(self) -> None:
        """Such as cut and polished stone, of stone, and slabs of each: names that begin anew and end alike."""
        bases = [n for layer in self.layers[:3] for n in layer if len(n.split()) < 3 and not self.of_a_kind(n)]
        looks = self.rng.sample(self.names.looks, min(len(self.names.looks), self.rng.randint(1, 3)))
        for base in self.rng.sample(bases, min(len(bases), self.rng.randint(2, 5))):
            shape, makes, each = self.rng.choice(self.names.things), self.rng.choice(_MAKES), self.rng.choice(_FEW)
            made = [f"{look} {base}" for look in looks if self.names.take(f"{look} {base}")]
            for name in made:
                more = (
                    [(self.rng.choice((1, 1, 2, 4)), self.rng.choice(self.layers[0]))]
                    if self.rng.random() < 0.3
                    else []
                )
                self.add(2, name, makes, *self.either_way((each, base), *more))
            for name in (base, *made):
                if self.names.take(f"{name} {shape}"):
                    self.add(3, f"{name} {shape}", makes, (each, name))

    def twins(self) -> None:
        """Such as a soul lantern of a soul torch, beside a lantern of a torch: the same but for one word."""
        look = self.rng.choice(self.names.looks)
        ways = [r for r in self.recipes if not any(need.item in self.kinds for need in r.needs)]
        ways = [r for r in ways if not self.of_a_kind(r.item)]
        for way in self.rng.sample(ways, min(len(ways), self.rng.randint(1, 4))):
            own = self.rng.randrange(len(way.needs))
            other = f"{look} {way.needs[own].item}"
            if self.names.take(f"{look} {way.item}") and (other in self.names.used or self.names.take(other)):
                needs = [(each, other if at == own else name) for at, (each, name) in enumerate(way.needs)]
                self.add(3, f"{look} {way.item}", way.makes, *needs)

    def named_after(self, ingredient: str) -> str:
        """`oak plank door` of `oak plank`."""
        name = f"{ingredient} {self.rng.choice(self.names.things)}"
        return name if len(name.split()) < 5 and self.names.take(name) else self.names.new()

    def of_a_kind(self, name: str) -> bool:
        return any(name in members for members in self.kinds.values())

    def akin(self, name: str, needs: dict[str, int]) -> bool:
        """A kind and one of it never stand side by side."""
        return any(name in self.kinds.get(n, ()) or n in self.kinds.get(name, ()) for n in needs)


def imagine(rng: Random, deepest: int = 4, wide: bool = False) -> Book:
    """A book with things of every depth up to `deepest`, and with names that tell what is of a kind: recipes that take
    something whose name tells it wrongly are left out."""
    while True:
        book = _filled(rng, deepest, wide)
        for _ in range(_SIFTED):
            wrong = _misnamed(book)
            if not wrong:
                return book
            kept = [recipe for recipe in book.recipes if wrong.isdisjoint(need.item for need in recipe.needs)]
            book = Book(book.name, kept, book.kinds)


def _misnamed(book: Book) -> set[str]:
    """What is a kind that is made and does not look so, or the other way round, what has something made that looks like
    one of it and is none, and a kind of which none is made while recipes name one of it."""
    scene = Scene(book.recipes, {})
    named = {need.item for recipe in book.recipes for need in recipe.needs}
    made = {kind for kind, members in book.kinds.items() if any(map(book.craftable, members))}
    others = {kind: scene.products.difference(members) for kind, members in book.kinds.items() if kind in scene.members}
    strange = {kind for kind, products in others.items() if any(scene.fits(item, kind) for item in products)}
    lost = {kind for kind in book.kinds.keys() - made if named.intersection(book.kinds[kind])}
    return strange | lost | (scene.members.keys() ^ (named & made))


def _filled(rng: Random, deepest: int, wide: bool) -> Book:
    builder = BookBuilder(rng, wide)
    forms = (
        (builder.made_kind, 0.9), (builder.fetched_kind, 0.2), (builder.tools, 0.3), (builder.coloured, 0.6),
        (builder.of_kind, 0.75), (builder.of_one_stuff, 0.45),
    )  # fmt: skip
    for form, often in forms:
        if rng.random() < often:
            form()
    many = rng.choice(((8, 20), (3, 10), (1, 4))) if wide else rng.choice(((3, 10), (1, 4)))
    for level in range(1, deepest + 1):
        if len(builder.layers) <= level:
            builder.layers.append([])
        for _ in range(rng.randint(*many)):
            builder.anything(level)
    for form, often in ((builder.adorned, 0.75), (builder.twins, 0.75)):
        if rng.random() < often:
            form()
    return Book("imagined", builder.recipes, builder.kinds)


def _by_kind(book: Book, goal: str) -> bool:
    """Is one of a kind to be made on the way? Much of a game is, and it is what is misread most."""
    return any(made_kind(book, need.item) for recipe in gold(book, goal) for need in recipe.needs)


def made_kind(book: Book, name: str) -> bool:
    """Is it a kind such as planks, of which each is made?"""
    return any(map(book.craftable, book.kinds.get(name, ())))


def alike(name: str, names: Iterable[str]) -> bool:
    """Does another of these end with it, or it with another?"""
    return any(other.endswith(f" {name}") or name.endswith(f" {other}") for other in names)


def misread(recipe: Recipe, book: Book) -> bool:
    """Is it one of those that are read wrong most: another name ends with its own, the same thing is made in another
    way, or from one of its ingredients on another recipe goes on otherwise (`1 blue dye, 1 white wool` beside
    `1 blue dye, 1 red dye`)?"""
    if len(book.of[recipe.item]) > 1 or alike(recipe.item, book.of):
        return True
    return len(recipe.needs) > 1 and any(
        other != recipe and len(other.needs) > 1 and _after(need, other) != _after(need, recipe)
        for need in recipe.needs
        for other in book.uses[need.item]
        if need in other.needs
    )


def _after(need: Ingredient, recipe: Recipe) -> tuple[Ingredient, ...]:
    at = recipe.needs.index(need) + 1
    return recipe.needs[at : at + 1]


def imagined(rng: Random, depth: int, name: str, wide: bool = False) -> Task | None:
    """A task that carries such a book. Up to ten of the commands shown lead astray; in a wide book most often ten, and
    at times many more."""
    book = imagine(rng, max(depth, 2), wide)
    goals = book.goals(depth)
    if rng.random() < _KINDS:
        goals = [goal for goal in goals if _by_kind(book, goal)]
    if not goals:
        return None
    wrong = {recipe for recipe in book.recipes if misread(recipe, book)}
    begun = Counter(item.split()[0] for item in book.of)
    weights = [
        (1 + _WEIGHT * min(_MOST, len(wrong.intersection(gold(book, goal)))))
        * (_CROWDED if begun[goal.split()[0]] >= _CROWD else 1)
        for goal in goals
    ]
    goal = rng.choices(goals, weights)[0]
    needed = set(gold(book, goal))
    share = 1.0 if wide else rng.random()
    shown = [r for r in commands(book, goal, rng) if r in needed or rng.random() < share]
    if wide:  # of things that come in many kinds the game shows every one
        others = [r for r in book.recipes if r not in shown and r.item != goal]
        near = [r for r in others if alike(r.item, {r.item for r in needed})]
        shown += rng.sample(near, min(len(near), rng.choice((0, 1, 2, 3))))
        others = [r for r in others if r not in shown]
        shown += rng.sample(others, min(len(others), rng.choice((0, 0, 0, 4, 8))))
        rng.shuffle(shown)
    data: dict[str, Json] = {"goal": goal, "commands": [r.line() for r in shown]}
    data["recipes"] = [r.line() for r in book.recipes]
    data["kinds"] = {kind: list(members) for kind, members in book.kinds.items()}
    return Task(name, f"depth {depth}", f"craft {goal}", data)
