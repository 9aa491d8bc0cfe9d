"""`btr lab optimise`: improves a written plan over batches of tasks (AutoPlan)."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from bt_lab.cli.progress import Progress
from bt_lab.optimise import plan_versions
from bt_lab.optimise.curve import curves, table
from bt_lab.optimise.held_out import measure
from bt_lab.optimise.loop import TREE, optimise
from bt_lab.optimise.page import page
from bt_lab.optimise.plan_versions import Version
from bt_lab.optimise.setup import PARTS, OptimiseSetup
from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import open_models
from bt_runtime.cli.agents.tasks import in_file_here, outside, read_options
from bt_runtime.cli.failure import say
from bt_runtime.cli.journals import add_folder, writing
from bt_runtime.cli.running.log_lines import LogLines
from bt_runtime.cli.running.run import viewed
from bt_runtime.cli.running.serving import add_serving
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.tree_argument import found
from bt_runtime.cli.whole_number import at_least
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import load
from bt_runtime.skills.worlds.registry import open_suite, suite_names, takes_data

CURVE = "curve"
BAR = 20  # characters of a full score


def configure(parser: argparse.ArgumentParser) -> None:
    count = at_least(1)
    parser.add_argument("env", metavar="SUITE", help=f"a world: {', '.join(suite_names())}; or `curve`")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="of versions, for `curve`")
    parser.add_argument(
        "--kind", default="", metavar="KIND", help="the kind of task that the plan is for; default: all"
    )
    parser.add_argument("--batch", type=count, default=4, metavar="B", help="tasks of one iteration (default 4)")
    parser.add_argument("--iterations", type=count, default=3, metavar="N", help="rewritings at most (default 3)")
    parser.add_argument("--validation", type=count, default=8, metavar="N", help="tasks to compare with (default 8)")
    parser.add_argument(
        "--test",
        type=at_least(0),
        default=0,
        metavar="N",
        help="at the end, test every version on N tasks of the split that was not used",
    )
    parser.add_argument("--patience", type=count, default=2, metavar="N", help="stop after so many without gain (2)")
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="S", help="of tasks and sampling (default 0)")
    parser.add_argument("--strategy", default="react", metavar="NAME", help="who follows the plan (default react)")
    parser.add_argument("--model", metavar="FILE", help="a GGUF file or an address [BTR_MODEL]")
    parser.add_argument("--no-flaw", action="store_true", help="reflect without naming flaws")
    parser.add_argument("--no-revision", action="store_true", help="reflect without suggesting revisions")
    parser.add_argument(
        "--feedback", metavar="HOW", help="how the world refuses: terse, detailed; default: its own way"
    )
    parser.add_argument("--rules", metavar="N", help="the rules of the house: a number, or 'eval N'")
    parser.add_argument("--world", action="append", default=[], metavar="KEY=VALUE", help="an option of the world")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of its tasks")
    parser.add_argument("--data", metavar="DIR", help="your copy of the data sets [BTR_DATA]")
    parser.add_argument("--decisions", type=count, metavar="N", help="what one episode may ask of the model")
    parser.add_argument("--steps", type=count, metavar="N", help="acts that one episode may do")
    parser.add_argument("--jobs", type=at_least(0), default=0, metavar="J", help="episodes at once (default: a batch)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="of the versions; default: in guides/, by suite and kind"
    )
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="with `curve`: curves and plans as a page")
    parser.add_argument("--json", action="store_true", help="print the curve as JSON")
    parser.add_argument("--view", action="store_true", help="watch it in the browser")
    add_serving(parser)
    add_folder(parser, writing=True)


def run(args: argparse.Namespace) -> int:
    if args.env == CURVE:
        return show_curves(args)
    if args.folders:
        raise BtError(f"unexpected argument `{args.folders[0]}`", "folders are for `btr lab optimise curve FOLDER…`")
    settings = Settings({"model": args.model, "runs": args.runs})
    setup = set_up(args, settings)
    folder = args.out or plans() / _named(setup)
    trust_prompt.trees([load(found(setup.strategy)), load(found(TREE))], settings)
    teller = LogLines(lambda line: print(line, file=sys.stderr), "info")
    with ExitStack() as stack:
        models = open_models(settings, stack)
        kept, whole = optimise(
            setup, folder, args.iterations, model=models, patience=args.patience, at_once=args.jobs,
            journal=writing(settings), log=teller.log, watch=lambda made: viewed(made, args),
        )  # fmt: skip
        if args.test and whole:
            with Progress("test") as progress:
                kept = measure(setup, folder, args.test, models, args.jobs or args.batch, progress.told)
    show(setup, kept, args.json)
    if not whole:
        say("error", "it did not come to its end", "the same command goes on from the last version")
    return Exit.SUCCESS if whole else Exit.FAILURE


def set_up(args: argparse.Namespace, settings: Settings) -> OptimiseSetup:
    dropped = {"flaw": args.no_flaw, "revision": args.no_revision}
    trust_prompt.named(args.env)
    name = in_file_here(args.env)
    suite = open_suite(name)
    world = {
        **outside(args, takes_data(suite, "open")),
        **read_options(args.world),
        **({"feedback": args.feedback} if args.feedback else {}),
    }
    rules = {} if args.rules is None else {"rules": args.rules}
    model = settings["model"]
    return OptimiseSetup(
        name, args.kind, args.batch, args.seed, args.strategy, Path(model).name if isinstance(model, str) else "",
        tuple(part for part in PARTS if not dropped.get(part)), args.validation, world,
        {**outside(args, takes_data(suite, "tasks")), **read_options(args.option), **rules}, args.decisions,
        args.steps,
    )  # fmt: skip


def _named(setup: OptimiseSetup) -> str:
    """The default name of the folder of versions."""
    suite = Path(setup.suite).name.partition(".")[0]  # of path.py:Name the file
    return "-".join(part.replace(" ", "_") for part in (suite, setup.kind, str(setup.seed)) if part)


def plans() -> Path:
    """The folder of plans: the project's, else one in the working directory."""
    root = project.find_root()
    return (root / "guides").relative_to(Path.cwd()) if root == Path.cwd() else (root or Path()) / "guides"


