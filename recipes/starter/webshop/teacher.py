"""The teacher of WebShop: what a small model can follow by one look at a time.

What is wanted is listed in the order of the instruction, and searched for word for word: a shop that ranks by words
shows first what has them all. Of the products that a page shows each price is set beside the limit, until one is fine;
that one is opened, its options are chosen as the next thought lists them, and it is bought.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bt_envs.webshop.pages import BACK, BUY, PREV
from bt_runtime.agents.story import EXPAND, StoryStep
from bt_runtime.types import Task
from recipes.starter.policy import Policy, Thinks, played
from recipes.starter.seen import Seen, role
from recipes.starter.steps import ORDER, written

_PRODUCT = re.compile(r"^\[(\w{10})\] \n.*\n\$([\d.]+)", re.MULTILINE)
_ROW = re.compile(r"^[\w ]+ (\[.*\])$", re.MULTILINE)
_PAGE = re.compile(r"^Page (\d+) \(", re.MULTILINE)
_CLICKED = re.compile(r"You have clicked (.+)\.")
_FINE = re.compile(r"(\w{10}) costs [^:]*: fine\.")
_SEARCH, _OPEN, _CLICK = "search for ", "open a product below ", "click "


class Order(NamedTuple):
    """What an instruction asks for."""

    words: tuple[str, ...]  # qualities, the thing, values of options: as they are said
    values: tuple[str, ...]  # of its options
    limit: str

    @property
    def wanted(self) -> str:
        return f"Wanted: {', '.join(self.words)}, below {self.limit}."

    @property
    def steps(self) -> list[str]:
        values = ", ".join([*self.values, BUY])
        return [f"{_SEARCH}{' '.join(self.words)}", f"{_OPEN}{self.limit}", f"{_CLICK}{values}"]


def order_of(task: Task, thing: str) -> Order:
    """`thing`: what sort of product it is."""
    said, data = task.goal.lower(), task.data
    values = [str(value) for value in data["options"]]
    at = {word: _at(word, said) for word in (*map(str, data["attributes"]), thing, *values)}
    limit = float(str(data["limit"]))
    told = next(each for each in (f"{limit:.2f}", f"{limit:g}") if each in said)
    return Order(tuple(sorted(at, key=at.__getitem__)), tuple(sorted(values, key=at.__getitem__)), told)


def _at(word: str, said: str) -> int:
    found = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said)
    return found.start() if found else len(said)


def teacher(seen: Seen, sentences: Sequence[str], order: Order) -> str:
    """The next line of an agent, or the whole answer of a planner."""
    if ORDER in seen.system:
        return written(order.wanted, order.steps)
    return played((agent := Agent(seen, order)).policy(), seen.steps, agent.note)[0]


class Agent(Thinks):
    """One agent, as its prompt tells of it."""

    def __init__(self, seen: Seen, order: Order) -> None:
        self.seen, self.order = seen, order
        self.expands = "think, act, expand" in seen.system
        self.hands_on = role(seen.system) == "executor"  # then somebody plans it
        self.step = StoryStep("think", "")
        self.at, self.number = "index", 1
        self.products: list[tuple[str, float]] = []  # that the page shows
        self.judged, self.fit, self.open = False, "", ""
        self.rows: list[list[str]] = []
        self.chosen: list[str] = []
        self.lacking: set[str] = set()  # products without what is wanted
        self._read(seen.opening)

    # what happened ------------------------------------------------------------------------------------------

    def note(self, step: StoryStep) -> None:
        self.step = step
        if step.move == "think" and (fine := _FINE.findall(step.text)):
            self.judged, self.fit = True, fine[-1]
        elif step.move == "act":
            clicked = re.fullmatch(r"click\[(\w{10})\]", step.text)
            self.open = clicked[1] if clicked and self.at == "results" else self.open
            self._read(step.observation)

    def _read(self, page: str) -> None:
        if clicked := _CLICKED.fullmatch(page):
            row = next((row for row in self.rows if clicked[1] in row), [])
            self.chosen = [*(value for value in self.chosen if value not in row), clicked[1]]
        elif page.startswith("Your score"):
            self.at = "sold"
        elif number := _PAGE.search(page):
            products = [(asin, float(price)) for asin, price in _PRODUCT.findall(page)]
            if products != self.products:
                self.judged, self.fit, self.lacking = False, "", set()
            self.at, self.number, self.products = "results", int(number[1]), products
        elif f"[{BUY}]" in page:
            self.at, self.rows = "item", [re.findall(r"\[+([^\[\]]+)\]", row) for row in _ROW.findall(page)]
            self.chosen = re.findall(r"\[\[([^\[\]]+)\]\]", page)
        elif f"[{BACK}]" in page:
            self.at = "sub"
        elif "[Search]" in page:
            self.at = "index"

    # what it does -------------------------------------------------------------------------------------------

    def policy(self) -> Policy:
        goal = self.seen.goal
        if goal.startswith(_SEARCH) and goal in self.order.steps:
            return self._searches(goal.removeprefix(_SEARCH))
        if goal.startswith(_OPEN):
            return self._opens()
        if goal.startswith(_CLICK):
            return self._clicks(goal.removeprefix(_CLICK).split(", "))
        if self.expands:
            return self._expanded()
        return self._left() if self.hands_on else self._flat()

    def _left(self) -> Policy:
        """A whole task is for the planner."""
        yield from ()
        return False

    def _expanded(self) -> Policy:
        yield from self._think(self.order.wanted)
        plan = "\n".join(["sequence:", *(f"- {part}" for part in self.order.steps)])
        while not (self.step.move == "expand" and self.step.observation):
            yield f"{EXPAND}\n{plan}"
        return True

    def _flat(self) -> Policy:
        yield from self._think(self.order.wanted)
        listed = ""
        while self.at != "sold":
            if self.at == "index":
                yield f"Act: search[{' '.join(self.order.words)}]"
            elif not (yield from self._opens()):
                return False
            elif lacks := self._lacks(self.order.values):
                yield from self._passed(lacks)
            else:
                if listed != self.open:
                    yield from self._think(f"Now {', '.join([*self.order.values, BUY])}.")
                    listed = self.open
                yield from self._next([*self.order.values, BUY])
        return True

    def _searches(self, words: str) -> Policy:
        while self.at != "results":
            yield f"Act: search[{words}]" if self.at == "index" else f"Act: click[{BACK}]"
        return True

    def _opens(self) -> Policy:
        """The first that is cheap enough; what was opened by mistake is left."""
        while self.at != "item" or (self.fit and self.open != self.fit):
            if self.at == "index":
                return False
            if self.at != "results" or self.number > 1:
                yield f"Act: click[{PREV}]"
            elif not self.fit:
                said, fit = self._judged()
                if not fit:
                    return False
                yield from self._think(said)
                self.fit = self.fit or fit
            else:
                yield f"Act: click[{self.fit}]"
        return True

    def _judged(self) -> tuple[str, str]:
        """One product after the other, until one is fine."""
        said = []
        for asin, price in self.products:
            if asin in self.lacking:
                continue
            fine = price <= float(self.order.limit)
            said.append(f"{asin} costs {price:.2f}, limit {self.order.limit}: {'fine' if fine else 'too much'}.")
            if fine:
                return " ".join(said), asin
        return "", ""

    def _lacks(self, values: Sequence[str]) -> str:
        have = {value for row in self.rows for value in row}
        return next((value for value in values if value not in have), "")

    def _passed(self, lacks: str) -> Policy:
        """It is cheap enough, but not to be had as it is wanted."""
        yield from self._think(f"{self.open} has no {lacks}.")
        self.lacking.add(self.open)
        self.fit = ""
        while self.at != "results":
            yield f"Act: click[{PREV}]"
        return True

    def _clicks(self, wanted: Sequence[str]) -> Policy:
        while self.at != "sold":
            if self.at == "sub":
                yield f"Act: click[{PREV}]"
            elif self.at != "item" or self._lacks([value for value in wanted if value != BUY]):
                return False
            else:
                yield from self._next(wanted)
        return True

    def _next(self, wanted: Sequence[str]) -> Policy:
        """The first of the list that is not chosen yet."""
        value = next(value for value in wanted if value not in self.chosen)
        yield f"Act: click[{value}]"
        return True


def astray(sentences: Sequence[str]) -> list[str]:
    """What a slip may be: nothing that ends the task, or that has to be written on."""
    return [s for s in sentences if s.startswith("click[") and s != f"click[{BUY}]"]
