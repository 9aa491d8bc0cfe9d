"""Tools about recorded runs: list them, tell what happened, explain a node's status, and fork them without effects."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_author.mcp.tools.answer import Answer, paged, rows
from bt_author.mcp.tools.playing import held
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import PAGE, PAGED, Tool, count, mapping, text
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.story import told
from bt_runtime.journal.summary import summary
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.settings import Settings
from bt_runtime.run.replay.fork import Edits, dry
from bt_runtime.run.replay.why import why_recorded


def place(site: Site) -> Path:
    """Returns the project's folder of journals; a folder outside the project is not read."""
    named = Settings(root=site.root, tolerant=True)["runs"]
    return site.inside(str(named) if isinstance(named, str) and named != "none" else folder.RUNS)


def found(site: Site, run: str) -> Path:
    if folder.is_path(run):
        raise BtError(f"`{run:.60}` is no name of a run", "`runs` lists them")
    return folder.find(run, place(site))


def runs(site: Site, run: str = "", page: int = 1) -> Answer:
    """Lists the recorded runs, the latest first, or tells the story of one."""
    if run:
        recording = Recording(found(site, run))
        part = paged("\n".join(told(recording)), page)
        return Answer(part.text, {"run": recording.name, **part.data()})
    listed = [summary(path) for path in reversed(folder.journals(place(site)))]
    lines = [
        f"{each.name}  {each.state}  {each.tree}  {each.ticks} ticks  "
        f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(each.started)) if each.started else '?'}"
        for each in listed
    ]
    part = rows(lines, page)
    return Answer(part.text or "no runs", {"runs": [each.name for each in listed[:200]], **part.data()})


def why(site: Site, run: str, path: str, at: int | None = None) -> Answer:
    """Explains a node's status by a replay of the journal, without model, skill or world."""
    with held(site):
        because = why_recorded(found(site, run), path, at)
    return Answer(paged("\n".join(because.sentences)).text, {"run": because.run, "tick": because.tick})


def fork(
    site: Site, run: str, at: str, set: Mapping[str, Any] | None = None, force: Mapping[str, str] | None = None,
    replace: Mapping[str, str] | None = None, seed: int | None = None,
) -> Answer:  # fmt: skip
    """Goes on from a moment of a recorded run without effects: its model is asked, and no action is begun."""
    site.need("try")
    forced = tuple((force or {}).items())
    wrong = next((result for _, result in forced if result not in RESULTS), None)
    if wrong is not None:
        raise BtError(f"a node cannot end in `{wrong:.40}`", f"results: {', '.join(RESULTS)}")
    edits = Edits(seed=seed, entries=dict(set or {}), forced=forced, replaced=tuple((replace or {}).items()))
    with held(site), dry(found(site, run), at, edits) as (going, brake):
        unknown = next((name for name in edits.entries if name not in going.parts.tree.spec.ports), None)
        if unknown is not None:
            raise BtError(f"the tree has no entry `{unknown:.40}`", did_you_mean(unknown, going.parts.tree.spec.ports))
        status, ticks = going.spin(seconds=FORK_TIME).name, going.parts.engine.count
        board = {name: value for name, value in going.blackboard.items() if name in (set or {})}
    why = f"it would do: {brake.wanted}" if brake.wanted else f"{status}; no action was wanted"
    data = {"status": status, "ticks": ticks, "wanted": brake.wanted, "entries": board}
    return Answer(paged(f"at tick {ticks}: {why}").text, data)


RESULTS = ("success", "failure", "running")
FORK_TIME = 60.0  # seconds that a fork may take, its model's answers included
TOOLS = (
    Tool(
        "runs", "List recorded runs, or tell what happened in one.", {"run": text("a name, or last"), "page": PAGE},
        runs, returns={"run": text(), "runs": {"type": "array"}, **PAGED},
    ),
    Tool(
        "why", "Tell why a node of a recorded run was as it was.",
        {"run": text("a name, or last"), "path": text("/main/dock"), "at": count("a tick")}, why, ("run", "path"),
        returns={"run": text(), "tick": {"type": "integer"}},
    ),
    Tool(
        "fork", "Go on from a moment of a recorded run, with changes, up to its first action.",
        {"run": text(), "at": text("12: after that tick; decision:-1: before the last answer"),
         "set": mapping("entries"), "force": mapping("path: success|failure|running"),
         "replace": mapping("path: YAML"), "seed": {"type": "integer"}},
        fork, ("run", "at"), returns={"status": text(), "ticks": {"type": "integer"}, "wanted": text()},
    ),
)  # fmt: skip
