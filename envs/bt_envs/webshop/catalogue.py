"""A shop's products in WebShop's format, in memory or in an SQLite file with a word index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from bt_envs.index_file import Indexed
from bt_envs.webshop.ranking import TABLE, TextIndex, Words, ranked
from bt_runtime.skills.worlds.content import word_lists

FOUND = 50  # products that a search ranks
_TABLES = f"CREATE TABLE product (id INTEGER PRIMARY KEY, asin TEXT NOT NULL UNIQUE, data TEXT NOT NULL); {TABLE}"
known = partial(word_lists, "webshop/shop")  # the words of the made-up shops, and of WebShop's own rules


class Product(NamedTuple):
    asin: str
    title: str
    price: str = "$100.0"  # the price as shown
    value: float = 100.0  # the price as compared: the middle of a range
    query: str = ""
    category: str = ""  # its path, parted by ›
    options: Mapping[str, list[str]] = {}
    attributes: tuple[str, ...] = ()
    description: str = ""
    bullets: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()  # nouns of its title

    def text(self) -> str:
        """Returns the text that a search matches."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return " ".join([self.title, self.description, *self.bullets[:1], options]).lower()


class ShopCatalogue(Indexed):
    table = "product"

    def __init__(self, base: sqlite3.Connection) -> None:
        super().__init__(base)
        self._words = Words()

    def product(self, asin: str) -> Product | None:
        found = self._base.execute("SELECT data FROM product WHERE asin = ?", (asin.upper(),)).fetchone()
        return _read(found[0]) if found is not None else None

    def search(self, words: str) -> list[Product]:
        """Returns the best products by BM25; of equals the one with the lower number first."""
        one = "SELECT asin, data FROM product WHERE id = ?"
        found = ranked(self._base, self._count, self._words(words.lower()), FOUND)
        rows = [(score, *self._base.execute(one, (number,)).fetchone()) for score, number in found]
        return [_read(data) for _, _, data in sorted(rows, key=lambda row: (-row[0], row[1]))[:FOUND]]

    @staticmethod
    def fill(base: sqlite3.Connection, rows: Iterable[Product]) -> None:
        index, seen = TextIndex(), set()
        with base:
            base.executescript(_TABLES)
            for product in rows:
                if product.asin not in seen:
                    seen.add(product.asin)
                    row = (index.add(product.text()), product.asin, json.dumps(list(product)))
                    base.execute("INSERT INTO product VALUES (?, ?, ?)", row)
            index.write(base)


def _read(data: str) -> Product:
    kept = json.loads(data)
    return Product._make(tuple(each) if isinstance(each, list) else each for each in kept)


def read_row(row: Mapping[str, Any]) -> Product:
    """Parses a line of the decoded catalogue; its fields have their usual names."""
    return Product(
        str(row["asin"]), str(row["title"]), str(row["price"]), float(row["price_value"]), str(row["query"]),
        str(row["product_category"]), row["options"] or {}, tuple(row["attributes"]), str(row["description"] or ""),
        tuple(map(str, row["bullets"] or ())), tuple(row["title_nouns"]),
    )  # fmt: skip
