"""An invented shop of 300 products by seed, and instructions for them; no name of one split is in another's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random

from bt_runtime.envs.webshop.catalogue import Catalogue, Product
from bt_runtime.types import Json

PRODUCTS = 300
_THINGS = {  # noun → where it is shelved
    "table": ("Home", "Furniture", "Tables"), "chair": ("Home", "Furniture", "Chairs"),
    "lamp": ("Home", "Lighting", "Lamps"), "mug": ("Kitchen", "Drinkware", "Mugs"),
    "kettle": ("Kitchen", "Appliances", "Kettles"), "jacket": ("Clothing", "Outdoor", "Jackets"),
    "scarf": ("Clothing", "Accessories", "Scarves"), "tent": ("Outdoor", "Camping", "Tents"),
    "backpack": ("Outdoor", "Bags", "Backpacks"), "speaker": ("Electronics", "Audio", "Speakers"),
}  # fmt: skip
_QUALITIES = (
    "water resistant",
    "easy to clean",
    "hand made",
    "light weight",
    "heavy duty",
    "space saving",
    "long lasting",
)
_COLOURS = ("black", "white", "red", "blue", "green", "grey", "yellow")
_SIZES = ("small", "medium", "large")
_STARTS = {"train": ("Bel", "Dor", "Gal", "Mir"), "dev": ("Fen", "Hol", "Kas"), "eval": ("Jun", "Nev", "Sib", "Wol")}
_ENDS = ("ada", "ino", "era", "ux", "ton", "eva", "oro")


@lru_cache(maxsize=8)
def products(split: str, number: int) -> tuple[Product, ...]:
    rng = Random(f"webshop {split} {number}")
    return tuple(_product(rng, split, i) for i in range(PRODUCTS))


@lru_cache(maxsize=8)
def catalogue(split: str, number: int) -> Catalogue:
    return Catalogue.of(products(split, number))


def _product(rng: Random, split: str, number: int) -> Product:
    noun = rng.choice([*_THINGS])
    brand = f"{rng.choice(_STARTS[split])}{rng.choice(_ENDS)}"
    has = rng.sample(_QUALITIES, 3)
    options = {"color": rng.sample(_COLOURS, 3)} if rng.random() < 0.7 else {}
    if noun in ("jacket", "scarf", "tent", "backpack"):
        options["size"] = [*_SIZES]
    price = rng.randint(8, 300) + 0.99
    asin = f"B{'0123456789'[number % 10]}{split[0].upper()}{number:07}"[:10]
    where = " › ".join(_THINGS[noun])
    title = f"{brand} {has[0].title()} {noun.title()} Model {rng.randint(100, 999)}"
    text = f"This {noun} is {has[0]} and {has[1]}."
    return Product(
        asin, title, f"${price}", price, f"{noun}s", where, options, tuple(has), text,
        (f"{has[2].capitalize()}", f"Made for every {_THINGS[noun][0].lower()}"), tuple(sorted({noun, brand.lower()})),
    )  # fmt: skip


def goals(split: str, number: int) -> Iterator[dict[str, Json]]:
    """What is asked for: two qualities, a value of each option, and a price above that of the product."""
    rng = Random(f"webshop goals {split} {number}")
    shelf = products(split, number)
    while True:
        product = rng.choice(shelf)
        wanted = rng.sample(product.attributes, 2)
        chosen = {name: rng.choice(values) for name, values in product.options.items()}
        limit = (int(product.value) // 10 + rng.randint(1, 4)) * 10.0
        noun = product.query.removesuffix("s")
        options = ", and ".join(f"{name}: {value}" for name, value in sorted(chosen.items()))
        text = f"find me a {wanted[0]} and {wanted[1]} {noun}{' with ' + options if options else ''}"
        yield {
            "instruction": f"{text}, and price lower than {limit:.2f} dollars", "asin": product.asin,
            "attributes": wanted, "options": [*chosen.values()], "limit": limit,
        }  # fmt: skip
