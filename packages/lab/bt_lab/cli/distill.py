"""`btr lab distill`: trains a small local model from documents, recorded runs or stored experiences."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.settings import STARTER, starter

SIZES = ("toy", "tiny", "small", "base", "large")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "documents (*.jsonl, or a folder of them), a folder of recorded runs, or a memory"
    add("--from", dest="wanted", nargs="+", required=True, metavar="SOURCE", help=what)
    add("--out", type=Path, required=True, metavar="FILE.gguf", help="the model to write")
    add("--work", type=Path, metavar="DIR", help="where the stages keep what they made (default: FILE.work)")
    add("--minutes", type=float, default=0.0, metavar="M", help="to train for")
    add("--tokens", type=int, default=0, metavar="N", help="to train on, instead of or beside --minutes")
    add("--size", choices=SIZES, default="small", help="of the network (default: small)")
    add("--vocab", type=int, default=2048, metavar="N", help="tokens that the tokenizer knows (default: 2048)")
    add("--context", type=int, default=2048, metavar="N", help="tokens that a prompt may have (default: 2048)")
    add("--quantise", choices=("f32", "f16", "q8_0"), default="q8_0", help="the file's weights (default: q8_0)")
    add("--init", metavar="MODEL", help="go on from a file that btr lab distill made (starter), or a checkpoint")
    add("--fresh", action="store_true", help="forget what the work folder holds; else the run in it goes on")
    add("--export", action="store_true", help="train nothing: write the file of the latest checkpoint")
    add("--batch", type=int, default=8192, metavar="N", help="tokens of a step (default: 8192)")
    add("--processes", type=int, default=1, metavar="N", help="that share a batch, best one for each core (default: 1)")
    add("--rate", type=float, default=3e-3, help="learning rate (default: 0.003)")
    add(
        "--fall",
        type=float,
        default=0.25,
        help="share of the budget with learning-rate decay, at its end (default: 0.25)",
    )
    add("--echo", type=float, default=0.1, help="how much the context counts beside the answers (default: 0.1)")
    add("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    if args.minutes < 0 or args.tokens < 0 or not (args.minutes or args.tokens or args.export):
        raise BtError("training needs an end", "say how long: --minutes M or --tokens N")
    from bt_lab.distill.schedule import Schedule
    from bt_lab.distill.sources import gathered
    from bt_lab.distill.stages import StageOrder, export, make

    work = args.work or args.out.with_suffix(".work")
    if args.fresh and work.is_dir():
        shutil.rmtree(work)
    init = _init_file(args.init)
    order = StageOrder(
        places=gathered(args.wanted, work / "documents"),
        work=work,
        out=args.out,
        schedule=Schedule(
            minutes=args.minutes,
            tokens=args.tokens or int(args.export),
            batch=args.batch,
            processes=args.processes,
            rate=args.rate,
            fall=args.fall,
            echo=args.echo,
            seed=args.seed,
        ),
        size=args.size,
        vocab=args.vocab,
        context=args.context,
        kind=args.quantise,
        command=shlex.join(["btr", "lab", "distill", *_words(args)]),
        init=init,
    )
    print(export(order, say) if args.export else make(order, say))
    print(f"try it: btr run TREE --model {args.out}")
    return Exit.SUCCESS


def _init_file(named: str | None) -> Path | None:
    """The file that training starts from; `starter` names the model shipped with the package."""
    if named is None:
        return None
    path = starter() if named == STARTER else Path(named)
    if not path.is_file():
        raise BtError(f"there is no {path}", "name a GGUF file that btr lab distill made, or a checkpoint")
    return path


def _words(args: argparse.Namespace) -> list[str]:
    """Returns the command line for the file's metadata, without the paths of intermediate files."""
    words = ["--from", *args.wanted, "--out", args.out.name]
    words += ["--init", args.init] if args.init else []
    learning = ("batch", "processes", "rate", "fall", "echo", "seed")
    for name in ("minutes", "tokens", "size", "vocab", "context", "quantise", *learning):
        words += [f"--{name}", str(getattr(args, name))] if getattr(args, name) else []
    return words


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
