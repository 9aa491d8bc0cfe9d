"""Invents a shop of 300 products by seed, with instructions; splits share no names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from random import Random

from bt_envs.webshop.catalogue import Product, ShopCatalogue, known
from bt_envs.webshop.files import asked, below
from bt_runtime.types import Task

PRODUCTS = 300


@lru_cache(maxsize=8)
def products(split: str, number: int) -> tuple[Product, ...]:
    rng = Random(f"webshop {split} {number}")
    return tuple(_product(rng, split, i) for i in range(PRODUCTS))


@lru_cache(maxsize=8)
def catalogue(split: str, number: int) -> ShopCatalogue:
    return ShopCatalogue.of(products(split, number))


def _product(rng: Random, split: str, number: int) -> Product:
    words = known()
    noun = rng.choice([*words["things"]])
    brand = f"{rng.choice(words['starts'][split])}{rng.choice(words['ends'])}"
    has = rng.sample(words["qualities"], 3)
    options = {"color": rng.sample(words["colours"], 3)} if rng.random() < 0.7 else {}
    if noun in ("jacket", "scarf", "tent", "backpack"):
        options["size"] = [*words["sizes"]]
    price = rng.randint(8, 300) + 0.99
    asin = f"B{'0123456789'[number % 10]}{split[0].upper()}{number:07}"[:10]
    shelf = words["things"][noun]
    title = f"{brand} {has[0].title()} {noun.title()} Model {rng.randint(100, 999)}"
    text = f"This {noun} is {has[0]} and {has[1]}."
    return Product(
        asin, title, f"${price}", price, f"{noun}s", " › ".join(shelf), options, tuple(has), text,
        (f"{has[2].capitalize()}", f"Made for every {shelf[0].lower()}"), tuple(sorted({noun, brand.lower()})),
    )  # fmt: skip


def tasks(split: str, number: int) -> Iterator[Task]:
    """Yields invented tasks: two attributes, a value of each option, and a limit above the product's price."""
    rng = Random(f"webshop goals {split} {number}")
    shelf = products(split, number)
    for index in count():
        product = rng.choice(shelf)
        wanted = rng.sample(product.attributes, 2)
        chosen = {name: rng.choice(values) for name, values in product.options.items()}
        limit = (int(product.value) // 10 + rng.randint(1, 4)) * 10.0
        noun = product.query.removesuffix("s")
        options = ", and ".join(f"{name}: {value}" for name, value in sorted(chosen.items()))
        text = f"find me a {wanted[0]} and {wanted[1]} {noun}{' with ' + options if options else ''}{below(limit)}"
        task = asked(f"webshop-{split}-{number}-{index:04}", "invented", text, product.asin, wanted, chosen, limit)
        yield task._replace(data={**task.data, "invented": f"{split}-{number}"})
