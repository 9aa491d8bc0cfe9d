"""Reads HotpotQA's questions as users have them: the official JSON or JSON Lines, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_envs.hotpotqa.wiki import Page
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.entries import entries
from bt_runtime.skills.worlds.outline import inside, outline, told

HINT = "a file such as hotpot_dev_distractor_v1.json, whole"


class Question(NamedTuple):
    id: str
    text: str
    answer: str
    kind: str  # bridge, comparison
    level: str
    titles: tuple[str, ...]  # titles of the pages with the answer
    pages: tuple[Page, ...]


def file_of(place: Path) -> Path:
    """Returns the file, or the only file of questions in a folder."""
    if place.is_file():
        return place
    inner = place / "hotpotqa" if (place / "hotpotqa").is_dir() else place
    found = [path for path in inside(inner) if is_ours(path)]
    if len(found) != 1:
        said = f"{len(found)} files of questions" if found else "no file of questions"
        raise BtError(f"there is {said} in {inner}{told(inner)}", f"name one: {HINT}")
    return found[0]


def questions(path: Path) -> Iterator[Question]:
    for number, entry in enumerate(entries(path, HINT), 1):
        try:
            yield _question(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise BtError(f"entry {number} of {path} is no question of HotpotQA: {problem!r}", HINT) from problem


def is_ours(path: Path) -> bool:
    """Recognises a data file by its first entry, which has a question and paragraphs."""
    found = outline(path)
    return found.rows and found.has("question", "answer") and bool({"context", "paragraphs"} & found.keys)


def _question(entry: Mapping[str, Any]) -> Question:
    """Parses a question. The official form has `context: [[title, sentences]]`, the other one `paragraphs: [{title,
    sentences}]`."""
    if "context" in entry:
        pages = [(title, sentences) for title, sentences in entry["context"]]
    else:
        pages = [(p["title"], p["sentences"]) for p in entry["paragraphs"]]
    titles = dict.fromkeys(str(title) for title, _ in entry.get("supporting_facts", ()))
    return Question(
        str(entry.get("_id") or entry["id"]), str(entry["question"]), str(entry["answer"]),
        str(entry.get("type", "bridge")), str(entry.get("level", "")), tuple(titles),
        tuple(Page(str(title), tuple(_clean(s) for s in sentences if _clean(s))) for title, sentences in pages),
    )  # fmt: skip


def _clean(sentence: Any) -> str:
    return " ".join(str(sentence).split())
