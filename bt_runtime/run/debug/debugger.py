"""The debugger of one run. It acts only between ticks; its changes are journalled, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from py_trees.behaviour import Behaviour

from bt_runtime.events import Debugged, Grown, Line, Tick
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.run.debug.graft import Replaced, checked, put_back, replace
from bt_runtime.run.debug.hook import Hooks, scope_of
from bt_runtime.run.debug.pause import Pause, PauseHit, StepOver
from bt_runtime.run.debug.rule import MOST_RULES, Breakpoint, ForcedResult, Rule, breakpoint_of, force_of
from bt_runtime.run.debug.travel import Travel
from bt_runtime.run.debug.why import why
from bt_runtime.run.debug.witness import Witness
from bt_runtime.tree.gates import Gate
from bt_runtime.tree.node import path_of
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec, TreeSpec
    from bt_runtime.run.run import Run

MOST_HITS = 64  # hits kept of one pause


class Debugger(Gate):
    """`debugger_of(run)` makes it at the first call. Before that, and after `close`, a run pays nothing for it.

    limit, then: the most seconds that a pause lasts without a command, and whether the run then resumes or halts.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.engine, self.context = run, run.parts.engine, run.parts.engine.context
        self.pause_of = Pause()
        self.hooks = Hooks(self.engine, self._hit)
        self.replaced: list[Replaced] = []
        self.hits: list[PauseHit] = []  # breakpoints hit in the last tick
        self.at = ""  # the node that the last pause was about
        self.stepped: StepOver | None = None
        self.made_again = False  # a journal is being replayed: there is nobody to pause for
        self.of_past = False  # its run is a recording
        self.number = 0
        self.closed = False
        self._deaf: Callable[[], None] | None = None  # ends its listening to growth
        self.witness: Witness | None = None  # while `why` is to tell what tests have read
        with self.engine.between():
            self._leave = self.context.gates.add(self)

    # Breakpoints -----------------------------------------------------------------------------

    def break_at(self, path: str, moment: str = "before", condition: str = "", once: bool = False) -> Breakpoint:
        """Pauses the run at nodes of this path or pattern; `condition` is an expression over their entries."""
        with self._doing("break", path=path, moment=moment, condition=condition, once=once):
            found = breakpoint_of(self.number + 1, path, moment, condition, once)
            self._rules([*self.hooks.rules, found])
            return found

    def clear(self, which: int | str | None = None) -> list[Breakpoint]:
        """Removes a breakpoint by number or pattern, without either all of them."""
        with self._doing("clear", which=which):
            gone = [b for b in self.breakpoints if which in (None, b.number, b.pattern)]
            if which is not None and not gone:
                raise BtError(f"there is no breakpoint {which}", "`status` lists them")
            self._rules([rule for rule in self.hooks.rules if rule not in gone])
            self._pass()
            return gone

    def reached(self, rule: Rule) -> int:
        """Returns the number of nodes that the rule applies to now; later nodes may join."""
        return sum(rule in hook.breaks or hook.force is rule for hook in self.hooks.hooks.values())

    @property
    def breakpoints(self) -> list[Breakpoint]:
        return [rule for rule in self.hooks.rules if isinstance(rule, Breakpoint)]

    @property
    def forces(self) -> list[ForcedResult]:
        return [rule for rule in self.hooks.rules if isinstance(rule, ForcedResult)]

    # Going on --------------------------------------------------------------------------------

    @property
    def paused(self) -> bool:
        return self.pause_of.on

    def pause(self, why: str = "it was asked for") -> None:
        """Pauses the ticks. Running skills continue, and halts still work."""
        with self.engine.between():
            self.pause_of.begin()
            self.pause_of.renew(self._now())
            self._say("paused", "", why)

    def renew(self) -> None:
        """Begins the time limit of the pause anew."""
        with self.engine.between():
            self.pause_of.renew(self._now())

    def resume(self) -> None:
        with self._going():
            self.pause_of.end()

    def step(self, ticks: int = 1) -> None:
        """Ticks this many times, then pauses again."""
        if not 1 <= ticks <= 1_000_000:
            raise BtError(f"{ticks} ticks cannot be stepped", "1 or more")
        with self._going():
            if not self.paused:
                self.pause_of.begin()
            self.pause_of.steps += ticks

    def into(self) -> None:
        """Resumes until the next node starts: below the paused node, if it has children."""
        below = self._there() is not None and bool(self.engine.find(self.at).children)
        self.break_at(f"{self.at}/**" if below else "/**", once=True)
        self.resume()

    def over(self, path: str = "") -> None:
        """Resumes until the given or the paused node has ended."""
        node = self.engine.find(path) if path else self._there()
        if node is None:
            self.step()
            return
        with self._going():
            self.stepped = StepOver(node)
            self.pause_of.end()

    def run_to(self, path: str) -> None:
        """Resumes until this node is about to start."""
        self.break_at(path, once=True)
        self.resume()

    # Changes ---------------------------------------------------------------------------------

    def force(self, path: str, *acts: Json) -> ForcedResult:
        """Forces the results of nodes with this path or pattern, one for each start: "failure", "success", "running",
        [3, "success"]."""
        with self._doing("force", path=path, acts=list(acts)):
            found = force_of(self.number + 1, path, acts)
            self._rules([*self.hooks.rules, found])
            self._say("changed", path, found.text())
            return found

    def replace(self, path: str, text: str, by: str = "") -> str:
        """Replaces this node, which is halted with the reason, by the nodes of a text; returns their path.

        `by`: the file whose author edited it. That change becomes the tree itself and is not undone."""
        spec = self.check(path, text)  # takes its time: ticks go on
        with self._doing("replace", path=path, text=text, **({"by": by} if by else {})):
            made = replace(self.engine, self.engine.growth, path, spec, text, self.number + 1, by)
            if by:
                self.context.emit(Line(made.path, "info", f"{path} is replaced: {by} was edited"))
                return made.path
            self.replaced.append(made)
            self._say("changed", made.path, f"{path} was replaced by edited YAML")
            return made.path

    def check(self, path: str, text: str) -> NodeSpec:
        """Checks a replacement for this place; raises Faults."""
        return checked(self.engine.growth, self.tree_at(path), path, text)

    def tree_at(self, path: str) -> TreeSpec:
        """Returns the tree to which the node at `path` belongs."""
        with self.engine.between():
            return self.engine.growth.owner(self.engine.find(path)).tree

    def take_back(self, which: int | str | None = None) -> list[str]:
        """Undoes forced results and replacements, by number or path; without either, all of them. Returns what it
        undid."""
        with self._doing("take back", which=which):
            forces = [f for f in self.forces if which in (None, f.number, f.pattern)]
            grafts = [r for r in self.replaced if which in (None, r.number, r.path, r.was)]
            if which is not None and not forces and not grafts:
                raise BtError(f"there is no change {which}", "`status` lists them")
            self._rules([rule for rule in self.hooks.rules if rule not in forces])
            said = [force.text() for force in forces]
            for graft in reversed(grafts):
                self.replaced.remove(graft)
                said.append(put_back(self.engine, self.engine.growth, graft))
            self._pass()
            for text in said:
                self._say("changed", "", f"undone: {text}")
            return said

    @property
    def changes(self) -> list[str]:
        """The changes that are still in force."""
        return [*(force.text() for force in self.forces), *(graft.text() for graft in self.replaced)]

    @property
    def busy(self) -> bool:
        """True while the debugger pauses the run, holds breakpoints or has changed a node."""
        return self.paused or bool(self.hooks.rules or self.replaced or self.stepped)

    def let_go(self) -> None:
        """Ends a pause, and lets the nodes begin that it holds."""
        with self.engine.between():
            self._pass()
            self.pause_of.end()

    def close(self) -> None:
        """Takes all back, and leaves the run as if it had never been there."""
        with suppress(BtError):
            self.take_back()
            self.clear()
        if self.travel is not None:
            self.travel.close()
        self.resume()
        with self.engine.between():
            self._rules([])
            self._leave()
            self.closed = True
            witness, self.witness = self.witness, None
            if witness is not None:
                witness.close()

    # Looking ---------------------------------------------------------------------------------

    travel: Any = property(
        lambda self: self.run.parts.extensions.get(Travel)
    )  # goes back in this run, where it has a journal

    def look(self) -> None:
        """Starts to record the values that each test reads, so that `why` can show the values of that moment."""
        with self.engine.between():
            self.witness = self.witness or Witness(self.context, self.engine.root)

    def why(self, path: str = "") -> list[str]:
        """Explains the node's status in sentences: the statuses and tests that led to it."""
        with self.engine.between():
            return why(self.engine, path or self.at or path_of(self.engine.root), self.witness, self.hooks.told())

    def entries(self, name: str = "", path: str = "") -> dict[str, Json]:
        """Returns the entries visible to a node, by default the node of the pause."""
        with self.engine.between():
            node = self.engine.find(path) if path else self._there()
            scope: Mapping[str, Json] = scope_of(node, self.context) if node else self.context.blackboard.root
            if not name:
                return dict(scope)
            if name not in scope:
                raise BtError(f"there is no entry `{name}`", did_you_mean(name, scope))
            return {name: scope[name]}

    # Between two ticks: called by the engine ------------------------------------------------

    def hold(self) -> float | None:
        until = self.pause_of.held(self._now()) if not self.made_again else None
        self.hooks.may_hold = True
        if until is None or until > self._now():
            return until
        self.leave(why=f"nobody has said anything for {self.pause_of.limit:g} s")
        return None

    def leave(self, numbers: Collection[int] = (), why: str = "nobody is there") -> None:
        """The client has gone or is silent: the run resumes or halts, as `--pause-then` says. Its breakpoints, given
        by number, are removed."""
        for number in [point.number for point in self.breakpoints if point.number in numbers]:
            self.clear(number)
        if not self.paused:
            return
        halts = self.pause_of.then == "halt"
        with self.engine.between():
            self.let_go()
            self._say("going on", "", f"{why}: the run {'is halted' if halts else 'goes on'}")
            self.context.wake()
        if halts:
            self.run.halt("nobody has ended the debugger's pause", "debugger", for_good=True)

    def ticked(self, tick: Tick) -> Tick:
        self.hooks.passing.clear()
        self.hooks.may_hold = False
        if self.stepped is not None and (ended := self.stepped.ended()):
            self.hits.append(PauseHit(path_of(self.stepped.node), ended))
            self.stepped = None
        if self.hits:
            self.pause_of.begin()  # begins even in the middle of several steps
        if not tick.running:
            self.pause_of.end()  # the run ended: there is no tick to hold
            self.stepped = None
        for hit in self.hits:
            self.at = hit.path
            if self.pause_of.on:
                self._say("paused", hit.path, hit.text)
            else:
                self._say("going on", hit.path, f"{hit.text}: the tree has ended with this tick")
        had, self.hits = bool(self.hits), []
        if self.pause_of.on and not self.pause_of.steps and not self.made_again:
            if not had:
                self._say("paused", self.at, f"after tick {tick.number}")
            self.pause_of.renew(self._now())
            return tick._replace(due=min(tick.due, self.pause_of.until), deadline=self.pause_of.until)
        return tick

    def _hit(self, point: Breakpoint, node: Behaviour, held: bool, why: str) -> None:
        """Records a hit; runs inside the tick, so handling is left for later."""
        path = path_of(node)
        if len(self.hits) < MOST_HITS:
            how = "it is held, and has not begun" if held else ""
            if point.moment == "before" and not held:
                how = f"it was not held: {why}"
            said = f"breakpoint {point.number} ({point.text()}) at {path}"
            self.hits.append(PauseHit(path, f"{said}: {how}" if how else said))
        if point.once:
            self.hooks.rules = [rule for rule in self.hooks.rules if rule is not point]
            for hook in self.hooks.hooks.values():
                hook.breaks = [each for each in hook.breaks if each is not point]

    # Inside ----------------------------------------------------------------------------------

    @contextmanager
    def _doing(self, do: str, **given: Json) -> Iterator[None]:
        """Runs a change between two ticks; a change that succeeds is recorded, a refused one is not."""
        with self.engine.between():
            self.pause_of.renew(self._now())
            yield
            self.number += do in ("break", "force", "replace")  # a refused change gets no number, in a replay neither
            self._record(do, **given)

    def _record(self, do: str, **given: Json) -> None:
        if self.run.parts.journal is not None and not self.made_again:
            self.run.parts.journal.debugged({"do": do, **given})

    @contextmanager
    def _going(self) -> Iterator[None]:
        with self.engine.between():
            self._pass()
            self.stepped = None
            yield
            if not self.paused:
                self._say("going on", "", "the run goes on")
            self.context.wake()

    def _pass(self) -> None:
        if self.hooks.let_go():
            self._record("pass")

    def _rules(self, rules: list[Breakpoint | ForcedResult]) -> None:
        if len(rules) > MOST_RULES:
            raise BtError(f"there are {MOST_RULES} breakpoints and forced results already", "clear some")
        self.hooks.rules = rules
        self.hooks.apply()
        if rules and self._deaf is None:
            self._deaf = self.context.stream.listen(lambda grown: self.hooks.grown(grown.root), Grown)
        elif not rules and self._deaf is not None:
            self._deaf()
            self._deaf = None

    def _there(self) -> Behaviour | None:
        """Returns the node of the pause, if it still exists."""
        with suppress(BtError):
            return self.engine.find(self.at) if self.at else None
        return None

    def _say(self, what: Literal["paused", "going on", "changed"], path: str, text: str) -> None:
        self.context.emit(Debugged(what, path, text))
        if what == "changed":
            self.context.emit(Line(path, "warning", f"debugger: {text}"))

    def _now(self) -> float:
        return self.context.clock.now()


def debugger_of(run: Run) -> Debugger:
    """Returns the run's debugger; the first call makes it."""
    found = debugging(run)
    if found is None or found.closed:
        run.parts.extensions[Debugger] = found = Debugger(run)
    return found


def debugging(run: Run) -> Debugger | None:
    """Returns the run's debugger, or None before anyone has asked for it."""
    found = run.parts.extensions.get(Debugger)
    return found if isinstance(found, Debugger) else None
