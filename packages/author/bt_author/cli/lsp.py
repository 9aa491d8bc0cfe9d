"""`btr serve lsp`: the language server, over standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.cli import Exit
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project.selection import SUFFIXES, content_of, select

if TYPE_CHECKING:
    from bt_author.lsp.document import Content


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (it always does)")
    parser.add_argument("--clientProcessId", type=int, metavar="PID", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    with Extra("lsp", "`btr serve lsp`"):
        from bt_author.lsp.server import serve
    if sys.stdin.isatty():
        raise BtError("`btr serve lsp` is started by an editor", "docs/editor.md says how: VS Code, Neovim, Emacs")
    # the wire is nobody else's: whatever is printed meanwhile goes to standard error
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    serve(files, sort, sys.stdin.buffer, wire)
    return Exit.SUCCESS


def files(folder: Path) -> Iterator[tuple[Path, Content]]:
    for each in select([str(folder)]):
        yield each.path, each.content
    for path in sorted(folder.glob("trees/prompts/**/*.md")):
        yield path, "prompt"


def sort(path: Path) -> Content | None:
    """The kind of content in a file; None for a file that is not part of a project."""
    above = [folder.name for folder in path.parents]
    if path.suffix == ".md":
        return "prompt" if above[:2] == ["prompts", "trees"] else "plan" if "guides" in above else None
    return content_of(path) if path.suffix in SUFFIXES else None
