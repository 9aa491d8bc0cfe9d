"""How many trees a model drafts that are sound, and that do what the request says: MODEL=planner.gguf, ROUNDS=3."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from authoring_requests import REQUESTS, passes, project
from rows import Row

ONLY = int(os.environ.get("REQUESTS", "0")) or len(REQUESTS)


def rows() -> Iterator[Row]:
    from bt_runtime.author.drafting import Author, Refused
    from bt_runtime.llm import open_model
    from bt_runtime.llm.settings import find_model

    name = os.environ.get("MODEL", "")
    if not name:
        yield Row("authoring", "trees that do what a sentence says: name a model (MODEL=planner.gguf)", None, "")
        return
    rounds = int(os.environ.get("ROUNDS", "3"))
    sound = right = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_model(find_model(name)) as model:
        root = project(Path(folder) / "rover")
        author = Author(model, root)
        for request in REQUESTS[:ONLY]:
            try:
                text = author.draft(request.text, "draft", rounds).text
            except Refused:
                continue
            sound += 1
            right += passes(text, request, root)
    count = len(REQUESTS[:ONLY])
    yield Row("authoring", f"{name}: sound drafts of {count} requests, {rounds} rounds", sound / count, "of all")
    yield Row("authoring", f"{name}: drafts that pass their hidden checks", right / count, "of all")
    yield Row("authoring", f"{name}: seconds a request", (time.monotonic() - began) / count, "s")
