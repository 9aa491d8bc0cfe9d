"""The part of a skill's description that its node needs, from a manifest or from Python."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.language.agent_options import AgentOptions
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.expression import Expression

FLEET = "fleet:"  # before the name of what a skill `uses`, when only one robot of a fleet at a time may have it
ON_RESUME = ("repeat", "verify", "fail")
REPEAT, VERIFY, FAIL = ON_RESUME
WORLD_SKILL = "world/skill"  # the world's own skill of that name
ELSEWHERE = ("world", WORLD_SKILL, "memory")  # implementations that are no Python
NODE = "bt_runtime.tree.nodes.skill:SkillNode"
INSTANT = "bt_runtime.tree.nodes.instant:InstantNode"


class SkillEntry(NamedTuple):
    """The part of a skill's description besides its fields; stored in the kind's `data`."""

    sentence: str
    impl: str  # `world`, `memory`, module:Name, path.py:Name, or of what is installed: ros/action
    folder: str  # the folder that a `path.py` is relative to
    types: dict[str, str]
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    takes: float | None = None
    on_resume: str = "fail"
    durable: bool = True  # its end is on the disk before the tree hears of it
    said: bool = False  # did somebody write `on_resume`, or is it what holds without
    agent_options: AgentOptions = AgentOptions()
    uses: tuple[str, ...] = ()  # names of locks that it holds while it runs
    follow: tuple[str, ...] = ()  # inputs that it is told anew while it runs
    instant: bool = False  # answers within the tick
    test: bool = False  # … true or false
    options: Mapping[str, Json] = MappingProxyType({})  # fields that only its kind of `impl` reads
    requires: Expression | None = None  # over the whole run's entries: holds at each start and while the skill runs

    @property
    def reads(self) -> tuple[str, ...]:
        """Returns the entries that decide which values fit a slot, and whether the skill may run."""
        condition = self.requires
        asked = (*condition.names, *condition.asked) if condition is not None else ()
        return (*self.agent_options.sources.values(), *asked)


def careful(can_be_told: bool) -> str:
    """Returns the default of `on_resume`, which never repeats an action: verify when possible, otherwise fail."""
    return VERIFY if can_be_told else FAIL


def skill_kind(name: str, about: str, fields: tuple[Field, ...], entry: SkillEntry) -> Kind:
    """Makes a node kind of a skill."""
    given = [f"  {f.name}: {_sample(f)}" for f in fields if f.required]
    example = f"{name}:\n" + "\n".join(given) + "\n" if given else f"{name}: {{}}\n"
    required = [f.name for f in fields if f.required]
    return Kind(
        name,
        "skill",
        about,
        fields,
        (f"It does what the sentence says: {entry.sentence}.",),
        example,
        bare=required[0] if len(required) == 1 else None,
        impl=INSTANT if entry.instant else NODE,
        waits=not entry.instant,
        data={"entry": entry, "locks": {name: None for name in entry.uses if name.startswith(FLEET)}},
    )


def _sample(field: Field) -> str:
    if field.choices:
        return str(field.choices[0])
    return {"integer": "1", "number": "0.5", "boolean": "true", "list": "[]", "object": "{}"}.get(
        field.type, "somewhere"
    )
