"""`btr explain BT012`: explains a fault, with a right example. `btr explain retry`: explains a kind of node."""

from __future__ import annotations

import argparse
import json
import re
import sys

from bt_runtime.cli import Exit
from bt_runtime.cli.color import BLUE, BOLD, DIM, PLAIN, add_color, painted
from bt_runtime.language.faults.explain import codes, page, title


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "codes", nargs="*", metavar="CODE|KIND", help="BT012, bt12 or 12; a kind of node; kinds: all of them"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    color = painted(sys.stdout, args.color)
    if args.json:
        print(json.dumps([_data(word) for word in args.codes or codes()], indent=2))
    elif args.codes == ["kinds"]:
        from bt_runtime.language import kind_page

        print("\n".join(kind_page.listed()))
    elif args.codes:
        print("\n".join(toned(_page(word), color).rstrip() + "\n" for word in args.codes), end="")
    else:
        print("\n".join(f"{code}  {title(code)}" for code in codes()))
    return Exit.SUCCESS


def _is_code(word: str) -> bool:
    return re.fullmatch(r"(bt[-o]?)?\d+|bto?\d*", word.strip(), re.IGNORECASE) is not None


def _page(word: str) -> str:
    if _is_code(word):
        return page(word)
    from bt_runtime.language import kind_page

    return kind_page.page(kind_page.found(word))


def _data(word: str) -> dict[str, object]:
    if _is_code(word):
        return {"code": word, "title": title(word), "page": page(word)}
    from bt_runtime.language import kind_page

    return kind_page.data(kind_page.found(word))


def toned(text: str, color: bool) -> str:
    """Markdown for a terminal: bold heading, indented examples. Unchanged without colours."""
    if not color:
        return text
    out, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            out.append(f"{DIM}{line}{PLAIN}")
        elif fenced:
            out.append(f"{BLUE}{line}{PLAIN}")
        else:
            out.append(f"{BOLD}{line}{PLAIN}" if line.startswith("#") else line)
    return "\n".join(out)