def show(setup: OptimiseSetup, kept: list[Version], as_json: bool) -> None:
    chosen = plan_versions.best(kept)
    if as_json:
        rows = [{"iteration": v.iteration, "file": str(v.path), **_scores(v)} for v in kept]
        print(json.dumps({"versions": rows, "best": str(chosen.path) if chosen else None}, indent=2))
        return
    print("version  training  validation" + ("        test" if any(v.rate("test") is not None for v in kept) else ""))
    print("\n".join(line(version) for version in kept))
    if chosen is not None:
        print(f"\nbest: {chosen.path}\n{chosen.guide.text or '(the empty plan)'}")
        print(f"\nuse it:\n  {command(setup, chosen)}\nmeasure it:\n  {evaluating(setup, chosen)}", file=sys.stderr)


def line(version: Version) -> str:
    """Formats one version as a line of the curve: `      2       3/4         5/8  ############`."""
    shares = [f"{s['reached']}/{s['of']}" if s else "-" for s in _scores(version).values()]
    test = f"{shares[2]:>12}" if version.rate("test") is not None else ""
    bar = "#" * round(BAR * (version.rate() or 0))
    return f"{version.iteration:>7}{shares[0]:>10}{shares[1]:>12}{test}  {bar}".rstrip()


def command(setup: OptimiseSetup, version: Version) -> str:
    """Returns the command that runs a task under the plan."""
    words = ["run", setup.strategy, "--env", setup.suite, "--task", setup.kind or "1"]
    return shlex.join(["btr", *words, *_options("--option", setup.tasks), "--set", f"guide={_said(version)}"])


def evaluating(setup: OptimiseSetup, version: Version) -> str:
    """Returns the command that evaluates the plan on the other split; without its `--set` it evaluates no plan."""
    kinds = ["--kinds", setup.kind] if setup.kind else []
    options = [*_options("--option", setup.tasks), *_options("--world", setup.world)]
    words = [setup.suite, *kinds, *options, "--strategy", setup.strategy, "--set", f"guide={_said(version)}"]
    return shlex.join(["btr", "lab", "eval", *words])


def _options(flag: str, given: Mapping[str, object]) -> list[str]:
    return [word for name, value in given.items() for word in (flag, f"{name}={value}")]


def _said(version: Version) -> Path:
    """Returns the plan's name in the form that `guide:` takes."""
    home = plans()
    return version.path.relative_to(home) if version.path.is_relative_to(home) else version.path


def _scores(version: Version) -> dict[str, dict[str, int] | None]:
    return {name: version.guide.header.get(name) for name in ("training", "validation", "test")}


def show_curves(args: argparse.Namespace) -> int:
    """Shows several optimisations: means and deviations over those that differ only in their seed."""
    if not args.folders:
        raise BtError("`btr lab optimise curve` takes folders of versions", "such as guides/house-heat-*")
    score, found = curves(args.folders)
    if args.page:
        disk.write(args.page, page(args.folders))
    if args.json:
        rows = [{"name": c.name, "runs": c.runs, "points": [p._asdict() for p in c.points]} for c in found]
        print(json.dumps({"score": score, "curves": rows}, indent=2))
    else:
        print(table(score, found))
    return Exit.SUCCESS
