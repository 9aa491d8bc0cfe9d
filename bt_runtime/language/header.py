"""What stands above a tree's root: its version, name and typed ports."""

from __future__ import annotations

from typing import cast

from bt_runtime.language.findings import Findings, did_you_mean
from bt_runtime.language.kinds.kind import FieldType
from bt_runtime.language.ports import PORT_TYPES, an, fits, type_name
from bt_runtime.language.source import Listing, Mapping, Node, Scalar
from bt_runtime.language.spec import ABSENT, Port
from bt_runtime.language.values import NAME
from bt_runtime.types import Json

HEADER = ("version", "tree", "about", "skills", "inputs", "outputs", "blackboard", "root")
PORT_FIELDS = ("type", "default", "about", "choices")
VERSION = 1


def empty(node: Node) -> bool:
    """`inputs:` and nothing after it."""
    return isinstance(node, Scalar) and node.value is None


class Header:
    """What stands above `root`."""

    def __init__(self, top: Mapping, file: str, findings: Findings) -> None:
        self.top = top
        self.file = file
        self.findings = findings
        for key, _ in top:
            if key.text not in HEADER:
                findings.error(
                    "BT018",
                    f"a tree file has no `{key.text}`",
                    file,
                    key.span,
                    did_you_mean(key.text, HEADER),
                    f"it has: {', '.join(HEADER)}",
                )
        self.version()
        if top.get("root") is None:
            findings.error("BT018", "the tree has no `root`", file, top.span, help="add `root:` and one node below it")

    def version(self) -> None:
        node = self.top.get("version")
        if node is None:
            self.findings.error(
                "BT018",
                "the file does not say its language version",
                self.file,
                self.top.span,
                help=f"begin it with `version: {VERSION}`",
            )
        elif not isinstance(node, Scalar) or node.value != VERSION or isinstance(node.value, bool):
            self.findings.error(
                "BT018",
                f"this runtime reads version {VERSION} of the language, and no other",
                self.file,
                node.span,
                help=f"write `version: {VERSION}`, or see whether there is a newer bt_runtime",
            )

    def name(self) -> str:
        node = self.top.get("tree")
        if isinstance(node, Scalar) and isinstance(node.value, str) and NAME.fullmatch(node.text):
            return node.text
        if isinstance(node, Scalar) and node.value is not None:
            message = f"`{node.text:.40}` cannot be the name of a tree: letters, digits and _"
        else:
            message = "the file does not give its tree a name"
        span = node.span if node is not None else self.top.span
        self.findings.error("BT018", message, self.file, span, help="for instance `tree: tidy_up`")
        return "tree"

    def text(self, key: str) -> str:
        node = self.top.get(key)
        if node is None or isinstance(node, Scalar):
            return node.text if node is not None else ""
        self.findings.error("BT018", f"`{key}` takes text", self.file, node.span)
        return ""

    def ports(self, key: str) -> dict[str, Port]:
        return read_ports(self.top.get(key), key, self.file, self.findings)


def read_ports(node: Node | None, section: str, file: str, findings: Findings) -> dict[str, Port]:
    """Typed ports: `room: {type: string, default: kitchen}`, or in short `room: string`."""
    if node is None or empty(node):
        return {}
    if not isinstance(node, Mapping):
        message, help = f"`{section}` takes a mapping of names to ports", "for instance `room: {type: string}`"
        findings.error("BT048", message, file, node.span, help=help)
        return {}
    found: dict[str, Port] = {}
    for key, value in node:
        if NAME.fullmatch(key.text):
            found[key.text] = _PortReader(key, file, findings).read(value)
        else:
            findings.error("BT048", f"`{key.text}` cannot be the name of a port: letters, digits and _", file, key.span)
    return found


class _PortReader:
    """Reads one port. One that is at fault is known all the same, so that its uses are not faults too."""

    def __init__(self, key: Scalar, file: str, findings: Findings) -> None:
        self.key = key
        self.file = file
        self.findings = findings

    def read(self, value: Node) -> Port:
        if isinstance(value, Mapping):
            for name, _ in value:
                if name.text not in PORT_FIELDS:
                    self.unknown(name)
            return self.port({name.text: inside for name, inside in value})
        if isinstance(value, Scalar) and not empty(value):
            return self.port({"type": value})
        self.fault(f"port `{self.key.text}` takes its type, or a mapping", value)
        return Port(self.key.text, "any", span=self.key.span)

    def port(self, given: dict[str, Node]) -> Port:
        type = self.type(given.get("type"))
        choices = self.choices(given.get("choices"), type)
        default = self.default(given.get("default"), type, choices)
        about = given.get("about")
        if about is not None and not isinstance(about, Scalar):
            self.fault("`about` takes text", about)
        text = about.text if isinstance(about, Scalar) else ""
        return Port(self.key.text, type, default, text, choices, self.key.span)

    def type(self, node: Node | None) -> FieldType:
        if node is None:
            return "any"
        name = node.text if isinstance(node, Scalar) else ""
        if name in PORT_TYPES:
            return cast(FieldType, name)
        message = f"unknown type `{name}`" if name else "`type` takes the name of a type"
        self.fault(message, node, did_you_mean(name, PORT_TYPES), f"types: {', '.join(PORT_TYPES)}")
        return "any"

    def choices(self, node: Node | None, type: FieldType) -> tuple[Json, ...]:
        if node is None:
            return ()
        if not isinstance(node, Listing):
            self.fault("`choices` takes a list", node)
            return ()
        for item in node:
            if not fits(item.data(), type):
                self.fault(f"this choice is {an(type_name(item.data()))}, not {an(type)}", item)
        return tuple(node.data())

    def default(self, node: Node | None, type: FieldType, choices: tuple[Json, ...]) -> Json:
        if node is None:
            return ABSENT
        value = node.data()
        if not fits(value, type):
            problem = f"{an(type_name(value))}, not {an(type)}"
        elif choices and value not in choices:
            problem = f"`{value}`, none of its choices: {', '.join(f'`{c}`' for c in choices)}"
        else:
            return value
        message = f"the default of `{self.key.text}` is {problem}"
        self.findings.error("BT016", message, self.file, node.span)
        return value

    def unknown(self, name: Scalar) -> None:
        message, label = f"a port has no `{name.text}`", did_you_mean(name.text, PORT_FIELDS)
        self.findings.error("BT048", message, self.file, name.span, label, f"it has: {', '.join(PORT_FIELDS)}")

    def fault(self, message: str, node: Node, label: str = "", help: str = "") -> None:
        self.findings.error("BT048", message, self.file, node.span, label, help)
