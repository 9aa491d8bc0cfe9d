"""The arguments of each action of `btr memory`."""

from __future__ import annotations

import argparse

from bt_runtime.memory.experience import ENDS

VERDICTS = {"success": True, "failure": False, "unknown": None}


def no_arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the id, or the beginning of it")


def filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--namespace")
    parser.add_argument("--task")
    parser.add_argument("--kind")
    parser.add_argument("--run", dest="run_id")
    parser.add_argument("--end", choices=ENDS)
    parser.add_argument("--verdict", choices=["success", "failure"])


def listing(parser: argparse.ArgumentParser) -> None:
    filters(parser)
    parser.add_argument("--limit", type=int, default=-1)


def searching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("goal")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--namespace", help="default: all of them")
    parser.add_argument("--failed", action="store_true", help="also of tasks that are not known to be met")


def explaining(parser: argparse.ArgumentParser) -> None:
    searching(parser)
    parser.add_argument("--budget", type=int, help="in words here; a run counts with its model's tokenizer")
    parser.add_argument("--level", choices=["agent", "task"], default="agent")
    parser.add_argument("--fit", choices=["prefix", "skip"], default="prefix")
    parser.add_argument("--tie", choices=["uniform", "round_robin"], default="uniform")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exclude-task")


def adding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("goal")
    parser.add_argument("--text", help="the trajectory (default: from stdin)")
    parser.add_argument("--end", choices=ENDS, default="success")
    parser.add_argument("--namespace")
    parser.add_argument("--task", default="")
    parser.add_argument("--kind", default="")
    vouching(parser, "success")


def vouching(parser: argparse.ArgumentParser, default: str) -> None:
    words = [*VERDICTS, "keep"] if default == "keep" else [*VERDICTS]
    parser.add_argument("--verdict", choices=words, default=default, help=f"was the task met? (default: {default})")
    parser.add_argument("--embedder", help="of a new store: hashing, e5, minilm, sentence-transformers:MODEL")


def importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", help="files, or names of starters (default: all starters)")
    parser.add_argument("--format", choices=["jsonl", "reactree"], default="jsonl")
    parser.add_argument("--namespace", help="put them there")
    vouching(parser, "keep")


def removing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    filters(parser)


def exporting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", help="where to (default: stdout)")
    parser.add_argument("--salvage", action="store_true", help="all that can still be read of a damaged store")
    filters(parser)


def reembedding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--embedder", help="hashing, e5, minilm, sentence-transformers:MODEL, or a plugin's")
    parser.add_argument("--vectors", metavar="NAME", help="what searches the vectors: faiss, plain, or a plugin's")


def counting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="read every page and say whether it is whole")
