"""From nothing to the first tick, and to the first decision, beside others: `make first` (a network is needed).

Each is installed by pip in an empty environment and runs the smallest program that its own documentation would show:
one that ticks or steps once, and one that lets a model of the library's own kind for tests decide once. Printed are
packages, MB on the disk, and seconds of pip and of each program as a whole process, the best of five."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Peer(NamedTuple):
    name: str
    install: tuple[str, ...]
    tick: str
    decision: str  # "": it has none


OURS = Peer(
    "bt_runtime", (str(ROOT),),
    """
import bt_runtime as bt
TREE = "version: 1\\ntree: t\\nblackboard: {n: any}\\nroot:\\n  sequence: [log: hello, set: {n: 1}, wait: 1]\\n"
with bt.Run(bt.load(TREE)) as run:
    assert run.tick().running
""",
    """
import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
HEAD = "version: 1\\ntree: t\\noutputs: {team: {type: string, default: ''}}\\n"
TREE = HEAD + "root:\\n  infer: {prompt: who, outputs: {team: {choices: [a, b]}}}\\n"
with bt.Run(bt.load(TREE), model=ScriptedModel(["b"])) as run:
    run.spin()
    assert run.outputs == {"team": "b"}
""",
)  # fmt: skip
PEERS = (
    OURS,
    Peer(
        "py_trees", ("py_trees",),
        """
import py_trees
children = [py_trees.behaviours.Success("a"), py_trees.behaviours.Running("b")]
root = py_trees.composites.Sequence("t", memory=True, children=children)
root.tick_once()
assert root.status == py_trees.common.Status.RUNNING
""",
        "",
    ),
    Peer(
        "LangGraph", ("langgraph", "langchain-core"),
        """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
class State(TypedDict):
    n: int
graph = StateGraph(State)
graph.add_node("a", lambda state: {"n": state["n"] + 1})
graph.add_edge(START, "a")
graph.add_edge("a", END)
assert graph.compile().invoke({"n": 0}) == {"n": 1}
""",
        """
from typing import TypedDict
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.graph import END, START, StateGraph
class State(TypedDict):
    team: str
model = FakeListChatModel(responses=["b"])
graph = StateGraph(State)
graph.add_node("ask", lambda state: {"team": model.invoke("who").content})
graph.add_edge(START, "ask")
graph.add_edge("ask", END)
assert graph.compile().invoke({"team": ""}) == {"team": "b"}
""",
    ),
    Peer(
        "inspect_ai", ("inspect_ai",),
        "",
        """
import asyncio
from inspect_ai.model import ModelOutput, get_model
model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", "b")])
assert asyncio.run(model.generate("who")).completion == "b"
""",
    ),
)  # fmt: skip


def measured(peer: Peer, folder: Path) -> tuple[int, float, float, str, str]:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    site = next(folder.glob("lib/python*/site-packages"))
    before = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    start = time.perf_counter()
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.install]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) - before
    packages = len(list(site.glob("*.dist-info"))) - 2  # pip and setuptools are there already
    return packages, size / 1e6, seconds, run(python, peer.tick, folder), run(python, peer.decision, folder)


def run(python: Path, program: str, folder: Path) -> str:
    if not program:
        return "–"
    times = []
    for _ in range(5):
        start = time.perf_counter()
        done = subprocess.run([str(python), "-c", program], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            print(f"it fails here: {done.stderr.strip().splitlines()[-1][:200]}", file=sys.stderr)
            return "fails here"
        times.append(time.perf_counter() - start)
    return f"{min(times):.2f}"


def main() -> None:
    print("| | packages | MB | pip, s | first tick, s | first decision, s |\n|---|---|---|---|---|---|")
    for peer in PEERS:
        with tempfile.TemporaryDirectory() as folder:
            packages, size, seconds, tick, decision = measured(peer, Path(folder) / "env")
        print(f"| {peer.name} | {packages} | {size:.0f} | {seconds:.0f} | {tick} | {decision} |", flush=True)


if __name__ == "__main__":
    main()
