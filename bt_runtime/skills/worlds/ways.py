"""How a world that knows it says which actions bring a fact: where things are, which recipe makes what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Way(NamedTuple):
    """An action: what has to hold before it, and what holds afterwards; `not F` denies a fact."""

    sentence: str
    needs: Sequence[str] = ()
    brings: Sequence[str] = ()
    takes: float = 1.0  # seconds, of all times together
    times: int = 1  # how often it is done in a row


class Aim(NamedTuple):
    """Facts of one form that a world can bring: `{thing} in {place}`, how a person asks for one, and what fills it."""

    fact: str
    asked: str  # `put {thing} in {place}`
    slots: Mapping[str, Sequence[str]]


@runtime_checkable
class Aiming(Protocol):
    """A world that names the facts it can bring. They are wanted instead of those of its actions' manifests."""

    def aims(self) -> Sequence[Aim]: ...


@runtime_checkable
class Leading(Protocol):
    """A world that says how each fact is brought. A planner believes it instead of the manifest of its actions."""

    def ways(self, fact: str) -> Sequence[Way]:
        """Returns the actions that bring this fact from the present state on."""

    def at_once(self) -> Sequence[tuple[int, Sequence[str]]]:
        """Returns how many facts of these forms hold at once, at most: `[(1, ["near {place}"])]`. A new one
        ends the others; a need of the denied fact is brought by an action that says so."""
