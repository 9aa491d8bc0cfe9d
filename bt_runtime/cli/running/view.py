"""`btr view`: opens the page of a run, recorded or being recorded by another process, or a list of many runs."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, of_project, reading
from bt_runtime.cli.running.scoring import Scoring
from bt_runtime.cli.running.serving import PORT, add_serving
from bt_runtime.journal.folder import EVENTS, foreign
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.language.project.address import Busy
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Run
from bt_runtime.run.view import Feed, View
from bt_runtime.run.view import beside as editors
from bt_runtime.run.view.beside import EDITABLE, Beside, Command
from bt_runtime.run.view.page import whole
from bt_runtime.run.view.recorded import JournalFollowing, JournalReader, events_of
from bt_runtime.run.view.server import Server

if TYPE_CHECKING:
    from bt_runtime.run.view.runs import Runs

T = TypeVar("T")
VIEW, OVER = "view: ", "view: the run is over"  # lines that a program which started us looks for


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_names", nargs="*", default=["last"], metavar="RUN|FOLDER",
        help="its name, or a file; two: side by side; more, or a folder: a list of runs; default: last",
    )  # fmt: skip
    add_folder(parser)
    text = "in a list: mark runs without progress for so long; default: 30"
    parser.add_argument("--stuck", type=positive, default=30.0, metavar="SECONDS", help=text)
    text = "on the page: how likely it finds each option of a decision, token by token [BTR_MODEL]"
    parser.add_argument("--model", metavar="FILE", help=text)
    parser.add_argument("--html", metavar="FILE", help="write one file that needs nothing else, and leave")
    add_serving(parser)


def run(args: argparse.Namespace) -> int:
    if len(args.run_names) > 1 or is_folder(args.run_names[0]):
        return listed(args)
    path = find(args.run_names[0], reading(args))
    if args.html:
        return written(path, Path(args.html))
    from bt_runtime.run.view.branches import family
    from bt_runtime.run.view.runs import answered

    if path.suffix == SUFFIX and len(near := family(path)) > 1:
        args.run_names = [str(each) for each in near]
        return listed(args, "page.html?run=1")
    feed, follow = Feed(most=None), None
    recorded = path.suffix not in (EVENTS, *foreign())
    asked: Command | None = partial(answered, path) if recorded else None
    beside, scoring = editors.opened(), Scoring(args.model or os.environ.get("BTR_MODEL"))
    own = [EDITABLE] if beside.editable and asked is not None and not args.anyone else []
    if asked is not None:
        asked = scoring.of_journal(path, beside.of_journal(path, asked) if own else asked)
    if recorded and (reader := JournalReader(path)).live:
        follow = JournalFollowing(reader, feed)
        feed.put(*own)
    else:
        feed.put(*events_of(path), *own)
        feed.close()
    server = first_free(lambda port: Server(feed, asked, host=args.host, port=port, anyone=args.anyone), args)
    try:
        stay(server.url, args.open)
    finally:
        if follow is not None:
            follow.close()
        server.close()
        beside.close()
        scoring.close()
    return Exit.SUCCESS


def stay(url: str, browser: bool) -> None:
    """Serves until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        tell(url, browser)
        threading.Event().wait()


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be above zero")
    return value


def is_folder(name: str) -> bool:
    """Returns True for a folder of journals. A bare name without journals in it is a run's."""
    path = Path(name)
    return path.is_dir() and (os.sep in name or name in (".", "..") or any(path.glob(f"*{SUFFIX}")))


def listed(args: argparse.Namespace, first: str = "") -> int:
    """Serves the list of runs. `first`: the page to begin with, instead of the list or of two runs side by side."""
    from bt_runtime.run.view.listing import serve
    from bt_runtime.run.view.runs import Runs

    if args.html:
        raise BtError("a list of runs is not one file", "name one run: btr view RUN --html FILE")
    places = [of_project(Path(name)) if is_folder(name) else find(name, reading(args)) for name in args.run_names]
    other = next((place for place in places if place.is_file() and place.suffix in (EVENTS, *foreign())), None)
    if other is not None:
        raise BtError(f"{other} is no journal, and has no place in a list", f"open it alone: btr view {other}")
    with project.beside(places[0]):
        panel = Settings(tolerant=True)["panel"] or []
    runs = Runs(places, panel=[name for name in panel if isinstance(name, str)], stuck=args.stuck).start()
    pair = len(places) == 2 and not any(place.is_dir() for place in places)
    try:
        server = first_free(lambda port: serve(runs, host=args.host, port=port, anyone=args.anyone), args)
        beside, scoring = editors.opened(), Scoring(args.model or os.environ.get("BTR_MODEL"))
        server.command = partial(_of_list, runs, None if args.anyone else beside, scoring)
        try:
            start, _, token = server.url.partition("#")
            pages = f"{start}{first}#{token}" if first else side_by_side(server.url, runs.keys.values())
            stay(pages if pair or first else server.url, args.open)
        finally:
            server.close()
            beside.close()
            scoring.close()
    finally:
        runs.close()
    return Exit.SUCCESS


def _of_list(runs: Runs, beside: Beside | None, scoring: Scoring, name: str, given: dict[str, Any]) -> Any:
    """Answers the list and the pages of its runs, which may open an editor."""
    path = runs.path(str(given.get("run", "")))
    command: Command = runs.command
    if path is not None:
        command = scoring.of_journal(path, beside.of_journal(path, command) if beside is not None else command)
    return command(name, given)


def side_by_side(url: str, keys: Iterable[str]) -> str:
    """Returns the address of the page of two runs."""
    start, _, token = url.partition("#")
    return f"{start}two.html?runs={','.join(keys)}#{token}"


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
    print(f"{VIEW}{url}   (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if browser:
        webbrowser.open(url)


@contextmanager
def viewing(run: Run, args: argparse.Namespace, after: Callable[[View], None]) -> Iterator[View]:
    """Serves the run's page within `with`. At a terminal, and for an editor, the page stays after the run, and `after`
    may ask on it."""
    view = first_free(lambda port: View(run, host=args.host, port=port, anyone=args.anyone), args)
    with editors.opened() as beside, view:
        if not args.anyone:
            beside.of_run(view)
        tell(view.url, args.open)
        yield view
        view.finish()
        if sys.stderr.isatty() or beside.stays:
            print(f"{OVER}; the page stays until Ctrl-C", file=sys.stderr, flush=True)
            with suppress(KeyboardInterrupt):
                after(view)
                beside.stay()
