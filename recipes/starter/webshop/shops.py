"""Lessons in WebShop: a shop is made up for each, with rivals of what is wanted that cost more or less."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from bt_envs.webshop.catalogue import Product, ShopCatalogue
from bt_envs.webshop.world import WebShop
from bt_runtime.types import Task
from recipes.starter import data
from recipes.starter.exercise import Exercise, solved, strategy
from recipes.starter.lesson import Slips, Taught
from recipes.starter.seen import Seen
from recipes.starter.webshop.teacher import Order, astray, order_of, teacher

_MIXTURE = (("react", 40), ("adapt", 30), ("reactree", 15), ("plan_and_execute", 15))
_SLIPPING = (0.0, 0.0, 0.0, 0.1)  # of a lesson's decisions
MOST = 4  # documents of one task
_PLAIN = 0.6  # of the shops number their products
_LONG = 0.25  # of the shops show ten products of a page, the others three
_CHEAP = 0.7  # of the lessons go past what costs more


class Shop(WebShop):
    """In memory: no act takes a thread."""

    instant = True


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks that came out well; the same numbers give the same lessons."""
    return solved(exercises(seed, count, first), MOST)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    for number in range(first, first + count):
        rng = Random(f"webshop lesson {seed} {number}")
        name = rng.choices([name for name, _ in _MIXTURE], [often for _, often in _MIXTURE])[0]
        items = 10 if rng.random() < _LONG else 3
        shop, task, order = made(rng, f"shop-{seed}-{number}", items)
        slips = Slips(rng.choice(_SLIPPING), rng, astray=partial(_astray, rng=rng, order=order))
        told = partial(teacher, order=order)
        world = Shop(_one(shop), items=items)
        yield Exercise(f"webshop {name}", strategy(name), world, task, told, slips, decisions=100), rng


def _one(catalogue: ShopCatalogue) -> Any:
    return lambda task: catalogue


def _astray(seen: Seen, sentences: Any, rng: Random, order: Order) -> str:
    others = astray(sentences)
    return f"Act: {rng.choice(others)}" if others else teacher(seen, sentences, order)


# A shop -------------------------------------------------------------------------------------------------------


def made(rng: Random, name: str, items: int = 3) -> tuple[ShopCatalogue, Task, Order]:
    """A shop, and an instruction for one of the products that the first page will show."""
    words = data.read("webshop/shop_words")
    letter, plain = rng.choice("ABCFGHJKLMNPQRSUVWXYZ"), rng.random() < _PLAIN
    things, qualities = rng.sample(words["things"], 6), rng.sample(words["qualities"], 8)
    names = rng.choices([*words["often"]], [*words["often"].values()], k=2)
    options = {each: rng.sample(words["options"][each], rng.randint(4, 5)) for each in dict.fromkeys(names)}
    options = {} if rng.random() < 0.2 else options
    maker = Maker(words, rng, options, letter, plain)
    products = [maker.product(rng.choice(things), rng.sample(qualities, 3)) for _ in range(rng.randint(30, 50))]
    at = rng.choice(products)
    thing, chosen = at.query[:-1], {each: rng.choice(values) for each, values in at.options.items()}
    wanted = rng.sample(list(at.attributes), rng.choices((1, 2, 3), (1, 7, 1))[0])
    for _ in range(rng.randint(1, 4) if items < 10 else rng.randint(4, 9)):
        has = [*wanted, *rng.sample([q for q in qualities if q not in wanted], 3 - len(wanted))]
        rng.shuffle(has)
        near = max(3, int(at.value) + rng.randint(-60, 60))
        price = near if rng.random() < 0.4 else rng.randint(5, 320)
        products.insert(rng.randint(0, len(products)), maker.product(thing, has, price, chosen))
    shop = ShopCatalogue.of(products)
    asin, limit = _within(rng, shop.search(" ".join([*wanted, thing, *chosen.values()]))[:items], wanted, chosen)
    text = _instruction(words, rng, thing, wanted, chosen, limit)
    given = {"instruction": text, "asin": asin, "attributes": wanted, "options": [*chosen.values()], "limit": limit}
    task = Task(name, "webshop", text, given)
    return shop, task, order_of(task, thing)


