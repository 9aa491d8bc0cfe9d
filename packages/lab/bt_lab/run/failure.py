"""Labels a failed episode by ReAcTree's ten types (its appendix E), as far as the record shows, or as out of time.

The paper's authors read every failed episode; here a rule decides. It uses the node whose end failed the tree, that
node's steps, and the plans above. Unclear cases stay unlabelled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_lab.run.episode_log import Told
from bt_runtime.agents.loops import is_search, words
from bt_runtime.agents.plan_text import Group, Part, PlannedGoal, Unreadable, read_plan
from bt_runtime.events import AgentEnded, Expanded, PlanRefused, Stepped

DECOMPOSITION, CONTROL_FLOW, EXPAND_LOOP = "task decomposition", "control-flow selection", "expand-level infinite loop"
SEARCH, PLANNING = "navigation & search", "agent-level planning"
AGENT_LOOP, TERMINATION = "agent-level infinite loop", "termination reasoning"
MAX_STEP = "max step"
TIME = "time is up"  # a cause besides the ten of the paper
INCORRECT, AMBIGUOUS = "incorrect instruction", "ambiguous instruction"
LABELS = (
    DECOMPOSITION, CONTROL_FLOW, EXPAND_LOOP, SEARCH, PLANNING, AGENT_LOOP, TERMINATION, MAX_STEP, TIME,
    INCORRECT, AMBIGUOUS,
)  # fmt: skip
UNLABELLED = "unlabelled"

_LOOPING = frozenset({"same goal", "same plan", "depth"})  # objections to a plan that goes round in circles
_GOOD = frozenset({"done", "expanded", "cancelled"})
_SEEKS = re.compile(r"(find|search|look for|locate)\b", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"\b(cannot|can't|could not|couldn't|did not|didn't|unable to) (find|see|locate)\b", re.IGNORECASE
)
_VAGUE = words(
    "everything all some something things items stuff food fruit fruits snack snacks drink drinks dishes utensils"
)
ROUNDS = 6  # acts before one may say that they repeat themselves


class Account(NamedTuple):
    """The facts about an episode whose goal was not reached."""

    instruction: str
    wanted: Mapping[str, int]  # the things that the goal is about, and how many
    met: int
    total: int
    status: str  # the tree's status; "" when its time ran out
    events: Sequence[Told]
    too_long: bool = False  # a node ended because its prompt was longer than the model can read


def label(told: Account) -> str:
    """Returns one of the labels, or `unlabelled`."""
    return _instruction(told) or (_claimed(told) if told.status == "SUCCESS" else _failed(told))


# Rules ---------------------------------------------------------------------------------------------


def _instruction(told: Account) -> str:
    """The error's class when the instruction's named parts are done and only unnamed ones are missing; else ""."""
    unsaid = {thing: count for thing, count in told.wanted.items() if not _names(told.instruction, thing)}
    if not unsaid or told.met < told.total - sum(unsaid.values()):
        return ""
    vague = len(unsaid) == len(told.wanted) or words(told.instruction) & _VAGUE
    return AMBIGUOUS if vague else INCORRECT


def _claimed(told: Account) -> str:
    """The tree ended with success, but the goal is not met."""
    plans = list(_plans(told.events))
    if not plans:
        return TERMINATION
    if any(_left_out(group, told) for plan in plans for group in _groups(plan)):
        return CONTROL_FLOW
    said = " ".join(goal for plan in plans for goal in _goals(plan))
    return TERMINATION if all(_names(said, thing) for thing in told.wanted) else DECOMPOSITION


def _failed(told: Account) -> str:
    if told.too_long:
        return MAX_STEP
    end = culprit(told.events)
    if end is None:
        return TIME if not told.status else UNLABELLED
    why = end.why
    if why == "loop":
        return AGENT_LOOP
    if why in ("invalid", "budget") and (refused := _refused(end.path, told.events)):
        return EXPAND_LOOP if refused & _LOOPING else CONTROL_FLOW if "control flow" in refused else DECOMPOSITION
    if why == "budget":
        return TERMINATION if _repeats(end.path, told.events) else MAX_STEP
    if why == "invalid":
        return DECOMPOSITION if end.kind == "plan" else PLANNING
    return _gave_up(end, told.events) if why == "failure" else UNLABELLED


def _gave_up(end: AgentEnded, events: Sequence[Told]) -> str:
    """True when an agent itself gave up."""
    goal = end.goal
    around = next((group for plan in _plans(events) for group in _groups(plan) if goal in _own(group)), None)
    if around is not None and around.control != "fallback" and is_search(_own(around)):
        return CONTROL_FLOW  # one of several places, and all of them had to have it
    if _SEEKS.match(goal) or _NOT_FOUND.search(end.detail):
        return SEARCH
    return PLANNING


# What is seen --------------------------------------------------------------------------------------


def culprit(events: Sequence[Told]) -> AgentEnded | None:
    """Returns the last failed node whose failure no expansion above it recovered: the cause of the tree's failure."""
    ends = [(at, event) for at, event in enumerate(events) if isinstance(event, AgentEnded)]
    for at, event in ends[::-1]:
        if event.why in _GOOD or event.kind not in ("agent", "plan"):
            continue
        above = [e for later, e in ends if later > at and event.path.startswith(f"{e.path}/")]
        if all(e.why != "expanded" or e.detail != "succeeded" for e in above):
            return event
    return None


