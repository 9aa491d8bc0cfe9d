"""`btr distill`: from documents to a small model of one's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bt_runtime.cli import Exit


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--from", dest="places", nargs="+", type=Path, required=True, metavar="DOCS", help="files or folders *.jsonl")
    add("--work", type=Path, default=Path("build/distill"), metavar="DIR", help="where all stages keep what they made")
    add("--size", default="small", help="of the network (default: small)")
    add("--vocab", type=int, default=2048, metavar="N", help="of the tokenizer (default: 2048)")
    add("--context", type=int, default=2048, metavar="N", help="longest document in tokens (default: 2048)")
    add("--minutes", type=float, default=0.0, metavar="M", help="of training")
    add("--tokens", type=int, default=0, metavar="N", help="to train on, instead of or beside --minutes")
    add("--batch", type=int, default=8192, metavar="N", help="tokens of a step (default: 8192)")
    add("--rate", type=float, default=3e-3, help="learning rate (default: 0.003)")
    add("--echo", type=float, default=0.1, help="how much the context counts beside the answers (default: 0.1)")
    add("--seed", type=int, default=0)
    add("--init", type=Path, metavar="CHECKPOINT", help="begin with these weights, and their tokenizer beside them")


def run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from bt_runtime.distill.network import SIZES
    from bt_runtime.distill.training import Plan, Training

    plan = Plan(
        minutes=args.minutes, tokens=args.tokens, batch=args.batch, rate=args.rate, echo=args.echo, seed=args.seed
    )
    tokenizer = _tokenizer(args)
    size = replace(SIZES[args.size], vocab=tokenizer.size, context=args.context)
    Training(args.places, args.work, tokenizer, size, plan, say, args.init).go()
    return Exit.SUCCESS


def _tokenizer(args: argparse.Namespace):
    from bt_runtime.distill import documents, tokenizer

    kept = args.work / "tokenizer.json"
    if args.init and not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes((args.init.parent / "tokenizer.json").read_bytes())
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        texts = (d.text for shard in documents.shards(args.places)[:20] for d in documents.read(shard))
        tokenizer.train(texts, args.vocab).save(kept)
    return tokenizer.load(kept)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
