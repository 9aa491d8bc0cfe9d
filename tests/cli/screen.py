"""A terminal small enough to read: what would stand on the screen after this output."""

from __future__ import annotations

import io
import re

_PART = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|(\r\n|\r|\n)|([^\x1b\r\n]+)")


class Screen:
    """Lines that scrolled away are kept: `lines` is everything ever written, the window is its last `height` lines."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.lines = [""]
        self.row = self.column = 0
        self.cursor = self.wrap = True

    def feed(self, text: str) -> Screen:
        for code, letter, move, plain in _PART.findall(text):
            if plain:
                self.write(plain)
            elif move:
                self.column = 0
                if move.endswith("\n"):
                    self.down()
            else:
                self.control(code, letter)
        return self

    def write(self, text: str) -> None:
        for character in text:
            if self.column >= self.width:
                if not self.wrap:
                    continue
                self.column = 0
                self.down()
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1

    def down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")

    def control(self, code: str, letter: str) -> None:
        top = max(0, len(self.lines) - self.height)
        if letter == "A":
            self.row = max(top, self.row - int(code or 1))
        elif letter == "K":  # behind a full line the cursor stands on its last column, which goes too
            self.lines[self.row] = self.lines[self.row][: min(self.column, self.width - 1)]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][: self.column]
            del self.lines[self.row + 1 :]
        elif code == "?25":
            self.cursor = letter == "h"
        elif code == "?7":
            self.wrap = letter == "h"
        elif letter != "m":
            raise AssertionError(f"this terminal does not know ESC[{code}{letter}")


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]
