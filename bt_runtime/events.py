"""Every event that a run emits, on one page. `Run.listen` receives them, and there is no other way to observe a run.

Values, hardly any code. What agents tell has a name of its own in journals and exports: see `NAMES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from py_trees.common import Status

from bt_runtime.types import Json

if TYPE_CHECKING:
    from py_trees.behaviour import Behaviour

How = Literal["insert", "replace", "remove", "grow"]

# The tick ----------------------------------------------------------------------------------------


class Halt(NamedTuple):
    """The reason why something was stopped, and its author: a node's path, or a word such as `operator`."""

    by: str
    reason: str


class Crash(NamedTuple):
    """An exception in a node, as data: the node has failed, and the tick continues. Emitted at once."""

    path: str
    message: str
    traceback: str
    number: int  # counts all crashes of the run


class Applied(NamedTuple):
    """A change of shape that was made."""

    how: How
    path: str
    text: str  # the YAML that was grafted, "" when there was none


class Grown(NamedTuple):
    """Nodes have come into the tree. Told between two ticks, before they are ticked."""

    root: Behaviour  # of the new nodes


class Slow(NamedTuple):
    """A node that took too long in a tick."""

    path: str
    seconds: float  # … so far, when it was seen
    stack: str  # where it stood


class Placed(NamedTuple):
    """A node as listeners see it: its path, kind and message."""

    number: int  # for as long as it is in the tree; those that came earlier have lower ones
    parent: int  # the number of the node above; -1: none
    segment: str  # its part of the path; `.` behind a guard
    kind: str
    family: str
    name: str  # as a person named it, "" when that is only its kind
    gist: str  # a few words


class Counted(NamedTuple):
    """A node with its number, and its parent's when it was added."""

    number: int
    node: Behaviour
    parent: Behaviour | None


class Reshaped(NamedTuple):
    """A change of a tree's nodes; parents come first."""

    add: Sequence[Placed]
    gone: Sequence[int]
    order: Mapping[int, Sequence[int]]  # parent → children, where that is not what it was
    nodes: Sequence[Counted] = ()  # those that were added: see `tree/describe/facts.py`


class Tick(NamedTuple):
    """The result of one tick, or of a halt between two. It lists nodes only while somebody listens to ticks."""

    number: int  # counts ticks from 1
    status: Status
    due: float  # when the tree wants its next tick; minus infinity: at once
    changes: Sequence[tuple[Behaviour, Status]] = ()
    halts: Sequence[tuple[Behaviour, Halt]] = ()
    crashes: Sequence[Crash] = ()
    grafts: Sequence[Applied] = ()
    deadline: float = math.inf  # when a time limit runs out: a tick is due then, whatever the rate
    slow: Sequence[Slow] = ()  # what held it, when something was seen to
    resets: Sequence[Behaviour] = ()  # nodes whose results a new round cleared, and that have not begun again
    said: Sequence[tuple[Behaviour, str]] = ()  # feedback that is another one now
    shape: Reshaped | None = None  # … and how the tree has changed

    @property
    def running(self) -> bool:
        return self.status is Status.RUNNING


class Started(NamedTuple):
    """The first tick is about to begin."""

    tree: str


class Ended(NamedTuple):
    """The run was closed: nothing comes after this."""

    status: Status  # of the latest tick
    ticks: int


class Debugged(NamedTuple):
    """A debugger has paused the run, resumed it, or changed it."""

    what: Literal["paused", "going on", "changed"]
    path: str  # of the node that it is about, "" for the whole run
    text: str


# What was said and written -----------------------------------------------------------------------


class Line(NamedTuple):
    """A line of the log: of a `log` node, or of the run's journal."""

    path: str
    level: str
    text: str


class Notice(Line):
    """A message of the runtime, such as that a node blocks the tick; never recorded."""

    __slots__ = ()


class Written(NamedTuple):
    """A blackboard entry was written; told in the thread that made it effective."""

    scope: str  # the path of the tree node that owns the scope, "" for the run's own
    name: str
    value: Json
    sequence: int
    by: str = ""  # a person's write says so, with a word such as `page`


class Unset(NamedTuple):
    """Entries of a scope were removed, because someone removed them or because a subtree starts again."""

    scope: str
    names: Sequence[str]
    sequence: int = 0


# Skills and the world ----------------------------------------------------------------------------


class SkillEnded(NamedTuple):
    """An action of an agent or a plan has ended."""

    sentence: str
    status: Status
    value: Any  # what it returned besides its status: of an action in a world, an Observation
    feedback: str


