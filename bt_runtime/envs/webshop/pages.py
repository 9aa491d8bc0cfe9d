"""The shop's pages as text: WebShop's own two forms, and that of ReAct's and ADaPT's wrappers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from bt_runtime.envs.webshop.catalogue import Product

View = Literal["adapt", "react", "text", "text_rich"]
PAGE = 10  # products on a page of results
BACK, PREV, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
SUBS = ("Description", "Features", "Reviews")


class Page(NamedTuple):
    """Where one is in the shop."""

    instruction: str
    at: str = "index"  # index, results, item, or one of SUBS
    number: int = 1
    found: tuple[Product, ...] = ()  # all that the search gave
    item: Product | None = None
    chosen: Mapping[str, str] = {}

    @property
    def here(self) -> tuple[Product, ...]:
        return self.found[(self.number - 1) * PAGE : self.number * PAGE]

    def clickables(self) -> list[str]:
        """In the order of the page."""
        if self.at == "index":
            return []
        if self.at == "results":
            return [BACK, *([PREV] if self.number > 1 else []), NEXT, *(p.asin for p in self.here)]
        if self.at in SUBS or self.item is None:
            return [BACK, PREV]
        values = [value for each in self.item.options.values() for value in each]
        return [BACK, PREV, *dict.fromkeys(values), *SUBS, BUY]


def shown(page: Page, view: View, items: int) -> str:
    """`items`: how many products of a page of results the wrappers show."""
    return _wrapped(page, view, items) if view in ("react", "adapt") else _own(page, view)


def _wrapped(page: Page, view: View, items: int) -> str:
    if page.at == "index":
        return f"Webshop \nInstruction:  \n{page.instruction} \n[Search] "
    if page.at == "results":
        head = f"[{BACK}] \nPage {page.number} (Total results: {len(page.found)}) \n"
        prev = f"[{PREV}] \n" if page.number > 1 else ""
        rows = (f"[{p.asin}] \n{p.title} \n{p.price} \n" for p in page.here[:items])
        return f"{head}{prev}[{NEXT}] \n{''.join(rows)}"
    assert page.item is not None
    head = f"[{BACK}] \n[{PREV}] \n"
    if page.at in SUBS:
        return f"{head}{_told(page.item, page.at)} \n"
    options = (
        f"{name} {''.join(f'[[{v}]]' if page.chosen.get(name) == v else f'[{v}]' for v in values)}\n"
        for name, values in page.item.options.items()
    )
    subs = "".join(f"[{each}] \n" for each in SUBS)
    return f"{head}{''.join(options)}{page.item.title} \nPrice: {page.item.price} \nRating: N.A. \n{subs}[{BUY}] "


def _own(page: Page, view: View) -> str:
    """A list of what is visible; buttons are marked in the rich form."""
    visible: list[tuple[str, bool]] = [("Instruction:", False), (page.instruction, False)]
    if page.at == "index":
        visible = [("WebShop", False), *visible, ("Search", True)]
    elif page.at == "results":
        visible += [(BACK, True), (f"Page {page.number} (Total results: {len(page.found)})", False)]
        visible += [*([(PREV, True)] if page.number > 1 else []), (NEXT, True)]
        for each in page.here:
            visible += [(each.asin, True), (each.title, False), (each.price, False)]
    else:
        assert page.item is not None
        visible += [(BACK, True), (PREV, True)]
        visible += _item(page, page.item) if page.at == "item" else [(_told(page.item, page.at), False)]
    if view == "text":
        return " [SEP] ".join(text for text, _ in visible if text)
    chosen = set(page.chosen.values()) if page.at == "item" else set()
    said = [f"You have clicked {value}." for value in page.chosen.values()] if chosen else []
    return "\n".join([*said, *(_rich(text, button, text in chosen) for text, button in visible if text)])


def _item(page: Page, item: Product) -> Sequence[tuple[str, bool]]:
    options = [each for name, values in item.options.items() for each in ((name, False), *((v, True) for v in values))]
    told = [(item.title, False), (f"Price: {item.price}", False), ("Rating: N.A.", False)]
    return [*options, *told, *((sub, True) for sub in SUBS), (BUY, True)]


def _rich(text: str, button: bool, clicked: bool) -> str:
    if not button:
        return text
    return f"[clicked button] {text} [clicked button_]" if clicked else f"[button] {text} [button_]"


def _told(item: Product, sub: str) -> str:
    if sub == "Features":
        return "\n".join(each.strip() for each in item.bullets)
    return item.description if sub == "Description" else ""
