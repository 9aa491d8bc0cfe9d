"""The engine beside stock py_trees, the loader beside the bare C compose, the command beside `python -c pass`."""

from __future__ import annotations

import gc
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import py_trees
import yaml
from other_trees import others
from rows import Row

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.language.spec import Caps

WIDE = "version: 1\ntree: t\nroot:\n  {kind}:\n{children}"
DEEP_CAPS = Caps(depth=2000)


class Running(py_trees.behaviour.Behaviour):
    def update(self) -> py_trees.common.Status:
        return py_trees.common.Status.RUNNING


def together(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 15, calls: int = 1
) -> tuple[float, float]:
    """Best seconds per call of both, measured turn by turn so that noise hits both alike."""
    mine, stock = [], []
    for _ in range(rounds):
        for work, times in ((ours, mine), (theirs, stock)):
            start = time.perf_counter()
            for _ in range(calls):
                work()
            times.append((time.perf_counter() - start) / calls)
    return min(mine), min(stock)


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def wide_tree(kind: str, leaves: int, leaf: str = "    - succeed: {}\n") -> str:
    return WIDE.format(kind=kind, children=leaf * leaves)


def chain_text(depth: int) -> str:
    lines, pad = ["version: 1", "tree: t", "root:"], "  "
    for _ in range(depth - 1):
        lines.append(f"{pad}sequence:")
        lines.append(f"{pad}- ")
        lines[-1] = lines[-1].rstrip()
        pad += "  "
    lines.append(f"{pad}py: bench_engine:Running")
    return "\n".join(lines) + "\n"


def started(text: str, caps: Caps = DEEP_CAPS) -> Run:
    run = Run(load(text, caps=caps))
    run.parts.engine.setup()
    return run


def wide() -> Iterator[Row]:
    run = started(wide_tree("sequence", 1000))
    root = py_trees.composites.Sequence("s", memory=True)
    root.add_children([py_trees.behaviours.Success(f"l{i}") for i in range(1000)])
    tree = py_trees.trees.BehaviourTree(root)
    mine, stock = together(run.parts.engine.tick, tree.tick)
    yield Row("1,000 leaves wide, all SUCCESS", f"ours {ms(mine)}, py_trees {ms(stock)}", stock / mine, "≥ 3 times")


def deep() -> Iterator[Row]:
    times = {}
    for depth, target in ((50, ""), (100, "≥ 8 times"), (200, ""), (400, "≥ 25 times")):
        run = started(chain_text(depth))
        node: py_trees.behaviour.Behaviour = Running("leaf")
        for i in range(depth - 1):
            node = py_trees.composites.Sequence(f"s{i}", memory=True, children=[node])
        tree = py_trees.trees.BehaviourTree(node)
        mine, stock = together(run.parts.engine.tick, tree.tick, rounds=9, calls=3)
        times[depth] = mine
        if target:
            yield Row(
                f"chain of depth {depth}, running leaf", f"ours {ms(mine)}, py_trees {ms(stock)}", stock / mine, target
            )
    xs, ys = [math.log(d) for d in times], [math.log(t) for t in times.values()]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)
    yield Row(
        "chain, fitted exponent from 50 to 400", ", ".join(f"{d}: {ms(t)}" for d, t in times.items()), slope, "≤ 1.15"
    )


def resumed() -> Iterator[Row]:
    run = started(wide_tree("sequence_with_memory", 999) + "    - py: bench_engine:Running\n")
    root = py_trees.composites.Sequence("s", memory=True)
    root.add_children([py_trees.behaviours.Success(f"l{i}") for i in range(999)] + [Running("r")])
    tree = py_trees.trees.BehaviourTree(root)
    tree.tick()
    run.parts.engine.tick()
    mine, stock = together(run.parts.engine.tick, tree.tick, calls=20)
    yield Row(
        "sequence with memory resumed at child 999 of 1,000",
        f"ours {ms(mine)}, py_trees {ms(stock)}",
        stock / mine,
        "≥ 10 times",
    )


TEN = """\
sequence:
- fallback:
  - check: 1 > 2
  - log: looked in the kitchen
  - sequence:
    - log: one
    - log: two
- log: three
- log: four
- log: five
"""


def bushy(levels: int) -> str:
    """10 children a node: 111 nodes in 2 levels below the root, 11,111 in 4."""
    lines = ["version: 1", "tree: t", "root:"]

    def grow(level: int, pad: str) -> None:
        if level == 0:
            lines.append(f"{pad}wait: 1000")
            return
        lines.append(f"{pad}parallel:")
        for _ in range(10):
            lines.append(f"{pad}-")
            grow(level - 1, pad + "  ")

    grow(levels, "  ")
    return "\n".join(lines) + "\n"


