"""Skills in Python, for people who embed the runtime: a class, a function, a generator or an async function.

    @skill("go to {place}", on_resume="verify")
    class GoTo(Skill): ...

    @skill
    def beep(times: int = 1) -> bool: ...      # runs in a thread; what it returns becomes the status

Parameters and their types come from the signature.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from bt_runtime.language.agent_options import (
    ENTRIES,
    FORMS,
    AgentOptions,
    apart,
    asked_first,
    condition,
    formless,
    of_docstring,
    unsayable,
)  # fmt: skip
from bt_runtime.language.entry import ON_RESUME, REPEAT, SkillEntry, careful, skill_kind
from bt_runtime.language.expression import Expression, ExpressionError
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import DATA_TYPES, RESERVED, Field, FieldType, Kind
from bt_runtime.language.sentence import Sentence

if TYPE_CHECKING:
    from py_trees.common import Status

T = TypeVar("T")
_TYPES: dict[object, FieldType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "list",
    dict: "object",
}
_MARK = "__bt_skill__"
_ABOUT = frozenset({
    "name", "on_resume", "durable", "takes", "outputs", "uses", "follow", "instant", "condition", "needs", "brings",
    "says", "confirm", "at_most", "sources", "requires",
})  # fmt: skip


class Skill:
    """A skill with state. There is one object a node; `start` is called each time the node starts."""

    feedback = ""  # text that people see while it runs
    result: Any = None  # values for its outputs so far: read after each `poll`

    def start(self, *args: Any, **params: Any) -> None:
        """Starts the skill. Must not wait."""

    def poll(self) -> Status:
        """Returns RUNNING until the skill is done. Must not wait."""
        raise BtError(f"{type(self).__name__} has no `poll`", "a Skill says by poll() how it stands")

    def cancel(self) -> object:
        """Stops the skill. Always called when the tree moves on or halts. `async def cancel` may take time."""

    def stopping(self) -> bool:
        """After `cancel`: True while the skill still moves. The next start, and skills with the same resources,
        wait."""
        return False

    def changed(self, **values: Any) -> None:
        """Called before a `poll` when inputs that the skill follows have changed. They become attributes of these
        names."""
        vars(self).update(values)

    def verify(self, *args: Any, **params: Any) -> bool | Mapping[str, object] | None:
        """Called on resume. True or False: the action was or was not already done. None: unknown. A mapping: it was
        done, and these are its outputs."""
        return None


class SkillError(BtError):
    """Raised for a skill whose declaration is invalid."""


@overload
def skill(
    sentence: str = "",
    *,
    name: str = "",
    on_resume: Literal["repeat", "verify", "fail"] | None = None,
    durable: bool | None = None,
    takes: float | None = None,
    outputs: Mapping[str, object] | None = None,
    uses: Iterable[str] = (),
    follow: Iterable[str] = (),
    instant: bool = False,
    condition: bool = False,
    needs: Sequence[str] = (),
    brings: Sequence[str] = (),
    says: str = "",
    confirm: bool | float = False,
    at_most: int | None = None,
    sources: Mapping[str, str] | None = None,
    requires: str = "",
) -> Callable[[T], T]: ...
@overload
def skill(sentence: T) -> T: ...
def skill(sentence: Any = "", **about: Any) -> Any:
    """Marks a class or function as a skill; usable with and without arguments.

    `outputs` are named with their types. What it `uses` it has for itself; what it is to `follow` are parameters that
    it is told anew while it runs; `instant` says that it answers within the tick. A `condition` is instant, and only
    looks: its answer is true or false, and it may be asked again at any time. `sources`: where the values of a
    parameter come from that an agent may choose among, as `from` in a manifest. What it `requires`, an expression over
    the outermost tree's entries, holds at each start and while the skill runs.
    Without `on_resume` it is `verify` for a class that has its own, else `fail`.
    """
    if callable(sentence):
        return skill()(sentence)
    unknown = about.keys() - _ABOUT
    if unknown:
        raise TypeError(f"skill() takes no `{min(unknown)}`: it takes {', '.join(sorted(_ABOUT))}")
    if about.get("condition"):
        about = {"on_resume": "repeat", "durable": False, **about, "instant": True}
    for key, value in {"sentence": sentence, "name": about.get("name"), "says": about.get("says")}.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"the `{key}` of a skill is a text, not {type(value).__name__}")

    def mark(target: T) -> T:
        setattr(target, _MARK, {**about, "sentence": sentence})
        return target

    return mark


def kind_of(target: object) -> Kind:
    """The node kind of a Python skill."""
    marked = getattr(target, _MARK, {})
    plain = getattr(target, "__name__", type(target).__name__)
    name = marked.get("name") or _snake(plain)
    if not name.isidentifier():
        raise SkillError(f"`{name}` cannot be the name of a skill", "give it one: @skill(name='…')")
    fields = fields_of(target, name)
    sentence = marked.get("sentence") or " ".join([name.replace("_", " "), *(f"{{{f.name}}}" for f in fields)])
    for slot in sorted({*Sentence(sentence).slots} - {f.name for f in fields}):
        raise SkillError(
            f"the sentence of `{name}` has a slot {{{slot}}} that is not a parameter", "rename one of them"
        )
    own_text = inspect.cleandoc(target.__doc__ or "")  # never that of a class above it
    about = (own_text or sentence).partition("\n")[0]
    said = marked.get("on_resume")
    if said not in (None, *ON_RESUME):
        raise SkillError(f"`on_resume` of `{name}` is {said!r:.60}", f"one of {', '.join(ON_RESUME)}")
    own = getattr(target, "verify", None)
    asked = said or careful(own is not None and own is not getattr(Skill, "verify", None))
    durable = marked.get("durable")
    outputs = _outputs(marked.get("outputs") or {}, name, {f.name for f in fields})
    follow = _texts(marked, "follow", name)
    for unknown in [each for each in follow if each not in {f.name for f in fields}]:
        raise SkillError(f"`{name}` is to follow `{unknown}`, which is none of its parameters")
    if marked.get("instant"):
        refuse_slow(target, name)
    entry = SkillEntry(
        sentence,
        "python",
        "",
        {f.name: f.type for f in fields},
        _texts(marked, "needs", name),
        _texts(marked, "brings", name),
        takes=marked.get("takes"),
        uses=_texts(marked, "uses", name),
        follow=follow,
        instant=bool(marked.get("instant")),
        test=bool(marked.get("condition")),
        on_resume=asked,
        durable=asked != REPEAT if durable is None else durable,
        said=said is not None,
        agent_options=_agent_options(marked, target, (*fields, *outputs), name),
        requires=_required(marked.get("requires"), name),
    )
    kind = skill_kind(name, about, (*fields, *outputs), entry)
    return kind._replace(data={**kind.data, "python": target})


def _texts(marked: Mapping[str, Any], key: str, name: str) -> tuple[str, ...]:
    given = marked.get(key) or ()
    texts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | Mapping) else (None,)
    if not all(isinstance(each, str) for each in texts):
        raise SkillError(f"`{key}` of `{name}` is {given!r:.60}", f'a list of texts: `{key}=["…"]`')
    return texts


def _agent_options(marked: Mapping[str, Any], target: object, fields: tuple[Field, ...], name: str) -> AgentOptions:
    says = marked.get("says") or of_docstring(inspect.cleandoc(target.__doc__ or ""))
    known = {f.name for f in fields}
    why = unsayable(says, known)
    if why:
        raise SkillError(f"what `{name}` says: {why}", f"its holes: {', '.join(sorted(known)) or 'none'}")
    most, sources = marked.get("at_most"), dict(marked.get("sources") or {})
    confirm = marked.get("confirm", False)
    if not isinstance(confirm, bool) and not (isinstance(confirm, int | float) and 0 < confirm < math.inf):
        raise SkillError(
            f"`confirm` of `{name}` is {confirm!r:.60}", "True, or the seconds that a person has to answer"
        )
    if most is not None and (type(most) is not int or most < 1):
        raise SkillError(f"`at_most` of `{name}` is {most!r}", "a whole number, 1 or more")
    for wrong in sources.keys() - known:
        raise SkillError(f"`sources` of `{name}` names `{wrong}`, which is no parameter", f"it has: {', '.join(known)}")
    for wrong, why in ((text, why) for text in sources.values() if (why := formless(text))):
        raise SkillError(f"`{wrong:.60}` in `sources` of `{name}` is no form of a text: {why}", FORMS)
    return AgentOptions(says, *asked_first(confirm), most, *apart(sources))


def _required(text: object, name: str) -> Expression | None:
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise SkillError(f"`requires` of `{name}` is {text!r:.60}", "an expression over entries: `guard_closed`")
    try:
        return condition(text)
    except ExpressionError as error:
        raise SkillError(f"`requires` of `{name}`: {error.message}", ENTRIES) from error


def fields_of(target: object, name: str) -> tuple[Field, ...]:
    function: Any = getattr(target, "start", target) if isinstance(target, type) else target
    hints = typing.get_type_hints(function if not callable(target) or inspect.isroutine(function) else target)
    found: list[Field] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise SkillError(f"`{name}` takes `{parameter.name}` by its place alone", "leave out the `/`: it is named")
        if parameter.name in RESERVED:
            raise SkillError(
                f"a parameter of `{name}` is called `{parameter.name}`", "any node may carry that: rename it"
            )
        hint = hints.get(parameter.name, Any)
        choices = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
        type_ = _TYPES.get(type(choices[0]) if choices else typing.get_origin(hint) or hint, "any")
        default = None if parameter.default is parameter.empty else parameter.default
        found.append(Field(parameter.name, type_, "", parameter.default is parameter.empty, default, tuple(choices)))
    return tuple(found)


def _outputs(given: Mapping[str, Any], name: str, taken: set[str]) -> tuple[Field, ...]:
    found = []
    for output, type_ in given.items():
        if output in RESERVED or output in taken or not output.isidentifier():
            why = "is one of its parameters" if output in taken else "cannot be the name of one"
            raise SkillError(f"an output of `{name}` is called `{output}`, which {why}", "rename it")
        plain = typing.get_origin(type_) or type_
        known = _TYPES.get(plain) if isinstance(plain, type) else type_ if type_ in [*DATA_TYPES] else None
        if known is None and type_ is not Any:
            raise SkillError(
                f"the output `{output}` of `{name}` has no type of a tree: {type_!r:.80}",
                f'write `{{{output!r}: int}}`: str, int, float, bool, list, dict, or a name as "integer"',
            )
        found.append(Field(output, known or "any", writes=True, about=""))
    return tuple(found)


def refuse_slow(target: object, name: str) -> None:
    """Raises unless an instant skill is a plain function, which answers when it returns."""
    waits = inspect.iscoroutinefunction(target) or inspect.isgeneratorfunction(target) or hasattr(target, "poll")
    if waits or not callable(target) or isinstance(target, type):
        raise SkillError(f"`{name}` cannot be instant", "that is a plain function, which answers when it returns")


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))
