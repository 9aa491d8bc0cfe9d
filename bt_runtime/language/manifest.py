"""Skill manifests: YAML files that define skills, each with a sentence, parameters, preconditions and effects."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, cast

from bt_runtime.language import agent_options, impls, project, source
from bt_runtime.language.emit.manifests import manifest_schema
from bt_runtime.language.entry import ELSEWHERE, FLEET, ON_RESUME, REPEAT, SkillEntry, careful, skill_kind
from bt_runtime.language.expression import Expression, ExpressionError
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, nearest
from bt_runtime.language.implementations import CheckedFiles, Spots, faults_of
from bt_runtime.language.impls import Implementation
from bt_runtime.language.import_policy import CODE, ImportPolicy
from bt_runtime.language.kinds.kind import DATA_TYPES, RESERVED, Field, FieldType, Kind
from bt_runtime.language.policies.policy import Policy
from bt_runtime.language.policies.reader import PolicyReader
from bt_runtime.language.project import disk
from bt_runtime.language.properties.property import Property
from bt_runtime.language.properties.reader import Properties
from bt_runtime.language.schema_quick import number
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.types import Json, Span

# Faults of unknown keys in a manifest: a skill is offered the keys of its own implementation alone.

OFFER = "it has: "


def offered(path: tuple[str | int, ...], fault: Diagnostic, data: Json, more: Mapping[str, object]) -> Diagnostic:
    """Returns the fault without the keys in `more`, those of all implementations, that this skill cannot have."""
    if len(path) != 2 or path[0] != "kinds" or not fault.help.startswith(OFFER) or not isinstance(data, dict):
        return fault
    impl = data["kinds"][path[1]].get("impl") or data.get("impl") or ""
    foreign = more.keys() - impls.keys_of(filter(impls.named_so, (str(impl),)))
    known = [name for name in fault.help.removeprefix(OFFER).split(", ") if name not in foreign]
    label = "" if any(fault.label == f"did you mean `{name}`?" for name in foreign) else fault.label
    return fault._replace(help=OFFER + ", ".join(known), label=label)


FAULT = "BT042"
CHECK = DocumentCheck(manifest_schema(), FAULT, "a manifest")  # of skills that nothing installed does


@lru_cache(maxsize=16)
def _check(named: frozenset[str]) -> DocumentCheck:
    return DocumentCheck(manifest_schema(impls.keys_of(named)), FAULT, "a manifest")


class Manifest(NamedTuple):
    name: str
    kinds: list[Kind]
    diagnostics: list[Diagnostic]
    text: str
    spots: Mapping[str, Spots] = MappingProxyType({})  # places of skills whose Python may be read
    properties: tuple[Property, ...] = ()
    policies: tuple[Policy, ...] = ()


def read(path: Path, shown: str = "", import_policy: ImportPolicy | None = None) -> Manifest:
    """Reads and checks a manifest; its diagnostics hold every fault."""
    document = source.read(path, shown or str(path))
    return _Reader(document, path.parent, import_policy).manifest()


def python_of(read: Manifest, file: str, skills: Set[str] | None = None) -> CheckedFiles:
    """Checks the Python of the manifest's skills, or of `skills` alone, without running it."""
    kinds = [kind for kind in read.kinds if skills is None or kind.name in skills]
    return faults_of(kinds, read.spots, file)


def parse(
    text: str | bytes, name: str = "manifest", folder: Path | None = None, import_policy: ImportPolicy | None = None
) -> Manifest:
    return _Reader(source.parse(text, name), folder or Path.cwd(), import_policy).manifest()


def offering(kind: str, root: Path | None) -> str:
    """Returns a hint for an unknown kind that is a skill of one of the project's manifests."""
    for name in project.names("skills", root=root):
        path = project.find("skills", name, root=root)
        if path is None or kind.encode() not in disk.read_or_nothing(path):
            continue  # spares reading most of them
        if any(k.name == kind for k in read(path).kinds):
            return f"a skill of `{name}`: add `skills: [{name}]`"
    return ""


def of_world(root: Path | None) -> list[Kind]:
    """Returns the project's manifest skills that its world carries out. Their locks hold for every agent, even if no
    tree lists the manifest."""
    places = sorted((root / "skills").rglob("*.yaml")) if root is not None else []
    return [kind for path in places for kind in read(path).kinds if kind.data["entry"].impl == "world"]


