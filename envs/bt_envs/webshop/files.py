"""Reads a shop's files as users have them: the decoded small catalogue with goals, or WebShop's own items and goals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from bt_envs.webshop.catalogue import Product, known, read_row
from bt_envs.webshop.reward import NO_LIMIT
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import read_mapping
from bt_runtime.skills.worlds.entries import entries
from bt_runtime.skills.worlds.outline import inside, outline, told
from bt_runtime.types import Task

HINT = "WebShop's items_shuffle.json, items_ins_v2.json and items_human_ins.json, or products.jsonl.gz with goals"
_WORD = re.compile(r"[a-z]{3,}")
Form = Literal["products", "goals", "items", "of people", "made"]


class Shop(NamedTuple):
    items: Path
    goals: tuple[Path, ...]
    decoded: bool  # not WebShop's own form


def form_of(path: Path) -> Form | None:
    """Recognises a file: decoded products, their goals, WebShop's own items, people's instructions, or generated
    ones."""
    found = outline(path)
    if found.rows and found.has("asin"):
        if found.has("instruction", "price_upper"):
            return "goals"
        return "items" if found.has("name") else "products" if found.has("title", "query") else None
    if found.rows or "instruction" not in found.inner:
        return None
    return "of people" if "instruction_options" in found.inner else "made" if "attributes" in found.inner else None


def of_forms(place: Path, *forms: Form) -> list[Path]:
    """The file itself, or those in a folder."""
    return [path for path in ([place] if place.is_file() else inside(place)) if form_of(path) in forms]


def shop_in(place: Path) -> Shop:
    """Finds a shop's files in a folder, beside a file of products, or in a `webshop` folder inside."""
    folder = place if place.is_dir() else place.parent
    folder = folder / "webshop" if (folder / "webshop").is_dir() else folder
    found = of_forms(place if place.is_file() else folder, "products", "items")
    if not found:
        raise BtError(f"there are no products in {place}{told(folder)}", HINT)
    decoded = form_of(found[0]) == "products"
    return Shop(found[0], tuple(of_forms(folder, *(("goals",) if decoded else ("of people", "made")))), decoded)


def products(shop: Shop) -> Iterator[Product]:
    asked = {} if shop.decoded else _instructions(shop, "made")
    for number, row in enumerate(entries(shop.items, HINT), 1):
        try:
            product = read_row(row) if shop.decoded else _item(row, asked.get(str(row.get("asin")), {}))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise BtError(f"product {number} of {shop.items} is none of WebShop's: {problem!r}", HINT) from problem
        if product is not None:
            yield product


def tasks(shop: Shop, product_of: Callable[[str], Product | None]) -> Iterator[Task]:
    """Yields the shop's tasks. `product_of` finds a product by its asin; goals for missing products are left out."""
    if shop.decoded:
        for row in (row for path in shop.goals for row in entries(path, HINT)):
            named = (row["id"], row["kind"], row["instruction"], row["asin"], row["attributes"])
            yield asked(*named, [value for _, value in row.get("options") or ()], row["price_upper"])
        return
    people, rule = _instructions(shop, "of people"), _instructions(shop, "made")
    said = (("human", asin, i, entry) for asin, each in people.items() for i, entry in enumerate(each))
    made = (("synthetic", asin, 0, entry) for asin, entry in rule.items() if entry.get("instruction"))
    for kind, asin, number, entry in itertools.chain(said, made):
        product, wanted = product_of(asin), entry.get("instruction_attributes") or ()
        if product is not None and wanted:
            limit, told = _limit(asin, number, product)
            said_once = [(str(entry["instruction"]).strip("."), entry.get("instruction_options") or ())]
            for i, (text, options) in enumerate(said_once if kind == "human" else _combined(entry, product), number):
                yield asked(f"{kind[0]}-{asin}-{i}", kind, f"{text}{told}", asin, wanted, options, limit)


def _combined(entry: Mapping[str, Any], product: Product) -> Iterator[tuple[str, Iterable[Any]]]:
    """Makes at most two goals of a product, each with a value for every option."""
    names = sorted(product.options)
    for values in itertools.islice(itertools.product(*(product.options[name] for name in names)), 2):
        told = ", and ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
        yield f"{entry['instruction']}{' with ' + told if told else ''}", values


def asked(name: Any, kind: str, text: str, asin: str, attributes: Any, options: Any, limit: float) -> Task:
    """Builds a task. `options`: the wanted values, or a mapping to them."""
    values = [str(each) for each in (options.values() if isinstance(options, Mapping) else options)]
    data = {"instruction": text, "asin": asin, "attributes": list(attributes), "options": values, "limit": float(limit)}
    return Task(str(name), str(kind), text, data)


def below(limit: float) -> str:
    return f", and price lower than {limit:.2f} dollars"


def _limit(asin: str, number: int, product: Product) -> tuple[float, str]:
    """Draws a price limit, a multiple of ten above the product's price, and returns the limit with its phrase."""
    above = [float(p) for p in range(10, 1000, 10) if p > product.value][:4]
    if len(above) < 2:
        return NO_LIMIT, ""
    limit = max(Random(f"{asin} {number}").sample(above, 2))
    return limit, below(limit)


def _instructions(shop: Shop, form: Form) -> dict[str, Any]:
    path = next((p for p in shop.goals if form_of(p) == form), None)
    return read_mapping(path, HINT) if path is not None else {}


def _item(row: Mapping[str, Any], asked: Mapping[str, Any]) -> Product | None:
    """Reads an entry of items_shuffle.json; None for one that WebShop skips."""
    asin = str(row["asin"])
    if asin == "nan" or len(asin) > 10:
        return None
    priced = str(row.get("pricing") or "").split("$")[1:3]
    prices = [float(re.sub(r"[^\d.]", "", each)) for each in priced] or [100.0]
    options = {
        str(name).lower(): [str(each["value"]).strip().replace("/", " | ").lower() for each in values]
        for name, values in (row.get("customization_options") or {}).items()
        if values
    }
    bullets = row.get("small_description") or [""]
    title = str(row["name"])
    return Product(
        asin, title, " to ".join(f"${p}" for p in prices), sum(prices) / len(prices), str(row["query"]).lower().strip(),
        str(row["product_category"]), options, tuple(asked.get("attributes") or ("DUMMY_ATTR",)),
        str(row.get("full_description") or ""), tuple(map(str, bullets if isinstance(bullets, list) else [bullets])),
        tuple(sorted({w for w in _WORD.findall(title.lower()) if w not in known()["little"]})),
    )  # fmt: skip
