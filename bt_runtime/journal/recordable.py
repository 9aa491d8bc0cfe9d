"""The parts of a run that the journal uses: what it records, and where it inserts its recorders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.language.loader import Loader
    from bt_runtime.language.spec import TreeSpec
    from bt_runtime.tree.budget import Budget
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.engine import Engine
    from bt_runtime.tree.runner import Runner
    from bt_runtime.types import Json, Task


class Given(TypedDict):
    """What a run was made with, besides its tree and its world."""

    inputs: Mapping[str, Json] | None
    seed: int
    budget: Budget | None
    recall: bool
    strict: bool
    hz: float | None
    model: object  # the model in any form that `Run` takes
    memory: object
    services: Mapping[str, object] | None


class LoadedTree(Protocol):
    """A checked tree, and the loader that knows every file that was read for it."""

    spec: TreeSpec
    first: Loader
    kinds: tuple[Kind, ...]


class Equipment(Protocol):
    """The world, models and memories of a run, as the journal sees them."""

    task: Task | None
    memory: object  # an open episodic memory, or one of the program's own

    @property
    def notebook(self) -> object | None:
        """Returns what collects the run's experiences; None when nothing does."""

    def remember(self, context: Context) -> None:
        """Gives the run a working memory on its blackboard."""


class Recordable(Protocol):
    name: str
    context: Context
    engine: Engine

    @property
    def tree(self) -> LoadedTree: ...
    @property
    def resources(self) -> Equipment: ...
    @property
    def runner(self) -> Runner: ...
