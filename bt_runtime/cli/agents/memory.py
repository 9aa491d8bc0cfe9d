"""`btr memory`: inspects, fills, corrects and moves the episodic memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.agents import memory_arguments as arguments
from bt_runtime.cli.agents.memory_arguments import VERDICTS
from bt_runtime.cli.terminal import escaped, json_text
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import printed, visible
from bt_runtime.memory import cache, reactree, starter
from bt_runtime.memory.embedder import close, default_name, name_of, open_embedder
from bt_runtime.memory.episodes import Episodes
from bt_runtime.memory.experience import Experience, judged, lines
from bt_runtime.memory.place import default_store
from bt_runtime.memory.reembed import reembed
from bt_runtime.memory.retrieval import Retrieval
from bt_runtime.memory.rows import Filter
from bt_runtime.memory.salvage import salvage
from bt_runtime.memory.store import Store
from bt_runtime.types import Json

Command = Callable[[argparse.Namespace], int]


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (about, _, take) in ACTIONS.items():
        action = actions.add_parser(name, help=about, description=about)
        action.add_argument(
            "--memory", "--store", dest="store", type=Path, metavar="FILE",
            help="the memory to use (default: btr memory path)",
        )  # fmt: skip
        action.add_argument("--json", action="store_true", help="for programs")
        take(action)


def run(args: argparse.Namespace) -> int:
    for said in (*vars(args).values(), *getattr(args, "ids", ())):
        if isinstance(said, str):
            _whole(said)
    args.store = args.store or default_store()
    return ACTIONS[args.action][1](args)


# Looking ---------------------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    with _opened(args) as store:
        found = list(store.each(_filter(args), args.limit))
    if args.json:
        _print_json([e.to_json() | {"text": None} for e in found])
    for e in [] if args.json else found:
        print(f"{e.uid[:12]}  {e.end:<7}  {_verdict(e):<7}  {e.tokens:>6}  {visible(e.namespace)}  {_short(e.goal)}")
    return Exit.SUCCESS if found else _nothing("no experience matches")


def _show(args: argparse.Namespace) -> int:
    with _opened(args) as store:
        found = _one(store, args.id)
    if args.json:
        _print_json(found.to_json())
        return Exit.SUCCESS
    for name, value in found.to_json().items():
        if name not in ("text", "verdict"):
            print(f"{name + ':':<11}{visible(str(value))}")
    print(f"verdict:   {_verdict(found)}\n\n{printed(found.text)}")
    return Exit.SUCCESS


def _search(args: argparse.Namespace) -> int:
    found = _retrieved(args)
    if args.json:
        _print_json([{"score": look.score, "id": look.uid, "goal": look.goal, "end": look.end} for look in found.looks])
    for look in () if args.json else found.looks:
        print(f"{look.score:.3f}  {look.uid[:12]}  {look.end:<7}  {_short(look.goal)}")
    return Exit.SUCCESS if found.looks else _nothing("nothing like it is remembered")


def _why(args: argparse.Namespace) -> int:
    found = _retrieved(args)
    if args.json:
        about = {"goal": found.goal, "tokens": found.tokens, "budget": found.budget, "cut": found.cut}
        _print_json(about | {"looks": [asdict(look) for look in found.looks]})
    else:
        print(printed(str(found.why())))
    return Exit.SUCCESS if found.taken else Exit.NOTHING


def _stats(args: argparse.Namespace) -> int:
    with _opened(args) as store:
        if args.check:
            store.check()
        kept, counts = store.kept(), store.counts()
        told: dict[str, Json] = {
            "store": str(store.path),
            "bytes": store.path.stat().st_size,
            "embedder": kept.fingerprint if kept else None,
            "experiences": sum(counts["end"].values()),
            **counts,
        }
    if args.json:
        _print_json(told)
    for name, value in () if args.json else told.items():
        print(f"{name + ':':<13}" + (_listed(value) if isinstance(value, dict) else str(value)))
    return Exit.SUCCESS


def _path(args: argparse.Namespace) -> int:
    _print_json({"store": str(args.store), "exists": args.store.exists()}) if args.json else print(args.store)
    return Exit.SUCCESS


# Changing --------------------------------------------------------------------------------------------


def _add(args: argparse.Namespace) -> int:
    text = args.text if args.text is not None else _whole(sys.stdin.read())
    if not text.strip():
        raise BtError("there is nothing to remember", "tell what was done by --text, or on standard input")
    about = (args.namespace or "default", args.task, args.kind)
    made = Experience(args.goal, text.rstrip(), args.end, *about, verdict=VERDICTS[args.verdict])
    return _write(args, [made])


def _whole(text: str) -> str:
    """Returns the text as it is; raises for bytes that are no UTF-8, which Python reads as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise BtError("what was given is not UTF-8 text", "convert it, for instance with iconv") from fault
    return text


def _import(args: argparse.Namespace) -> int:
    told: dict[str, Json] = {}
    if args.format == "reactree":
        read = reactree.read(Path(name) for name in args.files)
        found = read.experiences
        told = {"files": read.files, "prompts": len(read.prompts), "refused": read.refused, "end": dict(read.ends)}
    else:
        found = [e for name in args.files or starter.shipped() for e in starter.read_named(name)]
    if args.verdict != "keep":
        found = judged(found, VERDICTS[args.verdict])
    if args.namespace:
        found = [replace(e, namespace=args.namespace) for e in found]
    if not found:
        return _nothing("no experience in these files")
    return _write(args, found, told)


