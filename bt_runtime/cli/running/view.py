"""`btr view`: opens the page of a recorded run, or of one that another process is recording."""

from __future__ import annotations

import argparse
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.running.serving import PORT, add_serving
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import disk
from bt_runtime.project.address import Busy
from bt_runtime.run.run import Run
from bt_runtime.view import Feed, View
from bt_runtime.view.page import whole
from bt_runtime.view.recorded import Following, Reader, events_of
from bt_runtime.view.server import Server

T = TypeVar("T")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_name", nargs="?", default="last", metavar="RUN", help="its name, or a file; default: last")
    add_folder(parser)
    parser.add_argument("--html", metavar="FILE", help="write one file that needs nothing else, and leave")
    add_serving(parser)


def run(args: argparse.Namespace) -> int:
    path = find(args.run_name, reading(args))
    if args.html:
        return written(path, Path(args.html))
    feed, follow = Feed(most=None), None
    recorded = path.suffix not in (".jsonl", ".btlog")
    asked = partial(answered, path) if recorded else None
    if recorded and (reader := Reader(path)).live:
        follow = Following(reader, feed)
    else:
        feed.put(*events_of(path))
        feed.close()
    server = first_free(lambda port: Server(feed, asked, host=args.host, port=port, anyone=args.anyone), args)
    try:
        tell(server.url, args.open)
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        if follow is not None:
            follow.close()
        server.close()
    return Exit.SUCCESS


def answered(path: Path, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Answers a request of the page about a recorded run."""
    from bt_runtime.replay.why import why_recorded

    if name != "why":
        raise BtError("this run is a recording", "the only command for it is `why`")
    where, at = given.get("path"), given.get("at")
    if not isinstance(where, str) or type(at) not in (int, type(None)):
        raise BtError("`why` needs a path", 'such as {"path": "/patrol/dock", "at": 12}')
    return {"sentences": why_recorded(path, where, at).sentences}


def find(name: str, folder: Path) -> Path:
    from bt_runtime.journal import folder as journals

    return journals.find(name, folder)


def written(path: Path, file: Path) -> int:
    try:
        disk.write(file, whole(events_of(path)))
    except OSError as error:
        raise BtError(f"{file} cannot be written: {error.strerror}", "name another file") from error
    print(file)
    return Exit.SUCCESS


def first_free(make: Callable[[int], T], args: argparse.Namespace) -> T:
    """Serves at the requested port, or at the first free one."""
    if args.port is not None:
        return make(args.port)
    for port in range(PORT, PORT + 8):
        try:
            return make(port)
        except Busy:
            continue
    return make(0)


def tell(url: str, browser: bool) -> None:
    print(f"view: {url}   (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if browser:
        webbrowser.open(url)


@contextmanager
def viewing(run: Run, args: argparse.Namespace) -> Iterator[View]:
    """Serves the run's page within `with`. At a terminal the page stays until Ctrl-C."""
    view = first_free(lambda port: View(run, host=args.host, port=port, anyone=args.anyone), args)
    with view:
        tell(view.url, args.open)
        yield view
        view.finish()
        if sys.stderr.isatty():
            print("view: the run is over; the page stays until Ctrl-C", file=sys.stderr, flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
