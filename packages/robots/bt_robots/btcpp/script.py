"""The scripting language of BehaviorTree.CPP: its scripts as assignments and expressions of ours, and back.

Its rules: `!`, `-` and `~` before one operand; `* /`; `+ - ..`; comparisons in chains; `&&` and `||` of one rank, from
the left; `?:` and assignments, neither in chains. Bits (`& | ^ ~`) have nothing here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from bt_robots.imports.report import CannotSay

LONGEST = 1_000  # characters of an expression here
MOST_DEEP = 30  # levels of brackets here, less those that are put around it
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<name>[^\W\d]\w*|@\w+)|(?P<sign>:=|\+=|-=|\*=|/=|==|!=|<=|>=|&&|\|\||\.\.|[-+*/<>=!~&|^?:;()]))"
)
_SETS = {":=", "=", "+=", "-=", "*=", "/="}
_TESTS = {"==", "!=", "<", ">", "<=", ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_WORDS = {"true", "false"}
_TAKEN = {"and", "or", "not", "in", "is", "if", "else", "null", "None", "True", "False", "lambda", "exists"}


class Said(NamedTuple):
    """An expression of ours: its text, its precedence (higher binds tighter), and whether it is a truth value."""

    text: str
    rank: float = 9
    truth: bool = False
    test: tuple[str, str, str] | None = None  # one comparison: left, sign, right
    denied: Said | None = None  # the operand of a leading `not`

    def within(self, rank: float) -> str:
        return self.text if self.rank >= rank else f"({self.text})"


class Script(NamedTuple):
    sets: dict[str, Said]  # entries that it writes, in order
    value: Said | None  # value of its last statement, if that writes nothing


def negated(said: Said, asked: bool = True) -> Said:
    """Returns the opposite of an expression, in its shortest form. `asked`: only the truth value matters."""
    if said.test:
        left, sign, right = said.test
        opposite = (left, _OPPOSITE[sign], right)
        return Said(" ".join(opposite), 4, True, opposite)
    if said.denied is not None and (asked or said.denied.truth):
        return said.denied
    return Said(f"not {said.within(4)}", 3.5, True, denied=said)


def read(code: str, enums: Mapping[str, float] | None = None) -> Script:
    return _Parser(code, enums or {}).script()


def condition(code: str, enums: Mapping[str, float] | None = None) -> Said:
    """Translates a test, which must not write entries."""
    found = _Parser(code, enums or {}, asked=True).script()
    if found.sets or found.value is None:
        raise CannotSay("a test that writes entries")
    return found.value


def in_order(reads: Mapping[str, Collection[str]]) -> list[str] | None:
    """Orders simultaneous assignments so that none overwrites a value that a later one reads. None: no such order
    exists."""
    left, found = list(reads), list[str]()
    while left:
        free = next((n for n in left if not any(n in reads[other] for other in left if other != n)), None)
        if free is None:
            return None
        left.remove(free)
        found.append(free)
    return found


class _Parser:
    def __init__(self, code: str, enums: Mapping[str, float], asked: bool = False) -> None:
        self.asked = asked  # only its truth is wanted
        self.enums, self.known, self.deep = enums, dict[str, Said](), 0
        self.tokens: list[tuple[str, str]] = []
        at = 0
        code = code.strip()
        if len(code) > LONGEST * 4:
            raise CannotSay(f"a script of more than {LONGEST * 4:,} characters")
        while at < len(code):
            found = _TOKEN.match(code, at)
            if found is None:
                raise CannotSay(f"`{code[at : at + 20].strip()}` is no part of a script")
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            at = found.end()
        self.at = 0

    def peek(self) -> str:
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        return text if kind == "sign" else ""

    def take(self, *signs: str) -> str:
        found = self.peek()
        if found and found in signs:
            self.at += 1
            return found
        return ""

    def script(self) -> Script:
        value: Said | None = None
        while self.at < len(self.tokens):
            if self.take(";"):
                continue
            value = self.statement()
            if self.at < len(self.tokens) and not self.take(";"):
                raise CannotSay(f"`{self.tokens[self.at][1]}` where a statement ends")
        return Script(self.known, value)

    def statement(self) -> Said | None:
        here = self.tokens[self.at]
        sign = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else ""
        if here[0] != "name" or sign not in _SETS:
            return self.either()
        self.at += 2
        name, value = self.entry(here[1]), self.either()
        if self.peek() in _SETS:
            raise CannotSay("two assignments in one statement")
        if sign not in (":=", "="):
            value = self.joined(self.named(name), sign[0], value)
        if len(value.text) > LONGEST:
            raise CannotSay(f"a value of more than {LONGEST:,} characters, put together")
        self.known.pop(name, None)
        self.known[name] = value
        return None

    def either(self) -> Said:
        self.deep += 1
        if self.deep > MOST_DEEP:
            raise CannotSay(f"more than {MOST_DEEP} levels of brackets")
        test = self.logical()
        if self.take("?"):
            first = self.either()
            if not self.take(":"):
                raise CannotSay("`?` without its `:`")
            other = self.logical()
            test = Said(f"{first.within(2)} if {test.within(2)} else {other.within(1)}", 1)
        self.deep -= 1
        return test

    def logical(self) -> Said:
        left = self.compared()
        while sign := self.take("&&", "||"):
            right, word, rank = self.compared(), "and" if sign == "&&" else "or", 3 if sign == "&&" else 2
            left, right = (s if s.truth or self.asked else Said(f"bool({s.text})", 9, True) for s in (left, right))
            left = Said(f"{left.within(rank)} {word} {right.within(rank + 1)}", rank, True)
        return left

    def compared(self) -> Said:
        left = self.sum()
        parts, signs = [left], []
        while self.peek() in _TESTS:
            signs.append(self.take(*_TESTS))
            parts.append(self.sum())
        if not signs:
            return left
        words = [parts[0].within(5)]
        for sign, part in zip(signs, parts[1:], strict=True):
            words += [sign, part.within(5)]
        test = (words[0], words[1], words[2]) if len(signs) == 1 else None
        return Said(" ".join(words), 4, True, test)

    def sum(self) -> Said:
        left = self.product()
        while sign := self.take("+", "-", ".."):
            left = self.joined(left, "+" if sign == ".." else sign, self.product())
        if self.peek() in ("&", "|", "^"):
            raise CannotSay(f"bits: `{self.peek()}`")
        return left

    def product(self) -> Said:
        left = self.one()
        while sign := self.take("*", "/"):
            left = self.joined(left, sign, self.one())
        return left

    def joined(self, left: Said, sign: str, right: Said) -> Said:
        rank = 5 if sign in "+-" else 6
        return Said(f"{left.within(rank)} {sign} {right.within(rank + 1)}", rank)

    def one(self) -> Said:
        signs = ""
        while sign := self.take("!", "-", "~"):
            signs = sign + signs
            if len(signs) > MOST_DEEP:
                raise CannotSay(f"more than {MOST_DEEP} signs before one operand")
        found = self.atom()
        for sign in signs:
            if sign == "~":
                raise CannotSay("bits: `~`")
            found = negated(found, self.asked) if sign == "!" else Said(f"-{found.within(7)}", 7)
        return found

    def atom(self) -> Said:
        if self.take("("):
            found = self.either()
            if self.peek() in _SETS:
                raise CannotSay("an assignment inside an expression")
            if not self.take(")"):
                raise CannotSay("a bracket that is not closed")
            return found
        if self.at >= len(self.tokens):
            raise CannotSay("it ends too early")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return Said(str(int(text, 16)) if text[:2].lower() == "0x" else _number(text))
        if kind == "text":
            return Said(quoted(text[1:-1]))
        if kind == "name":
            return self.named(self.entry(text)) if text not in _WORDS | self.enums.keys() else self.word(text)
        raise CannotSay(f"`{text}` where a value is wanted")

    def word(self, text: str) -> Said:
        return Said(text, 9, True) if text in _WORDS else Said(f"{self.enums[text]:g}")

    def entry(self, text: str) -> str:
        if text.startswith("@"):
            raise CannotSay(f"`{text}`, an entry of the outermost tree")
        if text in _TAKEN or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
            raise CannotSay(f"`{text}`, which cannot be the name of an entry")
        return text

    def named(self, name: str) -> Said:
        """Returns an entry, or the expression that earlier statements have assigned to it."""
        return self.known.get(name, Said(name))


def _number(text: str) -> str:
    value = float(text)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 and "." not in text else repr(value)


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# Back -------------------------------------------------------------------------------------------

_BINARY: dict[type, tuple[str, int]] = {
    ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Div: ("/", 6)
}  # fmt: skip
_COMPARED: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=",
}  # fmt: skip


def written(text: str) -> str:
    """Translates an expression of ours to a script."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        raise CannotSay(f"`{text}`") from None
    return _back(tree.body, _mixed(tree.body))[0]


