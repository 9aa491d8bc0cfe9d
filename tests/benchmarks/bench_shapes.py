"""`make shapes`: files with made-up weights in the shapes of models that people run. What `btr doctor` says that one
takes is compared with what its worker takes, and the time of a decision with llama.cpp's own for the same tokens.

One file at a time, in a folder of its own that is removed; the largest has 12 GB, so it is not a part of `make bench`.
SHAPES (names, joined by commas, or all), FOLDER (where to write), CONTEXT (2048).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench_models import InProcess, Spell, words
from rows import Row

from bt_runtime.llm.local.header import ModelHeader, read_header
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.local.sizing import Fit, fit, free_memory, size
from bt_runtime.llm.settings import WorkerSettings
from tests.support.real_shapes import SHAPES, make_shape

CONTEXT = int(os.environ.get("CONTEXT") or 2048)
PROMPT, ROUNDS, LONG = 96, 2, 1800.0  # tokens, decisions, seconds
OPTIONS = [f" {verb} the {thing}" for verb in ("find", "open", "clean") for thing in ("fridge", "mug")]
SPARE = 1.5  # times the file's size that must be free


def rows() -> Iterator[Row]:
    asked = os.environ.get("SHAPES", "")
    if not asked:
        yield Row("shapes of models that people run", "`make shapes` writes files of up to 12 GB", None, "")
    for name in SHAPES if asked == "all" else filter(None, asked.split(",")):
        with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER") or None) as folder:
            file = make_shape(Path(folder) / "model.gguf", SHAPES[name])
            for row in of_file(name, file):
                print(row, file=sys.stderr, flush=True)  # a run that is cut off has told what it had
                yield row


def of_file(name: str, file: Path) -> Iterator[Row]:
    header = read_header(file)
    if header.weights * SPARE > free_memory():
        yield Row(name, f"{size(header.weights)} of weights, {size(free_memory())} free", None, "")
        return
    settings = WorkerSettings(str(file), context=CONTEXT, threads=1, niceness=0, patience=LONG, keep=0)
    sizes = fit(header, settings, free_memory())
    with LocalModel(settings) as model:
        ours = Spell(model.pid)
        for number in range(ROUNDS + 1):
            text = words(number, PROMPT // 2) + "\nAct:"
            Path(f"/proc/{model.pid}/clear_refs").write_text("1")
            with ours:
                model.choose(text, OPTIONS, mode="scores").wait(LONG)
        yield memory(name, header, sizes, model.pid)
        tokens = model.count(text)
    theirs = list[float]()
    with InProcess(file, sequences=2) as bare:
        for number in range(ROUNDS + 1):
            begun = time.thread_time()
            bare.all_scores(words(number, PROMPT // 2) + "\nAct:", OPTIONS)
            theirs.append(time.thread_time() - begun)
    us, them = (min(each[1:]) for each in ([run[0] for run in ours.runs], theirs))
    figures = f"ours {us:.1f} s, bare {them:.1f} s of one core; {tokens} tokens and {len(OPTIONS)} options"
    yield Row(f"{name}: a decision against bare llama.cpp", figures, us / them, "≤ 1.2 ×")


def memory(name: str, header: ModelHeader, sizes: Fit, pid: int) -> Row:
    """What the worker holds against what was computed from the header alone. Of the file's pages those count that the
    last decision read: llama.cpp copies some weights into an order of its own, and reads their pages no more."""
    own, read = 0, 0
    for area in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text()):
        told = {key: int(value) * 1024 for key, value in re.findall(r"^(\w+):\s+(\d+) kB", area, re.MULTILINE)}
        own += told["Anonymous"]
        read += told["Referenced"] if area.partition("\n")[0].endswith(".gguf") else 0
    sized = header.weights + sizes.cache_bytes + sizes.logits_bytes
    figures = (
        f"{size(own + read)}: {size(own)} of its own, {size(read)} of the file; sized {size(sized)}: weights "
        f"{size(header.weights)}, {sizes.room} tokens {size(sizes.cache_bytes)}, logits {size(sizes.logits_bytes)}"
    )
    return Row(f"{name}: memory against its size", figures, (own + read) / sized, "≤ 1.1 ×")
