"""`btr serve lsp` in a project of 200 files and 20,000 nodes: a keystroke until its faults are told, and each answer,
over the wire. The peer is a reload of what the edited file includes, which is what an editor would otherwise start."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import Row, median

from bt_runtime.language.loader import Loader

FILES, NODES = 200, 100
EDITED = 7  # of them
MANIFEST = """\
version: 1
skills: base
kinds:
  drive_to: {params: {place: string}, outputs: {things: list}}
"""


def part(number: int) -> str:
    """A tree of about so many nodes; it includes the one before it, up to ten deep."""
    lines = ["version: 1", f"tree: part{number}", "skills: [base]", "inputs: {speed: number}",
             "blackboard: {battery: number}", "root:", "  sequence:"]  # fmt: skip
    if number % 10:
        lines.append(f'    - tree: {{file: part{number - 1}, with: {{speed: "{{speed}}"}}}}')
    for n in range(0, NODES - 5, 6):
        lines += [
            "    - fallback:",
            f"        - check: battery < {n} and speed > 0",
            "        - retry:",
            "            times: 3",
            "            child:",
            f'              log: {{text: "room {n}", level: info}}',
            '    - drive_to: {place: hall, things: "{found}"}',
            "    - check: found != []",
        ]
    return "\n".join(lines) + "\n"


def written(folder: Path) -> Path:
    (folder / "trees").mkdir()
    (folder / "skills").mkdir()
    (folder / "btr.yaml").write_text("version: 1\n")
    (folder / "skills/base.yaml").write_text(MANIFEST)
    for number in range(FILES):
        (folder / f"trees/part{number}.yaml").write_text(part(number))
    return folder


def rows() -> Iterator[Row]:
    try:
        import pygls  # noqa: F401
    except ImportError:
        yield Row("btr serve lsp: a keystroke", "needs the lsp extra", None, "≤ 50 ms")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _measured(written(Path(folder).resolve()))


def _measured(root: Path) -> Iterator[Row]:
    from packages.author.tests.editor.lsp import Server

    name, text = f"trees/part{EDITED}.yaml", part(EDITED)
    server = Server([sys.executable, "-m", "bt_runtime.cli", "serve", "lsp"], root)
    start = time.perf_counter()
    told = {server.shown.get(timeout=300)["uri"] for _ in range(FILES + 2)}  # the project file and the manifest too
    whole = time.perf_counter() - start
    uri = server.open(name, text)
    server.told(uri, 1)
    line = next(n for n, each in enumerate(text.split("\n")) if "room" in each)
    place = {"line": line, "character": text.split("\n")[line].index("room")}
    version = 1

    def key() -> None:
        """One that brings a fault, or takes it away: so that there is something to tell."""
        nonlocal version
        version += 1
        there = version % 2
        end = {**place, "character": place["character"] + there}
        server.change(uri, version, "" if there else "{", {"start": place, "end": end})
        server.told(uri, version)

    def asked(method: str, word: str) -> Callable[[], object]:
        at = text.index(word)
        line, column = text[:at].count("\n"), at - text.rfind("\n", 0, at) - 1
        return lambda: server.about(method, uri, line, column)

    typed = median(key, 40)
    answers = {
        "completion of a kind": median(asked("completion", "fallback"), 20),
        "completion in a test": median(asked("completion", "battery <"), 20),
        "hover": median(asked("hover", "drive_to"), 20),
        "definition": median(asked("definition", "drive_to"), 20),
    }
    server.close()
    again = median(lambda: Loader(root).file(root / name), 3)
    figures = f"{typed * 1e3:.1f} ms; a reload of the file with its subtrees {again * 1e3:.0f} ms"
    size = f"{FILES} files, {FILES * NODES:,} nodes"
    yield Row(f"btr serve lsp: a keystroke until its faults are told ({size})", figures, typed * 1e3, "≤ 50 ms")
    yield Row("… against that reload", figures, again / typed, "≥ 2 ×")
    for what, seconds in answers.items():
        yield Row(f"btr serve lsp: {what}", f"{seconds * 1e3:.1f} ms", seconds * 1e3, "≤ 50 ms")
    yield Row("btr serve lsp: the whole project checked, from the start", f"{len(told)} files told", whole, "≤ 20 s")
