"""`btr lab eval`: measures strategies on many tasks of a world with one model; writes a table and a folder."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_lab.cli import eval_cases
from bt_lab.cli.eval_arguments import add_arguments
from bt_lab.cli.progress import Progress
from bt_lab.cluster.backend import Cluster
from bt_lab.report.comparison import compare, seed_of, side
from bt_lab.report.plots import draw
from bt_lab.report.summary import Group, groups
from bt_lab.report.table import as_csv, in_words, table
from bt_lab.run import evaluation, provenance
from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.evaluation import Again
from bt_lab.run.outcome import Outcome
from bt_lab.run.own_tasks import refuse_unknown
from bt_lab.run.results_file import outcomes as read_outcomes
from bt_lab.run.results_file import read_setup
from bt_lab.run.source import Source, apart, find
from bt_lab.run.training import train
from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import decides, open_models, places
from bt_runtime.cli.agents.tasks import in_file_here, read_options
from bt_runtime.cli.set_option import given
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.tree_argument import found
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Tree, load
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_lab.cluster.bundle import Named

# Prints the result of an evaluation; `btr lab eval show` prints it again from the folder.


def show(args: argparse.Namespace) -> int:
    if len(args.folders) != 1:
        raise BtError("`btr lab eval show` takes one folder", "for instance: btr lab eval show evals/house-react-s0")
    folder = Path(args.folders[0])
    outcomes = read_outcomes(folder)
    seed = int(read_setup(folder).get("depends", {}).get("seed", 0))
    if not outcomes:
        print(f"nothing has ended yet in {folder}", file=sys.stderr)
        return Exit.NOTHING
    return shown(folder, groups(outcomes, seed), outcomes, args)


def contrast(args: argparse.Namespace) -> int:
    """Compares two strategies on equal tasks."""
    if len(args.folders) != 2:
        raise BtError(
            "`btr lab eval compare` takes two evaluations", "for instance: btr lab eval compare evals/a:react evals/b"
        )
    first, second = (side(named) for named in args.folders)
    found = compare(first, second, seed_of(args.folders[0]))
    print(json.dumps(found.to_json(), indent=2) if args.format == "json" else in_words(found))
    return Exit.SUCCESS


def shown(folder: Path, found: Sequence[Group], outcomes: Sequence[Outcome], args: argparse.Namespace) -> int:
    if args.plots:
        for path in draw(folder, found):
            print(f"drew {path}", file=sys.stderr)
    if args.format == "json":
        print(json.dumps({"folder": str(folder), "groups": [group.to_json() for group in found]}, indent=2))
    elif args.format == "csv":
        print(as_csv(outcomes), end="")
    else:
        print(table(found))
        print(f"\neverything is in {folder}", file=sys.stderr)
    return broken(outcomes)


def broken(outcomes: Sequence[Outcome]) -> int:
    """Reports broken episodes, which count neither for nor against a strategy; returns the exit code."""
    faults = [outcome.error for outcome in outcomes if outcome.error]
    if not faults:
        return Exit.SUCCESS
    print(f"error: {len(faults)} of {len(outcomes)} episodes broke; the first: {faults[0]}", file=sys.stderr)
    print("help: fix the cause; the same command with --resume --retry runs them again", file=sys.stderr)
    return Exit.FAILURE


BUILD = "build"
ORACLE = "oracle"
EPISODES = 10


def configure(parser: argparse.ArgumentParser) -> None:
    add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.what in ("show", "compare"):
        return show(args) if args.what == "show" else contrast(args)
    if args.what == "claims":
        from bt_lab.cli.eval_claims import claims

        return claims(args)
    if args.folders:
        raise BtError(f"unexpected argument `{args.folders[0]}`", "one SUITE; strategies: --strategy react,reactree")
    if eval_cases.of_cases(args.what):
        return eval_cases.run(args)
    trust_prompt.named(args.what)
    args.what = in_file_here(args.what)
    source = find(args.what, wanted(args), read_options(args.world))
    if not source.tasks:
        print("error: there are no such tasks", file=sys.stderr)
        return Exit.NOTHING
    strategies = named_strategies(args)
    trees = {s.tree: load(found(s.tree)) for s in strategies}
    trust_prompt.trees(trees.values(), Settings({"model": args.model}))
    strategies = [s._replace(inputs=inputs(args.set, s.tree, trees), memory=memory(args, s)) for s in strategies]
    with ExitStack() as stack:
        asked = any(decides(trees[s.tree].spec) and (args.model or not s.oracle) for s in strategies)
        if not source.suite:
            if any(s.oracle for s in strategies):
                raise BtError("these tasks have no world, and so no oracle", "name a tree: --strategy TREE")
            refuse_unknown(source.tasks, [tree.spec for tree in trees.values()])
            alone(args, source)
        models, backend = backend_of(args, asked, stack)
        return evaluate(args, source, strategies, trees, models, backend)


def alone(args: argparse.Namespace, source: Source) -> None:
    """Runs tasks without a world on this machine. Tasks that name Python run one after another, because the Python may
    read state that they share."""
    if args.ray is not None or args.memory == BUILD:
        raise BtError("tasks of your own run here, and without `--memory build`", "leave it out")
    if source.python:
        trust_prompt.asked_about(list(source.python))
        args.jobs = 1


def backend_of(args: argparse.Namespace, asked: bool, stack: ExitStack) -> tuple[Mapping[str, Any], Local | Cluster]:
    """Returns the place where episodes run: this machine, or a cluster whose nodes open the models themselves."""
    settings = Settings({"model": args.model})
    how = {"repeatable": True} if args.repeatable else {}
    if args.ray is None:
        models = open_models(settings, stack, **how) if asked else {}
        return models, Local(models, args.jobs)
    sent = named_models(settings, **how) if asked else {}
    return sent, stack.enter_context(Cluster(args.ray, sent, args.jobs))


def evaluate(
    args: argparse.Namespace,
    source: Source,
    strategies: Sequence[Strategy],
    trees: Mapping[str, Tree],
    models: Mapping[str, Any],
    backend: Local | Cluster,
) -> int:
    setup = setup_of(args, source)
    lessons = apart(args.what, wanted(args), args.train, source) if args.memory == BUILD else []
    asked: dict[str, Json] = {"suite asked for": args.what, "split": args.split, "kinds": args.kinds}
    if lessons:
        asked["train"] = {"count": len(lessons), "digest": provenance.of_tasks(lessons)}
    depends = provenance.depends(setup, strategies, trees, source.tasks, models, asked)
    folder = folder_of(args, strategies, provenance.digest(depends))
    setup = setup.journalled(folder) if args.journals else setup
    again = Again(args.resume, args.retry)
    evaluation.open_folder(folder, depends, {"command": sys.argv[1:], "versions": provenance.versions()}, again)
    try:
        if lessons:
            with Progress("train", args.color) as progress:
                strategies = train(folder, setup, strategies, lessons, backend, again, progress.told, backend.count)
        with Progress("eval", args.color) as progress:
            outcomes = evaluation.run(folder, setup, cases(strategies, source.tasks), backend, again, progress.told)
    except KeyboardInterrupt:
        print(f"what has ended is in {folder}; the same command with --resume goes on", file=sys.stderr)
        raise
    return shown(folder, evaluation.write_up(folder, outcomes, args.seed), outcomes, args)


def folder_of(args: argparse.Namespace, strategies: Sequence[Strategy], number: str) -> Path:
    """Returns the evaluation's folder; each set-up has its own."""
    name = "-".join(
        [Path(args.what).name.partition(".")[0], *(s.name for s in strategies), f"s{args.seed}", number[:6]]
    )
    return Path(args.out) if args.out else Path("evals") / name


