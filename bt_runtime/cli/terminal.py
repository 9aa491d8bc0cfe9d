"""Every command prints through this module. It escapes terminal control characters in texts from outside; only our own
colours pass."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout

from bt_runtime.cli.color import painted
from bt_runtime.language.faults.format import printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TextIO

    from bt_runtime.types import Json

_TONES = re.compile("(\x1b\\[(?:[012]|3[1-4]|1;3[1-4])m)")  # of color.py, diagnose_format.py


class EscapingStream:
    """Wraps a stream and escapes what is written to it. `beneath` writes to the stream itself, for our own drawing."""

    def __init__(self, beneath: TextIO, tones: bool) -> None:
        self.beneath, self.tones = beneath, tones
        self.above: Callable[[str], None] | None = None  # takes whole lines while a picture stands on the screen
        self.begun = ""  # … and the line that has not ended

    def write(self, text: str) -> int:
        if self.above is None:
            self.beneath.write(self.clean(text))
            return len(text)
        *lines, self.begun = f"{self.begun}{self.clean(text)}".split("\n")
        for line in lines:
            self.above(line)
        return len(text)

    def flush(self) -> None:
        """Flushes, and passes an unfinished line on, such as a question."""
        if self.above is not None and self.begun:
            line, self.begun = self.begun, ""
            self.above(line)
        self.beneath.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def clean(self, text: str) -> str:
        if not self.tones or "\x1b" not in text:
            return printed(text)
        return "".join(part if n % 2 else printed(part) for n, part in enumerate(_TONES.split(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


def guarded(stream: TextIO, always: bool = False) -> TextIO:
    """Chooses whether to print colours. `always`: also when standard output is not a terminal."""
    return stream if isinstance(stream, EscapingStream) else EscapingStream(stream, always or painted(stream))  # type: ignore[return-value]


@contextmanager
def printing(above: Callable[[str], None]) -> Iterator[None]:
    """Redirects printed lines to `above` meanwhile, because they would spoil a picture."""
    doors = [each for each in (sys.stdout, sys.stderr) if isinstance(each, EscapingStream) and each.isatty()]
    for door in doors:
        door.above = above
    try:
        yield
    finally:
        for door in doors:
            door.flush()
            door.above = None


@contextmanager
def printed_apart(wanted: bool = True) -> Iterator[None]:
    """Redirects output printed by skills to standard error, so that standard output stays one JSON document."""
    if not wanted:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def raw(stream: TextIO) -> TextIO:
    """Returns the stream below the filter, for pictures drawn by terminal commands. Their texts are escaped already."""
    return getattr(stream, "beneath", stream)


def json_text(value: Json, **how: Any) -> str:
    """Formats JSON: letters of all languages stay, unprintable characters are escaped."""
    import json

    return escaped(json.dumps(value, ensure_ascii=False, **how))


def escaped(text: str) -> str:
    """Escapes unprintable characters in JSON, which can only occur within its strings."""
    import json

    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def give(text: str, output: Path | None) -> None:
    """Writes a command's result to the named file, or to standard output."""
    if output is None:
        sys.stdout.write(text)
    else:
        from bt_runtime.language.project import disk

        disk.write(output, text)
        print(f"wrote {output}", file=sys.stderr)
