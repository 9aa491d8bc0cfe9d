"""`btr config`: shows each setting, its value, and its source."""

from __future__ import annotations

import argparse
import json
import sys

from bt_runtime.cli import Exit
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.faults.format import visible
from bt_runtime.language.settings import BY_NAME, Settings, Value


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="SETTING", help="print the value of one setting alone")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.epilog = "A setting is a flag, else an environment variable, else a line of btr.yaml, else its default."


def run(args: argparse.Namespace) -> int:
    root = project.find_root()
    settings = Settings(root=root)
    if args.name is not None and args.name not in BY_NAME:
        hint = did_you_mean(args.name, BY_NAME, f"settings: {', '.join(BY_NAME)}")
        raise BtError(f"there is no setting `{args.name}`", hint)
    values = [settings.value(args.name)] if args.name else settings.all()
    if args.json:
        rows = {v.setting.name: {"value": v.value, "source": v.source, "variable": v.setting.variable} for v in values}
        print(json.dumps(rows, indent=2))
    elif args.name:
        print(_shown(values[0]))
    else:
        _table(values)
        where = root / project.PROJECT_FILE if root else None
        print(f"project: {where or 'none (btr init starts one)'}", file=sys.stderr)
    return Exit.SUCCESS


def _table(values: list[Value]) -> None:
    rows = [(v.setting.name, _shown(v), v.source, v.setting.variable) for v in values]
    rows.insert(0, ("setting", "value", "from", "variable"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))


def _shown(value: Value) -> str:
    return "-" if value.value is None else visible(
        value.value if isinstance(value.value, str) else json.dumps(value.value)
    )  # fmt: skip
