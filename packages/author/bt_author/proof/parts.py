"""Parts of an explored tree whose nodes are not its own: any of some results, as a node that chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from py_trees.common import Status

from bt_author.proof.choices import BAD, OK, RUN, SKIP, Choices
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Node
from bt_runtime.tree.nodes.parent import Decorator

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec

STATUS: dict[int, Status] = {SKIP: INVALID, RUN: RUNNING, OK: SUCCESS, BAD: FAILURE}
NUMBER: dict[Status, int] = {status: number for number, status in STATUS.items()}


class Whenever(float):
    """The time at which a part wakes of which only the results are known: before any other, and not at once."""

    def __eq__(self, other: object) -> bool:
        return other is self

    def __lt__(self, other: object) -> bool:
        return other is not self

    def __gt__(self, other: object) -> bool:
        return False

    __hash__ = float.__hash__


WHENEVER = Whenever()


class Part(Node):
    """Returns any of its results, and writes any of its entries, at any time."""

    STATE: ClassVar[tuple[str, ...]] = ()

    @property
    def choices(self) -> Choices:
        found: Choices = self.context.clock.choices  # type: ignore[attr-defined]
        return found

    @property
    def idle_until(self) -> float:
        return WHENEVER

    def update(self) -> Status:
        results: Sequence[int] = self.spec.values["results"]
        status = results[self.choices.choose(len(results))] if len(results) > 1 else results[0]
        self.act(status)
        if status == BAD and self.spec.values["breaks"] and self.choices.choose(2):
            raise RuntimeError("it breaks")
        return STATUS[status]

    def act(self, status: int) -> None:
        self.write()
        self.choices.note("any", self.spec.values["path"], status)

    def write(self) -> None:
        for name in self.spec.values["writes"]:
            self.scope[name] = UNKNOWN

    def terminate(self, new_status: Status) -> None:
        if new_status is INVALID and self.status is RUNNING:
            self.write()


class OpenPart(Part):
    """A node that decides in the run what it does: in each tick it may have any of its skills running, write any of its
    entries, and end in any way. So may a node that cannot be explored. `asked` are the skills that some property asks
    about; `why` says why anything may happen here."""

    STATE: ClassVar[tuple[str, ...]] = ("doing",)
    doing: tuple[int, ...] = ()  # for each asked skill, what it shows

    def act(self, status: int) -> None:
        asked: Sequence[str] = self.spec.values["asked"]
        shown = RUN if status == RUN else SKIP
        self.doing = tuple(shown if self.choices.choose(2) else SKIP for _ in asked)
        self.write()
        doing = [name for name, one in zip(asked, self.doing, strict=True) if one]
        self.choices.note("agent", self.spec.values["path"], status, doing, self.spec.values["why"])

    def terminate(self, new_status: Status) -> None:
        if new_status is INVALID:
            self.doing = ()
        super().terminate(new_status)

    def said(self, name: str) -> int:
        asked: Sequence[str] = self.spec.values["asked"]
        return self.doing[asked.index(name)] if self.doing else SKIP


class Steered(Decorator):
    """Requires that a part returns in each tick what a story says."""

    ROUND = ()

    def step(self) -> Status:
        choices: Choices = self.context.clock.choices  # type: ignore[attr-defined]
        wanted = choices.wanted.get(self.path)
        before, choices.hint = choices.hint, wanted or 0
        status = super().step()
        choices.hint = before
        if wanted is not None and status is not STATUS[wanted]:
            choices.mismatch = True
        return status


class Rest(Node):
    """What comes after a plan, which is not the plan's doing."""

    STATE = ()

    def update(self) -> Status:
        return RUNNING


def _kind(name: str, impl: type, family: Any = "leaf", transparent: bool = False) -> Kind:
    return Kind(name, family, "Only in proofs.", (), impl=impl, transparent=transparent)


PART, OPEN, REST = _kind("part", Part), _kind("open part", OpenPart), _kind("rest", Rest)
STEERED = _kind("steered part", Steered, "decorator", True)
PASS = _kind("passing part", Decorator, "decorator")
GROWN = _kind("grown part", Decorator, "control")  # a node that has grown its child, and runs as long as the child does

NAMES = frozenset(kind.name for kind in (PART, OPEN, REST, STEERED, GROWN, PASS))


def replaced(spec: NodeSpec, kind: Kind, name: str, **values: Any) -> NodeSpec:
    """Returns a spec of this kind in the place of another one."""
    made = spec.__class__(kind, spec.span, spec.file)
    made.name, made.values = name or None, values
    return made
