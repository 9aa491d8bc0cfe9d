"""WebShop: search a shop, read pages, choose options, buy. The purchase ends the task and is scored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from bt_envs.webshop.catalogue import ShopCatalogue
from bt_envs.webshop.pages import BACK, BUY, NEXT, PREV, SUBS, ShopPage, View, shown
from bt_envs.webshop.reward import NO_LIMIT, ShopGoal, reward
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.text_world import TextWorld, listed, one_of
from bt_runtime.types import Observation, Task, Verdict

_ACT = re.compile(r"\s*(search|click|think)\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)
_FORMS = "the sentences are: search[words], and click[…] of what the page shows"
INVALID = {"react": "Invalid action!", "adapt": "Invalid action! Try a different action."}


class WebShop(TextWorld):
    called, name = "WebShop", "webshop"
    label = "outside"  # sellers write its pages
    rules = (
        "- A search shows the best products. Click a product to open its page, each option asked for, then Buy Now.",
        "- Only what the page shows can be clicked.",
        "- Buying ends the task: it can be done once.",
    )

    def __init__(self, catalogue_of: Callable[[Task], ShopCatalogue], view: str = "adapt", items: int = 3) -> None:
        """Creates a world. `view`: adapt, react (their wrappers' text), text or text_rich (WebShop's own).
        `items`: the number of products that the wrappers show of a results page."""
        one_of(view, get_args(View), "view of the shop", "views")
        self._catalogue_of, self._items = catalogue_of, items
        self._view: View = view  # type: ignore[assignment]
        self._shop: ShopCatalogue | None = None
        self._page = ShopPage("")
        self._words = ""
        self._score: float | None = None

    def begin(self, task: Task) -> Observation:
        """Begins a task. `task.data`: instruction, asin, attributes, options, limit, and what `catalogue_of` needs."""
        shop = self._catalogue_of(task)
        goal, page = _goal(task, shop), ShopPage(str(task.data["instruction"]))
        self._shop, self._task, self.goal = shop, task, goal
        self._page, self._words, self._score = page, "", None
        return self.look()

    def look(self) -> Observation:
        return Observation(shown(self._page, self._view, self._items))

    def skills(self) -> Sequence[str]:
        """Lists everything clickable, including products that the wrappers do not show."""
        if self._score is not None or self._task is None:
            return []
        clicks = self._page.clickables()
        if self._view == "react":
            clicks = [c for c in clicks if c != NEXT and not (c == PREV and self._page.at == "results")]
        return [f"click[{each}]" for each in clicks]

    def written(self) -> Sequence[str]:
        """The sentences with a written part: WebShop accepts a search on any page, the wrappers only on the first
        one."""
        here = self._page.at == "index" or self._view not in INVALID
        return ("search[{words}]",) if here and self._task is not None and self._score is None else ()

    def act(self, sentence: str) -> Observation:
        if self._score is not None:
            return self._sold()
        found = _ACT.fullmatch(sentence)
        if found is None or self._task is None:
            return self._refused(_FORMS)
        move, said = found[1].lower(), found[2].strip()
        if move == "think":
            return Observation("OK.")
        if move == "search":
            return self._search(said) if self.written() and said else self._refused("search from the first page")
        offered = {each[6:-1].casefold(): each[6:-1] for each in self.skills()}
        value = offered.get(said.casefold())
        return self._click(value) if value is not None else self._refused("nothing of that name is on this page")

    def _refused(self, why: str) -> Observation:
        text = INVALID.get(self._view) or shown(self._page, self._view, self._items)
        return Observation(text, False, why)

    def _search(self, words: str) -> Observation:
        assert self._shop is not None
        self._words = words
        self._page = ShopPage(self._page.instruction, "results", 1, tuple(self._shop.search(words)))
        return self.look()

    def _click(self, value: str) -> Observation:
        page = self._page
        if value == BUY:
            assert page.item is not None
            self._score = reward(page.item, page.chosen, self.goal)
            return self._sold()
        if value == BACK:
            self._page, self._words = ShopPage(page.instruction), ""
        elif value == NEXT:
            self._page = page._replace(number=page.number + 1)
        elif value == PREV:
            if page.at in SUBS:
                self._page = page._replace(at="item")
            elif page.at == "item":  # what was chosen is forgotten with the item
                self._page = page._replace(at="results", item=None, chosen={})
            else:
                self._page = page._replace(number=max(1, page.number - 1))
        elif value in SUBS and page.at == "item":
            self._page = page._replace(at=value)
        elif page.at == "results":
            item = next(p for p in page.here if p.asin == value)
            self._page = page._replace(at="item", item=item, chosen={})
        else:
            return self._choose(value)
        return self.look()

    def _choose(self, value: str) -> Observation:
        """Selects an option's value; the last selection of an option counts."""
        item = self._page.item
        assert item is not None
        name = next(name for name, values in item.options.items() if value in values)
        self._page = self._page._replace(chosen={**self._page.chosen, name: value})
        return Observation(f"You have clicked {value}.") if self._view in INVALID else self.look()

    def _sold(self) -> Observation:
        return Observation(f"Your score (min 0.0, max 1.0): {self._score}")

    def verdict(self) -> Verdict:
        """Returns the score in hundredths; 100 only for an entirely right purchase."""
        if self._score is None:
            return Verdict(0, 100)
        return Verdict(100 if self._score >= 1 else min(99, round(100 * self._score)), 100)

    def holds(self, fact: str) -> bool | None:
        """Tests a fact: `something is bought`, `the page of {asin} is open`, `{value} is chosen`."""
        if fact == "something is bought":
            return self._score is not None
        if fact.endswith(" is chosen"):
            return fact.removesuffix(" is chosen") in self._page.chosen.values()
        if fact.startswith("the page of ") and fact.endswith(" is open"):
            return self._page.item is not None and fact == f"the page of {self._page.item.asin} is open"
        return None

    def page(self) -> str:
        said = f"\n\nBought: {self._score}" if self._score is not None else ""
        return shown(self._page, "text_rich", self._items) + said

    def kept(self) -> dict[str, Any]:
        page = self._page
        return {
            "words": self._words, "at": page.at, "number": page.number, "item": page.item.asin if page.item else None,
            "chosen": dict(page.chosen), "score": self._score,
        }  # fmt: skip

    def recover(self, task: Task | None, kept: Mapping[str, Any]) -> None:
        item, chosen = kept["item"], dict(kept["chosen"])
        if task is not None:
            self.begin(task)
        if kept["words"]:
            self._search(str(kept["words"]))
        product = self._shop.product(item) if item is not None and self._shop is not None else None
        self._page = self._page._replace(at=str(kept["at"]), number=int(kept["number"]), item=product, chosen=chosen)
        self._score = kept["score"]


def _goal(task: Task, shop: ShopCatalogue) -> ShopGoal:
    product = shop.product(str(task.data["asin"]))
    if product is None:
        way = "name the file of products it was made from"
        raise BtError(f"the shop of `{task.id}` sells no {task.data['asin']}", way)
    limit = float(str(task.data.get("limit", NO_LIMIT)))
    return ShopGoal(product, listed(task.data["attributes"]), listed(task.data["options"]), limit)
