"""`btr view top`: shows a running run in the terminal, from its page's address or its journal."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlsplit

from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.running.screen import screen, summary
from bt_runtime.cli.terminal import raw
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.feed import Feed, Latest
from bt_runtime.run.view.recorded import JournalFollowing, JournalReader

FRAMES = 10  # a second, at most
HIDE, SHOW, HOME, BELOW, LINE = "\x1b[?25l\x1b[?1049h", "\x1b[?1049l\x1b[?25h", "\x1b[H", "\x1b[J", "\x1b[K\r\n"


def configure(parser: argparse.ArgumentParser) -> None:
    about = "a run's name, a journal, or the address of a page; default: last"
    parser.add_argument("run_name", nargs="?", default="last", metavar="RUN", help=about)
    add_folder(parser)
    parser.add_argument("--once", action="store_true", help="print it as it stands, and leave")
    parser.add_argument("--json", action="store_true", help="the figures for programs, once")


def run(args: argparse.Namespace) -> int:
    feed = Feed(most=2000)
    once = args.once or args.json or not sys.stdout.isatty()
    with ExitStack() as stack:
        if "://" in args.run_name:
            follow: PageReading | JournalFollowing = PageReading(args.run_name, feed)
        else:
            from bt_runtime.journal import folder

            follow = JournalFollowing(JournalReader(folder.find(args.run_name, reading(args))), feed)
        stack.callback(follow.close)
        if args.json or once:
            if isinstance(follow, PageReading):
                follow.begun.wait(5)
            picture = feed.picture()
            print(json.dumps(summary(picture)) if args.json else "\n".join(screen(picture, 10_000, _width(), False)))
            return Exit.SUCCESS
        return watched(feed)


def watched(feed: Feed) -> int:
    """Shows the run until its end, or Ctrl-C."""
    color = "NO_COLOR" not in os.environ
    latest = Latest(feed)
    screen_itself = raw(sys.stdout)
    screen_itself.write(HIDE)
    try:
        while True:
            size = shutil.get_terminal_size()
            lines = screen(latest.now(0.5), size.lines - 1, size.columns, color)
            screen_itself.write(HOME + LINE.join(lines) + BELOW)
            screen_itself.flush()
            if latest.closed:
                break
            threading.Event().wait(1 / FRAMES)
    except KeyboardInterrupt:
        pass
    finally:
        screen_itself.write(SHOW)
        screen_itself.flush()
    print("\n".join(screen(latest.picture, shutil.get_terminal_size().lines - 1, _width(), color)))
    return Exit.SUCCESS


def _width() -> int:
    return shutil.get_terminal_size().columns


class PageReading:
    """Reads a live page's events into a feed of our own."""

    def __init__(self, url: str, feed: Feed) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme != "http" or not parts.netloc or not parts.fragment:
            raise BtError(
                f"{visible(url)} is not an address of a page", "give the whole address that btr printed, with its #"
            )
        self.feed, self.begun, self.over = feed, threading.Event(), False
        address = f"http://{parts.netloc}/events?token={quote(parts.fragment)}"
        try:
            self.answer = urllib.request.urlopen(address, timeout=15)
        except (URLError, HTTPException, OSError, ValueError) as error:
            raise BtError(f"{parts.netloc} does not answer: {error}", "is the run still there?") from error
        threading.Thread(target=self._read, name="bt-top", daemon=True).start()

    def close(self) -> None:
        self.over = True
        self.answer.close()

    def _read(self) -> None:
        try:
            for said in self._messages():
                self.feed.put(*said["events"])
                self.begun.set()
                if said["closed"]:
                    break
        except (OSError, ValueError, HTTPException, AttributeError):
            pass  # the run's process has ended, or we are leaving
        finally:
            self.begun.set()
            self.feed.close()

    def _messages(self) -> Iterator[dict[str, Any]]:
        for line in self.answer:
            if self.over:
                return
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
