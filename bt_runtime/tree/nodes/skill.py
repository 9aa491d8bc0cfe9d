"""A node for a skill: starts, polls and cancels it, and stores its outputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Set
from functools import partial
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from py_trees.common import Status

from bt_runtime.events import Feedback, Notice, SkillEnded, WorldActed
from bt_runtime.language import impls, ports
from bt_runtime.language.entry import ELSEWHERE, WORLD_SKILL, SkillEntry
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.sentence import sentence_of
from bt_runtime.skills.activity import Activity, Done
from bt_runtime.skills.answer import EndedAnswer, News, ended
from bt_runtime.skills.forms import InThread, OfSkill, form_of
from bt_runtime.tree.action import Action
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, Node, Reader, reader
from bt_runtime.tree.nodes.interlocks import guarded, held, started
from bt_runtime.types import Instant, Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.skills.resources import Hold
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.services import Actor


Form = Callable[..., Activity]
# An input's name, what computes its value, the classes that need no further check, the field if its value needs one.
Input = tuple[str, Reader, frozenset[type], Field | None]


class SkillNode(Node):
    STATE = ("doubted", "target", "tacit", "unsaid", "last")
    ROUND = ("activity", "followed", "gave")
    CACHES: ClassVar[tuple[str, ...]] = ("form", "constant", "readers", "literals", "quick", "plain", "_sentence")
    activity: Activity | None = None
    form: Form | None = None  # the target's form, known from its first start
    last: EndedAnswer | None = None  # how its last start ended
    target: Any = None
    constant: dict[str, Json] | None = None  # the parameters, when all of them are literals
    readers: tuple[Input, ...] | None = None  # readers of computed parameters, from the first start on
    unsaid: dict[str, Json] | None = None  # the parameters of the last start, while its sentence is not made
    tacit = False  # the node's message is its sentence
    _sentence = ""
    quick: OfSkill | None = None  # the target's activity, used again by each start
    plain = False  # each start is the same, with nothing to follow or to wait for
    only = ""  # the entry of its only output
    sure: Set[type] = frozenset()  # … and the classes of values that need no check
    followed: dict[str, Json] | None = None  # values of the followed inputs at the last look
    gave = False  # it has given an output that the tree asked for, since its start
    doubted: tuple[str, ...] = ()  # doubts about its outputs: told once a node
    chosen = False  # an agent chose and starts it

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.entry: SkillEntry = spec.kind.data["entry"]
        self.taken = [f for f in spec.kind.fields if not f.writes and f.name in spec.values]
        self.written = [f for f in spec.kind.fields if f.writes and f.name in spec.values]
        self.dynamic = dynamic = {f.name for f in self.taken if hasattr(spec.values[f.name], "evaluate")}
        self.fixed = not dynamic
        self.literals: dict[str, Json] = {}
        self.outside = self.entry.impl in ELSEWHERE  # the run or an episode names where it acts
        self.declared = any(f.writes for f in spec.kind.fields)  # it may give outputs
        if len(self.written) == 1:
            (field,) = self.written
            self.only, self.sure = spec.values[field.name].text.strip(), ports.exact(field) & ports.PLAIN
        self.follows = [f for f in self.taken if f.name in dynamic and f.name in self.entry.follow]

    def setup(self, **kwargs: object) -> None:
        """Finds the implementation, so that a missing one is known before the first tick."""
        if not self.around:
            self.find()

    @property
    def around(self) -> bool:
        """True if the target belongs to one episode, and must not be kept for the next."""
        return self.outside and self.context.services.in_episode

    def find(self) -> Any:
        if self.target is None or (self.outside and self.around):
            scripted = self.context.services.scripted_skills or {}
            python = scripted.get(self.spec.kind.name) or self.spec.kind.data.get("python")
            if python is None and not self.outside:
                python = self.found()
            if python is None and self.entry.impl == WORLD_SKILL:
                python = self.context.services.done_by_world(self.spec.kind.name, self.context.clock)
            elif python is None:
                python = self.context.services.acted_in(self.entry.impl)
                if python is None:
                    raise BtError(
                        f"`{self.spec.kind.name}` acts in a {self.entry.impl}, and this run has none",
                        "name one: `btr run TREE --env house`" if self.entry.impl == "world" else "",
                    )
            self.target = python() if isinstance(python, type) else python
            self.form = None
            if callable(getattr(self.target, "picture", None)):
                self.context.services.scene = self.target
        return self.target

    def found(self) -> Any:
        """Returns the implementation that the manifest names: Python, or an installed one."""
        impl = self.entry.impl
        if not impls.named_so(impl):
            from bt_runtime.language.project.importing import resolve

            return resolve(impl, Path(self.entry.folder))
        module, _, name = impls.find(impl).make.partition(":")
        return getattr(import_module(module), name)(self.spec.kind, self.context)

    def step(self) -> Status:
        """Starts and polls a skill without listeners (see `plain`) directly, with no call but its own."""
        quick, context, running = self.quick, self.context, self.status is RUNNING
        if not self.plain or quick is None or context.observed or (running and self.activity is not quick):
            activity = self.activity
            if running and activity is not None and not self.follows and not self.broke and activity.quiet():
                if not context.polled and not activity.wakes:
                    context.poll_again()
                if context.visits is not None:
                    context.visits.append(self)
                return RUNNING
            return super().step()
        target = quick.target
        try:
            if not running:
                params = self.constant
                if params is None:
                    params = self.params()
                    if self.unsaid is not None and context.changes is None:
                        self._said, self.tacit = "", True  # as `say`, in place
                    else:
                        self.say()
                elif self._said != self._sentence:
                    self.feedback_message = self._sentence
                self.activity = quick
                if quick.gives:
                    self.gave = False
                    quick.before()
                target.start(**params) if params else target.start()
            status: Status = target.poll()
            if (said := target.feedback) and said != self._said:
                if status is RUNNING:
                    self.told(News(None, said))
                else:
                    self.feedback_message = said
            if quick.gives and (status is not SUCCESS or target.result.__class__ not in self.sure):
                status = self.heard(quick, quick.told(status))
            elif status is RUNNING:
                if not context.polled and not quick.wakes:
                    context.poll_again()
            elif status is SUCCESS or status is FAILURE:
                self.activity = None
                if quick.gives:
                    self.scope[self.only] = target.result
            else:
                quick.told(status)  # says what it should have been
        except BaseException as error:
            status = self.terminated(self.crashed(error))
        if status is self.status and not self.broke and context.visits is None:
            return status  # nothing has changed: without the call
        return self.finish(status)

    # One start -------------------------------------------------------------------------------

    def initialise(self) -> None:
        self.activity = None
        self.gave = False
        context, self.followed = self.context, None
        if self.quick is not None and not context.observed:
            self.quick.start(self.filled())
            self.activity = self.quick
            return
        target = self.find()
        action = Action(context, target, self.entry, self, self.sentence, self.fill)
        if self.acts(target):
            self.activity = started(action, partial(acting, action))
            return
        form = self.form = self.form or self.form_of(target)
        if context.observed or context.stream.routes[SkillEnded] or guarded(context, self.entry, target, self):
            self.activity = started(action, partial(self.formed, form, action))
            return
        activity = self.activity = form(target, self.filled(), context.wake, context.loop, self.declared)
        if type(activity) is OfSkill and not self.around:
            self.quick, activity.gives = activity, bool(self.written)
            repeated = self.constant is not None or self.readers is not None
            told = hasattr(target, "feedback") and (not self.written or hasattr(target, "result"))
            self.plain = repeated and told and not self.follows

    def acts(self, target: object) -> bool:
        """Returns True when the world itself is told the sentence."""
        return self.outside and target is self.context.services.acted_in(self.entry.impl) and hasattr(target, "act")

    def form_of(self, target: object) -> Form:
        """Returns what starts the target, by its form."""
        return form_of(target)

    def formed(self, form: Form, action: Action) -> Activity:
        assert action.params is not None
        return form(action.target, action.params, self.context.wake, self.context.loop, self.declared)

    def fill(self, action: Action) -> None:
        params = self.filled()
        action.sentence = self.sentence
        if not self.acts(action.target):
            action.params = params

    def filled(self) -> dict[str, Json]:
        """Returns the parameters of the moment; the node says that it starts with them."""
        params = self.params()
        self.say()
        return params

    def say(self) -> None:
        """Makes the sentence of this start the node's message: now if somebody listens, else when somebody asks."""
        if self.unsaid is not None:
            if self.context.changes is None and not self.context.observed:
                self._said, self.tacit = "", True
                return
            self._sentence, self.unsaid = self.sentence, None
        self.tacit = False  # the message of the last start is not made any more
        self.feedback_message = self._sentence

    @property
    def sentence(self) -> str:
        """Returns the sentence of the last start. Callable from any thread."""
        params = self.unsaid
        return self._sentence if params is None else sentence_of(self.entry.sentence).say(params)

    @property
    def feedback_message(self) -> str:
        return self.sentence if self.tacit else self._said

    @feedback_message.setter
    def feedback_message(self, text: str) -> None:
        if self.tacit:
            self._said, self.tacit = self.sentence, False
        Node.feedback_message.fset(self, text)  # type: ignore[attr-defined]

    @property
    def hold(self) -> Hold | None:
        """Returns what the present start has locked."""
        return held(self.activity)

    def params(self) -> dict[str, Json]:
        """Returns the checked parameters of the moment, by the quick way once all were computed and plain."""
        if self.constant is not None:
            return self.constant
        if self.readers is None:
            return self.checked()
        entries, params = self.scope.entries, self.literals.copy()
        try:
            for name, read, exact, field in self.readers:
                params[name] = value = read(entries)
                if value.__class__ not in exact or value != value:
                    return self.checked()
                if field is not None:
                    ports.check(field, value)
                    ports.check_range(field, value)
        except Exception:
            return self.checked()  # raises it again, with its place in the text
        self.unsaid = params
        return params

    def checked(self) -> dict[str, Json]:
        params = {f.name: self.value(f.name) for f in self.taken}
        for field in self.taken:
            ports.check_range(field, params[field.name])
        self._sentence = sentence_of(self.entry.sentence).say(params)
        self.unsaid = None
        self.followed = {f.name: params[f.name] for f in self.follows}
        if all(value.__class__ in ports.PLAIN for value in params.values()):
            if self.fixed:
                self.constant = params
            elif self.readers is None and not self.follows:
                self.literals = params  # computed ones are replaced at each start
                self.readers = tuple(self._reader(field) for field in self.taken if field.name in self.dynamic)
        return params

    def _reader(self, field: Field) -> Input:
        exact, value = ports.exact(field), self.spec.values[field.name]
        part = getattr(value, "part", None)
        read = itemgetter(part.of[0]) if part is not None and part.how == "name" else reader(value)
        fitting = exact or ports.EXACT.get(field.type, frozenset())
        return field.name, read, fitting & ports.PLAIN, None if exact else field

    def update(self) -> Status:
        activity = self.activity
        assert activity is not None
        if self.follows and self.status is RUNNING:
            self.look(activity)
        return self.heard(activity, activity.poll())

    def heard(self, activity: Activity, done: EndedAnswer | News | None) -> Status:
        """Takes what a poll has answered; returns the node's status."""
        if done is None or isinstance(done, News):
            if done is not None:
                self.told(done)
            if not activity.wakes:
                self.context.poll_again()
            return RUNNING
        self.activity, self.last = None, done
        if done.feedback:
            self.feedback_message = done.feedback
        if self.written:
            self.keep_last(done)
        return done.status

    def look(self, activity: Activity) -> None:
        """Passes the present inputs to a running skill that follows them."""
        values = {f.name: self.value(f.name) for f in self.follows}
        if values != self.followed and self.followed is not None:  # None: it waits, and starts with what holds then
            for field in self.follows:
                ports.check_range(field, values[field.name])
            self.followed = values
            activity.follow(values)

    def told(self, news: News) -> None:
        if news.feedback and news.feedback != self.feedback_message:
            self.feedback_message = news.feedback
            if self.context.changes is not None:
                self.context.said[self] = news.feedback
            self.context.emit(Feedback(self.path, news.feedback))
        if self.written:
            self.keep(news.value, False)

    def keep(self, value: Json, failed: bool) -> None:
        """Writes the requested outputs: a mapping by name, a single value to the first output, None not at all."""
        if value is None or (failed and not isinstance(value, Mapping)):
            return
        names = self.spec.values
        if value.__class__ in self.sure and not failed:
            self.scope[self.only] = value
            self.gave = True
            return
        values = value if isinstance(value, Mapping) else {self.written[0].name: value}
        found = [f for f in self.written if f.name in values]
        if values and not found and not any(f.writes and f.name in values for f in self.spec.kind.fields):
            given, wanted = next(iter(values)), ", ".join(f"`{f.name}`" for f in self.written)
            raise ports.PortFault(
                f"`{self.spec.kind.name}` gave `{given!s:.40}`, which is none of its outputs",
                f"a mapping holds the outputs by their names: {wanted}",
            )
        for field in found:
            ports.check(field, values[field.name])
            ports.check_range(field, values[field.name])
        if len(found) == 1:
            self.scope[names[found[0].name].text.strip()] = values[found[0].name]
        else:
            self.scope.update({names[f.name].text.strip(): values[f.name] for f in found})
        self.gave = self.gave or bool(found)
        if len(values) > len(found):
            extra = sorted(str(name) for name in values if self.spec.kind.field(name) is None)
            if extra:
                self.doubt("extra", f"gave `{'`, `'.join(extra[:5])}`, which is none of its outputs")

    def keep_last(self, done: EndedAnswer) -> None:
        """Writes the final outputs; warns about a success without any requested output."""
        self.keep(done.value, done.status is FAILURE)
        if done.status is SUCCESS and not self.gave:
            asked = ", ".join(f"`{f.name}`" for f in self.written)
            self.doubt("none", f"succeeded and gave none of its outputs: {asked}")

    def doubt(self, what: str, text: str) -> None:
        if what not in self.doubted and not self.context.services.scripted_skills:
            self.doubted += (what,)
            self.context.emit(Notice(self.path, "warning", f"`{self.spec.kind.name}` {text}"))

    def terminate(self, new_status: Status) -> None:
        activity, self.activity = self.activity, None
        if activity is not None:
            activity.cancel(self.context.halting.reason)


def act(world: Actor, sentence: str, context: Context, entry: SkillEntry | None = None, by: object = None) -> Activity:
    """Acts the sentence that an agent chose in a world."""
    action = Action(context, world, entry, by, sentence)
    return started(action, partial(acting, action))


def acting(action: Action) -> Activity:
    """Acts at once if the world is instant, else in a thread, one act at a time."""
    world: Any = action.target
    context, quick = action.context, action.target
    if isinstance(quick, Instant) and quick.instant:
        return Done(ended(world.act(action.sentence)))
    turn = context.services.turns.setdefault(id(world), threading.Lock())
    return InThread(_watched(world, context), {"sentence": action.sentence}, context.wake, turn=turn)


def _watched(world: Actor, context: Context) -> Callable[[str], object]:
    """Wraps `act` to report each act before the next one, so that listeners see its result."""

    def act(sentence: str) -> object:
        said = world.act(sentence)
        context.emit(WorldActed(sentence))
        return said

    return act
