"""A returns desk: four books in a box, one hand, three places to put them."""

from __future__ import annotations

from typing import Any

from bt_runtime import Status

BOX = "box"
BOOKS = ("Emma", "Dune", "Heidi", "The Hobbit")
LATE = {"Dune": 12}  # days
RESERVED = {"Emma": "Mr Okafor"}
DAMAGED = {"Heidi": "Pages 40 to 44 of Heidi are torn."}
Told = dict[str, Any]


class Desk:
    def __init__(self) -> None:
        self.places = dict.fromkeys(BOOKS, BOX)
        self.hand = ""
        self.log: list[str] = []

    def note(self, what: str) -> None:
        self.log.append(what)

    def shown(self) -> Told:
        box = [book for book, place in self.places.items() if place == BOX]
        return {"books": box, "holding": self.hand or "nothing", "hand_empty": not self.hand}


desk = Desk()


def fresh(task: Any) -> None:
    """Before each task: all books are in the box."""
    global desk
    desk = Desk()


def as_wanted(task: Any) -> bool:
    """True when the books lie where the task wants them, the others in the box, and the log holds what it wants, in
    its order. What only changes paper (a fee, a notice) must not be done unasked."""
    want, log = task.data, desk.log
    places = {**dict.fromkeys(BOOKS, BOX), **want.get("places", {})}
    right = all(desk.places[book] == place or place == "anywhere" for book, place in places.items())
    wanted = list(want.get("log", ()))
    rest = iter(log)
    in_order = all(any(each == seen for seen in rest) for each in wanted)
    unasked = [each for each in log if each.startswith(("fee", "notice")) and each not in wanted]
    return right and in_order and not unasked


def look() -> list[str]:
    books: list[str] = desk.shown()["books"]
    return books


def take(book: str) -> Any:
    if desk.hand or desk.places.get(book) != BOX:
        return Status.FAILURE, desk.shown()
    desk.places[book], desk.hand = "hand", book
    return desk.shown()


def scan() -> Any:
    book = desk.hand
    if not book:
        return Status.FAILURE, {"screen": "No book is under the scanner."}
    desk.note(f"scan {book}")
    late = f" It is {LATE[book]} days late." if book in LATE else ""
    reserved = f"{RESERVED[book]} has reserved it." if book in RESERVED else "Nobody has reserved it."
    return {"screen": f"{book} is checked in.{late} {reserved}"}


def leaf() -> Any:
    if not desk.hand:
        return Status.FAILURE, {"seen": "You hold no book."}
    desk.note(f"leaf {desk.hand}")
    return {"seen": DAMAGED.get(desk.hand, f"{desk.hand} is in good order.")}


def put(place: str) -> Any:
    if not desk.hand:
        return Status.FAILURE, desk.shown()
    desk.note(f"put {desk.hand}")
    desk.places[desk.hand], desk.hand = place, ""
    return desk.shown()


def put_back() -> Any:
    return put(BOX)


def fee() -> Any:
    book = desk.hand
    if f"scan {book}" not in desk.log:
        return Status.FAILURE, {"told": "The book has to be scanned first."}
    if book not in LATE:
        return Status.FAILURE, {"told": f"{book} is not late."}
    desk.note(f"fee {book}")
    return {"told": f"The fee for {book} is charged."}


def notice(reader: str) -> None:
    desk.note(f"notice {reader}")
