"""`btr edit`: opens the page for making and changing trees."""

from __future__ import annotations

import argparse
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bt_author.cli.lsp import files, sort
from bt_runtime.cli import Exit
from bt_runtime.cli.running.serving import add_serving
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import real

if TYPE_CHECKING:
    from bt_author.edit.asking import Writer


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tree", nargs="?", default=".", metavar="TREE|FOLDER", help="a tree, or a folder with trees; default: this one"
    )
    text = "play what `btr fuzz` or `btr check` found, and wrote with --stories"
    parser.add_argument("--story", type=Path, metavar="FILE", help=text)
    parser.add_argument(
        "--model", metavar="MODEL", help="a file, an address, a backend: it drafts changes in a sentence"
    )
    add_serving(parser)


def run(args: argparse.Namespace) -> int:
    from bt_author.edit.serving import Editor
    from bt_runtime.cli.running.view import first_free

    story = None
    if args.story is not None:
        from bt_runtime.testing.story_file import read

        story = read(args.story)
        args.tree = str(args.story.parent / story.file) if story.file else story.tree
    folder, tree = place(args.tree)
    writer = _writer(args.model, folder) if args.model else None
    with first_free(
        lambda port: Editor(folder, files, sort, host=args.host, port=port, anyone=args.anyone, writer=writer), args
    ) as editor:
        if tree is not None and story is not None:
            editor.commands.tryouts.stories[tree] = story
        url = editor.url(tree, story=story is not None)
        print(f"edit: {url}   (Ctrl-C ends it; nothing is written before you save)", file=sys.stderr, flush=True)
        if args.open:
            webbrowser.open(url)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            left = [editor.session.name(p) for p, held in editor.session.buffers.items() if held.unsaved]
            if left:
                print(f"not saved: {', '.join(left)}", file=sys.stderr)
    return Exit.SUCCESS


def _writer(named: str, folder: Path) -> Writer:
    """The model drafts one change after the other; it is opened now, so that the terminal can ask about it."""
    from bt_author.cli.from_sentence import opened
    from bt_author.edit.asking import Proposal
    from bt_author.sentence.amending import amended
    from bt_author.sentence.drafting import Author

    model = opened(named)

    def write(path: Path, text: str, wish: str, told: Callable[[str], object]) -> Proposal:
        root = project.find_root(path.parent) or folder
        return Proposal(*amended(Author(model, root, told=told), path, text, wish))

    return write


def place(name: str) -> tuple[Path, Path | None]:
    """Returns the folder to edit, and the first tree to show."""
    path = Path(name)
    if path.is_dir():
        return real(path), None
    found = path if path.is_file() else project.find_tree(name).path
    if found is None:
        raise BtError(f"there is no tree or folder `{name}`", "btr new tree NAME writes one; btr edit . opens a folder")
    home = project.find_root(found.parent) or found.parent
    return real(home), real(found)
