"""An encyclopedia with one paragraph a page, searched by title, then by words for similar titles.

The pages live in an SQLite full-text index, in memory or in a file beside their source data. A search uses the
rarest words of the query only. These words together occur in at most MOST_PAGES pages, which limits the cost."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from bt_envs.index_file import Indexed

MOST_PAGES = 2_000  # pages that one search ranks
SIMILAR = 5  # titles that are named when there is no such page
_WORD = re.compile(r"\w+")
_TABLES = """
CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, bare TEXT NOT NULL,
    text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(title, text, content='page', content_rowid='id', tokenize='unicode61');
"""
_INDEXES = """
CREATE INDEX page_folded ON page(folded);
CREATE INDEX page_bare ON page(bare);
INSERT INTO words(words) VALUES ('rebuild');
CREATE VIRTUAL TABLE temp.found USING fts5vocab(main, 'words', 'row');
CREATE TABLE frequent AS SELECT term, doc FROM temp.found WHERE doc > 20;
CREATE UNIQUE INDEX frequent_term ON frequent(term);
DROP TABLE temp.found;
"""
_FEW = 20  # pages that a word stands in which is not listed as frequent


class Page(NamedTuple):
    title: str
    sentences: tuple[str, ...]


class Wiki(Indexed):
    table = "page"

    def page(self, entity: str) -> Page | None:
        """Finds a page by its exact title, then regardless of case, then without the part in brackets."""
        said = entity.strip()
        ways = (("title", said), ("folded", said.casefold()), ("bare", _bare(said)))
        for column, value in ways:
            found = self._base.execute(
                f"SELECT title, text FROM page WHERE {column} = ? ORDER BY id LIMIT 1", (value,)
            ).fetchone()
            if found is not None:
                return Page(found[0], tuple(found[1].split("\n")))
        return None

    def similar(self, entity: str) -> list[str]:
        """Returns the titles with the best BM25 score over title and text."""
        chosen: list[str] = []
        pages = 0
        for count, word in sorted((self._in_pages(w), w) for w in {w.lower() for w in _WORD.findall(entity)}):
            pages += count
            if chosen and pages > MOST_PAGES:
                break
            chosen.append(f'"{word}"')
        if not chosen:
            return []
        # the inner limit bounds what a single frequent word costs
        ranked = "SELECT page.title AS title, bm25(words) AS rank FROM words JOIN page ON page.id = words.rowid"
        rows = self._base.execute(
            f"SELECT title FROM ({ranked} WHERE words MATCH ? LIMIT ?) ORDER BY rank, title LIMIT ?",
            (" OR ".join(chosen), MOST_PAGES, SIMILAR),
        )
        return [title for (title,) in rows]

    def _in_pages(self, word: str) -> int:
        found = self._base.execute("SELECT doc FROM frequent WHERE term = ?", (word,)).fetchone()
        return int(found[0]) if found is not None else _FEW

    @staticmethod
    def fill(base: sqlite3.Connection, rows: Iterable[Page]) -> None:
        """Fills the index. The first page of a title counts, because HotpotQA's questions share pages."""
        with base:
            base.executescript(_TABLES)
            base.executemany(
                "INSERT OR IGNORE INTO page(title, folded, bare, text) VALUES (?, ?, ?, ?)",
                ((p.title, p.title.casefold(), _bare(p.title), "\n".join(p.sentences)) for p in rows),
            )
            base.executescript(_INDEXES)


def _bare(title: str) -> str:
    """Returns a title without a final part in brackets."""
    head, opened, inside = title.rstrip().rpartition("(")
    whole = opened and inside.endswith(")") and ")" not in inside[:-1]
    return (head if whole else title).strip().casefold()