def splice() -> Iterator[Row]:
    runs, splices, whole = {}, {111: [], 11_111: []}, []
    for nodes, levels in ((111, 2), (11_111, 4)):
        runs[nodes] = started(bushy(levels))
        runs[nodes].parts.engine.tick()
        assert runs[nodes].parts.engine.nodes == nodes
    for _ in range(60):
        for (nodes, run), levels in zip(runs.items(), (2, 4), strict=True):
            path = "/t" + "/9" * (levels - 1)
            start = time.perf_counter()
            run.insert(path, TEN)
            asked = time.perf_counter()
            run.parts.engine.settle()
            done = time.perf_counter()
            splices[nodes].append(done - asked)
            whole.append(done - start)
            run.remove(f"{path}/{run.parts.engine.find(path).children[-1].segment}")
            run.parts.engine.settle()
    cost = {nodes: statistics.median(times) for nodes, times in splices.items()}
    text = statistics.median(whole)
    yield Row(
        "splice of 10 nodes into 11,111 against into 111",
        ", ".join(f"{n:,}: {ms(t)}" for n, t in cost.items()),
        cost[11_111] / cost[111],
        "≤ 1.5",
    )
    yield Row("model text of 10 nodes to ticking nodes, in ms", f"in both trees: {ms(text)}", text * 1e3, "≤ 5 ms")


def loading() -> Iterator[Row]:
    part = (
        "    - sequence:\n        name: n{i}\n        children:\n          - check: battery > 0.{j}\n"
        '          - log: "at {{place}} {i}"\n          - retry:\n              times: 3\n              child: {{wait: 0.5}}\n'  # noqa: E501
    )
    text = "version: 1\ntree: big\nblackboard: {battery: number, place: string}\nroot:\n  fallback:\n"
    text += "".join(part.format(i=i, j=i % 9 + 1) for i in range(1000))
    nodes = Run(load(text)).parts.engine.nodes
    mine, bare = together(lambda: Run(load(text)), lambda: yaml.compose(text, Loader=yaml.CSafeLoader), rounds=5)
    yield Row(
        f"load, check and build {nodes:,} nodes against the bare C compose",
        f"ours {ms(mine)}, compose {ms(bare)}",
        mine / bare,
        "≤ 4 times",
    )


def memory() -> Iterator[Row]:
    text = wide_tree("sequence", 5000, "    - log: hello\n")
    Run(load(wide_tree("sequence", 5)))
    gc.collect()
    tracemalloc.start()
    run = Run(load(text))
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    yield Row(
        "memory per node, kB (text, spec and nodes)",
        f"{used / 1e6:.1f} MB for {run.parts.engine.nodes:,} nodes",
        used / run.parts.engine.nodes / 1e3,
        "≤ 2 kB",
    )


