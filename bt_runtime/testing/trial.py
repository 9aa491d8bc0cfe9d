"""A run under test: a manual clock, test doubles for skills, counts of what happened."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Applied, Crash, Line, Notice, Tick
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.pattern import matches
from bt_runtime.run.debug.script import Act, Double, LaterResult, Script
from bt_runtime.run.monitoring.watch import Watch
from bt_runtime.run.run import Run, Tree
from bt_runtime.testing import casting, coverage
from bt_runtime.testing.promise import Promises, named
from bt_runtime.testing.script import Cast, Unscripted
from bt_runtime.testing.waiting import StillRunning, has_own_life, leaves, stands_for, still_running
from bt_runtime.tree.clock import Manual
from bt_runtime.tree.context import POLL
from bt_runtime.tree.describe.gist import kind_of
from bt_runtime.tree.node import RUNNING, path_of
from bt_runtime.tree.request import Request
from bt_runtime.tree.watchdog import SLOW
from bt_runtime.types import Json

SECONDS = 600.0  # of virtual time for a tree, unless a test says otherwise
AT_ONCE = 100  # ticks that it may ask for at once, before time passes nevertheless
EPSILON = 1e-6  # seconds by which sums of times may be wrong
PATIENCE = 10.0  # real seconds for which a skill of its own that is allowed to run is waited for at a time


class Trial(Closing):
    """A run under test: tick it, move its clock, and read what happened."""

    def __init__(
        self,
        text: str | Path | Tree,
        *,
        skills: Mapping[str, Act | list[Act] | Script] | None = None,
        allow: str | Iterable[str] = (),
        substitute: Mapping[str, Act | list[Act] | Script] | None = None,
        never: str | Iterable[str] = (),
        always: str | Iterable[str] = (),
        ltl: str | Iterable[str] = (),
        properties: Iterable[str] = (),
        inputs: Mapping[str, Json] | None = None,
        world: Any = None,
        services: Mapping[str, Any] | None = None,
        strict: bool = False,
        project: Path | str | None = None,
        slow: float | None = SLOW,
    ) -> None:
        """Builds a trial. `allow`: skills that may run their real implementation; "*": all of them. `properties`: the
        names of properties of the tree that must hold."""
        self.clock = Manual()
        self.visits: Counter[str] = Counter()  # path → how often that node was ticked
        self.skills = casting.scripts_of(skills or {})
        self.doubles = {pattern: _script(acts) for pattern, acts in (substitute or {}).items()}
        self.lines: list[Line] = []  # lines of `log` nodes
        self.ticks: list[Tick] = []
        self.began: dict[str, float] = {}  # path → since when a leaf has been running
        self.at_once = 0  # ticks since time passed
        self.due = 0.0  # moment at which the tree wants its next tick
        tree = casting.loaded(text, skills or {}, project)
        self.promises = Promises(never, always, ltl, named(tree.spec, properties))
        given = {"world"} if world is not None or "world" in (services or {}) else set()
        self.allow = {allow} if isinstance(allow, str) else {*allow}
        casting.misnamed(self.skills, casting.skills_of(tree.spec), self.allow)
        self.allow |= casting.given_by(tree.spec, {"memory", *given})
        self.cast = Cast(self.skills, self._allowed)
        self.run = Run(
            tree,
            inputs=inputs,
            world=world,
            services={**(services or {}), "scripted_skills": self.cast},
            clock=self.clock,
            strict=strict,
            slow=slow,
        )
        self.run.listen(self.lines.append, Line, Notice)
        if self.promises.all:
            self.hold(self.promises)
        self.covered = coverage.follow(self.run)
        self.keep_no_more = self.run.listen(self._ticked, Tick)
        self.replaced: dict[str, str] = {}  # path → the pattern by which it was substituted
        self._substitute()
        unused = [p for p in self.doubles if p not in self.replaced.values()]
        if unused:
            known = ", ".join(sorted({path_of(n) for n in self.run.nodes()}))
            raise BtError(f"no node is at {', '.join(unused)}", f"nodes here: {known}")

    def _allowed(self, name: str) -> bool:
        return name in self.allow or "*" in self.allow

    @property
    def status(self) -> Status:
        """The result of the last tick."""
        return self.run.status

    @property
    def board(self) -> Any:
        """The blackboard entries of the tree."""
        return self.run.blackboard

    @property
    def crashes(self) -> list[Crash]:
        """The crashes of nodes, except those that a script raised."""
        scripted = {f"{type(act).__name__}: {act}" for act in self._breaking()}
        return [crash for tick in self.ticks for crash in tick.crashes if crash.message not in scripted]

    def tick(self, times: int = 1) -> Status:
        """Ticks so many times (fewer when the tree ends), counting visits. Raises when a promise is broken."""
        context = self.run.parts.context
        for _ in range(times):
            context.visits = []
            self.run.parts.runner.woken.clear()
            try:
                tick = self.run.tick()
                self.due = tick.due
            except Unscripted as missing:
                raise self._unscripted(str(missing)) from None
            finally:
                visits, context.visits = context.visits, None
                self._count(visits)
            if self.covered is not None:
                self.covered.visited(visits, tick)
            if tick.grafts and self.doubles:
                self._substitute()
            self.promises.look(self.run, f"at {self.clock.now():g} s, in tick {tick.number}")
            if not tick.running:
                break
        return self.status

    def hold(self, promises: Promises) -> None:
        """Looks at these promises after each tick, and holds grafts against them, instead of the tree's own watch."""
        self.promises = promises
        watch: Watch | None = self.run.parts.extensions.get(Watch)  # type: ignore[assignment]
        if watch is not None:
            watch.end()
        if promises.all:
            self.run.parts.extensions[Watch] = Watch(self.run, promises)

    def repeats(self, ticks: int) -> None:
        """Raises when a promise is broken in a run that goes through its latest ticks again and again."""
        self.promises.repeats(ticks)

    def advance(self, seconds: float) -> Status:
        """Moves the clock, then ticks once."""
        self.clock.advance(seconds)
        return self.tick()

    def step(self, times: int = 1) -> Status:
        """Ticks this many times, fewer when the tree ends. Each tick is at the time that the tree asks for, or now if
        it asks for none."""
        for _ in range(times):
            self._wait()
            if self.tick() is not RUNNING:
                break
        return self.status

    def go_on(self, seconds: float = SECONDS, ticks: float = math.inf) -> Status:
        """Ticks until the tree has ended, or until this many seconds or ticks have passed."""
        end, last = self.clock.now() + seconds, len(self.ticks) + ticks
        while len(self.ticks) < last and self._wait(end) and self.tick() is RUNNING:
            pass
        return self.status

    def finish(self, seconds: float = SECONDS) -> Trial:
        """Ticks until the tree has ended; fails when it has not after this many seconds of its time."""
        first = len(self.ticks)
        if self.go_on(seconds) is not RUNNING:
            return self
        restless = self.run.parts.context.restless
        if self.due == -math.inf and restless is not None:
            why = f"ticks without end: `{kind_of(restless)}` at {path_of(restless)} asks for the next tick at once; "
            why += f"after {seconds:g} s of its time, {len(self.ticks) - first:,} ticks were made"
            hint = "let its child take some time, such as a `wait`, or bound it"
        elif math.isinf(self.due):
            why = f"waits at {self.clock.now():g} s for what can never come: there is no time at which it wants a tick"
            hint = "nothing in this test will wake it: write an entry, or let a script end"
        else:
            why = f"has not ended after {seconds:g} s of its time (`seconds={seconds:g}`), "
            why += f"in {len(self.ticks) - first:,} ticks"
            hint = "give it more with `seconds=`, or let end what it waits for"
        raise StillRunning(still_running(self.run, why, self.began, hint))

    def _wait(self, end: float = math.inf) -> bool:
        """Advances the test clock to the next due tick; returns False when that lies after `end`.

        A busy loop still advances the clock, by POLL a tick."""
        if self.run.status is not RUNNING:
            return True
        due, now = self.due, self.clock.now()
        self.at_once = 0 if due - now >= POLL else self.at_once + 1
        least = POLL if self.at_once > AT_ONCE else 0.0
        if due > now and any(map(has_own_life, leaves(self.run))):
            alarm = self.run.parts.runner.woken
            alarm.wait(min(due - now, PATIENCE))
            if alarm.is_set() or math.isinf(due):
                alarm.clear()
                due = min(due, now + POLL)
        elif self.run.parts.runner.woken.is_set():
            due = min(due, now)  # an entry was written since: `spin` would tick at once as well
        if math.isinf(due) and due > 0:
            return math.isinf(end)
        return self._pass(max(due - now, least), end)

    def _pass(self, seconds: float, end: float) -> bool:
        now = self.clock.now()
        if now + seconds > end + EPSILON:
            self.clock.advance(max(0.0, end - now))
            return False
        self.clock.advance(seconds)
        return True

    def running(self) -> list[str]:
        """The paths of the leaves that are running."""
        return [path_of(n) for n in self.run.nodes() if n.status is RUNNING and not n.children]

    def find(self, path: str) -> Behaviour:
        return self.run.parts.engine.find(path)

    def insert(self, path: str, plan: str | Behaviour, index: int | None = None) -> Applied:
        """Inserts a child below the node at `path` now; raises when that is refused."""
        return self._made(self.run.insert(path, plan, index))

    def replace(self, path: str, plan: str | Behaviour) -> Applied:
        """Replaces the node at `path` now; raises when that is refused."""
        return self._made(self.run.replace(path, plan))

    def _made(self, request: Request) -> Applied:
        self.run.parts.engine.settle()
        made = request.poll()
        assert made is not None
        return made

    def close(self) -> None:
        self.cast.over = True
        self.run.close()

    def _ticked(self, tick: Tick) -> None:
        self.ticks.append(tick)
        running = [path_of(node) for node, status in tick.changes if status is RUNNING]
        self.began.update((path, self.clock.now()) for path in running)

    def _count(self, visits: list[Behaviour] | None) -> None:
        for node in visits or ():
            if not stands_for(node):
                self.visits[path_of(node)] += 1

    def _breaking(self) -> Iterator[BaseException]:
        for script in (*self.skills.values(), *self.doubles.values()):
            for act in script.acts:
                result = act.result if isinstance(act, LaterResult) else act
                if isinstance(result, BaseException):
                    yield result

    def _unscripted(self, name: str) -> BtError:
        places = [path_of(node) for node in self.run.nodes() if kind_of(node) == name][:3]
        where = f" ({', '.join(places)})" if places else ""
        return BtError(
            f"`{name}`{where} is to start at {self.clock.now():g} s, and this test does not say what it does",
            f'script it: skills={{"{name}": SUCCESS}}; or let its own implementation run: allow=["{name}"]',
        )

    def _substitute(self) -> None:
        for path in [path_of(n) for n in self.run.nodes()]:
            for pattern, script in self.doubles.items():
                if path not in self.replaced and matches(pattern, path) and not self._inside_double(path):
                    self.replaced[path] = pattern
                    self.replace(path, Double(path.rpartition("/")[2], script, self.find(path)))
                    break

    def _inside_double(self, path: str) -> bool:
        return any(path.startswith(f"{above}/") for above in self.replaced)


def run_tree(text: str | Path | Tree, *, seconds: float = SECONDS, **options: Any) -> Trial:
    """Runs a tree to its end under a manual clock; fails when it has not ended after so many seconds of its time."""
    return Trial(text, **options).finish(seconds)


def _script(acts: Any) -> Script:
    return acts if isinstance(acts, Script) else Script(acts)