def denied(text: str) -> str:
    """Translates the opposite of an expression of ours to a script."""
    tree = ast.parse(text.strip(), mode="eval").body if written(text) else None
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return _back(tree.operand, _mixed(tree.operand))[0]
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        sign = _OPPOSITE[_COMPARED[type(tree.ops[0])]]
        sides = (_back(each, _mixed(tree)) for each in (tree.left, tree.comparators[0]))
        left, right = (said if rank >= 5 else f"({said})" for said, rank in sides)
        return f"{left} {sign} {right}"
    if tree is None:
        raise CannotSay(f"`{text}`")
    code, rank = _back(tree, False) if not _mixed(tree) else (written(text), 0)
    return f"!{code}" if rank >= 9 else f"!({code})"


def _takes_off(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div)


def _mixed(node: ast.expr) -> bool:
    """True for arithmetic, where `!` needs brackets."""
    return any(isinstance(each, ast.BinOp | ast.USub) for each in ast.walk(node))


def _back(node: ast.expr, mixed: bool) -> tuple[str, int]:
    """Returns the text of a script and its precedence."""

    def part(inner: ast.expr, least: int) -> str:
        said, rank = _back(inner, mixed)
        return said if rank >= least else f"({said})"

    if isinstance(node, ast.Constant):
        return value(node.value), 9
    if isinstance(node, ast.Name):
        if node.id in ("null", "None"):
            raise CannotSay("`null`")
        return node.id.lower() if node.id in ("True", "False") else node.id, 9
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        sign, rank = _BINARY[type(node.op)]
        least = rank + 1 if sign in "-/" or _takes_off(node.left) else rank  # its engine goes from the right in a chain
        return f"{part(node.left, least)} {sign} {part(node.right, rank + 1)}", rank
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return ("!" if isinstance(node.op, ast.Not) else "-") + part(node.operand, 9), 1 if mixed else 7
    if isinstance(node, ast.BoolOp):  # of one rank there: brackets wherever the two meet
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return sign.join(part(each, 4) for each in node.values), 3
    if isinstance(node, ast.Compare) and all(type(op) in _COMPARED for op in node.ops):
        words = [part(node.left, 5)]
        for op, right in zip(node.ops, node.comparators, strict=True):
            words += [_COMPARED[type(op)], part(right, 5)]
        return " ".join(words), 4
    if isinstance(node, ast.IfExp):
        return f"{part(node.test, 2)} ? {part(node.body, 2)} : {part(node.orelse, 2)}", 1
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "bool"
        and len(node.args) == 1
    ):
        return _back(node.args[0], mixed)
    raise CannotSay(f"`{ast.unparse(node)}`")


def value(given: object) -> str:
    """Formats a value for a script."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int | float):
        text = repr(given)
        if not re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text):
            raise CannotSay(f"the number {text}")
        return text
    if isinstance(given, str):
        if ("'" in given and '"' in given) or "\n" in given or ";" in given:
            raise CannotSay("a text with both quotes, a semicolon or a line break in it")
        return f'"{given}"' if "'" in given else f"'{given}'"
    raise CannotSay("a list, a mapping or `null`")
