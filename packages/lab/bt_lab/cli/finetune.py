"""`btr lab finetune`: trains an adapter of a local model from recorded runs or lessons."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--base",
        required=True,
        metavar="MODEL",
        help="smollm2, gemma3, starter, or a GGUF file of Llama's or Gemma 3's architecture",
    )
    what = "folders of recorded runs, journals, rows of `btr runs export --format sft`, or shards of lessons"
    add("--from", dest="wanted", nargs="+", type=Path, required=True, metavar="SOURCE", help=what)
    add("--out", type=Path, required=True, metavar="FILE.gguf", help="the adapter to write")
    add("--work", type=Path, metavar="DIR", help="where checkpoints are kept (default: FILE.work)")
    add("--minutes", type=float, default=0.0, metavar="M", help="to train for")
    add("--tokens", type=int, default=0, metavar="N", help="to train on, instead of or beside --minutes")
    add("--context", type=int, default=1536, metavar="N", help="tokens of a row at most (default: 1536)")
    add("--batch", type=int, default=2048, metavar="N", help="tokens of a step (default: 2048)")
    add("--rank", type=int, default=8, metavar="N", help="of the adapter (default: 8)")
    add("--layers", type=int, default=0, metavar="N", help="adapt only the last N layers: quicker, less memory")
    add("--rate", type=float, default=1e-3, help="learning rate (default: 0.001)")
    add("--threads", type=int, default=0, metavar="N", help="cores to train on (default: all but one)")
    add("--fresh", action="store_true", help="forget what the work folder holds; else the run in it goes on")
    add("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    if args.minutes <= 0 and args.tokens <= 0:
        raise BtError("training needs an end", "say how long: --minutes M or --tokens N")
    if args.rank < 1 or args.layers < 0 or args.batch < args.context:
        raise BtError("--rank is at least 1, --layers at least 0, and --batch at least --context", "leave them out")
    from bt_lab.distill.finetune import Order, make
    from bt_lab.distill.schedule import Schedule
    from bt_lab.distill.torch_imports import torch
    from bt_runtime.llm.backends import is_file
    from bt_runtime.llm.model_setting import apart
    from bt_runtime.llm.settings import default_threads, find_model

    base = apart(find_model(args.base)).where
    if not is_file(base) or not Path(base).is_file():
        raise BtError(f"{args.base} is no file that can be trained", "name a GGUF file, or smollm2")
    torch.set_num_threads(args.threads or default_threads())
    work = args.work or args.out.with_suffix(".work")
    if args.fresh and work.is_dir():
        shutil.rmtree(work)
    schedule = Schedule(
        minutes=args.minutes, tokens=args.tokens, batch=args.batch, rate=args.rate, warm=10, fall=0.5, echo=0.0,
        seed=args.seed, compile=False,
    )  # fmt: skip
    command = f"btr lab finetune --base {args.base} --context {args.context} --rank {args.rank} --rate {args.rate:g}"
    order = Order(
        Path(base), args.wanted, work, args.out, schedule, args.context, args.rank, layers=args.layers, command=command
    )
    state = make(order, say)
    print(f"{args.out}: {args.out.stat().st_size / 1e6:.1f} MB, trained on {state.tokens:,} tokens, "
          f"{3600 * state.tokens / max(1.0, state.seconds):,.0f} an hour")  # fmt: skip
    print(f"try it: btr run TREE --model '{{file: {args.base}, lora: [{args.out}]}}'")
    return Exit.SUCCESS


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
