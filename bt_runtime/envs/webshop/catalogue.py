"""What a shop sells: products as WebShop's files have them, in an SQLite file with a BM25 index, or in memory.

The index ranks as Lucene does: English tokens stemmed by Porter's algorithm, k1 0.9, b 0.4, lengths rounded to a byte.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.envs import index_file
from bt_runtime.faults.diagnostic import BtError

FOUND = 50  # products that a search ranks
NEEDS = "pip install 'bt_runtime[webshop]' brings what the shop's search needs"
_K1, _B = 0.9, 0.4
# Words by Unicode's rules: letters may be joined by ' . : and digits by . , ; a pictograph is a word.
_JOINED = r"(?<=[^\W\d_])['.:\u2019\u00b7](?=[^\W\d_])|(?<=\d)[.,;'](?=\d)"
_WORD = re.compile(rf"\w(?:\w|{_JOINED})*|[\u2600-\u27bf\U0001f300-\U0001faff]")
_LITTLE = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with"
)
_STOP = frozenset(_LITTLE.split())
_TABLES = """
CREATE TABLE product (id INTEGER PRIMARY KEY, asin TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
CREATE TABLE term (term TEXT PRIMARY KEY, pages BLOB NOT NULL, weights BLOB NOT NULL) WITHOUT ROWID;
"""


class Product(NamedTuple):
    asin: str
    title: str
    price: str = "$100.0"  # as it is shown
    value: float = 100.0  # as it is compared: of a range the middle
    query: str = ""
    category: str = ""  # its path, parted by ›
    options: Mapping[str, list[str]] = {}
    attributes: tuple[str, ...] = ()
    description: str = ""
    bullets: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()  # of its title

    def text(self) -> str:
        """What a search looks at."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return " ".join([self.title, self.description, *self.bullets[:1], options]).lower()


class Words:
    """Texts as terms of the index."""

    def __init__(self) -> None:
        try:
            import snowballstemmer
        except ImportError as missing:
            raise BtError(f"WebShop's search needs a package: {missing}", NEEDS) from missing
        self._stem = snowballstemmer.stemmer("porter").stemWord
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> list[str]:
        known, found = self._known, []
        for word in _WORD.findall(text):
            word = word.lower().removesuffix("'s").removesuffix("\u2019s")
            if word and word not in _STOP:
                stem = known.get(word)
                if stem is None:
                    stem = known[word] = self._stem(word)
                found.append(stem)
        return found


class Catalogue:
    def __init__(self, base: sqlite3.Connection) -> None:
        self._base, self._words = base, Words()
        self._count = int(base.execute("SELECT count(*) FROM product").fetchone()[0])

    @classmethod
    def of(cls, products: Iterable[Product]) -> Catalogue:
        return cls(index_file.in_memory(partial(_fill, products=products)))

    @classmethod
    def at(cls, path: Path, products: Iterator[Product]) -> Catalogue:
        return cls(index_file.at(path, partial(_fill, products=products)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Product]:
        for (data,) in self._base.execute("SELECT data FROM product ORDER BY asin"):
            yield _read(data)

    def product(self, asin: str) -> Product | None:
        found = self._base.execute("SELECT data FROM product WHERE asin = ?", (asin.upper(),)).fetchone()
        return _read(found[0]) if found is not None else None

    def search(self, words: str) -> list[Product]:
        """The best by BM25; of equals the first by its number."""
        try:
            import numpy
        except ImportError as missing:
            raise BtError(f"WebShop's search needs a package: {missing}", NEEDS) from missing
        scores: Any = numpy.zeros(self._count + 1, numpy.float32)
        for term, times in Counter(self._words(words.lower())).items():
            found = self._base.execute("SELECT pages, weights FROM term WHERE term = ?", (term,)).fetchone()
            if found is not None:
                pages = numpy.frombuffer(found[0], numpy.int32)
                rare = math.log(1 + (self._count - len(pages) + 0.5) / (len(pages) + 0.5))
                scores[pages] += numpy.float32(times * rare) * numpy.frombuffer(found[1], numpy.float32)
        most = min(FOUND, int((scores > 0).sum()))
        if not most:
            return []
        least = numpy.partition(scores, -most)[-most]
        best = numpy.flatnonzero(scores >= least)[: FOUND * 20]
        one = "SELECT asin, data FROM product WHERE id = ?"
        rows = [(float(scores[i]), *self._base.execute(one, (int(i),)).fetchone()) for i in best]
        return [_read(data) for _, _, data in sorted(rows, key=lambda row: (-row[0], row[1]))[:most]]

    def close(self) -> None:
        self._base.close()


def rounded(length: int) -> int:
    """A length as the index keeps it in one byte: whole up to 24, and eight values for each doubling above."""
    more = length - 24
    if more < 16:
        return length
    shift = more.bit_length() - 4
    return 24 + ((more >> shift) << shift)


def _read(data: str) -> Product:
    kept = json.loads(data)
    return Product._make(tuple(each) if isinstance(each, list) else each for each in kept)


def _fill(base: sqlite3.Connection, products: Iterable[Product]) -> None:
    """Products are read once, one after the other; what is held of them meanwhile are numbers."""
    words = Words()
    pages: dict[str, array[int]] = defaultdict(lambda: array("i"))
    counts: dict[str, array[int]] = defaultdict(lambda: array("H"))
    lengths, seen = array("i", [0]), set()
    with base:
        base.executescript(_TABLES)
        for product in products:
            if product.asin in seen:
                continue
            seen.add(product.asin)
            number = len(lengths)
            base.execute("INSERT INTO product VALUES (?, ?, ?)", (number, product.asin, json.dumps(list(product))))
            found = Counter(words(product.text()))
            lengths.append(found.total())
            for term, times in found.items():
                pages[term].append(number)
                counts[term].append(min(times, 65_535))
        mean = sum(lengths) / max(1, len(lengths) - 1)
        norms = [_K1 * (1 - _B + _B * rounded(length) / mean) if mean else 1.0 for length in lengths]
        for term, numbers in pages.items():
            weights = array("f", (n / (n + norms[i]) for i, n in zip(numbers, counts[term], strict=True)))
            base.execute("INSERT INTO term VALUES (?, ?, ?)", (term, numbers.tobytes(), weights.tobytes()))


def read_row(row: Mapping[str, Any]) -> Product:
    """A line of the decoded catalogue: fields by the names that it has."""
    return Product(
        str(row["asin"]), str(row["title"]), str(row["price"]), float(row["price_value"]), str(row["query"]),
        str(row["product_category"]), row["options"] or {}, tuple(row["attributes"]), str(row["description"] or ""),
        tuple(map(str, row["bullets"] or ())), tuple(row["title_nouns"]),
    )  # fmt: skip