def _refused(path: str, events: Sequence[Told]) -> set[str]:
    """The objections to this node's last plan, when that plan was its last step."""
    own = [e for e in events if isinstance(e, Stepped | PlanRefused | Expanded) and e.path == path]
    last = own.pop() if own else None
    if isinstance(last, Stepped):  # it repeats what the refusal said; of a text that is no plan, only it
        if last.move != "expand" or not last.observation:
            return set()
        last = own.pop() if own and isinstance(own[-1], PlanRefused) else last
    if last is None or isinstance(last, Expanded):
        return set()
    return set(last.codes) if isinstance(last, PlanRefused) else {"unreadable"}


def _repeats(path: str, events: Sequence[Told]) -> bool:
    """Returns True when at least half of the acts repeat earlier ones with equal answers."""
    acts = [(e.text, e.observation) for e in events if isinstance(e, Stepped) and e.path == path and e.move == "act"]
    return len(acts) >= ROUNDS and len(set(acts)) <= len(acts) // 2


def _left_out(group: Group, told: Account) -> bool:
    """A plan used a fallback for parts that are no alternatives: one part succeeded, so another thing's part was never
    started."""
    ends = [e for e in told.events if isinstance(e, AgentEnded)]
    begun = {e.goal for e in ends}
    done = " ".join(e.goal for e in ends if e.why == "done")
    missed = [thing for thing in told.wanted if not _names(done, thing)]
    skipped = [goal for goal in _own(group) if goal not in begun]
    return group.control == "fallback" and any(_names(goal, thing) for goal in skipped for thing in missed)


def _plans(events: Sequence[Told]) -> Iterator[Group]:
    """Every plan that was grafted."""
    for event in events:
        if isinstance(event, Expanded):
            try:
                yield read_plan(event.plan, None)
            except Unreadable:
                continue


def _groups(part: Part) -> Iterator[Group]:
    if isinstance(part, Group):
        yield part
        for inner in part.parts:
            yield from _groups(inner)


def _own(group: Group) -> list[str]:
    """The subgoals that stand directly in a group."""
    return [part.text for part in group.parts if isinstance(part, PlannedGoal)]


def _goals(plan: Group) -> Iterator[str]:
    """Yields a plan's subgoals and actions."""
    for group in _groups(plan):
        yield from (getattr(part, "text", "") or getattr(part, "sentence", "") for part in group.parts)


def _names(text: str, thing: str) -> bool:
    """True when the text names the thing by any of its words, in the singular or the plural."""
    said = words(text)
    return any(each == word or each in (f"{word}s", f"{word}es") for word in words(thing) for each in said)
