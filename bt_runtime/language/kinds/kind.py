"""Defines a node kind: fields, rules, example.

From the kinds come the editor schema, the loader's check, the models' dialect and the reference pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

# How a field's value is read. The last group are places where nodes stand.
FieldType = Literal[
    "any", "string", "integer", "number", "boolean", "list", "object",  # data: a literal or a template
    "word",  # one of `choices`, never a template
    "expression",  # text in the expression language
    "key",  # the name of a blackboard entry
    "assignments",  # mapping: entry → value to write
    "inputs",  # mapping: port of another tree → value
    "outputs",  # mapping: entry → what a model may answer for it
    "text",  # plain text read as it stands
    "node", "nodes", "cases",
]  # fmt: skip
DATA_TYPES = frozenset({"any", "string", "integer", "number", "boolean", "list", "object"})
NODE_TYPES = frozenset({"node", "nodes", "cases"})
Family = Literal["control", "decorator", "leaf", "skill", "agent"]
Result = Literal["success", "failure"]
# What a node can end with: anything; always the same; as its child does, or the opposite; what its field `status` says.
Ends = Literal["any", "success", "failure", "child", "opposite", "status"]


class Field(NamedTuple):
    name: str
    type: FieldType
    about: str
    required: bool = False
    default: Json = None
    choices: tuple[Json, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    extra: tuple[Json, ...] = ()  # values allowed although outside minimum/maximum: -1 for "for ever"
    writes: bool = False  # an output: the value names the entry that is written
    asks: bool = False  # a test: a node may stand here as well, whose success means that it holds
    reads: bool = False  # an output that is read too: the node adds to the entry


class Twin(NamedTuple):
    """The node of BehaviorTree.CPP that equals a kind, child for child."""

    tag: str
    ports: Mapping[str, str] = {}  # field → port; `seconds` become milliseconds, other given fields have no words there
    standard: bool = True  # False: another library's, so its model is written beside the tree


class Kind(NamedTuple):
    name: str
    family: Family
    about: str  # description in one sentence
    fields: tuple[Field, ...]
    rules: tuple[str, ...] = ()  # the semantics, each one sentence, each tested
    example: str = ""  # YAML of one node
    bare: str | None = None  # the field that a bare value fills
    impl: str | type = ""  # the class of the node: module:Class (imported when the first one is built), or itself
    emit: bool = False  # models may write it
    waits: bool = False  # may itself return RUNNING (asynchronous)
    asks: bool = False  # asks a model: a run of a tree with such a node needs one
    keeps: bool = False  # though it takes time, it answers at once while what it is asked stays the same
    reactive: bool = False  # ticks its children from the first one at every tick
    one_of: tuple[str, ...] = ()  # at least one of these fields is needed
    data: Mapping[str, Json] = {}  # further data for making the node (a skill's manifest entry)
    # What the checks must know of it; of a kind that says nothing, anything is possible.
    onward: Result | None = None  # runs its children in order: the result after which it goes on to the next one
    ends: Ends = "any"
    endless: Result | None = None  # its only result when its field `times` is -1
    skips: bool = False  # may be passed over, whatever its child would give
    blocks: tuple[str, ...] = ()  # fields that, when given, may keep its children from being reached
    counts: tuple[str, ...] = ()  # fields that count children; -1 means all of them
    includes: bool = False  # stands for the tree in its `file`, whose ports are given by its `with`
    foreign: bool = False  # made of a py_trees class, after its children; what it reads and writes cannot be seen
    transparent: bool = False  # shares path and name with its child
    sign: str = ""  # sign that pages draw beside its name
    twin: Twin | None = None  # its counterpart in BehaviorTree.CPP, for exports and monitors
    # What only this kind must be: module:function, imported when the first node is checked. It gets the TreeSpec, the
    # NodeSpec and the Diagnostics that it adds to.
    check: str = ""

    def field(self, name: str) -> Field | None:
        for field in self.fields:  # asked for every value of every node: a plain loop is the fastest
            if field.name == name:
                return field
        return None

    @property
    def hands_on(self) -> bool:
        """True when the node starts its first child in the same tick in which it starts itself."""
        return self.onward is not None or self.ends in ("child", "opposite", "status")

    @property
    def node_fields(self) -> tuple[Field, ...]:
        return tuple([f for f in self.fields if f.type in NODE_TYPES])


# Fields that any node may carry.
COMMON: tuple[Field, ...] = (
    Field("name", "text", "What people call this node; it becomes its part of the path. Unique among siblings."),
    Field("about", "text", "What it is for, in a line: a `route` tells its children apart by it."),
    Field(
        "when",
        "expression",
        "Ticked only while this holds: skipped before, halted and skipped when it ceases to.",
        asks=True,
    ),
    Field("unless", "expression", "Like `when`, with the opposite test.", asks=True),
    Field("on_success", "assignments", "Written when the node has succeeded."),
    Field("on_failure", "assignments", "Written when the node has failed."),
    Field("on_end", "assignments", "Written when the node has ended, whether it has succeeded or failed."),
    Field("on_halt", "assignments", "Written when the node was halted while running."),
)
COMMON_NAMES = frozenset(f.name for f in COMMON)
RESERVED = COMMON_NAMES - {"about"}  # names that no kind and no skill may take for a field


class Later(NamedTuple):
    """A plugin's kind, known by name; `bring` imports it when it is first used."""

    name: str
    bring: Callable[[], Kind]


