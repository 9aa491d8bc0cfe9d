"""Computes a purchase's reward from product type, attributes, options and price, as WebShop does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bt_envs.webshop.catalogue import Product, known
from bt_envs.webshop.ranking import package

ALIKE = 85  # similarity of 100 from which texts are alike
NO_LIMIT = 1_000_000.0


class ShopGoal(NamedTuple):
    product: Product  # the product that the goal was made from
    attributes: tuple[str, ...]
    options: tuple[str, ...]  # the values wanted
    limit: float = NO_LIMIT  # the highest price


def alike(one: str, other: str) -> bool:
    """Returns True for texts of similar words, regardless of order and separators."""
    fuzz, utils = package("rapidfuzz.fuzz"), package("rapidfuzz.utils")
    ratio: float = fuzz.token_set_ratio(one, other, processor=utils.default_process)
    return round(ratio) > ALIKE


def reward(bought: Product, chosen: Mapping[str, str], goal: ShopGoal) -> float:
    """Returns a purchase's reward, from 0 to 1."""
    attributes = sum(_has(bought, each) for each in goal.attributes)
    given = [_coloured(value) for value in chosen.values()]
    options = sum(any(alike(value, _coloured(wanted)) for value in given) for wanted in goal.options)
    cheap = bought.value <= goal.limit
    parts = len(goal.attributes) + len(goal.options) + 1
    return of_kind(bought, goal.product) * (attributes + options + cheap) / parts


def of_kind(bought: Product, wanted: Product) -> float:
    """True when the product is of the kind that the goal asks for."""
    nouns = set(wanted.nouns)
    shared = len(nouns & set(bought.nouns)) / len(nouns) if nouns else 0.2
    paths = [{part.strip() for part in product.category.split("›")} for product in (bought, wanted)]
    if shared == 0:
        return 0.0
    if shared < 0.1:
        return 0.1
    return 1.0 if bought.query == wanted.query or len(paths[0] & paths[1]) >= 2 or shared > 0.2 else 0.5


def _has(product: Product, attribute: str) -> bool:
    if any(alike(each, attribute) for each in product.attributes):
        return True
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(attribute in text.lower() for text in texts)


def _coloured(value: str) -> str:
    """Reduces a colour to its first plain word: "navy blue melange" becomes "navy"."""
    return next((colour for colour in known()["shades"] if colour in value), value)
