"""`btr lab play ENV`: plays a task in the terminal, sentence by sentence, with completion."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from bt_runtime.cli import Exit
from bt_runtime.cli.agents.tasks import in_file_here, make, outside, read_options, which_tasks
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.whole_number import at_least
from bt_runtime.skills.worlds.registry import open_suite, open_world, takes_data
from bt_runtime.types import Explained, FreeText, Task, World

HELP = "Type a sentence (Tab completes it), ? for those that can be acted now, again to start over, quit to leave."
_QUIT = ("quit", "exit")


def configure(parser: argparse.ArgumentParser) -> None:
    which_tasks(parser)
    parser.add_argument(
        "--nth", type=at_least(0), default=0, metavar="N", help="the N-th task of that seed (default 0)"
    )
    parser.add_argument(
        "--world", action="append", default=[], metavar="KEY=VALUE", help="an option of the world: feedback=terse"
    )
    parser.add_argument("--oracle", action="store_true", help="watch the oracle play instead")
    parser.add_argument(
        "--told", action="store_true", help="show the rules of the house first; default: the player finds them out"
    )


def run(args: argparse.Namespace) -> int:
    trust_prompt.named(args.env)
    name = in_file_here(args.env)
    suite = open_suite(name)
    tasks = make(args, suite, args.nth + 1)
    if len(tasks) <= args.nth:
        print(f"There are only {len(tasks)} such tasks.", file=sys.stderr)
        return Exit.NOTHING
    task = tasks[args.nth]
    folder = outside(args, True) if takes_data(suite, "open") else {}
    world = open_world(name, **{**folder, **read_options(args.world)})
    try:
        knows = {"told": args.told} if isinstance(world, Explained) else {}
        source = _oracle(suite.oracle(world, task, **knows)) if args.oracle else _typed(world)
        return play(world, task, source, args.told)
    except KeyboardInterrupt:
        print()
        return Exit.INTERRUPTED
    finally:
        world.close()


def play(world: World, task: Task, source: Callable[[], str | None], told: bool = False) -> int:
    """Acts the sentences of `source` until the goal is reached or the source ends."""
    seen = world.reset(task).text
    rules = world.told() if told and isinstance(world, Explained) else ()
    print("\n".join([task.goal, "", *rules, seen]))
    while not world.verdict().reached:
        said = source()
        if said is None or said.strip() in _QUIT:
            break
        if said.strip() == "?":
            print("\n".join((*world.skills(), *(world.written() if isinstance(world, FreeText) else ()))))
        elif said.strip() == "again":
            print(world.reset(task).text)
        elif said.strip():
            print(world.act(said).text)
    verdict = world.verdict()
    print(f"{'Done' if verdict.reached else 'Not done'}: {verdict.met} of {verdict.total}.")
    return Exit.SUCCESS if verdict.reached else Exit.FAILURE


def _oracle(sentences: Iterator[str]) -> Callable[[], str | None]:
    def say() -> str | None:
        sentence = next(sentences, None)
        if sentence is not None:
            print(f"> {sentence}")
        return sentence

    return say


def _typed(world: World) -> Callable[[], str | None]:
    """Yields lines of standard input; a terminal gets a prompt and completion."""
    terminal = sys.stdin.isatty()
    if terminal:
        print(HELP, file=sys.stderr)
        _complete_with(world.skills)

    def ask() -> str | None:
        try:
            line = input("> " if terminal else "")
        except EOFError:
            return None
        if not terminal:
            print(f"> {line}")
        return line

    return ask


def _complete_with(sentences: Callable[[], Sequence[str]]) -> None:
    try:
        import readline
    except ImportError:  # a Python built without it: everything works but Tab
        return
    readline.set_completer_delims("")  # a sentence is completed whole, spaces and all
    readline.set_completer(completer(sentences))
    readline.parse_and_bind("tab: complete")


def completer(sentences: Callable[[], Sequence[str]]) -> Callable[[str, int], str | None]:
    """Returns the n-th sentence with this beginning, in the form that readline expects."""
    found: list[str] = []

    def complete(text: str, n: int) -> str | None:
        if n == 0:
            found[:] = [s for s in sentences() if s.startswith(text)]
        return found[n] if n < len(found) else None

    return complete
