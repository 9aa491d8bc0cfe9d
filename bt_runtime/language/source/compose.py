"""Builds nodes from libyaml's events in one pass, without recursion or anything beyond the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, nearest
from bt_runtime.language.source import scalar
from bt_runtime.language.source.limits import Limits
from bt_runtime.language.source.node import Mark, Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Json, Span

YamlEvent: TypeAlias = Any  # an event of libyaml, by whatever class
_MOST_TRIED = 200  # anchors that a misspelt alias is compared with
_MOST_TAG_LINES = 8  # libyaml compares each %TAG line with all before it
_COLLECTION_TAGS = {"tag:yaml.org,2002:map": YamlMap, "tag:yaml.org,2002:seq": YamlList}


def compose(text: str, name: str, limits: Limits) -> tuple[Node | None, list[Diagnostic]]:
    """Composes the one document of a text; None when there is none or it is ambiguous."""
    composer = _Composer(text, name, limits)
    root: Node | None = None
    try:
        root = composer.stream()
    except _Stop:
        pass
    except yaml.YAMLError as error:
        from bt_runtime.language.source.syntax import explain

        composer.faults.append(explain(error, text, name))
    if composer.unlisted:
        last = composer.faults[limits.faults - 1]
        more = f"and {composer.unlisted:,} more faults below; fix these first"
        composer.faults[limits.faults - 1] = last._replace(help=more)
    return root, composer.faults


class _Stop(Exception):
    """Raised to stop reading: the rest is useless after this fault."""


class _Start:
    line = column = index = 0


_UNREAD = Scalar("", "", True, _Start(), _Start())  # stands for a key that is no text; its pair is dropped


class _Composer:
    def __init__(self, text: str, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.faults: list[Diagnostic] = []
        self.unlisted = 0
        self.merges = "<<" in text
        self.anchors: dict[str, Node] = {}
        self.weights: dict[str, int] = {}  # how many nodes an anchor stands for; absent while it is open
        self.aliased = False
        self.damaged: list[YamlMap] = []
        self.text = text
        self.next = _events(text)

    def fault(self, code: str, message: str, span: Span, label: str = "", help: str = "") -> None:
        """Adds a fault; beyond the limit, only counts it."""
        if len(self.faults) < self.limits.faults:
            self.faults.append(Diagnostic(code, message, self.name, span, label, help))
        else:
            self.unlisted += 1

    def stop(self, code: str, message: str, span: Span, label: str = "", help: str = "") -> None:
        self.faults.append(Diagnostic(code, message, self.name, span, label, help))
        raise _Stop

    def stream(self) -> Node | None:
        if self.text.startswith("%") and self.text.count("\n%TAG") >= _MOST_TAG_LINES:
            self.stop(
                "BT008", "too many %TAG lines", Span(1, 1, 1, 2), help="delete them: no tag of yours is read here"
            )
        root: Node | None = None
        while (event := self.next()) is not None:
            if type(event) is not DocumentStartEvent:
                continue
            if root is not None:
                help = "one file holds one document: move the rest to a file of its own"
                self.stop("BT011", "a second document begins here", _span(event), help=help)
            root = self.document()
        for mapping in self.damaged:
            mapping.pairs = [pair for pair in mapping.pairs if pair[0] is not _UNREAD]
        nothing = isinstance(root, Scalar) and root.plain and not root.text
        if root is None or nothing:
            self.stop(
                "BT011", "there is nothing in this document", Span(1, 1, 1, 1), help="write at least one `key: value`"
            )
        elif self.aliased and _depth(root) > self.limits.depth:
            self.too_deep(root.span)
        return root

    def document(self) -> Node:
        """Composes the document; the hot loop handles one parser event a turn."""
        get, limit, depth, merges, source = self.next, self.limits.nodes, self.limits.depth, self.merges, self.text
        words, starts = scalar.WORDS, scalar.STARTS
        top = YamlList(_Start())
        holder: YamlMap | YamlList = top  # the map or list that takes the next node
        key: Scalar | None = None  # the key whose value comes next
        stack: list[tuple[YamlMap | YamlList, Scalar | None, str | None, int]] = []
        count = 0
        node: Node
        while stack or not top.items:
            event = get()
            kind = type(event)
            if kind is ScalarEvent:
                value = text = event.value
                plain = event.implicit[0]
                if plain:
                    if text in words:
                        value = words[text]
                    elif text[0] in starts:
                        value = self.number(event)
                node = Scalar(value, text, plain, event.start_mark, event.end_mark, source)
                if not text and key is not None and event.start_mark.line > key.end.line:
                    node.start = node.end = key.end  # of a key without a value: the parser points at what comes next
                if event.tag is not None or event.anchor is not None:
                    self.adorn(node, event, 1)
                count += 1
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                stack.append((holder, key, event.anchor, count))
                holder = YamlMap(event.start_mark) if kind is MappingStartEvent else YamlList(event.start_mark)
                key = None
                if event.tag is not None or event.anchor is not None:
                    self.adorn(holder, event, 0)
                if len(stack) > depth:
                    self.too_deep(_span(event))
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                node = self.closed(holder, event)
                holder, key, anchor, before = stack.pop()
                count += 1
                if anchor is not None:
                    self.weights[anchor] = count - before
            else:
                node = self.alias(event)
                count += self.weights.get(event.anchor, 1)
            if count > limit:
                self.too_many(event)
            if type(holder) is YamlList:
                holder.items.append(node)
            elif key is not None:
                holder.pairs.append((key, node))  # type: ignore[union-attr]  # no Listing: asked above
                key = None
            elif type(node) is Scalar and type(node.value) is str and not (merges and node.text == "<<"):
                key = node
            else:
                key = self.key(node, holder, event)
        return top.items[0]

    def closed(self, node: YamlMap | YamlList, event: YamlEvent) -> Node:
        """Sets a collection's end. libyaml reports a block's end too late, so the last child's end counts."""
        if event.start_mark.index != event.end_mark.index:
            node.end = event.end_mark
        elif type(node) is YamlList:
            node.end = _last(node, node.items, node.start)
        if type(node) is YamlMap and node.pairs:
            pairs = node.pairs
            if node.end is node.start:
                node.end = _last(node, pairs[-1], pairs[-1][0].end)
            if len(pairs) > 1 and len({key.value for key, _ in pairs}) != len(pairs):
                node.pairs = self.once_each(pairs)
        return node

    def once_each(self, pairs: list[tuple[Scalar, Node]]) -> list[tuple[Scalar, Node]]:
        first: dict[str, tuple[Scalar, Node]] = {}
        for key, value in pairs:
            if key is _UNREAD:
                continue
            if key.value in first:
                line = first[key.value][0].start.line + 1
                help = "keep one of the two; a list (`- `) holds several of a kind"
                self.fault("BT006", f"`{key.value}` is given twice", key.span, f"first given on line {line}", help)
            else:
                first[key.value] = (key, value)
        return list(first.values())

    def number(self, event: YamlEvent) -> Json:
        try:
            return scalar.resolve(event.value)
        except scalar.TooLarge:
            self.fault("BT003", "this number is too large", _span(event), help="put it in quotes if it is a text")
            return event.value

    def adorn(self, node: Node, event: YamlEvent, weight: int) -> None:
        """Handles tags and anchors; a collection's size is counted when it is closed."""
        if event.anchor is not None:
            self.anchors[event.anchor] = node
            self.weights.pop(event.anchor, None)
            if weight:
                self.weights[event.anchor] = weight
        tag = event.tag
        if tag is None or _COLLECTION_TAGS.get(tag) is type(node) or (tag == "!" and not weight):
            return
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        try:
            if not isinstance(node, Scalar):
                raise LookupError(tag)
            node.value = scalar.tagged(tag, node.text)
        except LookupError:
            help = "delete it: values here are text, numbers, true, false, null, lists and mappings"
            negated = not node.text if isinstance(node, Scalar) else False
            label = f"to negate: `not {shown[1:]}`" if negated and shown[1:].isidentifier() else ""
            if label and isinstance(node, Scalar):
                node.text = node.value = shown[1:]  # places in the text stay right
            self.fault("BT008", f"the tag `{shown}` is not read here", _span(event), label, help)
        except ValueError:
            self.fault("BT008", f"this is not `{shown}`", _span(event), help="delete the tag, or fix the value")

    def alias(self, event: YamlEvent) -> Node:
        self.aliased = True
        name, span = event.anchor, _span(event)
        node = self.anchors.get(name)
        if node is None:
            listed = len(self.faults) < self.limits.faults
            near = nearest(name, list(self.anchors)[:_MOST_TRIED]) if listed else None
            label = f"did you mean `*{near}`?" if near else ""
            help = f"write `&{name}` before the value that it stands for, or quote a text that begins with `*`"
            self.fault("BT007", f"no anchor `&{name}` stands before this alias", span, label, help)
        elif name not in self.weights:
            line = node.start.line + 1
            help = "a loop is written with `repeat`, `while` or `tree`"
            self.fault("BT007", f"`*{name}` would contain itself", span, f"`&{name}` is on line {line}", help)
        else:
            return node
        return Scalar(None, "", True, event.start_mark, event.end_mark)

    def key(self, node: Node, holder: YamlMap | YamlList, event: YamlEvent) -> Scalar:
        """Reports a key that is not text. A number is kept as its digits, so that reading can continue."""
        if isinstance(node, Scalar) and node.value == "<<":
            help = "write the fields out, or give the whole value one anchor and use it by `*name`"
            self.fault("BT010", "merge keys are not part of YAML 1.2", node.span, help=help)
        elif isinstance(node, Scalar) and node.text:
            self.fault("BT009", "a key must be text", node.span, f'write "{node.text}" in quotes')
            return Scalar(node.text, node.text, True, node.start, node.end)
        else:
            what = "is missing" if isinstance(node, Scalar) else "must be text"
            place = _span(event) if type(event) is AliasEvent else node.span
            help = 'put a name before the colon; quote a text with holes, such as `"{name}"`'
            self.fault("BT009", f"a key {what}", place, help=help)
        self.damaged.append(holder)  # type: ignore[arg-type]  # only a Mapping has keys
        return _UNREAD

    def too_deep(self, span: Span) -> None:
        help = "split it into subtrees, one file each"
        self.stop("BT004", f"nested more than {self.limits.depth:,} levels deep", span, help=help)

    def too_many(self, event: YamlEvent) -> None:
        most = f"{self.limits.nodes:,}"
        if type(event) is AliasEvent:
            message = f"with its aliases written out this has more than {most} values"
            self.stop("BT007", message, _span(event), help="make what repeats a subtree: `tree: {file: ...}`")
        self.stop("BT003", f"more than {most} values", _span(event), help="split it into subtrees, one file each")