def starting() -> Iterator[Row]:
    folder = Path("build/bench")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fifty.yaml"
    file.write_text(wide_tree("sequence", 49, "    - log: hello\n"))
    btr = [sys.executable, "-c", "import sys; from bt_runtime.cli import main; sys.exit(main())"]
    script = Path(sys.executable).with_name("btr")
    btr = [str(script)] if script.exists() else btr
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "help": [*btr, "--help"],
        "validate": [*btr, "validate", str(file)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for command in commands.values():  # the first run compiles, once for all
        subprocess.run(command, capture_output=True, check=True, env=env)
    for _ in range(15):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, env=env)
            times[name].append(time.perf_counter() - start)
    middle = {name: sorted(t)[len(t) // 2] for name, t in times.items()}
    for name, target in (("help", "≤ 3 times"), ("validate", "≤ 6 times")):
        label = "btr --help" if name == "help" else "btr validate of 50 nodes"
        yield Row(
            f"{label} against python -c pass",
            f"{ms(middle[name])} against {ms(middle['pass'])}",
            middle[name] / middle["pass"],
            target,
        )


class Done(Skill):
    def start(self) -> None: ...

    def poll(self) -> Status:
        return Status.SUCCESS


class Going(Skill):
    def start(self) -> None: ...

    def poll(self) -> Status:
        return Status.RUNNING


@skill(condition=True)
def steady() -> bool:
    return True


@skill
def in_thread() -> bool:
    return True


def written() -> Iterator[Row]:
    """Leaves that users write, a thousand side by side, turn by turn with py_trees and other libraries."""
    root = py_trees.composites.Sequence("s", memory=True)
    root.add_children([py_trees.behaviours.Success(f"l{i}") for i in range(1000)])
    stock = py_trees.trees.BehaviourTree(root)
    works = {"py_trees": stock.tick, **others()}
    targets = {"class skill that succeeds at once": (Done, "sequence", 0.8), "condition": (steady, "sequence", 0.5)}
    targets["class skill that runs"] = (Going, "parallel", 0.5)
    for said, (target, kind, bound) in targets.items():
        name = "steady" if target is steady else target.__name__.lower()
        run = Run(load(wide_tree(kind, 1000, f"    - {name}: {{}}\n"), skills=[target]))
        run.tick()
        times = {"ours": math.inf, **dict.fromkeys(works, math.inf)}
        for _ in range(15):
            for who, work in {"ours": run.parts.engine.tick, **works}.items():
                start = time.perf_counter()
                work()
                times[who] = min(times[who], time.perf_counter() - start)
        run.close()
        figures = ", ".join(f"{who} {seconds * 1e3:.2f} us" for who, seconds in times.items())
        yield Row(f"a leaf: {said}", figures, times["ours"] * 1e3, f"≤ {bound} us")
    yield from threaded()


def threaded(rounds: int = 1000) -> Iterator[Row]:
    """Side by side; and one after another, where each waits for a thread to be woken and for the tick to be."""
    many = wide_tree("parallel", rounds, "    - in_thread: {}\n")
    one = f"version: 1\ntree: t\nroot:\n  repeat: {{times: {rounds}, child: {{in_thread: {{}}}}}}\n"
    with Run(load(many, skills=[in_thread])) as wide, Run(load(one, skills=[in_thread])) as single:
        beside, after = together(wide.spin, single.spin, rounds=7)
    bare, handed = together(lambda: a_thread(rounds), lambda: there_and_back(rounds), rounds=7)
    beside, after, bare, handed = (seconds / rounds * 1e6 for seconds in (beside, after, bare, handed))
    name = "a leaf: function in a thread"
    yield Row(f"{name}, 1,000 side by side", f"ours {beside:.1f} us, a thread each {bare:.0f} us", beside, "≤ 15 us")
    figures = f"ours {after:.0f} us, of which to a thread that waits and back {handed:.0f} us"
    yield Row(f"{name}, one after another", figures, after, "≤ 15 us")


def a_thread(rounds: int) -> None:
    for _ in range(rounds):
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()


def there_and_back(rounds: int) -> None:
    """The least that two threads need to wake each other in turn."""
    there, back = threading.Lock(), threading.Lock()

    def answer() -> None:
        for _ in range(rounds):
            there.acquire()
            back.release()

    with there, back:
        thread = threading.Thread(target=answer)
        thread.start()
        for _ in range(rounds):
            there.release()
            back.acquire()
        thread.join()


def changing(leaves: int, more: str = "") -> str:
    """Each tick is a new round in which every leaf gives another result than in the one before."""
    checks = "".join(f"            - check: n % 2 == {i % 2}\n" for i in range(leaves))
    return (
        "version: 1\ntree: busy\nblackboard:\n  n: {type: integer, default: 0}\nroot:\n  repeat:\n    times: -1\n"
        "    child:\n      sequence:\n        - parallel:\n            wait_all: true\n"
        f"            success: {leaves // 2}\n            children:\n{checks}        - set: {{n: '{{n + 1}}'}}\n{more}"
    )


def recorded(ticks: int = 100) -> Iterator[Row]:
    """What a journal costs in processor time, all threads together, until the last tick is written down."""
    tree, leaves = load(changing(1000)), 1000
    with tempfile.TemporaryDirectory() as folder:

        def used(journal: str | None) -> float:
            with Run(tree, journal=journal) as run:
                for _ in range(4):
                    run.tick()
                before = time.process_time()
                for _ in range(ticks):
                    run.tick()
            return (time.process_time() - before) / ticks / leaves * 1e6

        plain, kept = math.inf, math.inf
        for _ in range(5):
            plain, kept = min(plain, used(None)), min(kept, used(folder))
    figures = f"a leaf and its part of the tick {plain:.2f} us, with a journal {kept:.2f} us"
    yield Row("a leaf that changes, in a journal", figures, kept - plain, "≤ 1 us")


def chosen() -> Iterator[Row]:
    """With a model as small as one can be: what the sentences cost, not what it does."""
    from bench_models import slots

    from tests.support.random_models import MICRO, make_gguf

    with tempfile.TemporaryDirectory() as folder:
        yield from slots(make_gguf(Path(folder) / "micro.gguf", MICRO), MICRO.context // 2)


def rows() -> Iterator[Row]:
    for part in (wide, written, recorded, chosen, deep, resumed, splice, loading, memory, starting):
        try:
            yield from part()
        except Exception as failure:
            yield Row(part.__name__, f"could not run: {type(failure).__name__}: {failure}", None, "")
