"""How many trees a model drafts that are sound, and that do what the request says.

    make bench ONLY=authoring MODEL=planner.gguf

ROUNDS=3: drafts of a request; TOKENS=1500: of a draft; SECONDS: for a draft, as many as it takes without it;
REQUESTS=50: the first ones only, each with one branch. BTGENBOT=bt_dataset.json: that set's instructions instead.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import btgenbot
from authoring_requests import REQUESTS, passes, project
from rows import Row

ONLY = int(os.environ.get("REQUESTS", "0")) or len(REQUESTS)


def rows() -> Iterator[Row]:
    from bt_author.sentence.drafting import MOST_TOKENS, ROUNDS, Author, Refused
    from bt_runtime.llm import open_model
    from bt_runtime.llm.settings import find_model

    name = os.environ.get("MODEL", "")
    if not name:
        yield Row("authoring", "trees that do what a sentence says: name a model (MODEL=planner.gguf)", None, "")
        return
    rounds, tokens = (
        int(os.environ.get(key, "0")) or most for key, most in (("ROUNDS", ROUNDS), ("TOKENS", MOST_TOKENS))
    )
    seconds = float(os.environ.get("SECONDS", "0")) or None
    if os.environ.get("BTGENBOT"):
        yield from others(Path(os.environ["BTGENBOT"]), find_model(name), rounds, tokens, seconds)
        return
    sound = right = late = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_model(find_model(name)) as model:
        root = project(Path(folder) / "rover")
        author = Author(model, root, tokens=tokens, seconds=seconds)
        for number, request in enumerate(REQUESTS[:ONLY], 1):
            try:
                text = author.draft(request.text, "draft", rounds).text
            except Refused as refused:
                late += "no draft within" in refused.message
                told = f"{refused.message.partition(chr(10))[0]} {refused.faults[:1]} {refused.text[-300:]!r}"
            else:
                sound, passed = sound + 1, passes(text, request, root)
                right, told = right + passed, "right" if passed else f"sound, but not right: {text!r}"
            print(
                f"{number}: {request.text[:60]}: {told} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True
            )
    count = len(REQUESTS[:ONLY])
    yield Row("authoring", f"{name}: sound drafts of {count} requests, {rounds} rounds", sound / count, "of all")
    yield Row("authoring", f"{name}: drafts that pass their hidden checks", right / count, "of all")
    yield Row("authoring", f"{name}: requests whose time was over", late / count, "of all")
    yield Row("authoring", f"{name}: seconds a request", (time.monotonic() - began) / count, "s")


def others(path: Path, name: str, rounds: int, tokens: int, seconds: float | None) -> Iterator[Row]:
    """Rows of the set of BTGenBot-2: whether a draft is sound, and has the actions of the set's own answer."""
    from bt_runtime.llm import open_model

    with open_model(name) as model:
        yield from measured(path, model, rounds, tokens, seconds)


def measured(path: Path, model: Any, rounds: int, tokens: int, seconds: float | None) -> Iterator[Row]:
    from bt_author.sentence.drafting import Author, Refused

    listed = btgenbot.rows(path, ONLY)
    sound = right = 0
    for row in listed:
        with tempfile.TemporaryDirectory() as folder:
            author = Author(model, btgenbot.project(Path(folder), row), tokens=tokens, seconds=seconds)
            try:
                spec = author.draft(row.text, "draft", rounds).spec
            except Refused:
                continue
            sound += 1
            right += btgenbot.passes({node.kind.name for node in spec.root.walk()}, row)
    yield Row("authoring", f"sound drafts of {len(listed)} of BTGenBot-2's instructions", sound / len(listed), "of all")
    yield Row("authoring", "drafts with the actions of the set's answer", right / len(listed), "of all")