class Feedback(NamedTuple):
    """A running skill has reported new feedback."""

    path: str
    text: str


class WorldActed(NamedTuple):
    """A slow world has acted; emitted in its thread, before its next action."""

    sentence: str


class Woken(NamedTuple):
    """There is work to do: a job has finished, or an entry was written. Emitted in any thread."""

    job: bool = True  # False: an entry was written or a message came, which a fixed rate sees at its next deadline


class Asked(NamedTuple):
    """A person is asked a question, by an agent or before a skill."""

    number: int
    question: str


class Answered(NamedTuple):
    """A question was answered or withdrawn. The answer is empty when it was withdrawn."""

    number: int
    answer: str


# Agents ------------------------------------------------------------------------------------------


class GoalTaken(NamedTuple):
    """An agent has started with its goal."""

    path: str
    goal: str


class Prompted(NamedTuple):
    """The fixed prompt of an agent, emitted when it changes; the steps that follow it are separate events."""

    path: str
    system: str
    examples: str
    task: str


class Decided(NamedTuple):
    path: str
    move: str  # as the model says it: `Think:`, `Act:`, …
    sentence: str
    logprob: float
    margin: float


class Acting(NamedTuple):
    path: str
    sentence: str


class Stepped(NamedTuple):
    """A decision and its observation, in the form that the agent remembers."""

    path: str
    move: str
    text: str
    observation: str


class Reasoned(NamedTuple):
    """The thoughts of a reasoning model before a decision; later prompts do not contain them."""

    path: str
    text: str


class Trimmed(NamedTuple):
    """A story no longer fits its model's context: from now on the prompt omits its oldest steps."""

    path: str
    omitted: int  # steps, all told
    steps: int  # that there are
    tokens: int  # that the prompt took with its answer; 0: the model does not say
    limit: int  # … and that there are


class Expanded(NamedTuple):
    path: str
    plan: str  # as the model wrote it
    grafted: str  # the YAML that it became


class PlanRefused(NamedTuple):
    path: str
    codes: Sequence[str]
    plan: str


class Retrieved(NamedTuple):
    path: str
    why: str  # what was looked at, and taken


class RetrievalFailed(NamedTuple):
    path: str
    why: str


class Reflected(NamedTuple):
    path: str
    parts: Mapping[str, str]


class Rewriting(NamedTuple):
    path: str
    plan: str
    reflections: int


class RolledBack(NamedTuple):
    path: str


class EpisodeBegun(NamedTuple):
    path: str
    task: str
    goal: str


class EpisodeJudged(NamedTuple):
    path: str
    task: str
    met: int
    total: int


class Labelled(NamedTuple):
    path: str  # an agent's path, or the scope of the entry `name`, whose value's origin a policy follows
    name: str
    labels: Sequence[str]


class AgentEnded(NamedTuple):
    path: str
    why: str
    detail: str
    goal: str
    kind: str = ""  # of the node: `agent`, `plan`, …


AgentEvent = (
    GoalTaken | Prompted | Decided | Acting | Stepped | Reasoned | Trimmed | Expanded | PlanRefused | Retrieved
    | RetrievalFailed | Reflected | Rewriting | RolledBack | EpisodeBegun | EpisodeJudged | AgentEnded | Labelled
)  # fmt: skip
Event = (
    Started | Tick | Grown | Crash | Ended | Debugged | Line | Notice | Written | Unset | SkillEnded | Feedback
    | WorldActed | Asked | Answered | Woken | AgentEvent
)  # fmt: skip

EventType: TypeAlias = type[Event]
Listener: TypeAlias = Callable[[Any], object]  # takes events of the types that it asked for

# As journals, the page and exports name them.
NAMES: Mapping[type[Any], str] = {
    GoalTaken: "goal",
    Prompted: "prompt",
    Decided: "decision",
    Acting: "act",
    Stepped: "step",
    Reasoned: "reasoning",
    Trimmed: "trimmed",
    Expanded: "expand",
    PlanRefused: "refused",
    Retrieved: "retrieval",
    RetrievalFailed: "retrieval failed",
    Reflected: "reflection",
    Rewriting: "rewriting",
    RolledBack: "rollback",
    EpisodeBegun: "episode",
    EpisodeJudged: "outcome",
    Labelled: "labels",
    AgentEnded: "end",
}
AGENT_EVENTS = tuple(NAMES)


def body(event: AgentEvent) -> dict[str, Any]:
    """Returns an agent's event in the form of journals, the page and exports."""
    if isinstance(event, Reflected):
        return {"path": event.path, **event.parts}
    return event._asdict()
