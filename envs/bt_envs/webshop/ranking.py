"""Ranks texts by words like Lucene's English analyzer: Porter's stems, BM25 with k1 0.9 and b 0.4, rounded lengths.

The index is a table of an SQLite file: of each term the numbers of the texts, and what it weighs in them.
"""

from __future__ import annotations

import math
import re
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from bt_runtime.language.faults.extra import Extra

_MOST_TIMES = 65_535
_K1, _B = 0.9, 0.4
# Words by Unicode's rules: letters may be joined by ' . : and digits by . , ; a pictograph is a word.
_JOINED = r"(?<=[^\W\d_])['.:\u2019\u00b7](?=[^\W\d_])|(?<=\d)[.,;'](?=\d)"
_WORD = re.compile(rf"\w(?:\w|{_JOINED})*|[\u2600-\u27bf\U0001f300-\U0001faff]")
_LITTLE = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with"
)
_STOP = frozenset(_LITTLE.split())
TABLE = "CREATE TABLE term (term TEXT PRIMARY KEY, pages BLOB NOT NULL, weights BLOB NOT NULL);"
# With numbers for its rows: without them a look at one term reads those that lie on the way to it.


def package(name: str) -> Any:
    """Imports a package on first use, because each is slow to import."""
    with Extra("webshop", "ranking texts"):
        return import_module(name)


class Words:
    """Converts texts to the index's terms."""

    def __init__(self) -> None:
        self._stem = package("snowballstemmer").stemmer("porter").stemWord
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


class TextIndex:
    """Builds an index of texts, numbered from 1 in order; it keeps numbers only."""

    def __init__(self) -> None:
        self._words = Words()
        self._pages: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._counts: dict[str, array[int]] = defaultdict(lambda: array("H"))
        self._lengths = array("i", [0])

    def add(self, text: str) -> int:
        number = len(self._lengths)
        found = Counter(self._words(text))
        self._lengths.append(found.total())
        for term, times in found.items():
            self._pages[term].append(number)
            self._counts[term].append(min(times, _MOST_TIMES))
        return number

    def write(self, base: sqlite3.Connection) -> None:
        mean = sum(self._lengths) / max(1, len(self._lengths) - 1)
        norms = [_K1 * (1 - _B + _B * rounded(length) / mean) if mean else 1.0 for length in self._lengths]
        for term, numbers in self._pages.items():
            weights = array("f", (n / (n + norms[i]) for i, n in zip(numbers, self._counts[term], strict=True)))
            base.execute("INSERT INTO term VALUES (?, ?, ?)", (term, numbers.tobytes(), weights.tobytes()))


def ranked(base: sqlite3.Connection, count: int, words: Iterable[str], most: int) -> list[tuple[float, int]]:
    """Returns (score, number) of the best texts, sorted by number: `most` of them, and those that tie with the last."""
    numpy = package("numpy")
    scores: Any = numpy.zeros(count + 1, numpy.float32)
    rarest: Any = None  # texts of one term, as few as are enough: the worst of their best is a floor for all
    for term, times in Counter(words).items():
        found = base.execute("SELECT pages, weights FROM term WHERE term = ?", (term,)).fetchone()
        if found is not None:
            pages = numpy.frombuffer(found[0], numpy.int32)
            if len(pages) >= most and (rarest is None or len(pages) < len(rarest)):
                rarest = pages
            rare = math.log(1 + (count - len(pages) + 0.5) / (len(pages) + 0.5))
            numpy.add.at(scores, pages, numpy.float32(times * rare) * numpy.frombuffer(found[1], numpy.float32))
    if rarest is not None:
        near = numpy.flatnonzero(scores >= numpy.partition(scores[rarest], -most)[-most])
    else:
        near = numpy.flatnonzero(scores)
    most = min(most, len(near))
    if not most:
        return []
    least = numpy.partition(scores[near], -most)[-most]
    return [(float(scores[i]), int(i)) for i in near[scores[near] >= least][: most * 20]]


def rounded(length: int) -> int:
    """Rounds a length as the index's byte stores it: exact up to 24, then eight steps for each doubling."""
    more = length - 24
    if more < 16:
        return length
    shift = more.bit_length() - 4
    return 24 + ((more >> shift) << shift)
