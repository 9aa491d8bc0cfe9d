"""For tests of your own trees: a clock that you move, skills that do as they are told, and counts of what was ticked.

trial = run_tree(text, skills={"go_to(place)": [FAILURE, SUCCESS]})
assert trial.status is SUCCESS
assert trial.skills["go_to"].starts == [{"place": "kitchen"}] * 2
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime import project
from bt_runtime.debug.pattern import matches
from bt_runtime.debug.script import Act, Double, Script, after
from bt_runtime.events import Applied, Line, Tick
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language import manifest, source
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.run.run import Run, load
from bt_runtime.skills.activity import ended
from bt_runtime.skills.skill import Skill, fields_of
from bt_runtime.tree.clock import Manual
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, TRANSPARENT, path_of, segment_of
from bt_runtime.types import Json

__all__ = [
    "FAILURE", "INVALID", "RUNNING", "SUCCESS", "Double", "Manual", "Script", "Trial", "after", "matches", "run_tree",
]  # fmt: skip

_HEAD = re.compile(r"(\w+)(?:\(([\w\s,]*)\))?")


class _Scripted(Skill):
    """One node's part in a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.left = 0
        self.act: Any = None

    def start(self, **params: Any) -> None:
        begun = self.script.begin(params)
        self.left, self.act = begun.ticks, begun.result

    def poll(self) -> Any:
        self.script.polls += 1
        if self.left:
            self.left -= 1
            return RUNNING
        if isinstance(self.act, BaseException):
            raise self.act
        done = ended(self.act)
        self.result, self.feedback = done.value, done.feedback
        return done.status

    def cancel(self) -> None:
        self.script.cancels += 1