def _events(text: str) -> Callable[[], YamlEvent]:
    try:
        from yaml._yaml import CParser
    except ImportError as missing:
        hint = "pip install --force-reinstall --only-binary :all: PyYAML"
        raise BtError("this PyYAML was built without its C loader", hint) from missing
    get: Callable[[], YamlEvent] = CParser(text).get_event
    return get


def _last(holder: Node, children: Sequence[Node], otherwise: Mark) -> Mark:
    """Returns the end of the last child. An alias's node stands before its holder: `otherwise` counts then."""
    if not children or children[-1].start.index < holder.start.index:
        return otherwise if otherwise.index >= holder.start.index else holder.start
    return children[-1].end


def _span(event: YamlEvent) -> Span:
    start: Mark = event.start_mark
    end: Mark = event.end_mark
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _depth(root: Node) -> int:
    """Returns the nesting depth with aliases expanded; visits each node once, however often it is used."""
    known: dict[int, int] = {}
    todo = [root]
    while todo:
        node = todo[-1]
        if isinstance(node, Scalar):
            children: list[Node] = []
        else:
            children = node.items if isinstance(node, YamlList) else [value for _, value in node.pairs]
        unknown = [child for child in children if id(child) not in known]
        if unknown:
            todo.extend(unknown)
        else:
            known[id(node)] = 1 + max((known[id(child)] for child in children), default=0)
            todo.pop()
    return known[id(root)] - 1