class Registry:
    """Kinds by name, in the order of the reference."""

    def __init__(self, kinds: tuple[Kind | Later, ...] = (), faults: tuple[str, ...] = ()) -> None:
        self.kinds: dict[str, Kind | Later] = {k.name: k for k in kinds}
        self.faults = faults  # why kinds are not here that were to be, in words

    def __getitem__(self, name: str) -> Kind:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str) -> Kind | None:
        found = self.kinds.get(name)
        return self._brought(found) if isinstance(found, Later) else found

    def _brought(self, later: Later) -> Kind | None:
        """Imports a kind in place of its placeholder; a failure removes it and becomes a fault."""
        try:
            kind = self.kinds[later.name] = later.bring()
        except BtError as error:
            del self.kinds[later.name]
            self.faults = (*self.faults, error.message)
            return None
        return kind

    def __contains__(self, name: object) -> bool:
        return name in self.kinds

    def __iter__(self) -> Iterator[Kind]:
        for later in [kind for kind in self.kinds.values() if isinstance(kind, Later)]:
            self._brought(later)
        return iter([kind for kind in self.kinds.values() if not isinstance(kind, Later)])

    def skills(self) -> list[Kind]:
        """Returns the skills. Skills never come from a plugin's entry point, so this imports nothing."""
        return [kind for kind in self.kinds.values() if not isinstance(kind, Later) and kind.family == "skill"]

    def with_kinds(self, kinds: tuple[Kind, ...]) -> Registry:
        """Returns a registry with more kinds. A name in use keeps its first meaning; the loader reports the clash."""
        if not kinds:
            return self
        larger = Registry(faults=self.faults)
        larger.kinds = {**{k.name: k for k in kinds}, **self.kinds}
        return larger

    def and_those(self, kinds: tuple[Kind | Later, ...], said: str) -> Registry:
        """Returns a registry with more kinds, which are searched after the present ones. Clashing names are left out
        and reported."""
        known = self.kinds
        larger = Registry((*known.values(), *(k for k in kinds if k.name not in known)), self.faults)
        taken = [k.name for k in kinds if k.name in known]
        return larger.without(f"{said}: another kind is called `{'`, `'.join(taken)}`") if taken else larger

    def without(self, fault: str) -> Registry:
        """Returns the registry with one more fault."""
        return Registry(tuple(self.kinds.values()), (*self.faults, fault))