class Trial:
    """A run under test. Tick it, move its clock, read what happened."""

    def __init__(
        self,
        text: str | Path,
        *,
        skills: Mapping[str, Act | list[Act] | Script] | None = None,
        substitute: Mapping[str, Act | list[Act] | Script] | None = None,
        inputs: Mapping[str, Json] | None = None,
        world: Any = None,
        services: Mapping[str, Any] | None = None,
        strict: bool = False,
        project: Path | str | None = None,
    ) -> None:
        self.clock = Manual()
        self.visits: Counter[str] = Counter()  # path → how often that node was ticked
        self.skills: dict[str, Script] = {}
        self.doubles: dict[str, Script] = {p: _script(a) for p, a in (substitute or {}).items()}
        self.lines: list[Line] = []  # what `log` nodes wrote
        self.ticks: list[Tick] = []
        kinds = self._cast(text, skills or {}, Path(project) if project else None)
        players = {name: _player(script) for name, script in self.skills.items()}
        self.run = Run(
            load(text, skills=kinds, project=project),
            inputs=inputs,
            world=world,
            services={**(services or {}), "scripted_skills": players},
            clock=self.clock,
            strict=strict,
            log=self.lines.append,
        )
        self.keep_no_more = self.run.observe(self.ticks.append)
        self.replaced: dict[str, str] = {}  # path → the pattern by which it was substituted
        self._substitute()
        unused = [p for p in self.doubles if p not in self.replaced.values()]
        if unused:
            known = ", ".join(sorted({path_of(n) for n in self.run.nodes()}))
            raise BtError(f"no node is at {', '.join(unused)}", f"nodes here: {known}")

    def _cast(self, text: str | Path, skills: Mapping[str, Any], root: Path | None) -> list[Kind]:
        """Scripts by plain name; kinds for the skills that no manifest of the tree declares."""
        declared, kinds = _declared(text, root), []
        for head, acts in skills.items():
            found = _HEAD.fullmatch(head.strip())
            if found is None:
                raise BtError(f"`{head}` names no skill", "write `go_to`, or with its parameters `go_to(place, speed)`")
            name, params = found[1], found[2]
            self.skills[name] = script = _script(acts)
            if name not in declared:
                act = script.acts[0] if script.acts else None
                fields = fields_of(act, name) if callable(act) and not isinstance(act, type) else ()
                if params is not None:
                    fields = tuple(Field(p.strip(), "any", "") for p in params.split(",") if p.strip())
                sentence = " ".join([name.replace("_", " "), *(f"{{{f.name}}}" for f in fields)])
                kinds.append(manifest.skill_kind(name, "", fields, manifest.Entry(sentence, "python", "", {})))
        return kinds

    @property
    def status(self) -> Status:
        """What the last tick gave."""
        return self.run.status

    @property
    def board(self) -> Any:
        """The blackboard entries of the tree."""
        return self.run.blackboard

    def tick(self, times: int = 1) -> Status:
        """Ticks so many times (fewer when the tree ends), counting visits."""
        context = self.run.context
        for _ in range(times):
            context.visits = []
            try:
                tick = self.run.tick()
            finally:
                self._count(context.visits)
                context.visits = None
            if tick.grafts and self.doubles:
                self._substitute()
            if not tick.running:
                break
        return self.status

    def advance(self, seconds: float) -> Status:
        """Moves the clock, then ticks once."""
        self.clock.advance(seconds)
        return self.tick()

    def finish(self, ticks: int = 100) -> Trial:
        """Ticks to the end, moving the clock to each time at which the tree wants a tick."""
        for _ in range(ticks):
            if self.tick() is not RUNNING:
                return self
            due = self.ticks[-1].due
            if self.clock.now() < due < float("inf"):
                self.clock.advance(due - self.clock.now())
        raise AssertionError(f"still running after {ticks} ticks: {', '.join(self.running())}")

    def running(self) -> list[str]:
        """The paths of the leaves that are running."""
        return [path_of(n) for n in self.run.nodes() if n.status is RUNNING and not n.children]

    def find(self, path: str) -> Behaviour:
        return self.run.engine.find(path)

    def graft(self, path: str, plan: Any, how: Any = "replace", index: int | None = None) -> Applied:
        """A graft that is made now; raises when it is refused."""
        request = self.run.graft(path, plan, how, index)
        self.run.engine.settle()
        return request.poll()  # type: ignore[return-value]

    def close(self) -> None:
        self.run.close()

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, visits: list[Behaviour] | None) -> None:
        for node in visits or ():
            if not (node.children and segment_of(node.children[0]) == TRANSPARENT):
                self.visits[path_of(node)] += 1

    def _substitute(self) -> None:
        for path in [path_of(n) for n in self.run.nodes()]:
            for pattern, script in self.doubles.items():
                if path not in self.replaced and matches(pattern, path) and not self._inside_double(path):
                    self.replaced[path] = pattern
                    self.graft(path, Double(path.rpartition("/")[2], script))
                    break

    def _inside_double(self, path: str) -> bool:
        return any(path.startswith(f"{above}/") for above in self.replaced)


def run_tree(text: str | Path, *, ticks: int = 100, **options: Any) -> Trial:
    """Runs a tree to its end under a manual clock; fails when it has not ended after so many ticks."""
    return Trial(text, **options).finish(ticks)


def _script(acts: Any) -> Script:
    return acts if isinstance(acts, Script) else Script(acts)


def _player(script: Script) -> Callable[[], Skill]:
    """A class, so that each node gets a part of its own."""

    class Player(_Scripted):
        def __init__(self) -> None:
            super().__init__(script)

    return Player


def _declared(text: str | Path, root: Path | None) -> set[str]:
    """The skills that the tree's own manifests bring."""
    if isinstance(text, str) and "\n" in text:
        document = source.parse(text, "tree")
    else:
        path = Path(text)
        found = path if path.is_file() else project.find("trees", str(text), root=root)
        if found is None:
            return set()
        document = source.read(found, str(found))
    listed = document.root.get("skills") if isinstance(document.root, source.YamlMap) else None
    names: set[str] = set()
    for item in listed if isinstance(listed, source.YamlList) else ():
        where = project.find("skills", item.text, root=root) if isinstance(item, source.Scalar) else None
        if where is not None:
            names |= {kind.name for kind in manifest.read(where).kinds}
    return names
