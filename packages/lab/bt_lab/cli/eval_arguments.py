"""The arguments of `btr lab eval`."""

from __future__ import annotations

import argparse
from typing import get_args

from bt_runtime.cli.agents.models import add_register
from bt_runtime.cli.color import add_color
from bt_runtime.cli.whole_number import at_least
from bt_runtime.skills.worlds.registry import Split

FORMATS = ("table", "json", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "btr lab eval SUITE --strategy TREE,... [options]\n"
        "       btr lab eval CASES.csv --strategy TREE [--node NAME]\n"
        "       btr lab eval show FOLDER [--format table|json|csv]\n"
        "       btr lab eval compare FOLDER[:STRATEGY] FOLDER[:STRATEGY]\n"
        "       btr lab eval claims [CLAIM ...] [--model FILE]"
    )
    parser.add_argument(
        "what", metavar="SUITE", help="a world, a file of tasks, a CSV of cases; or one of the words above"
    )
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        help="of an evaluation, for `show` and `compare`; of `claims`: their names",
    )
    _tasks(parser.add_argument_group("tasks"))
    _strategies(parser.add_argument_group("strategies"))
    _running(parser.add_argument_group("running"))
    parser.add_argument("--format", choices=FORMATS, default="table", help="of standard output; default: table")
    parser.add_argument(
        "--plots", action="store_true", help="draw success over depth and decisions as PNG (extra eval)"
    )
    add_color(parser)


def _tasks(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--episodes", type=at_least(1), metavar="N", help="tasks a strategy; default: 10")
    group.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="of tasks and decisions; default: 0")
    group.add_argument("--split", choices=get_args(Split), default="eval", help="no task is in two; default: eval")
    group.add_argument("--kinds", default="", metavar="KIND,...", help="only these kinds of task")
    group.add_argument("--data", default="", metavar="DIR", help="your copy of the data sets")
    group.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of the tasks")
    group.add_argument("--world", action="append", default=[], metavar="KEY=VALUE", help="… of the world")


def _strategies(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--strategy",
        default="react",
        metavar="TREE,...",
        help="trees by name or file; `oracle:TREE`: the world's oracle acts in it; default: react",
    )
    group.add_argument(
        "--node", default="", metavar="NAME", help="of a CSV of cases: the `infer` node; default: the only one"
    )
    group.add_argument(
        "--fit-calibration", action="store_true", help="of a CSV of cases: fit `scale`, by which scores are divided"
    )
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an input of those that have it"
    )
    group.add_argument("--model", metavar="FILE", help="a GGUF file or an address [BTR_MODEL]")
    add_register(group)
    group.add_argument("--budget", type=at_least(1), metavar="N", help="decisions of a whole episode")
    group.add_argument("--steps", type=at_least(1), metavar="N", help="actions of a whole episode")
    group.add_argument("--seconds", type=float, metavar="S", help="the longest that an episode may take")
    group.add_argument("--no-recall", action="store_true", help="without a working memory")
    group.add_argument("--free", action="store_true", help="the model writes its acts as free text")
    group.add_argument(
        "--memory", metavar="FILE", help="experiences to show (a folder: one file a strategy), or `build`"
    )
    group.add_argument(
        "--train", type=at_least(1), default=50, metavar="N", help="tasks that `build` runs; default: 50"
    )
    group.add_argument(
        "--example-tokens", type=at_least(1), default=0, metavar="N", help="… which take so many tokens at most"
    )
    group.add_argument(
        "--similarity", type=_share, metavar="S", help="… whose goals are alike by S at least, from 0 to 1"
    )
    group.add_argument("--level", choices=("agent", "task"), help="of the experiences shown; default: as the tree says")


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be from 0 to 1")
    return share


def _running(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--jobs", type=at_least(1), default=4, metavar="J", help="episodes at once; default: 4")
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="on the nodes of a Ray cluster, J on each: auto, local or HOST:PORT (extra eval)",
    )
    group.add_argument("--repeatable", action="store_true", help="the same bits whatever else runs; slower")
    group.add_argument("--out", metavar="FOLDER", help="where results go; default: one in evals/")
    group.add_argument("--resume", action="store_true", help="go on with what is missing there")
    group.add_argument("--retry", action="store_true", help="run again what broke there")
    group.add_argument("--journals", action="store_true", help="keep a journal of every episode, for btr view")
