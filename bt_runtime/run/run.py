"""The composition root: a checked tree, and a run of it with its blackboard, clock, skills and world."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import EventType, How, Line, Listener, Notice, Slow, Tick
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, closing
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import plugins
from bt_runtime.language.source.pause import stands
from bt_runtime.language.spec import DEFAULT_CAPS, Caps, TreeSpec
from bt_runtime.run.resources import Models, Resources
from bt_runtime.skills.loop import running
from bt_runtime.skills.pool import POOL
from bt_runtime.skills.resources import STOPPING, Hold
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.build import build
from bt_runtime.tree.clock import RunClock
from bt_runtime.tree.context import Context
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.inputs import Doubts, starting_values
from bt_runtime.tree.node import FAILURE, SUCCESS
from bt_runtime.tree.request import Request, checked
from bt_runtime.tree.runner import Runner
from bt_runtime.tree.watchdog import SLOW
from bt_runtime.types import Json, Task, Timed, World

if TYPE_CHECKING:
    from bt_runtime.journal.lines import LineFollower
    from bt_runtime.journal.record import Recorder
    from bt_runtime.journal.recordable import Given
    from bt_runtime.tree.budget import Budget


class Tree:
    """A checked tree and how it was loaded; any number of runs can be made of it."""

    def __init__(
        self, spec: TreeSpec, loader: Callable[[], Loader], warnings: tuple[Diagnostic, ...],
        first: Loader | None = None, kinds: tuple[Kind, ...] = (),
    ) -> None:  # fmt: skip
        self.spec = spec
        self.loader = loader  # a fresh one for each graft: same project, skills and caps
        self.first = first or loader()  # the one that loaded it: it knows all files that were read
        self.kinds = kinds  # kinds of skills given as Python objects
        self.warnings = warnings

    @property
    def name(self) -> str:
        return self.spec.name

    def __repr__(self) -> str:
        return f"Tree({self.name!r}, {self.spec.file!r})"

    def _repr_html_(self) -> str:
        return str(import_module("bt_runtime.run.view.notebook").tree(self.spec))


def load(
    source: str | Path, *, skills: Iterable[object] = (), project: Path | str | None = None, caps: Caps = DEFAULT_CAPS
) -> Tree:
    """A tree from a file, a name (`patrol`), or YAML text. Raises Faults: every fault, with line and column."""
    kinds: tuple[Kind, ...] = ()
    if given := tuple(skills):
        from bt_runtime.skills.skill import kind_of

        kinds = tuple(s if isinstance(s, Kind) else kind_of(s) for s in given)

    def loader() -> Loader:
        return Loader(Path(project) if project else None, kinds, caps)

    is_text, first = isinstance(source, str) and "\n" in source, loader()
    checked = first.text(str(source)) if is_text else first.file(source)
    return Tree(checked.sound(), loader, tuple(checked.diagnostics), first, kinds)


@dataclass(eq=False)
class Parts:
    """What a run is made of."""

    tree: Tree
    name: str
    given: frozenset[str]  # the entries that whoever made the run has given
    journal: Recorder | None
    context: Context
    engine: Engine
    runner: Runner
    resources: Resources
    extensions: dict[type, object] = field(default_factory=dict)  # objects that clients keep with the run, by class


class Run:
    """One run of a tree: tick it from your own loop, or let it `spin`.

    with Run(load("patrol.yaml"), inputs={"room": "kitchen"}) as run:
        while run.tick().running: ...

    tree: what `load` has checked. `inputs`: values of its `inputs` and of entries under `blackboard`; checked first.
    world: the world in which skills with `impl: world` act. `task`: its task; None: the world's own.
    model: a file, an address, `starter` or an object; or a mapping of roles to them.
    memory: the file of the episodic memory, or an open memory, which stays open.
    seed: the random seed of the run. `budget`: what all agents together may spend.
    recall: False denies agents their working memory. `services`: your objects by name, for your own nodes and skills.
    clock: in place of the machine's or the world's. `strict`: an exception in a node ends the run, not only its node.
    hz: the maximum ticks a second of `spin`; None: a tick whenever there is work.
    journal: the folder in which the run is recorded, or a Recorder. None: no journal.
    slow: seconds that a node may hold a tick before a report names it; None: no watchdog.
    journal_policy: `required` (the default): skills that may not be repeated wait for a journal that cannot be
    written; `best_effort`: they go on without a record.
    """

    def __init__(
        self,
        tree: Tree,
        *,
        inputs: Mapping[str, Json] | None = None,
        world: World | None = None,
        task: Task | None = None,
        model: Models | None = None,
        memory: object = None,
        seed: int = 0,
        budget: Budget | None = None,
        recall: bool = True,
        services: Mapping[str, object] | None = None,
        setup: Mapping[str, object] | None = None,
        clock: RunClock | None = None,
        strict: bool = False,
        hz: float | None = None,
        journal: str | Path | Recorder | None = None,
        slow: float | None = SLOW,
        journal_policy: Literal["required", "best_effort"] | None = None,
    ) -> None:
        if not isinstance(tree, Tree):
            raise BtError(f"a run takes a checked tree, not {tree!r:.60}", "load it first: Run(load(…))")
        values = starting_values(tree.spec, inputs or {})
        recorder: Recorder | None = None
        if journal is not None:
            recorder = import_module("bt_runtime.journal.record").recorder(journal, journal_policy)
        name = f"{tree.name}-{uuid4().hex[:8]}"
        context = Context(clock or (world.own_clock if isinstance(world, Timed) else None), strict)
        context.services.give(services or {})
        context.services.introduce(context)
        self._unheard: list[Line | Notice] = []  # emitted before anybody could listen: for the first listener
        opened = context.stream.listen(self._unheard.append, Line, Notice)
        self.blackboard: Scope = context.blackboard.root  # the root tree's entries, for you too
        caps, root = tree.first.caps, build(tree.spec, context, self.blackboard)
        engine = Engine(root, context, caps.depth, caps.nodes, tree.loader)
        engine.setup_with = dict(setup or {})
        if slow is not None:
            engine.watch(slow, self._held)
        self.parts = Parts(
            tree, name if recorder is None else recorder.name_of(name), frozenset(inputs or ()), recorder, context,
            engine, Runner(engine, hz, POOL.starved),
            Resources(world=world, task=task, model=model, memory=memory, seed=seed, budget=budget, recall=recall),
        )  # fmt: skip
        self._give(values)
        self._closed = False
        self._grace = STOPPING
        with ExitStack() as opening:
            if recorder is not None:
                opening.push(closing(recorder.close))
            opening.push(closing(self.parts.resources.close))
            opening.push(closing(engine.shutdown))
            self._open({
                "inputs": inputs, "seed": seed, "budget": budget, "recall": recall, "strict": strict, "hz": hz,
                "model": model, "memory": memory, "services": services,
            })  # fmt: skip
            self._closing = opening.pop_all()
        opened()
        self._unfreeze = stands(self)

    def _give(self, values: Mapping[str, Json]) -> None:
        """Writes the initial values; from then on, checks each write to a port against its type."""
        scope = self.blackboard
        for name, value in values.items():
            scope[name] = value
        scope.declare(self.parts.tree.spec.ports)
        scope.board.doubt = Doubts(self.parts.context, self.parts.tree.spec)

    def _open(self, given: Given) -> None:
        """Everything was checked: now the models and memories that were named, then the journal."""
        again = self.parts.journal is not None and self.parts.journal.recording is not None
        self.parts.resources.open()
        if again:
            self.parts.resources.ready()
        self.parts.resources.attach(self.parts.context, self.parts.name, again, self.parts.tree.first.project)
        if self.parts.journal is not None:
            self.parts.journal.attach(self.parts, given)
        rules = self.parts.tree.spec.watched or self.parts.tree.spec.policies or self.parts.tree.spec.shared
        for watcher in plugins.entries("watchers") if rules else ():
            plugins.load(watcher)(self)
        if self.parts.tree.spec.policies and self.parts.context.services.policy is None:
            raise BtError("the tree has policies, and nothing here holds them", "install bt_runtime anew")

    @property
    def outputs(self) -> dict[str, Json]:
        return {name: self.blackboard.get(name) for name in self.parts.tree.spec.outputs}

    # Running ---------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Returns the latest tick's status; INVALID before the first tick and after a halt."""
        return self.parts.engine.status

    @property
    def stopped(self) -> str:
        """Returns why the run was halted or stopped; "" when it was not, or has restarted."""
        return self.parts.runner.why

    def tick(self) -> Tick:
        if self.parts.runner.stopped:
            self.parts.runner.stopped = self.parts.runner.for_good
        return self.parts.engine.tick()

    def spin(self, hz: float | None = None, seconds: float | None = None, ticks: int | None = None) -> Status:
        """Ticks until the tree ends or is halted. Ctrl-C and SIGTERM halt everything; a second signal kills."""
        from bt_runtime.tree.interrupts import interruptible

        with self.parts.runner.at(hz), interruptible(self.parts.runner), self._blocking():
            status = self.parts.runner.spin(seconds, ticks)
            self._settle(self._grace)
        self._finish()
        return status

    async def aspin(self, hz: float | None = None, seconds: float | None = None, ticks: int | None = None) -> Status:
        """Runs `spin` in an event loop, on which async skills run too. SIGTERM halts everything.

        Cancelling halts the tree, and waits for activities that take time to stop."""
        import asyncio

        from bt_runtime.tree.event_loop import aspin
        from bt_runtime.tree.interrupts import interruptible

        with self.parts.runner.at(hz), interruptible(self.parts.runner, (signal.SIGTERM,)):
            try:
                status = await aspin(self.parts.runner, seconds, ticks)
            except asyncio.CancelledError:
                self.parts.engine.halt("cancelled", "runner")
                raise
            finally:
                self._not_stopped(await self.parts.context.resources.settled(self._grace), self._grace)
        self._finish()
        return status

    async def woken(self, until: float = math.inf) -> None:
        """In a loop of your own: waits until a job has ended or an entry was written, or until then.

        while (tick := run.tick()).running:
            await run.woken(tick.due)
        """
        from bt_runtime.tree.event_loop import asleep

        await asleep(self.parts.runner, until)
        self.parts.runner.woken.clear()

    async def aclose(self, reason: str = "the run was closed", timeout: float = STOPPING) -> None:
        """Closes the run within an event loop, so that async skills can stop on it."""
        if not self._closed:
            self.parts.engine.halt(reason, "run")
            self._not_stopped(await self.parts.context.resources.settled(timeout), timeout)
        self.close(reason, 0.0)

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        await self.aclose("the run was closed" if error is None else f"{type(error).__name__}: {error}")

    @contextmanager
    def _blocking(self) -> Iterator[None]:
        """Returns the event loop that cannot run while this call blocks; async skills then use the run's own."""
        self.parts.context.loop.own_only = True
        try:
            yield
        finally:
            self.parts.context.loop.own_only = False

    def _settle(self, seconds: float) -> None:
        """Waits for what was told to stop, so long and no longer."""
        here = running()
        left = self.parts.context.resources.settle(seconds, lambda hold: here is None or hold.loop_of is not here)
        self._not_stopped(left, seconds)

    def _not_stopped(self, left: list[Hold], seconds: float) -> None:
        for hold in left if seconds else ():  # 0 seconds: nobody wants to wait
            text = f"this has not stopped within {seconds:g} s: {hold.sentence}"
            self.parts.context.emit(Notice("", "warning", text))

    def _held(self, slow: Slow) -> None:
        """Reports a node that holds the tick, while it does."""
        where = slow.stack.rstrip().rpartition("\n  File ")[2].replace("\n", " ")
        text = f"holds the tick: {slow.seconds:.1f} s so far, and nothing else can run; it is at {where}"
        self.parts.context.emit(Notice(slow.path, "warning", text))

    def _finish(self) -> None:
        """Finishes in this order: journals the verdict, stores the memory, then ends the journal."""
        if self.parts.journal is not None:
            self.parts.journal.verdict(self.parts.resources.verdict())
            if self.parts.resources.notebook is not None:
                self.parts.journal.settled()
        experiences = self.parts.resources.finish()
        if self.parts.journal is not None and self.status in (SUCCESS, FAILURE):
            self.parts.journal.finished(experiences)

    def halt(self, reason: str, by: str = "operator", for_good: bool = False) -> int:
        """Returns when every running skill was told to cancel; how many nodes were running. Ends what spins.

        From any thread, or a signal's handler. A later `tick` or `spin` starts the tree anew, unless it is `for_good`.
        """
        if for_good:
            self.parts.runner.halt(reason)
        return self.parts.engine.halt(reason, by, for_good)

    def listen(self, callback: Listener, *kinds: EventType) -> Callable[[], None]:
        """Calls `callback` with events of these kinds, or of all (`bt_runtime.events`). Returns the listener's remover.

        It is called in the thread where the event happened. A listener that raises is logged and removed. The first
        listener to notices also gets those that were emitted while the run was opened.
        """
        first: list[Line | Notice] = []
        if self._unheard and (not kinds or Notice in kinds):
            first, self._unheard = self._unheard, []
        heard = callback if self.parts.journal is None else self.parts.journal.changes.heard_by(callback)
        return self.parts.context.stream.listen(heard, *kinds, first=first)

    def follow(self, follower: LineFollower) -> None:
        """Sends all that the journal records to a follower, outside the tick. Call it before the first tick."""
        if self.parts.journal is None:
            hint = 'give it one: `journal="runs/"`, or `journal=Recorder(None)` for none on the disk'
            raise BtError("a run without a journal records nothing that could be followed", hint)
        self.parts.journal.follow(follower)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        why = "the run was closed" if error is None else f"{type(error).__name__}: {error}"
        self._ending(why).__exit__(kind, error, trace)

    def close(self, reason: str = "the run was closed", timeout: float = STOPPING) -> None:
        """Halts, tells memory and journal how the run ended, and closes what the run opened; a second time: nothing.
        Carries out each step despite errors, then raises the first. Waits for activities at most `timeout` seconds."""
        self._grace = timeout
        self._ending(reason).close()

    def _ending(self, reason: str) -> ExitStack:
        stack = ExitStack()
        if not self._closed:
            self._closed = True
            stack.callback(self._unfreeze)
            stack.push(self._closing)
            stack.push(closing(self._finish))
            stack.push(closing(self.parts.context.loop.close))
            stack.push(closing(self.parts.context.leaving.close))
            stack.push(closing(self.parts.engine.shutdown))
            stack.push(closing(lambda: self._settle(self._grace)))
            stack.push(closing(lambda: self.parts.engine.halt(reason, "run")))
        return stack

    def insert(self, path: str, plan: str | Behaviour, index: int | None = None) -> Request:
        """Requests a new child of the node at `path`, at this index (at the end without one).

        A change is made between two ticks. Faults in the text are raised here and now."""
        return self._change("insert", path, plan, index)

    def replace(self, path: str, plan: str | Behaviour) -> Request:
        """Requests other nodes in the place of the node at `path`, which is halted."""
        return self._change("replace", path, plan)

    def remove(self, path: str) -> Request:
        """Requests that the node at `path` leaves the tree; it is halted."""
        checked(path)
        return self.parts.engine.growth.remove(path, partial(self._asked, "remove", path))

    def _change(self, how: How, path: str, plan: str | Behaviour, index: int | None = None) -> Request:
        checked(path, plan, index)
        asked = partial(self._asked, how, path, plan, index)
        if not isinstance(plan, Behaviour):
            return self.parts.engine.growth.graft(how, path, plan, index, asked)
        return self.parts.engine.request(Request(how, path, lambda place: plan, index, asked=asked))

    def _asked(self, how: How, path: str, plan: object = "", index: int | None = None) -> None:
        if self.parts.journal is not None:
            self.parts.journal.changes.asked(how, path, plan, index)

    def _repr_html_(self) -> str:
        return str(import_module("bt_runtime.run.view.notebook").run(self))

    def nodes(self) -> Iterable[Behaviour]:
        """All present nodes, parents first."""
        todo = [self.parts.engine.root]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))