def _within(rng: Random, found: list[Product], wanted: list[str], chosen: dict[str, str]) -> tuple[str, float]:
    """Of what a page shows, one that is right, and a limit that often leaves out what stands before it."""
    fits = [
        {*wanted} <= {*p.attributes} and {*chosen.values()} <= {v for o in p.options.values() for v in o} for p in found
    ]
    right = [p for p, fit in zip(found, fits, strict=True) if fit] or found
    cheap = min(right, key=lambda p: p.value)
    bought = cheap if rng.random() < _CHEAP else rng.choice(right)
    least = int(bought.value) // 10 * 10 + 10
    dearer = [int(p.value) // 10 * 10 for p in found[: found.index(bought)] if p.value >= least]
    most = max(least, min(dearer)) if dearer else least + 30
    return bought.asin, float(
        rng.choice((rng.randrange(least, most + 1, 10), min(most, least + rng.choice((0, 10, 20)))))
    )


class Maker:
    """Makes the products of one shop."""

    def __init__(
        self, words: dict[str, Any], rng: Random, options: dict[str, list[str]], letter: str, plain: bool
    ) -> None:
        self.words, self.rng, self.options = words, rng, options
        self.letter, self.plain, self.count = letter, plain, 0
        self.cents = rng.choice((99, 99, 99, 95, 50, 0, 49))

    def product(
        self, thing: str, has: list[str], price: int | None = None, chosen: dict[str, str] | None = None
    ) -> Product:
        rng, words = self.rng, self.words
        brand = f"{rng.choice(words['starts'])}{rng.choice(words['ends'])}"
        value = (rng.randint(5, 320) if price is None else price) + self.cents / 100
        number = rng.randint(2, 999)
        title = rng.choice(words["titles"]).format(brand=brand, Q=has[0].title(), Thing=thing.title(), n=number)
        told = rng.choice(words["told"]).format(a=has[0], b=has[1], thing=thing)
        return Product(
            self._asin(), title, f"${value:.2f}", value, f"{thing}s", f"All › {thing}s", self._options(chosen),
            tuple(has), told, (has[2],), tuple(sorted({thing, brand.lower()})),
        )  # fmt: skip

    def _asin(self) -> str:
        self.count += 1
        if self.plain:
            return f"B{self.count % 10}{self.letter}{self.count:07}"
        return f"B0{self.letter}" + "".join(self.rng.choices("0123456789BCFGHJKLMNPQRSVWXYZ", k=7))

    def _options(self, chosen: dict[str, str] | None) -> dict[str, list[str]]:
        """Some of each row's values; those that are wanted, where somebody says which."""
        found = {}
        for name, values in self.options.items():
            if chosen is None and self.rng.random() < 0.15:
                continue
            some = self.rng.sample(values, self.rng.randint(2, min(4, len(values))))
            if chosen is not None and name in chosen and chosen[name] not in some:
                some[self.rng.randrange(len(some))] = chosen[name]
            found[name] = some
        return found


def _instruction(
    words: dict[str, Any], rng: Random, thing: str, wanted: list[str], chosen: dict[str, str], limit: float
) -> str:
    """As somebody asks for it."""
    both = rng.choice(words["alike"][len(wanted) - 1]).format(*wanted)
    options = ""
    if chosen:
        rows = [*chosen.items()] if rng.random() < 0.4 else sorted(chosen.items())
        bare = rng.random() < 0.2
        named = "{value}" if bare else rng.choice(words["named"])
        listed = rng.choice(words["joint"]).join(named.format(name=name, value=value) for name, value in rows)
        options = rng.choice(words["bare" if bare else "given"]).format(o=listed)
    told = f"{limit:.2f}" if rng.random() < 0.7 else f"{limit:g}"
    cost = rng.choice(words["cost"]).format(l=told)
    text = str(rng.choice(words["asked"])).format(q=both, thing=thing, o=options, l=cost)
    return text[:1].upper() + text[1:] if rng.random() < 0.15 else text
