"""Skill manifests: YAML that says which sentences there are, with which parameters, and what each needs and brings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, cast

from bt_runtime.faults.diagnostic import Diagnostic, nearest
from bt_runtime.language import source
from bt_runtime.language.kinds.data import an, fits, type_name
from bt_runtime.language.kinds.kind import COMMON_NAMES, DATA_TYPES, Field, FieldType, Kind
from bt_runtime.language.reach import CODE, Reach
from bt_runtime.language.source import Listing, Mapping, Node, Scalar
from bt_runtime.types import Json, Span

TOP = ("version", "skills", "about", "impl", "kinds")
ENTRY = (
    "sentence",
    "about",
    "params",
    "outputs",
    "needs",
    "brings",
    "takes",
    "on_resume",
    "durable",
    "uses",
    "follow",
    "instant",
    "impl",
)
PARAM = ("type", "about", "default", "choices", "minimum", "maximum")
ON_RESUME = ("repeat", "verify", "fail")
REPEAT, VERIFY, FAIL = ON_RESUME
NODE = "bt_runtime.tree.nodes.skill:SkillNode"
INSTANT = "bt_runtime.tree.nodes.instant:InstantNode"


class Manifest(NamedTuple):
    name: str
    kinds: list[Kind]
    diagnostics: list[Diagnostic]
    text: str


class Entry(NamedTuple):
    """What a skill's node needs to know besides its fields; kept in the kind's `data`."""

    sentence: str
    impl: str  # `world`, `memory`, module:Name or path.py:Name
    folder: str  # where a path.py starts
    types: dict[str, str]
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    takes: float | None = None
    on_resume: str = "fail"
    durable: bool = True  # is its end on the disk before anybody is told
    said: bool = False  # did somebody write `on_resume`, or is it what holds without
    uses: tuple[str, ...] = ()  # what only one at a time may have
    follow: tuple[str, ...] = ()  # inputs that it is told anew while it runs
    instant: bool = False  # answers within the tick
    test: bool = False  # … true or false


def read(path: Path, shown: str = "", reach: Reach | None = None) -> Manifest:
    """Reads and checks a manifest; whatever is wrong is in its diagnostics. `reach`: where its Python may come from."""
    document = source.read(path, shown or str(path))
    return _Reader(document, path.parent, reach).manifest()


def parse(text: str, name: str = "manifest", folder: Path | None = None) -> Manifest:
    return _Reader(source.parse(text, name), folder or Path.cwd()).manifest()


class _Reader:
    def __init__(self, document: source.Document, folder: Path, reach: Reach | None = None) -> None:
        self.document = document
        self.folder = folder
        self.reach = reach
        self.found: list[Diagnostic] = list(document.diagnostics)

    def manifest(self) -> Manifest:
        top, kinds, name = self.document.root, [], ""
        if isinstance(top, Mapping):
            self.known(top, TOP, "a manifest")
            name = self.text(top, "skills")
            if not name:
                self.fault("a manifest has a name", (top.get("skills") or top).span, "for instance `skills: house`")
            version = top.get("version")
            if not isinstance(version, Scalar) or version.value != 1:
                self.fault("a manifest begins with `version: 1`", (version or top).span)
            impl = self.text(top, "impl") or "world"
            self.reached(top.get("impl"))
            listed = top.get("kinds")
            if isinstance(listed, Mapping):
                kinds = [k for key, node in listed if (k := self.kind(key, node, impl)) is not None]
            else:
                self.fault("`kinds` takes a mapping of skills", (listed or top).span)
        elif top is not None:
            self.fault("a manifest is a mapping with `version`, `skills` and `kinds`", top.span)
        return Manifest(name, kinds, self.found, self.document.text)

    def kind(self, key: Scalar, node: Node, impl: str) -> Kind | None:
        if not isinstance(node, Mapping):
            self.fault(f"skill `{key.text}` takes a mapping", node.span)
            return None
        self.known(node, ENTRY, "a skill")
        self.reached(node.get("impl"))
        if not key.text.isidentifier():
            self.fault(f"`{key.text}` cannot be the name of a skill: letters, digits and _", key.span)
        inputs = self.params(node.get("params"), writes=False)
        outputs = self.params(node.get("outputs"), writes=True)
        for twice in {f.name for f in inputs} & {f.name for f in outputs}:
            self.fault(f"`{twice}` is both a parameter and an output", key.span)
        fields = (*inputs, *outputs)
        sentence = self.text(node, "sentence") or " ".join(
            [key.text.replace("_", " "), *(f"{{{f.name}}}" for f in inputs)]
        )
        self.slots(sentence, {f.name for f in inputs}, node.get("sentence") or key)
        takes, brings = node.get("takes"), self.sentences(node, "brings")
        said = self.text(node, "on_resume")
        if said and said not in ON_RESUME:
            self.fault(
                f"`on_resume` is one of {', '.join(ON_RESUME)}, not `{said}`", (node.get("on_resume") or node).span
            )
        on_resume = said or careful(bool(brings))
        seconds = takes.value if isinstance(takes, Scalar) else None
        if takes is not None and (not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds <= 0):
            self.fault("`takes` is a number of seconds", takes.span)
            seconds = None
        follow = self.sentences(node, "follow")
        for name in follow:
            if name not in {f.name for f in inputs}:
                close = nearest(name, [f.name for f in inputs])
                self.fault(
                    f"`follow` names `{name}`, which is no parameter", (node.get("follow") or node).span,
                    label=f"did you mean `{close}`?" if close else "",
                )  # fmt: skip
        impl = self.text(node, "impl") or impl
        instant = self.flag(node, "instant")
        if instant and impl == "world":
            self.fault(
                "`instant` is for Python: a world says itself whether it is", (node.get("instant") or node).span,
                "give the skill an `impl`, as `module:function`",
            )  # fmt: skip
        entry = Entry(
            sentence,
            impl,
            str(self.folder),
            {f.name: f.type for f in fields},
            self.sentences(node, "needs"),
            brings,
            seconds,
            on_resume,
            self.durable(node, on_resume),
            bool(said),
            self.sentences(node, "uses"),
            follow,
            instant,
        )
        return skill_kind(key.text, self.text(node, "about") or sentence, fields, entry)

    def params(self, node: Node | None, writes: bool) -> tuple[Field, ...]:
        if node is None:
            return ()
        if not isinstance(node, Mapping):
            self.fault("parameters are a mapping of names to types", node.span)
            return ()
        return tuple(f for key, value in node if (f := self.param(key, value, writes)) is not None)

    def param(self, key: Scalar, node: Node, writes: bool) -> Field | None:
        if key.text in COMMON_NAMES or not key.text.isidentifier():
            why = "is reserved: any node may carry it" if key.text in COMMON_NAMES else "is no name"
            self.fault(f"a parameter cannot be called `{key.text}`: it {why}", key.span)
            return None
        if not isinstance(node, Mapping):
            if not isinstance(node, Scalar) or node.value is None:
                self.fault(f"parameter `{key.text}` takes its type, or a mapping", node.span)
                return self.field(key, None, {}, writes)
            return self.field(key, node, {}, writes)
        self.known(node, PARAM, "a parameter")
        return self.field(key, node.get("type"), {name.text: value for name, value in node}, writes)

    def field(self, key: Scalar, type: Node | None, given: dict[str, Node], writes: bool) -> Field:
        """One that is at fault is known all the same, so that the trees that use it are not faults too."""
        type_ = self.type(type)
        about = given.get("about")
        return Field(
            key.text,
            type_,
            about.text if isinstance(about, Scalar) else "",
            required="default" not in given and not writes,
            default=self.default(given.get("default"), type_),
            choices=self.choices(given.get("choices"), type_),
            minimum=self.bound(given, "minimum"),
            maximum=self.bound(given, "maximum"),
            writes=writes,
        )

    def type(self, node: Node | None) -> FieldType:
        name = node.text if isinstance(node, Scalar) else "any" if node is None else ""
        if name in DATA_TYPES:
            return cast(FieldType, name)
        if node is not None:
            label = f"did you mean `{close}`?" if (close := nearest(name, DATA_TYPES)) else ""
            message = f"unknown type `{name}`" if name else "`type` takes the name of a type"
            self.fault(message, node.span, f"types: {', '.join(sorted(DATA_TYPES))}", label)
        return "any"

    def default(self, node: Node | None, type: FieldType) -> Json:
        if node is not None and not fits(node.data(), type):
            self.fault(f"this default is {an(type_name(node.data()))}, not {an(type)}", node.span)
        return node.data() if node is not None else None

    def choices(self, node: Node | None, type: FieldType) -> tuple[Json, ...]:
        if node is not None and not isinstance(node, Listing):
            self.fault("`choices` takes a list", node.span)
        found = tuple(node) if isinstance(node, Listing) else ()
        for item in found:
            if not fits(item.data(), type):
                self.fault(f"this choice is {an(type_name(item.data()))}, not {an(type)}", item.span)
        return tuple(item.data() for item in found)

    def bound(self, given: dict[str, Node], name: str) -> float | None:
        node = given.get(name)
        value = node.value if isinstance(node, Scalar) else None
        if node is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        self.fault(f"`{name}` takes a number", node.span)
        return None

    def reached(self, node: Node | None) -> None:
        """May the Python that is named be imported?"""
        refusal = self.reach.refusal(node.text, self.folder) if self.reach and isinstance(node, Scalar) else None
        if node is not None and refusal is not None:
            self.found.append(Diagnostic(CODE, refusal.message, self.document.name, node.span, help=refusal.hint))

    def slots(self, sentence: str, params: set[str], node: Node) -> None:
        from bt_runtime.language.sentence import Sentence

        used = set(Sentence(sentence).slots)
        for name in sorted(used - params):
            self.fault(
                f"the sentence has a slot {{{name}}} that is no parameter", node.span, nearest(name, params) or ""
            )

    def durable(self, node: Mapping, on_resume: str) -> bool:
        given = node.get("durable")
        value = given.value if isinstance(given, Scalar) else None
        if given is not None and not isinstance(value, bool):
            self.fault("`durable` is true or false", given.span)
        return value if isinstance(value, bool) else on_resume != REPEAT

    def flag(self, node: Mapping, key: str) -> bool:
        given = node.get(key)
        value = given.value if isinstance(given, Scalar) else None
        if given is not None and not isinstance(value, bool):
            self.fault(f"`{key}` is true or false", given.span)
        return value is True

    def sentences(self, node: Mapping, key: str) -> tuple[str, ...]:
        listed = node.get(key)
        if listed is None:
            return ()
        if not isinstance(listed, Listing) or not all(isinstance(i, Scalar) for i in listed):
            self.fault(f"`{key}` takes a list of {'names' if key in ('uses', 'follow') else 'sentences'}", listed.span)
            return ()
        return tuple(str(i.data()) for i in listed)

    def text(self, node: Mapping, key: str) -> str:
        found = node.get(key)
        if found is None or isinstance(found, Scalar):
            return found.text if found is not None else ""
        self.fault(f"`{key}` takes text", found.span)
        return ""

    def known(self, node: Mapping, names: tuple[str, ...], what: str) -> None:
        for key, _ in node:
            if key.text not in names:
                close = nearest(key.text, names)
                label = f"did you mean `{close}`?" if close else ""
                self.fault(f"{what} has no `{key.text}`", key.span, f"it has: {', '.join(names)}", label)

    def fault(self, message: str, span: Span, help: str = "", label: str = "") -> None:
        self.found.append(Diagnostic("BT042", message, self.document.name, span, label, help))


def careful(can_be_told: bool) -> str:
    """What holds for a skill that does not say what is to be done after an interruption: never twice."""
    return VERIFY if can_be_told else FAIL


def skill_kind(name: str, about: str, fields: tuple[Field, ...], entry: Entry) -> Kind:
    """A skill as a kind of node."""
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
        data={"entry": entry},
    )


def _sample(field: Field) -> str:
    if field.choices:
        return str(field.choices[0])
    return {"integer": "1", "number": "0.5", "boolean": "true", "list": "[]", "object": "{}"}.get(
        field.type, "somewhere"
    )
