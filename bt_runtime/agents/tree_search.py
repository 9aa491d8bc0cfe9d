"""Tree search (LATS): tries several actions from the states reached so far, the most promising state first.

A round selects a state, tries actions from it, judges what came of each, follows the best one to an end, and lets the
states above it know. The world is put back before each try; what was tried stays in the journal.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

from bt_runtime.agents.agent import Agent
from bt_runtime.agents.end import Ending
from bt_runtime.agents.model_node import PAUSE, Life
from bt_runtime.agents.story import ACT, OPENINGS, StoryStep
from bt_runtime.agents.surroundings import DONE, FAILURE
from bt_runtime.agents.trimming import KEPT
from bt_runtime.events import RolledBack
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Judging, Question, Restorable

ASKED = "Does this lead to the goal? "  # how far a state has come, as the model sees it
YES, NO = "yes", "no"
_THINK = next(opening for opening, move in OPENINGS.items() if move == "think")


class State:
    """A state of the world, with the actions that lead to it."""

    def __init__(self, world: bytes, steps: list[StoryStep], above: State | None = None) -> None:
        self.world, self.steps, self.above = world, steps, above
        self.below: list[State] = []
        self.tried: set[str] = set()  # actions
        self.visits, self.worth = 0, 0.0  # worth: the sum over all visits
        self.closed = False  # nothing is left to try from here or below

    def promise(self, explore: float) -> float:
        above = self.above
        seen = math.log(above.visits) if above is not None and above.visits else 0.0
        return self.worth / self.visits + explore * math.sqrt(seen / self.visits)

    def learn(self, worth: float) -> None:
        """Adds a value to this state and to all states above it."""
        at: State | None = self
        while at is not None:
            at.visits, at.worth = at.visits + 1, at.worth + worth
            at = at.above

    def close(self) -> None:
        """Marks the state as a dead end; also each state above whose actions all end there."""
        self.closed = True
        if self.above is not None and all(each.closed for each in self.above.below):
            self.above.close()


class TreeSearch(Agent):
    STATE = ("reached", "said_done")

    def live(self) -> Life:
        yield from self.prepare()
        world: Any = self.context.services.world
        if not isinstance(world, Restorable):
            raise BtError("a tree search restores the world after each try, and this world cannot be restored",
                          "use it in a world with `snapshot` and `restore`, or another strategy")  # fmt: skip
        root, rounds = State(world.snapshot(), []), int(self.value("rounds"))
        self.afford()
        for _ in range(rounds):
            state = self.selected(root)
            tried = yield from self.tried(state)
            if not tried:
                state.close()
            best = max(tried, key=lambda each: each.worth, default=None)
            if best is not None and not best.closed:
                yield from self.followed(best)
            if self.reached:
                return Ending("done")
            over = self.over()
            if over:
                return self.given_up(root, over)
            if root.closed:
                return self.given_up(root, "")
            yield PAUSE
        return self.given_up(root, f"{rounds} rounds")

    reached = False  # the goal holds in the present world

    def given_up(self, root: State, over: str) -> Ending:
        """Ends the search and restores the best state in the world."""
        at = root
        while at.below:
            at = max(at.below, key=lambda each: (each.worth / each.visits, each.visits))
        self.put_back(at)
        return Ending("budget", over) if over else Ending("failure", "no way leads to the goal")

    # One round -------------------------------------------------------------------------------

    def selected(self, root: State) -> State:
        """Follows the most promising states down to one from which no action was tried yet."""
        at, explore = root, float(self.value("explore"))
        while at.below:
            at = max((each for each in at.below if not each.closed), key=lambda each: each.promise(explore))
        return at

    def tried(self, state: State) -> Generator[Any, Any, list[State]]:
        """Tries the likeliest actions from a state, and returns the states that they led to."""
        for _ in range(int(self.value("width"))):
            self.put_back(state)
            child = yield from self.stepped(state)
            if child is None:
                break
            if any(each.steps[-1] == child.steps[-1] for each in state.below if child.steps and each.steps):
                continue  # the model may write the same again
            state.below.append(child)
            worth, ended = yield from self.judged(child)
            child.learn(worth)
            if ended:
                child.closed = True
            if self.reached or self.over():
                return state.below
        if state.below and all(each.closed for each in state.below):
            state.close()
        return state.below

    def followed(self, state: State) -> Generator[Any, Any, None]:
        """A greedy rollout to the end; its value counts for the state it started from."""
        self.put_back(state)
        at = state
        for _ in range(int(self.value("follow"))):
            child = yield from self.stepped(at)
            if child is None:
                break
            worth, ended = yield from self.judged(child, ask=False)
            at = child
            if ended or self.reached or self.over():
                state.learn(worth)
                return
        worth, _ = yield from self.judged(at)
        state.learn(worth)

    def stepped(self, state: State) -> Generator[Any, Any, State | None]:
        """Takes one untried action from a state; returns None when there is none."""
        left = [said for said in self.around.sentences() if said not in state.tried and said != FAILURE]
        if not left:
            return None
        if "think" in self.moves and not self.thoughtless:
            yield from self.think(_THINK)
        else:
            self.thoughtless = False
        options = tuple(f" {said}" for said in left)
        choice = yield from self.asked(Question("choose", self.text() + ACT, options=options))
        said = choice.text.removeprefix(" ")
        if not said.endswith(" "):  # with a last blank it is only a beginning
            state.tried.add(said)
        self.said_done = (yield from self.act(said)) is not None
        world: Any = self.context.services.world
        return State(world.snapshot(), [*self.steps], state)

    def judged(self, state: State, ask: bool = True) -> Generator[Any, Any, tuple[float, bool]]:
        """The value of the state just reached, from 0 to 1, and whether it is terminal."""
        world: Any = self.context.services.world
        ended = self.said_done or [*self.around.sentences()] == [DONE, FAILURE]
        if ended and self.value("judge") == "world" and isinstance(world, Judging):
            verdict = world.verdict()
            if verdict.total:
                self.reached = verdict.reached
                return verdict.met / verdict.total, True
        if not ended and not ask:
            return 0.0, False
        text = f"{self.text()}{ASKED}"
        choice = yield from self.asked(Question("choose", text, options=(YES, NO), mode="scores"))
        worth = _share(choice.scores) if choice.scores else float(choice.text == YES)
        self.reached = ended and worth > 0.5
        return worth, ended

    said_done = False

    def put_back(self, state: State) -> None:
        world: Any = self.context.services.world
        world.restore(state.world)
        self.steps = [*state.steps]
        self.omitted = min(self.omitted, max(0, len(self.steps) - KEPT))
        self.trail = [(step, "") for step in state.steps]
        self.context.emit(RolledBack(self.path))


def _share(scores: tuple[float, ...]) -> float:
    """Returns the probability of yes, of yes and no."""
    yes, no = scores[:2]
    return 1 / (1 + math.exp(min(700.0, no - yes)))
