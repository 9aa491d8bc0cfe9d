"""Draws the ticking tree in the terminal: a thread redraws it in place, with log lines above."""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from bt_runtime.cli.color import BOLD, DIM
from bt_runtime.cli.running.outline import drawn
from bt_runtime.cli.running.row_renderer import FINE, PLAIN_SIGNS, RowRenderer, clipped, columns
from bt_runtime.language.faults.format import visible

if TYPE_CHECKING:
    from bt_runtime.events import Tick
    from bt_runtime.run.run import Run

_TONE = re.compile("\x1b\\[[0-9;]*m")
FRAMES = 12  # a second, at most
MOST = 2000  # events that wait for the next one
HIDE, SHOW, NO_WRAP, WRAP, ERASE_LINE, ERASE_BELOW = (
    "\x1b[?25l", "\x1b[?25h", "\x1b[?7l", "\x1b[?7h", "\x1b[K", "\x1b[J",
)  # fmt: skip


class Live:
    """Draws a run on the terminal, inside `with`. However the run ends, the cursor is restored and the last picture
    stays."""

    def __init__(self, run: Run, stream: TextIO, color: bool) -> None:
        self.run = run
        self.stream = stream
        fine = (stream.encoding or "").lower().replace("-", "") == "utf8"
        self.face = RowRenderer(FINE if fine else PLAIN_SIGNS, color)
        self.drawn: list[int] = []  # how wide each line of the picture is that stands on the screen
        self.width = 0  # columns of the window that it was drawn for
        self.painted = 0.0  # moment of the last drawing
        self.started = time.monotonic()
        self.look()
        self.lock = threading.RLock()
        self.changed, self.over = threading.Event(), threading.Event()
        self.painter = threading.Thread(target=self._paint, name="bt-live", daemon=True)

    def look(self) -> None:
        """Draws from recorded events, because the tree itself belongs to the ticking thread."""
        from bt_runtime.run.view.feed import Feed, Latest
        from bt_runtime.run.view.watch import RunWatch

        self.watch = RunWatch(self.run, Feed(most=MOST))
        self.latest = Latest(self.watch.feed)

    def leave(self) -> None:
        self.watch.detach()

    def __enter__(self) -> Live:
        self.write(HIDE + NO_WRAP)
        self.painter.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.changed.set()
        try:
            self.painter.join(1)
            self.draw()
        finally:
            self.leave()
            self.write(WRAP + SHOW)

    def tick(self, tick: Tick) -> None:
        """Marks the picture as outdated; called after each tick."""
        self.changed.set()

    def line(self, text: str) -> None:
        """Prints a line above the picture, where it stays."""
        self.printed(visible(text))

    def printed(self, clean: str) -> None:
        """Prints lines that are already free of control characters above the drawn tree."""
        with self.lock:
            width, _ = size(self.stream)
            self.write(f"{self._back(width)}{ERASE_BELOW}{WRAP}{clean}{NO_WRAP}\n")
            self.drawn = []
            if time.monotonic() - self.painted > 1 / FRAMES:
                self.draw()
            else:
                self.changed.set()  # who prints much waits for no picture

    def draw(self) -> None:
        with self.lock:
            self.painted = time.monotonic()
            width, height = size(self.stream)
            room = width - 1  # erasing the rest of a full line would take its last column
            lines = [self.head(room), *self.body(room, max(1, height - 5))]
            self.write(self._back(width) + "".join(f"{line}{ERASE_LINE}\n" for line in lines) + ERASE_BELOW)
            self.drawn, self.width = [columns(_TONE.sub("", line)) for line in lines], width

    def body(self, width: int, rows: int) -> list[str]:
        """Returns the lines of the picture, at most `rows`."""
        picture = self.latest.now()
        return [self.face.line(picture, row, width) for row in drawn(picture, rows)]

    def progress(self) -> str:
        return f"tick {self.run.parts.engine.count}"

    def head(self, width: int) -> str:
        passed = f"{time.monotonic() - self.started:.1f} s"
        tail = "   Ctrl-C stops" if not self.over.is_set() else ""
        name = self.face.paint(clipped(visible(self.run.parts.tree.spec.name), width - 1), BOLD)
        rest = clipped(
            f"  {passed}  {self.progress()}{tail}", max(0, width - columns(visible(self.run.parts.tree.spec.name)))
        )
        return name + self.face.paint(rest, DIM)

    def _back(self, width: int) -> str:
        """Returns the codes that move the cursor to the picture's first line. A narrower window has wrapped longer
        lines."""
        lines = len(self.drawn)
        if width < self.width:
            lines = sum(max(1, -(-drawn // width)) for drawn in self.drawn)
        return f"\r\x1b[{lines}A" if lines else "\r"

    def _paint(self) -> None:
        while not self.over.is_set():
            self.changed.wait(0.5)  # the seconds go on although nothing happens
            self.changed.clear()
            if not self.over.is_set():
                with suppress(Exception):  # a tree of goals may change meanwhile; the last picture has no race
                    self.draw()
            self.over.wait(1 / FRAMES)

    def write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            self.over.set()  # the terminal is gone; the run goes on


def size(stream: TextIO) -> tuple[int, int]:
    """Returns the window's columns and lines."""
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return (found.columns or 80), (found.lines or 24)
