"""Python for `btr import` that is meant to do harm: sizes, loops, recursion, code that must never run."""

from __future__ import annotations

import random
from collections.abc import Iterator

from packages.robots.tests.interop.pytrees_hostile import HOSTILE, ROOT
from tests.hostile.case import Case, File

RUN = "open('../pwned', 'w')\n"
DOCUMENTS: dict[str, bytes] = {
    **{name.replace(" ", "-"): text.encode() for name, (text, _) in HOSTILE.items()},
    "code": f"{RUN}{ROOT}Sequence({RUN.strip()} or 's', True)\n".encode(),
    "large": b"x = [1, 2]\n" * 45_000,
    "larger": b"x\n" * 400_000,
    "wide": b"x = [" + b"1," * 200_000 + b"]\n",
    "link": b"import link, pipe, folder, zero\nfrom . import link\nfrom .. import x\n"
    + ROOT.encode()
    + b"Sequence('s', True)\n",
    "encoding": b"# -*- coding: rot13 -*-\n" + ROOT.encode() + b"Sequence('s', True)\n",
    "utf16": f"{ROOT}Sequence('s', True)\n".encode("utf-16"),
}
BESIDE = (
    File("in/link.py", b"/etc/passwd", "link"),
    File("in/zero.py", b"/dev/zero", "link"),
    File("in/folder.py", kind="folder"),
    File("in/pipe.py", kind="pipe"),
)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Each document by itself and as one of a folder; a seed above 0 also spoils some bytes."""
    names = list(DOCUMENTS)
    for number in range(count):
        dice = random.Random(f"python/{seed}/{number}")
        name = names[number % len(names)]
        data = bytearray(DOCUMENTS[name])
        for _ in range(dice.randint(1, 4) if seed or number >= 2 * len(names) else 0):
            data[dice.randrange(len(data))] = dice.randrange(256)
        what = "in" if number // len(names) % 2 else "in/t.py"
        yield Case(
            f"python/{seed}/{number}/{name}", ("import", what, "--out", "out"), (File("in/t.py", bytes(data)), *BESIDE)
        )
