"""The composition root: a checked tree, and a run of it with its blackboard, clock, skills and world."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import How, Line, Notice, Slow, Tick
from bt_runtime.faults.diagnostic import BtError, Diagnostic, closing
from bt_runtime.language import ports
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.language.spec import DEFAULT_CAPS, Caps, TreeSpec
from bt_runtime.run.person import Person
from bt_runtime.run.resources import Models, Resources
from bt_runtime.skills.loop import running
from bt_runtime.skills.resources import STOPPING, Hold
from bt_runtime.skills.skill import kind_of
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.build import build
from bt_runtime.tree.clock import RunClock
from bt_runtime.tree.context import Context
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.inputs import starting_values
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.tree.request import Grower, Request
from bt_runtime.tree.runner import Runner, interruptible
from bt_runtime.tree.watchdog import SLOW
from bt_runtime.types import Json, Task, Timed

if TYPE_CHECKING:
    from bt_runtime.journal.following import Follower
    from bt_runtime.journal.record import Recorder
    from bt_runtime.run.debug.debugger import Debugger
    from bt_runtime.tree.budget import Budget


class Tree:
    """A checked tree and how it was loaded; any number of runs can be made of it."""

    def __init__(
        self,
        spec: TreeSpec,
        loader: Callable[[], Loader],
        warnings: tuple[Diagnostic, ...],
        first: Loader | None = None,
        kinds: tuple[Kind, ...] = (),
    ) -> None:
        self.spec = spec
        self.loader = loader  # a fresh one for each graft: same project, skills and caps
        self.first = first or loader()  # the one that loaded it: it knows all files that were read
        self.kinds = kinds  # of skills that were given as Python objects
        self.warnings = warnings

    @property
    def name(self) -> str:
        return self.spec.name

    def __repr__(self) -> str:
        return f"Tree({self.name!r}, {self.spec.file!r})"


def load(
    source: str | Path, *, skills: Iterable[Any] = (), project: Path | str | None = None, caps: Caps = DEFAULT_CAPS
) -> Tree:
    """A tree from a file, a name (`patrol`), or YAML text. Raises Faults: every fault, with line and column."""
    kinds: tuple[Kind, ...] = tuple(s if isinstance(s, Kind) else kind_of(s) for s in skills)

    def loader() -> Loader:
        return Loader(Path(project) if project else None, kinds, caps)

    is_text, first = isinstance(source, str) and "\n" in source, loader()
    checked = first.text(str(source)) if is_text else first.file(source)
    return Tree(checked.sound(), loader, tuple(checked.diagnostics), first, kinds)


def _recorder(journal: str | Path | Recorder | None, policy: str | None) -> Recorder | None:
    if journal is None:
        return None
    from bt_runtime.journal.record import recorder  # only for runs that have one

    return recorder(journal, policy)


class Run:
    """One run of a tree: tick it from your own loop, or let it `spin`.

    with Run(tree, inputs={"room": "kitchen"}) as run:
        while run.tick().running: ...

    tree: a `Tree`, or what `load` takes: a file, a name, YAML text.
    inputs: values of the tree's `inputs` and of entries under `blackboard`; checked before anything is opened.
    world: where skills with `impl: world` act. `task`: what is to be done there; none: what the world brings itself.
    model: a file, an address, `starter` or an object; or a mapping of roles to them.
    memory: the file of the episodic memory, or one that is open (it stays open).
    seed: of all that is drawn. `budget`: what all agents together may spend.
    recall: may agents look into their working memory?
    services: things of yours by name, for nodes and skills of your own.
    clock: another clock than the machine's, or than the world's own; a test's is moved by hand.
    strict: an exception of a node ends the run, instead of being FAILURE of that node.
    hz: the most ticks a second of `spin`; None: as many as there is work for.
    log: called with every log line. `listen` hears all that happens.
    journal: a folder or a file in which the run is written down, or a recorder of one. None: nowhere.
    slow: seconds that a node may hold a tick before it is named; None: nobody looks.
    journal_policy: `required` (the default): skills that may not be repeated wait for a journal that cannot be
    written; `best_effort`: they go on without a record.
    """

    def __init__(
        self,
        tree: Tree | str | Path,
        *,
        inputs: Mapping[str, Json] | None = None,
        world: Any = None,
        task: Task | None = None,
        model: Models | None = None,
        memory: Any = None,
        seed: int = 0,
        budget: Budget | None = None,
        recall: bool = True,
        services: Mapping[str, Any] | None = None,
        setup: Mapping[str, Any] | None = None,
        clock: RunClock | None = None,
        strict: bool = False,
        hz: float | None = None,
        log: Callable[[Line], None] | None = None,
        journal: str | Path | Recorder | None = None,
        slow: float | None = SLOW,
        journal_policy: Literal["required", "best_effort"] | None = None,
    ) -> None:
        self.tree = tree if isinstance(tree, Tree) else load(tree)
        self.spec = self.tree.spec
        values = starting_values(self.spec, inputs or {})
        self.journal = _recorder(journal, journal_policy)
        self.name = f"{self.spec.name}-{uuid4().hex[:8]}"
        self.name = self.journal.name_of(self.name) if self.journal is not None else self.name
        self.context = Context(clock or (world.own_clock if isinstance(world, Timed) else None), strict)
        self.context.services.update(services or {})
        if isinstance(self.context.services.person, Person):
            self.context.services.person.joins(self.context)
        if log is not None:
            self.listen(log, Line, Notice)
        caps, root = self.tree.first.caps, build(self.spec, self.context, self.blackboard)
        self.engine = Engine(root, self.context, caps.depth, caps.nodes, self.tree.loader)
        self.engine.setup_with = dict(setup or {})
        if slow is not None:
            self.engine.watch(slow, self._held)
        self._give(values)
        self.runner = Runner(self.engine, hz)
        self.resources = Resources(
            world=world, task=task, model=model, memory=memory, seed=seed, budget=budget, recall=recall
        )
        self.debugging: Debugger | None = None  # once somebody has asked for it
        self._closed = False
        self._grace = STOPPING
        with ExitStack() as opening:
            if self.journal is not None:
                opening.push(closing(self.journal.close))
            opening.push(closing(self.resources.close))
            opening.push(closing(self.engine.shutdown))
            self._open({
                "inputs": inputs, "seed": seed, "budget": budget, "recall": recall, "strict": strict, "hz": hz,
                "model": model, "memory": memory, "services": services,
            })  # fmt: skip
            self._closing = opening.pop_all()

    def _give(self, values: Mapping[str, Json]) -> None:
        """What the tree begins with; from here on, whoever writes one of its ports is held to its type."""
        scope, declared = self.blackboard, self.spec.ports
        for name, value in values.items():
            scope[name] = value
        scope.guard = lambda name, value: ports.check(declared[name], value) if name in declared else None

    def _open(self, given: dict[str, Any]) -> None:
        """Everything was checked: now the models and memories that were named, then the journal."""
        again = self.journal is not None and self.journal.recording is not None
        self.resources.open()
        if again:
            self.resources.ready()
        self.resources.attach(self.context, self.name, again)
        if self.journal is not None:
            self.journal.attach(self, given)

    @property
    def blackboard(self) -> Scope:
        """The run's own entries: what the root tree reads and writes, and what you set from outside."""
        return self.context.blackboard.root

    @property
    def root(self) -> Behaviour:
        return self.engine.root

    @property
    def growth(self) -> Grower:
        return self.context.growth

    @property
    def outputs(self) -> dict[str, Json]:
        return {name: self.blackboard.get(name) for name in self.spec.outputs}

    @property
    def debugger(self) -> Debugger:
        """Made when it is first asked for: until then a run pays nothing for it."""
        if self.debugging is None or self.engine.gate is not self.debugging:
            from bt_runtime.run.debug.debugger import Debugger

            self.debugging = Debugger(self)
        return self.debugging

    # Running ---------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """What the latest tick gave; INVALID before the first one, and once what ran was halted."""
        return self.engine.status

    @property
    def stopped(self) -> str:
        """Why it was halted or stopped: empty when it was not, or has been started anew since."""
        over = self.engine.over
        return over.reason if over is not None else self.runner.stopped

    def tick(self) -> Tick:
        return self.engine.tick()

    def spin(self, hz: float | None = None, seconds: float | None = None, ticks: int | None = None) -> Status:
        """Ticks to the end, or until it is halted. Ctrl-C and SIGTERM halt everything; the same once more kills."""
        self.runner.hz = hz or self.runner.hz
        with interruptible(self.runner), self._blocking():
            status = self.runner.spin(seconds, ticks)
            self._settle(self._grace)
        self._finish()
        return status

    async def aspin(self, hz: float | None = None, seconds: float | None = None, ticks: int | None = None) -> Status:
        """`spin` in an event loop, which goes on meanwhile; async skills run on it. SIGTERM halts everything.

        When it is cancelled the tree is halted, and what takes its time to stop is waited for.
        """
        import asyncio

        self.runner.hz = hz or self.runner.hz
        with interruptible(self.runner, (signal.SIGTERM,)):
            try:
                status = await self.runner.aspin(seconds, ticks)
            except asyncio.CancelledError:
                self.engine.halt("cancelled", "runner")
                raise
            finally:
                self._not_stopped(await self.context.resources.settled(self._grace), self._grace)
        self._finish()
        return status

    async def woken(self, until: float = math.inf) -> None:
        """In a loop of your own: waits until a job has ended or an entry was written, or until then.

        while (tick := run.tick()).running:
            await run.woken(tick.due)
        """
        await self.runner.asleep(until)
        self.runner.woken.clear()

    async def aclose(self, reason: str = "the run was closed", timeout: float = STOPPING) -> None:
        """`close` in an event loop: what stops on it can do so meanwhile."""
        if not self._closed:
            self.engine.halt(reason, "run")
            self._not_stopped(await self.context.resources.settled(timeout), timeout)
        self.close(reason, 0.0)

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        await self.aclose("the run was closed" if error is None else f"{type(error).__name__}: {error}")

    @contextmanager
    def _blocking(self) -> Iterator[None]:
        """A loop that this thread is in cannot run meanwhile: async skills get one of the run's own."""
        self.context.loop.own_only = True
        try:
            yield
        finally:
            self.context.loop.own_only = False

    def _settle(self, seconds: float) -> None:
        """Waits for what was told to stop, so long and no longer."""
        here = running()
        left = self.context.resources.settle(seconds, lambda hold: hold.activity.loop_of is not here or here is None)
        self._not_stopped(left, seconds)

    def _not_stopped(self, left: list[Hold], seconds: float) -> None:
        for hold in left if seconds else ():  # without any, nobody asked
            self.context.emit(Notice("", "warning", f"this has not stopped within {seconds:g} s: {hold.sentence}"))

    def _held(self, slow: Slow) -> None:
        """A node does in the tick what it should leave to a thread: said while it still does."""
        where = slow.stack.rstrip().rpartition("\n  File ")[2].replace("\n", " ")
        text = f"holds the tick: {slow.seconds:.1f} s so far, and nothing else can run; it is at {where}"
        self.context.emit(Notice(slow.path, "warning", text))

    def _finish(self) -> None:
        """In this order: how it ended is on the disk, then in the memory, and then it is over."""
        if self.journal is not None:
            self.journal.verdict(self.resources.verdict())
            if self.resources.notebook is not None:
                self.journal.settled()
        experiences = self.resources.finish()
        if self.journal is not None and self.status in (SUCCESS, FAILURE):
            self.journal.finished(experiences)

    def halt(self, reason: str, by: str = "operator") -> int:
        """Returns when every running skill was told to cancel; how many nodes were running. Ends what spins.

        From any thread, or a signal's handler. A later `tick` or `spin` starts the tree anew.
        """
        return self.engine.halt(reason, by)

    def stop(self, reason: str = "stopped", by: str = "operator") -> int:
        """A halt for good: no tick starts the tree anew."""
        self.runner.stop(reason)
        return self.engine.stop(reason, by)

    def listen(self, callback: Callable[[Any], object], *kinds: type[Any]) -> Callable[[], None]:
        """Called with each event of these kinds (see `bt_runtime.events`; without any: with all); gives what ends that.

        In the thread where it happened. A listener that raises is told of in the log, and is heard no more.
        """
        return self.context.stream.listen(callback, *kinds)

    def observe(self, observer: Callable[[Tick], object]) -> Callable[[], None]:
        """Called after every tick with what it did; returns what ends that."""
        return self.listen(observer, Tick)

    def follow(self, follower: Follower) -> None:
        """Told all that the journal notes, off the tick; closed with the run. Call it before the first tick."""
        if self.journal is None:
            hint = 'give it one: `journal="runs/"`, or `journal=Recorder(None)` for none on the disk'
            raise BtError("a run without a journal notes nothing that could be followed", hint)
        self.journal.follow(follower)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        why = "the run was closed" if error is None else f"{type(error).__name__}: {error}"
        self._ending(why).__exit__(kind, error, trace)

    def close(self, reason: str = "the run was closed", timeout: float = STOPPING) -> None:
        """Halts, tells the memory and the journal how it ended, and closes what the run opened: each of them, whatever
        breaks meanwhile; the first error is raised. Once more does nothing.

        What takes its time to stop is waited for, `timeout` seconds at most."""
        self._grace = timeout
        self._ending(reason).close()

    def _ending(self, reason: str) -> ExitStack:
        stack = ExitStack()
        if not self._closed:
            self._closed = True
            stack.push(self._closing)
            stack.push(closing(self._finish))
            stack.push(closing(self.context.loop.close))
            stack.push(closing(self.engine.shutdown))
            stack.push(closing(lambda: self._settle(self._grace)))
            stack.push(closing(lambda: self.engine.halt(reason, "run")))
        return stack

    # Shape -----------------------------------------------------------------------------------

    def graft(self, path: str, plan: str | Behaviour, how: How = "replace", index: int | None = None) -> Request:
        """Asks for nodes to be put in at a path; applied between ticks. Faults in the text are raised here and now."""
        if self.journal is not None:
            self.journal.asked(how, path, plan, index)
        if isinstance(plan, Behaviour):
            return self.engine.request(Request(how, path, lambda place: plan, index))
        return self.growth.graft(how, path, plan, index)

    def insert(self, path: str, plan: str | Behaviour, index: int | None = None) -> Request:
        """Asks for a new child of the node at `path`, at this index (at the end without one)."""
        return self.graft(path, plan, "insert", index)

    def replace(self, path: str, plan: str | Behaviour) -> Request:
        return self.graft(path, plan, "replace")

    def remove(self, path: str) -> Request:
        if self.journal is not None:
            self.journal.asked("remove", path)
        return self.growth.remove(path)

    def nodes(self) -> Iterable[Behaviour]:
        """All nodes now, parents first."""
        todo = [self.engine.root]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))
