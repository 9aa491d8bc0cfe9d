"""WebShop as a suite: an invented shop, or a user's products and goals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from bt_envs.index_file import place_of
from bt_envs.sources import Source, whole
from bt_envs.webshop import files, invent
from bt_envs.webshop.catalogue import FOUND, ShopCatalogue
from bt_envs.webshop.pages import PAGE
from bt_envs.webshop.world import WebShop
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import (
    Read,
    Split,
    Wanted,
    choose_kinds,
    no_more_options,
    number_option,
    shared_out,
)
from bt_runtime.types import Task, World


class WebShopSuite:
    name = "webshop"
    kinds: Sequence[str] = ("invented",)
    asked_for: Sequence[str] = ("human", "synthetic")  # sorts of instructions in people's data
    skills = "webshop"
    splits: Sequence[Split] = ("train", "dev", "eval")
    formats: Sequence[str] = ("WebShop's products",)
    reads_data: Sequence[Literal["open", "tasks"]] = ("open", "tasks")

    def open(
        self, *, data: str | os.PathLike[str] | None = None, view: str = "adapt", items: int | str = 3, index: str = "",
        **options: Any,
    ) -> World:  # fmt: skip
        """Opens a world. `data`: a file of products, or its folder. `index`: the folder of the search index, by
        default the user's cache."""
        no_more_options(self.name, options, ("data", "view", "items", "index"))
        outside = files.shop_in(Path(data)) if data else None

        theirs = partial(catalogue_at, outside, outside.items.stat().st_mtime_ns, index) if outside else None
        return WebShop(Source(invent.catalogue, theirs), view, int(number_option("items", items, 1, whole=True)))

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None,
        *, data: str | os.PathLike[str] | None = None, part: str = "split", index: str = "", **options: Any,
    ) -> list[Task]:  # fmt: skip
        """Returns up to `count` tasks. Each split has its own goals of a shop, chosen by product; `part="all"` takes
        them all."""
        no_more_options(self.name, options, ("data", "part", "index"))
        chosen = choose_kinds((*self.kinds, *self.asked_for), kinds)
        if not data:
            return list(islice(invent.tasks(split, seed), count))
        shop = files.shop_in(Path(data))
        sold = catalogue_at(shop, shop.items.stat().st_mtime_ns, index)
        fit = (task for task in files.tasks(shop, sold.product) if task.kind in chosen)
        of = shared_out(fit, lambda task: str(task.data["asin"]), self.name, seed, split, part, shop.items.parent)
        return list(of[:count])

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        return whole(self, path, wanted) if files.of_forms(path, "products", "items") else None

    def wanted(self, task: Task) -> Mapping[str, int]:
        return {str(task.data["asin"]): 1}

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        """The oracle's sentences: it searches by the right product's title, and turns pages until it is listed."""
        no_more_options(self.name, options, ())
        if not isinstance(world, WebShop):
            raise BtError("this oracle knows WebShop only", "open the world with open_world('webshop')")
        wanted = world.goal.product
        yield f"search[{wanted.title}]"
        for _ in range(FOUND // PAGE):
            if f"click[{wanted.asin}]" not in world.skills():
                yield "click[Next >]"
        yield f"click[{wanted.asin}]"
        for value in task.data["options"]:
            yield f"click[{value}]"
        yield "click[Buy Now]"


SUITE = WebShopSuite()


@lru_cache(maxsize=2)
def catalogue_at(shop: files.Shop, changed: int, index: str) -> ShopCatalogue:
    return ShopCatalogue.at(place_of(shop.items, index, "webshop"), files.products(shop))