class _Reader:
    """Reads a manifest. Faulty parts are reported and skipped, so that trees using it are not reported too."""

    def __init__(self, document: source.Document, folder: Path, import_policy: ImportPolicy | None = None) -> None:
        self.document = document
        self.folder = folder
        self.import_policy = import_policy
        self.found: list[Diagnostic] = list(document.diagnostics)
        self.spots: dict[str, Spots] = {}

    def manifest(self) -> Manifest:
        top = self.document.root
        if top is None:
            return Manifest("", [], self.found, self.document.text)
        named = top if isinstance(top, YamlMap) else None
        impl = _text(named, "impl") or "world"
        own = [_text(node, "impl") for _, node in _pairs(named, "kinds") if isinstance(node, YamlMap)]
        self.more = impls.keys_of(filter(impls.named_so, (impl, *own)))
        check = _check(frozenset(filter(impls.named_so, (impl, *own)))) if self.more else CHECK
        for path, fault in check.faults(top, self.document.name):
            self.found.append(offered(path, fault, top.data(), self.more) if self.more else fault)
        self.above = self.reached(named)
        kinds = [self.kind(key, node, impl) for key, node in _pairs(named, "kinds") if isinstance(node, YamlMap)]
        properties = Properties(named.get("properties") if named is not None else None, self.document.name, "manifest")
        policies = PolicyReader(named.get("policies") if named is not None else None, self.document.name, "manifest")
        policies.known(kinds)
        self.found += [*properties.faults, *policies.faults]
        return Manifest(
            _text(named, "skills"), kinds, self.found, self.document.text, self.spots, properties.all, policies.all
        )  # fmt: skip

    def kind(self, key: Scalar, node: YamlMap, impl: str) -> Kind:
        own = self.reached(node)
        inputs = self.params(node, "params", writes=False)
        outputs = self.params(node, "outputs", writes=True)
        for twice in {f.name for f in inputs} & {f.name for f in outputs}:
            self.fault(f"`{twice}` is both a parameter and an output", key.span, "give one of them another name")
        fields = (*inputs, *outputs)
        sentence = _text(node, "sentence") or " ".join([key.text.replace("_", " "), *(f"{{{f.name}}}" for f in inputs)])
        self.slots(sentence, {f.name for f in inputs}, node.get("sentence") or key)
        brings, said = _sentences(node, "brings"), _text(node, "on_resume")
        on_resume = said if said in ON_RESUME else careful(bool(brings))
        takes, durable = _value(node, "takes"), _value(node, "durable")
        follow = self.followed(node, [f.name for f in inputs])
        impl = _text(node, "impl") or impl
        way = self.way(impl, node)
        options = self.options(impl, way, node, key)
        spot = self.above if own is None else own
        if spot and impl not in ELSEWHERE and not impls.named_so(impl):
            self.spots[key.text] = Spots(spot, {name.text: name.span for name, _ in _pairs(node, "params")})
        instant = _value(node, "instant") is True or (way is not None and way.instant)
        if instant and impl == "world":
            self.fault(
                "`instant` is for Python: a world says itself whether it is", (node.get("instant") or node).span,
                "give the skill an `impl`, as `module:function`",
            )  # fmt: skip
        entry = SkillEntry(
            sentence,
            impl,
            str(self.folder),
            {f.name: f.type for f in fields},
            _sentences(node, "needs"),
            brings,
            takes if number(takes) and takes > 0 else None,
            on_resume,
            durable if isinstance(durable, bool) else on_resume != REPEAT,
            bool(said),
            agent_options.read(node, node.get("params"), {f.name for f in fields}, self.fault),
            self.used(node.get("uses"), [f.name for f in inputs]),
            follow,
            instant,
            options=options,
            requires=self.required(node.get("requires")),
        )
        kind = skill_kind(key.text, _text(node, "about") or sentence, fields, entry)
        if way is not None and way.check:
            self.look(way, kind, node, key)
        return kind

    def way(self, impl: str, node: YamlMap) -> Implementation | None:
        """Returns the installed implementation, if the skill names one."""
        if not impls.named_so(impl):
            return None
        try:
            return impls.find(impl)
        except BtError as error:
            self.fault(error.message, (node.get("impl") or self.document.root or node).span, error.hint)
            return None

    def options(self, impl: str, way: Implementation | None, node: YamlMap, key: Scalar) -> Mapping[str, Json]:
        """Reads the keys of a skill's implementation: all required ones, and none of another implementation."""
        given = {name.text: value.data() for name, value in node if name.text in self.more}
        known: Mapping[str, object] = way.keys if way is not None else {}
        for name, _ in node:
            if name.text in given and name.text not in known and (way is not None or not impls.named_so(impl)):
                help = f"it has: {', '.join(known)}" if known else "that is for what is installed, as `ros/action`"
                self.fault(f"a skill of `{impl}` has no `{name.text}`", name.span, help)
        for lacking in [name for name in (way.required if way is not None else ()) if name not in given]:
            self.fault(f"`{key.text}` lacks `{lacking}`, which `{impl}` needs", key.span, f"write `{lacking}: …`")
        return MappingProxyType(given)

    def look(self, way: Implementation, kind: Kind, node: YamlMap, key: Scalar) -> None:
        module, _, name = way.check.partition(":")
        for option, message, help in getattr(import_module(module), name)(kind):
            self.fault(message, (node.get(option) or key).span, help)

    def params(self, node: YamlMap, section: str, writes: bool) -> tuple[Field, ...]:
        listed = [(key, value) for key, value in _pairs(node, section) if key.text.isidentifier()]
        return tuple(self.field(key, value, writes) for key, value in listed if key.text not in RESERVED)

    def field(self, key: Scalar, node: Node, writes: bool) -> Field:
        given = node if isinstance(node, YamlMap) else None
        said = _value(given, "type", "any") if given is not None else node.data()
        least, most = _value(given, "minimum"), _value(given, "maximum")
        return Field(
            key.text,
            cast(FieldType, said) if isinstance(said, str) and said in DATA_TYPES else "any",
            _text(given, "about"),
            required=not writes and (given is None or given.get("default") is None),
            default=_value(given, "default"),
            choices=tuple(item.data() for item in _items(given, "choices")),
            minimum=least if number(least) else None,
            maximum=most if number(most) else None,
            writes=writes,
        )

    def reached(self, node: YamlMap | None) -> Span | Literal[False] | None:
        """Returns the place of the skill's `impl`; None without one, False when it is refused or no policy is set."""
        impl = node.get("impl") if node is not None else None
        refusal = (
            self.import_policy.refusal(impl.text, self.folder)
            if self.import_policy and isinstance(impl, Scalar)
            else None
        )
        if impl is not None and refusal is not None:
            self.found.append(Diagnostic(CODE, refusal.message, self.document.name, impl.span, help=refusal.hint))
            return False
        return (impl.span if self.import_policy else False) if impl is not None else None

    def slots(self, sentence: str, params: set[str], node: Node) -> None:
        used = set(Sentence(sentence).slots)
        for name in sorted(used - params):
            close = nearest(name, params)
            message = f"the sentence has a slot {{{name}}} that is not a parameter"
            help = "name it under `params`, or leave it out of the sentence"
            self.fault(message, node.span, help, f"did you mean `{close}`?" if close else "")

    def followed(self, node: YamlMap, params: list[str]) -> tuple[str, ...]:
        """Returns the parameters whose changes reach the running skill."""
        found = _sentences(node, "follow")
        for name in found:
            if name not in params:
                close = nearest(name, params)
                span = (node.get("follow") or node).span
                help = "`follow` lists names of `params`"
                label = f"did you mean `{close}`?" if close else ""
                self.fault(f"`follow` names `{name}`, which is not a parameter", span, help, label)
        return found

    def used(self, node: Node | None, params: list[str]) -> tuple[str, ...]:
        """Reads `uses: [gripper]`, or `uses: {gripper: robot, lift: fleet}` with one lift for all robots of a fleet.
        `{route}` names the parameter that names places of the fleet's map."""
        if not isinstance(node, YamlMap):
            items = node.items if isinstance(node, YamlList) else ()
            return tuple(str(item.data()) for item in items if isinstance(item, Scalar))
        for name, scope in node:
            if name.text.startswith("{") and (name.text[1:-1] not in params or scope.data() != "fleet"):
                close = nearest(name.text[1:-1], params)
                help = 'name a parameter whose value names places: uses: {"{route}": fleet}'
                label = f"did you mean `{{{close}}}`?" if close and close != name.text[1:-1] else ""
                self.fault(f"`uses` cannot have `{name.text}` here", name.span, help, label)
        return tuple(FLEET * (scope.data() == "fleet") + name.text for name, scope in node)

    def required(self, node: Node | None) -> Expression | None:
        """Reads the condition that holds at each start and while the skill runs. The schema reports a wrong type."""
        if not isinstance(node, Scalar):
            return None
        try:
            return agent_options.condition(node.text)
        except ExpressionError as error:
            self.fault(f"`requires` takes an expression: {error.message}", node.span, agent_options.ENTRIES)
            return None

    def fault(self, message: str, span: Span, help: str = "", label: str = "") -> None:
        self.found.append(Diagnostic(FAULT, message, self.document.name, span, label, help))


def _text(node: YamlMap | None, key: str) -> str:
    found = node.get(key) if node is not None else None
    return found.text if isinstance(found, Scalar) else ""


def _value(node: YamlMap | None, key: str, left_open: Json = None) -> Json:
    found = node.get(key) if node is not None else None
    return left_open if found is None else found.data()


def _pairs(node: YamlMap | None, key: str) -> list[tuple[Scalar, Node]]:
    found = node.get(key) if node is not None else None
    return found.pairs if isinstance(found, YamlMap) else []


def _items(node: YamlMap | None, key: str) -> list[Node]:
    found = node.get(key) if node is not None else None
    return found.items if isinstance(found, YamlList) else []


def _sentences(node: YamlMap, key: str) -> tuple[str, ...]:
    return tuple(str(item.data()) for item in _items(node, key) if isinstance(item, Scalar))
