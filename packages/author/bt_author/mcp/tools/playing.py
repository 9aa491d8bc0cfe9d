"""Tools that play a tree with scripted skills: once, at random, or through every state; and the project's own tests."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bt_author.mcp.tools import scripted
from bt_author.mcp.tools.answer import Answer, paged
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import PAGE, PAGED, TREE, Tool, count, mapping, seconds, text, texts
from bt_author.proof.check import check as checked
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child, trust
from bt_runtime.testing.fuzz import fuzz as fuzzed
from bt_runtime.testing.promise import promised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bt_runtime.testing.case import Finding

MOST_STATES, MOST_RUNS = 100_000, 200
CHECK_TIME = 20.0  # seconds that `check` may take
TEST_TIME = 120.0  # seconds that the project's tests may take
MOST_OUTPUT = 200_000  # bytes of their output that are read
_TARGET = re.compile(r"[\w./\-]+(::[\w\[\]\-.]+)*")


@contextmanager
def held(site: Site) -> Iterator[None]:
    """Returns the trust check for Python of the project: allowed only with `try`, in a trusted folder."""

    def guard(what: str, folder: Path, sends: bool = False) -> None:
        if sends or not trust.knows(folder):
            raise BtError(f"this would run {what}, and {folder} is not trusted", "the person can say: btr trust")
        site.need("try")

    before, trust.guard = trust.guard, guard
    try:
        yield
    finally:
        trust.guard = before


def try_tree(
    site: Site, tree: str, skills: Mapping[str, Any] | None = None, inputs: Mapping[str, Any] | None = None,
    writes: list[Mapping[str, Any]] | None = None, doubles: Mapping[str, Any] | None = None, seconds: float = 600.0,
    page: int = 1,
) -> Answer:  # fmt: skip
    """Plays a tree once on a virtual clock; every skill is scripted."""
    with held(site):
        found = scripted.play(
            site.loaded(tree), skills or {}, inputs or {}, writes or [], doubles or {}, float(seconds)
        )
    ended = found.status if found.status != "RUNNING" else "has not ended"
    head = [f"{ended} after {found.seconds:g} s, {found.ticks} ticks" + (f"; {found.late}" if found.late else "")]
    head += [f"crashed: {crash}" for crash in found.crashes]
    head += [f"started: {', '.join(f'{name} {n}x' for name, n in found.skills.items())}"] if found.skills else []
    head += [f"not scripted, succeeded at once: {', '.join(found.assumed)}"] if found.assumed else []
    head += [f"entries: {', '.join(f'{name}={value!r:.60}' for name, value in found.board.items())}"]
    part = paged("\n".join([*head, *found.story]), page)
    data = {"status": found.status, "seconds": found.seconds, "ticks": found.ticks, "skills": found.skills}
    return Answer(part.text, {**data, "board": found.board, **part.data()})


def fuzz(
    site: Site, tree: str, never: list[str] | None = None, always: list[str] | None = None,
    within: float | None = None, runs: int = 50, seed: int = 0,
    skills_end: bool = False,
) -> Answer:  # fmt: skip
    """Plays random cases, and gives the smallest that breaks a promise, as a test."""
    with held(site):
        found = fuzzed(
            site.loaded(tree), never=never or [], always=always or [], within=within, runs=min(runs, MOST_RUNS),
            seed=seed, endless=not skills_end, project=site.root, found_by=f"fuzz, seed {seed}",
        )  # fmt: skip
    return _found(found, f"{runs} cases (seed {seed}), every promise was kept")


def check(
    site: Site, tree: str, never: list[str] | None = None, always: list[str] | None = None,
    ltl: list[str] | None = None, values: Mapping[str, list[Any]] | None = None, states: int = MOST_STATES,
) -> Answer:  # fmt: skip
    """Proves promises of a tree, or its own properties when none is given."""
    own: list[str] | None = [] if never or always or ltl else None
    with held(site):
        found = checked(
            site.loaded(tree), never=never or [], always=always or [], ltl=ltl or [], properties=own,
            values=values or {}, states=min(states, MOST_STATES), seconds=CHECK_TIME, project=site.root,
            found_by="check",
        )  # fmt: skip
    broken = next((each for each in found if each.finding is not None), None)
    told = [f"{promised(each.property)}: {each.words()}" for each in found]
    told += [each.help() for each in found if each.assumes]
    told += [f"not covered: {doubt}" for each in found for doubt in each.doubts]
    answer = _found(broken.finding if broken is not None else None, "\n".join(told))
    assumes = sorted({name for each in found for name in each.assumes})
    whole = all(each.outcome != "open" for each in found)
    kept = all(each.outcome == "proved" and each.whole() for each in found)
    states = sum(each.states for each in found)
    return answer._replace(data={**answer.data, "kept": kept, "whole": whole, "assumes": assumes, "states": states})


def _found(found: Finding | None, kept: str) -> Answer:
    if found is None:
        return Answer(kept, {"kept": True, "why": "", "test": ""})
    part = paged(f"broken: {found.why}\n\n{found.test}")
    return Answer(part.text, {"kept": False, "why": found.why, "test": found.test[:4_000]})


def test(site: Site, what: str = "tests", page: int = 1) -> Answer:
    """Runs tests of the project with pytest, in a process of its own."""
    site.need("test")
    if not _TARGET.fullmatch(what) or what.startswith("-"):
        raise BtError(f"`{what:.60}` names no test", "write tests/test_patrol.py, or …::test_name")
    site.inside(what.partition("::")[0])
    words = child.python("pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider", what)
    try:
        done = child.answer(words, b"", TEST_TIME, cwd=site.root, stderr=subprocess.STDOUT)
    except TimeoutError:
        raise BtError(f"the tests took more than {TEST_TIME:g} s", "name one of them") from None
    part = paged(done.stdout[-MOST_OUTPUT:].decode("utf-8", "replace"), page)
    return Answer(part.text, {"passed": done.returncode == 0, "code": done.returncode, **part.data()})


_PROMISES = {"tree": TREE, "never": texts("expressions such as 'charging and driving'"), "always": texts("")}
_KEPT = {"kept": {"type": "boolean"}, "why": text(), "test": text()}
TOOLS = (
    Tool(
        "try", "Play a tree once on a virtual clock with scripted skills, and tell its story. Runs no real skill.",
        {
            "tree": TREE,
            "skills": mapping('by name: "failure", {output: value}, 3 (ticks), [3,"failure"]; or a list, one a start'),
            "inputs": mapping("values of inputs and entries"),
            "writes": {"type": "array", "items": {"type": "object"}, "description": '[{"at":5,"set":{"low":true}}]'},
            "doubles": mapping("the same for nodes, by pattern: **/agent"),
            "seconds": seconds("of the tree's time", scripted.MOST_SECONDS),
            "page": PAGE,
        },
        try_tree, ("tree",),
        returns={"status": text(), "seconds": {"type": "number"}, "ticks": {"type": "integer"},
                 "skills": {"type": "object"}, "board": {"type": "object"}, **PAGED},
    ),
    Tool(
        "fuzz", "Play random cases; the smallest that breaks a promise becomes a test.",
        {**_PROMISES, "within": seconds("it must end in", scripted.MOST_SECONDS), "runs": count("", 1, MOST_RUNS),
         "seed": count("", 0), "skills_end": {"type": "boolean", "description": "none runs for ever"}},
        fuzz, ("tree",), returns=_KEPT,
    ),
    Tool(
        "check", "Prove promises over all runs of a tree; without any, its own properties.",
        {**_PROMISES, "ltl": texts("formulas"), "values": mapping("what entries may be: {battery: [0, 1]}"),
         "states": count("", 1, MOST_STATES)},
        check, ("tree",),
        returns={**_KEPT, "whole": {"type": "boolean"}, "assumes": texts(""), "states": {"type": "integer"}},
    ),
    Tool(
        "test", "Run the project's tests, if the person allows it.",
        {"what": text("a file below tests/"), "page": PAGE}, test, reads=False,
        returns={"passed": {"type": "boolean"}, "code": {"type": "integer"}, **PAGED},
    ),
)  # fmt: skip
