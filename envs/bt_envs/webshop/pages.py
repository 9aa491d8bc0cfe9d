"""The shop's pages as text, in WebShop's own two forms and in that of ReAct's and ADaPT's wrappers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from bt_envs.webshop.catalogue import Product

View = Literal["adapt", "react", "text", "text_rich"]
PAGE = 10  # products on a page of results
BACK, PREV, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
SUBS = ("Description", "Features", "Reviews")
Visible = list[tuple[str, bool]]  # a text, and whether it is a button


class ShopPage(NamedTuple):
    """The user's position in the shop."""

    instruction: str
    at: str = "index"  # index, results, item, or one of SUBS
    number: int = 1
    found: tuple[Product, ...] = ()  # products that the search found
    item: Product | None = None
    chosen: Mapping[str, str] = {}

    @property
    def here(self) -> tuple[Product, ...]:
        return self.found[(self.number - 1) * PAGE : self.number * PAGE]

    @property
    def options(self) -> Mapping[str, Sequence[str]]:
        return self.item.options if self.item is not None and self.at == "item" else {}

    def parts(self, items: int = PAGE) -> tuple[Visible, Visible]:
        """Returns the page's parts above and below the options. The views add the instruction."""
        if self.at == "index":
            return [], []
        if self.at == "results":
            head = [(BACK, True), (f"Page {self.number} (Total results: {len(self.found)})", False)]
            head += [(PREV, True), (NEXT, True)] if self.number > 1 else [(NEXT, True)]
            return head, [
                row for p in self.here[:items] for row in ((p.asin, True), (p.title, False), (p.price, False))
            ]
        assert self.item is not None
        head = [(BACK, True), (PREV, True)]
        if self.at in SUBS:
            return head, [(_told(self.item, self.at), False)]
        told = [(self.item.title, False), (f"Price: {self.item.price}", False), ("Rating: N.A.", False)]
        return head, [*told, *((sub, True) for sub in SUBS), (BUY, True)]

    def clickables(self) -> list[str]:
        """Returns the page's clickable texts in their order."""
        above, below = self.parts()
        buttons = [[text for text, button in part if button] for part in (above, below)]
        values = [value for each in self.options.values() for value in each]
        return [*dict.fromkeys((*buttons[0], *values, *buttons[1]))]


def shown(page: ShopPage, view: View, items: int) -> str:
    """Renders a page. `items`: the number of products that the wrappers show of a results page."""
    return _wrapped(page, items) if view in ("react", "adapt") else _own(page, view)


def _wrapped(page: ShopPage, items: int) -> str:
    if page.at == "index":
        return f"Webshop \nInstruction:  \n{page.instruction} \n[Search] "
    above, below = ("".join(f"[{t}] \n" if button else f"{t} \n" for t, button in part) for part in page.parts(items))
    options = (
        f"{name} {''.join(f'[[{v}]]' if page.chosen.get(name) == v else f'[{v}]' for v in values)}\n"
        for name, values in page.options.items()
    )
    text = f"{above}{''.join(options)}{below}"
    return text.removesuffix("\n") if page.at == "item" else text


def _own(page: ShopPage, view: View) -> str:
    """Formats a page as a list of what is visible; the rich form marks buttons."""
    above, below = page.parts()
    options = [row for name, values in page.options.items() for row in ((name, False), *((v, True) for v in values))]
    visible = [("Instruction:", False), (page.instruction, False), *above, *options, *below]
    if page.at == "index":
        visible = [("WebShop", False), *visible, ("Search", True)]
    if view == "text":
        return " [SEP] ".join(text for text, _ in visible if text)
    chosen = set(page.chosen.values()) if page.at == "item" else set()
    said = [f"You have clicked {value}." for value in page.chosen.values()] if chosen else []
    return "\n".join([*said, *(_rich(text, button, text in chosen) for text, button in visible if text)])


def _rich(text: str, button: bool, clicked: bool) -> str:
    if not button:
        return text
    return f"[clicked button] {text} [clicked button_]" if clicked else f"[button] {text} [button_]"


def _told(item: Product, sub: str) -> str:
    if sub == "Features":
        return "\n".join(each.strip() for each in item.bullets)
    return item.description if sub == "Description" else ""
