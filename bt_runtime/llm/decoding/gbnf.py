"""Translates grammars to llama.cpp's GBNF, for a llama-server without llguidance. Only constructs that this package
writes are supported: rules, texts, regular expressions, groups, alternatives, counts. Anything else is a fault. The
answer is checked by the grammar itself in any case."""

from __future__ import annotations

import json
import re
import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Sequence
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.decoding.choice import Trie
from bt_runtime.types import Grammar

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|/(?P<regex>(?:[^/\\]|\\.)+)/|(?P<name>[A-Za-z_]\w*)|'
    r"(?P<count>\{\d+(?:,\d*)?\}|[*+?])|(?P<sign>[|()]))"
)
_SETS = {ops.CATEGORY_DIGIT: "0-9", ops.CATEGORY_WORD: "A-Za-z0-9_", ops.CATEGORY_SPACE: r" \t\n\r"}
_HINT = "a llama-server that was built with -DLLAMA_LLGUIDANCE=ON reads it as it is"


def of_grammar(grammar: Grammar) -> str:
    """The grammar in GBNF, whose start rule is `root`."""
    if grammar.kind == "regex":
        return f"root ::= {_regex(grammar.text)}\n"
    lines = ["root ::= start"]
    for line in grammar.text.splitlines():
        if line.strip():
            name, colon, body = line.partition(":")
            if not colon or not re.fullmatch(r"\w+", name.strip()):
                raise _unsaid(line)
            lines.append(f"{_name(name.strip())} ::= {_body(body)}")
    return "\n".join([*lines, ""])


def of_trie(trie: Trie, node: int = 0, child: int = -1) -> str:
    """Writes the paths of a trie below a node, token by token."""
    first = [child] if child >= 0 else trie.children[node]
    return f"root ::= {_ways(trie, first, {})}\n"


def of_moves(moves: Trie, options: Sequence[Trie | None]) -> str:
    """A move, then one of its options; in the order of the moves."""
    after = {leaf: _ways(trie, trie.children[0], {}) for leaf, trie in zip(moves.leaf_of, options, strict=True) if trie}
    return f"root ::= {_ways(moves, moves.children[0], after)}\n"


def _ways(trie: Trie, children: Sequence[int], after: dict[int, str]) -> str:
    ways = []
    for child in children:
        said, node = [f"<[{trie.token[child]}]>"], child
        while len(trie.children[node]) == 1 and node not in after and trie.option[node] < 0:
            node = trie.children[node][0]
            said.append(f"<[{trie.token[node]}]>")
        if node in after:
            said.append(f"({after[node]})")
        elif trie.children[node]:
            below = f"({_ways(trie, trie.children[node], after)})"
            said.append(below + ("?" if trie.option[node] >= 0 else ""))
        ways.append(" ".join(said))
    return " | ".join(ways)


def _name(name: str) -> str:
    return name.replace("_", "-")


def _body(body: str) -> str:
    said, at = [], 0
    body = body.rstrip()
    while at < len(body):
        found = _TOKEN.match(body, at)
        if found is None:
            raise _unsaid(body[at : at + 40])
        at = found.end()
        kind, text = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "text":
            said.append(_literal(json.loads(text)))
        elif kind == "regex":
            said.append(f"({_regex(text)})")
        elif kind == "count":
            said[-1] += text
        else:
            said.append(_name(text) if kind == "name" else text)
    return " ".join(said)


def _literal(text: str) -> str:
    return '"' + "".join(_letter(ord(c), '"\\') for c in text) + '"'


def _letter(code: int, quoted: str) -> str:
    letter = chr(code)
    if letter in quoted:
        return "\\x5E" if letter == "^" else "\\" + letter
    if letter in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[letter]
    return letter if letter.isprintable() else f"\\x{code:02X}" if code < 256 else f"\\U{code:08X}"


def _regex(pattern: str) -> str:
    try:
        return _tree(parser.parse(pattern))
    except re.error as fault:
        raise _unsaid(pattern) from fault


def _tree(tree: Any) -> str:
    return " ".join(_part(op, value) for op, value in tree) or '""'


def _part(op: Any, value: Any) -> str:
    if op is ops.LITERAL:
        return _literal(chr(value))
    if op is ops.NOT_LITERAL:
        return f"[^{_letter(value, _CLASS)}]"
    if op is ops.ANY:
        return "[^\\n]"
    if op is ops.IN:
        return _set(value)
    if op is ops.BRANCH:
        return "(" + " | ".join(_tree(way) for way in value[1]) + ")"
    if op is ops.SUBPATTERN:
        return f"({_tree(value[3])})"
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        least, most, what = value
        counts = f"{{{least},{'' if most is ops.MAXREPEAT else most}}}"
        return f"({_tree(what)}){counts}"
    raise _unsaid(str(op))


_CLASS = "]\\^-["


def _set(items: Any) -> str:
    said = []
    for op, value in items:
        if op is ops.NEGATE:
            said.append("^")
        elif op is ops.LITERAL:
            said.append(_letter(value, _CLASS))
        elif op is ops.RANGE:
            said.append(f"{_letter(value[0], _CLASS)}-{_letter(value[1], _CLASS)}")
        elif op is ops.CATEGORY and value in _SETS:
            said.append(_SETS[value])
        else:
            raise _unsaid(f"{op} {value}")
    return f"[{''.join(said)}]"


def _unsaid(what: str) -> BtError:
    return BtError(f"llama.cpp's own grammars cannot say {what!r:.60}", _HINT)
