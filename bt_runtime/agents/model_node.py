"""Shared by the nodes that ask a model: a life written as a generator of jobs, polled by the tick. `live` reads top
to bottom; every `yield job` hands a job to the tick, which polls it and sends the answer back. So the tick never
waits, and halting the node closes the generator and cancels the pending job."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.agents.end import Ending, OutOfBudget, ended_by
from bt_runtime.agents.prompt import Prompt, read_ahead, system_text
from bt_runtime.agents.register import Register, register_of
from bt_runtime.agents.services import agent_services
from bt_runtime.events import AgentEnded, GoalTaken, PlanRefused, Prompted, Reasoned
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.guide import text_of
from bt_runtime.llm.chat.chat import Chat, chat_of
from bt_runtime.llm.model_wrapper import a_job
from bt_runtime.skills.answer import News
from bt_runtime.tree import splice as splice  # loaded now, so that the first graft opens no file within a tick
from bt_runtime.tree.budget import Budget, Spending
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, computed, path_of
from bt_runtime.tree.nodes.parent import Parent
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.types import Introduced, Writing

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.types import Model, Question

Life = Generator[Any, Any, Ending]
PAUSE = object()  # yielded instead of a job: go on at the next tick
UNBOUNDED = Budget()
MOST_TURNS = 16  # answers taken in one tick, when they come at once


class ModelNode(Parent):
    """A node whose life is a generator of jobs; it may grow one child."""

    STATE: ClassVar[tuple[str, ...]] = ("shedding",)
    ROUND: ClassVar[tuple[str, ...]] = ("life", "job", "answer", "ending", "goal", "shown", "spent")
    grows = True  # nodes below it are its expansion
    asks_late = False  # opens its model only when it first asks
    seeds = True  # each question moves the seed; False: the seed is fixed
    life: Life | None = None
    job: Any = None
    answer: Any = None  # value sent to the generator next
    ending: Ending | None = None  # how the latest round ended
    shedding: Any = None  # the request to remove an earlier expansion
    goal = ""
    shown: tuple[str, str, str] | None = None  # beginning of its questions at the last event `Prompt`

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.spent = Spending()
        read_ahead()
        if isinstance(guide := spec.values.get("guide"), str):
            with suppress(BtError):  # told when it is needed
                text_of(guide)

    def live(self) -> Life:
        """The life of the node as a generator: yields jobs and receives their answers, until the node ends."""
        raise BtError(f"{type(self).__name__} has no life", "a node that decides gives `life`: a generator of jobs")

    def lived(self) -> Life:
        """Runs the node's life once its model is open; the opening is polled as every job is."""
        if not self.asks_late:
            yield from self.opened()
        return (yield from self.live())

    def opened(self) -> Generator[Any, Any, None]:
        """Waits until the model's prompt format is known; a run without a model fails at the first question."""
        model = agent_services(self.context).model(str(self.spec.values.get("model") or ""))
        job = model.opening(self.context.wake) if model is not None else None
        if job is not None:
            yield job

    def aim(self) -> str:
        """Returns the node's goal in words."""
        return str(self.value("goal"))

    @property
    def temperature(self) -> float:
        """Returns the present sampling temperature, which may be an expression."""
        return float(self.value("temperature"))

    # Ticking ---------------------------------------------------------------------------------

    def step(self) -> Status:
        try:
            if self.status is not RUNNING:
                self.begin()
            if self.shedding is not None and self.shedding.poll() is None:
                return self.finish(RUNNING)
            self.shedding, status = None, RUNNING
            if self.child is None or self.job is not None:  # with a child, only a question under way goes on
                status = self.advance()
            if status is RUNNING and self.child is not None:
                child: Any = self.child
                status = child.step()
                if status is not RUNNING:
                    status = self.child_ended(status)
        except Exception as error:
            self.conclude(ended_by(error))
            status = self.crash(error)
        return self.finish(status)

    def begin(self) -> None:
        self.goal = self.aim()
        self.ending = self.job = self.answer = self.shown = None
        self.context.emit(GoalTaken(self.path, self.goal))
        self.spent = Spending(self.context.clock.now())
        self.remove_expansion()
        self.life = self.lived()

    def advance(self) -> Status:
        """Polls the current job, and continues with the next jobs as long as they are finished at once."""
        assert self.life is not None
        for _ in range(MOST_TURNS):
            error: BtError | None = None
            if self.job is not None:
                try:
                    self.answer = self.polled()
                except BtError as failed:
                    error = failed
                if self.answer is None and error is None:
                    if not getattr(self.job, "wakes", False):  # one that does ends the runner's sleep itself
                        self.context.poll_again()
                    return RUNNING
            answer, self.answer = self.answer, None
            try:
                self.job = self.life.send(answer) if error is None else self.life.throw(error)
            except StopIteration as stop:
                self.conclude(stop.value)
                return self.result()
            except OutOfBudget as over:
                self.conclude(Ending("budget", over.message))
                return self.result()
            if self.job is PAUSE:
                self.job = None
                break
        self.context.tick_soon()
        return RUNNING

    def polled(self) -> Any:
        """Returns the job's answer; what it says while it waits or works is shown."""
        answer = self.job.poll()
        if isinstance(answer, News):
            self.feedback_message, answer = answer.feedback or self.feedback_message, None
        return answer

    def conclude(self, ending: Ending) -> None:
        self.ending, self.life, self.job = ending, None, None
        self.feedback_message = str(ending)
        self.context.emit(AgentEnded(self.path, ending.why, ending.detail, self.goal, self.spec.kind.name))
        if "left" in self.spec.values and ending.why != "cancelled":
            allowed, now = self.context.services.budget, self.context.clock.now()
            self.scope[self.spec.values["left"]] = 1.0 if allowed is None else self.whole.left(allowed, now)

    def result(self) -> Status:
        return SUCCESS if self.ending is not None and self.ending.good else FAILURE

    def child_ended(self, status: Status) -> Status:
        """Ends this node with its expansion's result, unless a subclass continues."""
        self.conclude(Ending("expanded", "succeeded" if status is SUCCESS else "failed"))
        return status

    def terminate(self, new_status: Status) -> None:
        if new_status is not INVALID:
            return
        if self.life is not None:
            job, life = self.job, self.life
            self.conclude(Ending("cancelled", f"{self.context.halting.by}: {self.context.halting.reason}"))
            if job is not None:
                job.cancel(self.context.halting.reason)
            life.close()

    # Growing ---------------------------------------------------------------------------------

    @property
    def child(self) -> Behaviour | None:
        return self.children[0] if self.children else None

    def remove_expansion(self) -> None:
        """Removes a finished expansion between two ticks; this node continues after that."""
        if self.children:
            self.shedding = self.context.growth.remove(path_of(self.children[0]))

    def grow(self, text: str, kinds: Sequence[Kind] = ()) -> Generator[Any, Any, None]:
        """Asks for a subtree below this node and waits until it is there. Raises what speaks against it."""
        policy = self.context.services.policy
        if policy is not None and (why := policy.objection(self)):
            self.context.emit(PlanRefused(self.path, ["policy"], text))
            raise BtError(why, "do without a plan")
        request = self.context.growth.plan(self, text, kinds)
        yield request  # `poll` raises when it is refused

    # The world around ------------------------------------------------------------------------

    def model(self) -> Model:
        named = str(self.spec.values.get("model") or "")
        found = agent_services(self.context).model(named)
        if found is None:
            raise BtError(
                "this tree decides with a model, and the run has none",
                "--model starter tries it at once; your own: --model FILE.gguf, or BTR_MODEL",
            )
        return found

    def asked(self, question: Question) -> Generator[Any, Any, Any]:
        """Asks the model one question, and counts it for this node and for the run."""
        model = self.model()
        if question.kind == "write":
            question = question._replace(**self.sampler())
        whole = self.whole
        whole.seeds += self.seeds
        for spent in (self.spent, whole):
            spent.decisions += 1
        told = question._replace(by=self.path, wake=self.context.wake)
        if model.sees and (shown := agent_services(self.context).pictures) is not None:
            told = told._replace(pictures=shown.files(told.prompt))
        answer = yield a_job(model.ask(told), model)
        if thought := getattr(answer, "thought", ""):
            self.context.emit(Reasoned(self.path, thought))
        for spent in (self.spent, whole):
            spent.tokens += answer.tokens if isinstance(answer, Writing) else 0
        return answer

    # Budgets ---------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The budget of this node alone, besides the run's budget."""
        return UNBOUNDED

    @property
    def whole(self) -> Spending:
        """Returns what the run has spent, or the episode around this node."""
        return self.context.services.spending(self.context.clock.now())

    def over(self) -> str:
        """Returns which budget is exhausted, this node's or the run's; "" for none."""
        now = self.context.clock.now()
        own = self.spent.over(self.budget, now)
        allowed = self.context.services.budget
        runs = self.whole.over(allowed, now) if allowed is not None and not own else ""
        return own or (f"{runs} of the run" if runs else "")

    def afford(self) -> None:
        """Ends the node's life where a budget is spent; called before a question."""
        if over := self.over():
            raise OutOfBudget(over)

    def seed(self) -> int:
        """A seed for each decision: different within a run, the same in every run with the same seed."""
        return self.context.services.seed * 1_000_003 + self.whole.seeds

    def sampler(self) -> dict[str, Any]:
        """Returns the sampling settings of this node; those it leaves open are missing."""
        return {name: self.value(name) for name in ("top_p", "min_p", "top_k") if name in self.spec.values}

    def prompted(self, prompt: Prompt, aloud: bool = False) -> str:
        """The prompt in the model's own format; listeners get its fixed part."""
        before = prompt[:3]
        if before != self.shown:
            self.shown = before
            self.context.emit(Prompted(self.path, *before))
        return prompt.text(self.chat, aloud)

    @property
    def chat(self) -> Chat | None:
        """How its model's prompts are wrapped; None for a base model."""
        return chat_of(self.model())

    @property
    def register(self) -> Register:
        """In which its prompts are written: the run's, else its model's."""
        return register_of(agent_services(self.context).prompts or self.model().register)

    def instructions(self, name: str, holes: Mapping[str, Any] | None = None) -> str:
        """Returns the system text of this name, in the register of this node's model."""
        return system_text(name, holes or {}, self.register.name, agent_services(self.context).texts)

    def manual(self) -> Mapping[str, Any]:
        """The world's manual; empty for a model whose prompt register has none."""
        world: Any = self.context.services.world
        return world.manual() if isinstance(world, Introduced) and self.register.manual else {}

    def agents_above(self) -> list[ModelNode]:
        return [node for node in above(self) if isinstance(node, ModelNode) and node.grows]


def above(node: Behaviour) -> Iterator[Behaviour]:
    """The ancestors, the nearest first."""
    at = node.parent
    while at is not None:
        yield at
        at = at.parent


def goal_of(node: Behaviour) -> str:
    """The goal of one part of an expansion, in words."""
    if isinstance(node, Subtree):
        return str(computed((node.spec.values.get("with") or {}).get("goal", ""), node.within))
    if isinstance(node, SkillNode):
        return node.sentence or node.name
    return ", then ".join(said for child in node.children if (said := goal_of(child)))
