"""Names for what may be called anything there: made of its letters, and different from all others."""

from __future__ import annotations

from collections.abc import Container

from bt_robots.btcpp.model import identifier


class Names:
    """Chooses free names. Names that differ only in punctuation get a number, as do file names that differ only in
    case.

    `avoid`: what is no free name.
    """

    def __init__(self, otherwise: str, avoid: Container[str] = (), files: bool = True) -> None:
        self.otherwise, self.avoid, self.files = otherwise, avoid, files
        self.known: dict[str, str] = {}
        self.taken: dict[str, int] = {}

    def of(self, said: str) -> str:
        if said in self.known:
            return self.known[said]
        name = plain = identifier(said, self.otherwise)
        if name == said and not self.files:
            return name
        number = self.taken.get(self.key(plain), 1)
        while self.key(name) in self.taken or (name != said and name in self.avoid):
            number += 1
            name = f"{plain}_{number}"
        self.taken[self.key(plain)] = number
        self.taken.setdefault(self.key(name), 1)
        self.known[said] = name
        return name

    def key(self, name: str) -> str:
        return name.lower() if self.files else name
