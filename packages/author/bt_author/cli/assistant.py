"""`btr serve mcp`: offers the project's tools to an assistant, over standard input and output, or over HTTP on this
machine."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.cli import Exit
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.faults.format import printed
from bt_runtime.language.project import address, trust

if TYPE_CHECKING:
    from bt_author.mcp.tools.every import Tools
    from bt_author.mcp.tools.site import Site

TOKEN = "BTR_MCP_TOKEN"
SHORTEST = 16  # characters of a token that a person chose


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="a project; default: where you stand")
    text = (
        "what an assistant may do besides: try, test (both run the project's Python), invalid (write faulty files), "
        "loosen (take interlocks away, such as a policy or `confirm`)"
    )
    parser.add_argument("--allow", default="", metavar="WHAT,…", help=text)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp; 0: any free port")
    parser.add_argument("--host", default=address.LOOPBACK, metavar="HOST", help="a loopback address")
    text = "let the assistant read, graft into (after your yes) and halt this live run, started with `btr run --debug`"
    parser.add_argument("--operate", nargs="?", const="last", metavar="RUN", help=text)
    parser.epilog = f"With --http, {TOKEN} sets the token; otherwise a new one is printed."


def run(args: argparse.Namespace) -> int:
    with Extra("mcp", "`btr serve mcp`"):
        import anyio

        from bt_author.mcp.server import over_stdio, served
    site = site_of(Path(args.folder), args.allow)
    tools = _tools(args.operate)
    os.chdir(site.root)
    if args.http is not None:
        from bt_author.mcp.http import PATH, over_http

        address.checked(args.host, False)
        token = _token()
        server = served(site, tools, _asked if sys.stdin.isatty() else None)
        host = f"[{args.host}]" if ":" in args.host else args.host

        def told(port: int) -> None:
            print(f"http://{host}:{port}{PATH}\ntoken: {token}", file=sys.stderr, flush=True)

        try:
            anyio.run(over_http, server, args.host, args.http, token, told)
        except (OSError, OverflowError) as error:
            raise address.busy(args.host, args.http, error, "--http") from error
        return Exit.SUCCESS
    if sys.stdin.isatty():
        raise BtError("`btr serve mcp` is started by an assistant", "docs/assistants.md says how; or: --http 0")
    anyio.run(over_stdio, served(site, tools))
    return Exit.SUCCESS


def site_of(folder: Path, allow: str) -> Site:
    """Returns the project of a folder, with the permissions that the person gave."""
    from bt_author.mcp.tools.site import ALLOWED, Site

    root = project.find_root(folder.resolve())
    if root is None:
        raise BtError(f"there is no project in {folder} or above", "start one: btr init")
    wanted = frozenset(word for word in allow.replace(",", " ").split() if word)
    unknown = sorted(wanted - set(ALLOWED))
    if unknown:
        raise BtError(f"--allow takes no `{unknown[0]:.40}`", f"it takes: {', '.join(ALLOWED)}")
    if wanted & {"try", "test"} and not trust.knows(root):
        raise BtError(f"{root} is not trusted: nothing of it may run", f"look at it, then: btr trust {root}")
    return Site(root, wanted, _shown)


def _tools(run: str | None) -> Tools:
    from bt_author.mcp.tools.every import TOOLS

    if run is None:
        return TOOLS
    from bt_author.mcp.operate import tools

    return {**TOOLS, **tools(run)}


def _shown(text: str) -> None:
    print(printed(text), file=sys.stderr, flush=True)


def _asked(question: str) -> bool:
    print(f"{question}\nAllow it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _token() -> str:
    given = os.environ.get(TOKEN, "")
    if given and (len(given) < SHORTEST or not given.isascii() or not given.isprintable() or " " in given):
        raise BtError(f"{TOKEN} is no token", f"at least {SHORTEST} printable characters without spaces")
    return given or secrets.token_urlsafe(24)