def _write(args: argparse.Namespace, found: list[Experience], told: dict[str, Json] | None = None) -> int:
    with _remembered(args) as memory:
        added = memory.add(found)
    told = {**(told or {}), "experiences": len(found), "new": added.new, "known": added.known}
    unknown = sum(e.verdict is None for e in found)
    if args.json:
        _print_json(told | {"ids": [e.uid for e in found] if len(found) == 1 else None})
    else:
        print(_listed(told) + (f"  ({found[0].uid[:12]})" if len(found) == 1 else ""))
    if unknown:
        _say(f"{unknown} have no verdict: retrieval leaves them out unless asked; --verdict success vouches for them")
    return Exit.SUCCESS


def _rm(args: argparse.Namespace) -> int:
    chosen = _filter(args)
    if not args.ids and not any(value is not None for value in chosen):
        _say("error: name experiences by id, or give a filter such as --run or --namespace")
        return Exit.USAGE
    with _opened(args, readonly=False) as store:
        found = [_one(store, name) for name in args.ids] or list(store.each(chosen))
        if not found:
            return _nothing("no experience matches")
        if not args.yes and not _agreed(f"Forget {len(found)} experience(s) for good?"):
            return Exit.FAILURE
        gone = store.remove(e.uid for e in found)
    _print_json({"removed": gone}) if args.json else print(f"forgot {gone}")
    return Exit.SUCCESS


def _export(args: argparse.Namespace) -> int:
    if args.salvage:
        found = list(salvage(args.store))
    else:
        with _opened(args) as store:
            found = list(store.each(_filter(args)))
    if args.file in (None, "-"):
        sys.stdout.writelines(escaped(line) for line in lines(found))
    else:
        starter.write(Path(args.file), found)
        _say(f"{len(found)} experiences in {args.file}")
    return Exit.SUCCESS if found else _nothing("no experience matches")


def _reembed(args: argparse.Namespace) -> int:
    if args.embedder is None and args.vectors is None:
        raise BtError("nothing is to be changed", "say --embedder NAME, --vectors NAME, or both")
    named = open_embedder(args.embedder) if args.embedder is not None else None
    with ExitStack() as stack:
        store = stack.enter_context(_opened(args, readonly=False))
        kept = store.kept()
        embedder = named or open_embedder(name_of(kept.fingerprint) if kept else default_name())
        stack.callback(close, embedder)
        if args.vectors is not None:
            cache.choose(store, args.vectors)
        done = reembed(store, embedder, lambda n: _say(f"{n} goals"))
    if args.json:
        _print_json(done._asdict())
    else:
        print(f"{done.goals} goals: {done.before or 'nothing'} → {done.now}")
    return Exit.SUCCESS


# Common ----------------------------------------------------------------------------------------------


def _opened(args: argparse.Namespace, readonly: bool = True) -> closing[Store]:
    if not args.store.exists():
        raise BtError(f"there is no memory at {args.store} yet", "begin one: btr memory import")
    return closing(Store(args.store, readonly=readonly))


def _remembered(args: argparse.Namespace, readonly: bool = False) -> Episodes:
    """Opens the store with its own embedder, unless another is named."""
    name = getattr(args, "embedder", None)
    if name is None and args.store.exists():
        with _opened(args) as store:
            kept = store.kept()
        name = name_of(kept.fingerprint) if kept else None
    return Episodes.open(args.store, name or "", readonly=readonly)


def _retrieved(args: argparse.Namespace) -> Retrieval:
    with _opened(args):
        pass
    how = {n: getattr(args, n) for n in ("level", "fit", "tie", "seed", "exclude_task", "failed") if hasattr(args, n)}
    with _remembered(args, readonly=True) as memory:
        return memory.retrieve(args.goal, getattr(args, "budget", None), args.k, namespace=args.namespace, **how)


def _filter(args: argparse.Namespace) -> Filter:
    return Filter(args.namespace, VERDICTS.get(args.verdict or ""), None, args.task, args.kind, args.run_id, args.end)


def _one(store: Store, start: str) -> Experience:
    found = store.like(start.lower())
    if len(found) == 1:
        return found[0]
    if found:
        raise BtError(f"{start} begins {len(found)} ids", "give more of it: " + ", ".join(e.uid[:12] for e in found))
    raise BtError(f"no experience has the id {start}", "btr memory list shows them")


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        _say(f"{question} Nobody to ask: --yes agrees")
        return False
    return input(f"{question} [y/N] ").strip().casefold() in ("y", "yes")


def _verdict(e: Experience) -> str:
    return next(word for word, value in VERDICTS.items() if value is e.verdict)


def _short(goal: str) -> str:
    flat = visible(" ".join(goal.split()))
    return flat if len(flat) <= 100 else f"{flat[:99]}…"


def _listed(counts: dict[str, Json]) -> str:
    return ", ".join(f"{k or '(none)'} {_listed(v) if isinstance(v, dict) else v}" for k, v in counts.items())


def _print_json(value: Json) -> None:
    print(json_text(value))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _nothing(text: str) -> int:
    _say(text)
    return Exit.NOTHING


ACTIONS: dict[str, tuple[str, Command, Callable[[argparse.ArgumentParser], None]]] = {
    "list": ("experiences, one a line", _list, arguments.listing),
    "show": ("one experience, whole", _show, arguments.id),
    "search": ("the experiences nearest to a goal", _search, arguments.searching),
    "add": ("remember something by hand", _add, arguments.adding),
    "rm": ("forget experiences", _rm, arguments.removing),
    "import": ("read experiences from files", _import, arguments.importing),
    "export": ("write experiences as JSON Lines", _export, arguments.exporting),
    "reembed": ("make the vectors anew, by another embedder", _reembed, arguments.reembedding),
    "why": ("what a goal would retrieve, and why no more", _why, arguments.explaining),
    "path": ("where the memory lies", _path, arguments.no_arguments),
    "stats": ("how much of what there is", _stats, arguments.counting),
}