def memory(args: argparse.Namespace, strategy: Strategy) -> str:
    """Returns the memory's file: the named one, or this strategy's file in the named folder."""
    if not args.memory or args.memory == BUILD:
        return ""
    place = Path(args.memory)
    file = place / f"{strategy.name}.db" if place.is_dir() else place
    if not file.is_file():
        raise BtError(f"there is no memory {file}", "make one: --memory build --train 50")
    return str(file)


def wanted(args: argparse.Namespace) -> Wanted:
    kinds = tuple(kind.strip() for kind in args.kinds.split(",") if kind.strip())
    return Wanted(args.seed, args.episodes or EPISODES, args.split, kinds, args.data, read_options(args.option))


def setup_of(args: argparse.Namespace, source: Source) -> Setup:
    budget = None
    if args.budget or args.steps:
        budget = Budget(steps=args.steps or math.inf, decisions=args.budget or math.inf)
    prompts = Settings({"prompts": args.prompts})["prompts"] or ""
    return Setup(
        source.suite, source.world, args.seed, budget, args.seconds or math.inf, not args.no_recall, args.free,
        args.level or "", args.example_tokens, args.similarity, before=source.before, prompts=prompts,
    )  # fmt: skip


def named_strategies(args: argparse.Namespace) -> list[Strategy]:
    """Names each strategy by its file's stem. Raises for two of one name, which a table could not tell apart."""
    trees = [name.strip() for name in args.strategy.split(",") if name.strip()]
    names = [Path(tree).stem for tree in trees]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None or not trees:
        raise BtError(f"the strategy `{double}` is named twice" if double else "no strategy is named", "name each once")
    return [_strategy(name, tree) for name, tree in zip(names, trees, strict=True)]


def _strategy(name: str, tree: str) -> Strategy:
    """Returns a strategy. `oracle` and `oracle:TREE` put the world's oracle in the place of the agents."""
    word, colon, of = tree.partition(":")
    if word != ORACLE:
        return Strategy(name, tree)
    return Strategy(f"{ORACLE}-{Path(of).stem}" if colon else ORACLE, of or "react", oracle=True)


def inputs(pairs: Sequence[str], name: str, trees: Mapping[str, Tree]) -> dict[str, Json]:
    """Parses the `--set` values for a tree's inputs. A name that no tree declares is an error."""
    own = trees[name]
    known = {key for tree in trees.values() for key in (*tree.spec.inputs, *tree.spec.entries)}
    mine = [p for p in pairs if p.partition("=")[0] in own.spec.ports or p.partition("=")[0] not in known]
    return given(mine, own.spec)


def named_models(settings: Settings, **how: Any) -> dict[str, Named]:
    """Returns the models by name only, for other machines to open."""
    from bt_lab.cluster.bundle import named

    found = places(settings)
    sent = {where: named(where, **how) for where in dict.fromkeys(found.values())}
    return {role: sent[where] for role, where in found.items()}
