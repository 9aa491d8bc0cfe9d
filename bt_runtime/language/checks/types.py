"""Infers the types in an expression from its names' declared types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.language.expression import Expression
from bt_runtime.language.expression.part import Operand
from bt_runtime.language.kinds.data import flows, type_name

Type = str | None  # a value's type; None: any
NUMBERS = frozenset({"integer", "number", "boolean"})
_KINDS = {"integer": "a number", "number": "a number", "boolean": "a truth value", "string": "text", "null": "null"}
_KINDS |= {"list": "a list", "object": "a mapping"}
_VERBS = {"+": "added", "-": "subtracted", "*": "multiplied", "**": "raised to a power"}
_ORDER = frozenset({"<", "<=", ">", ">="})
_EQUAL = frozenset({"==", "!=", "is", "is not"})
_TEXT = ("string",)
_NUMBER = tuple(NUMBERS)
# A function → what each of its values may be, what it gives, and what is said of anything else.
_FUNCTIONS: Mapping[str, tuple[tuple[Sequence[str], ...], Type, str]] = {
    "abs": ((_NUMBER,), "number", "a number is needed here, and this is {}"),
    "round": ((_NUMBER, _NUMBER), None, "a number is needed here, and this is {}"),
    "len": ((("string", "list", "object"),), "integer", "{} has no length"),
    "sum": ((("list",),), "number", "a list is needed here, and this is {}"),
    "int": (((*_NUMBER, "string"),), "integer", "{} is not a whole number"),
    "float": (((*_NUMBER, "string"),), "number", "{} is not a number"),
    "join": ((("list",), _TEXT), "string", "{} cannot be joined"),
    "bool": ((), "boolean", ""),
    "str": ((), "string", ""),
    **{word: ((_TEXT, _TEXT), gives, "text is needed here, and this is {}") for word, gives in {
        "lower": "string", "upper": "string", "strip": "string", "split": "list",
        "startswith": "boolean", "endswith": "boolean",
    }.items()},
}  # fmt: skip


class Clash(NamedTuple):
    """An impossible operation: message, place in the text, and hint."""

    message: str
    start: int
    end: int
    hint: str = ""
    never: bool = False  # a legal comparison that is never true


def type_of(expression: Expression, known: Mapping[str, str]) -> Type:
    """Returns the expression's type; None when unknown."""
    return Flow(known, lambda clash: None).of(expression.part)


def misfit(expression: Expression, known: Mapping[str, str], wanted: str) -> Type:
    """Returns the type of an expression that does not fit; None when it fits or may fit: a number may be a whole
    number."""
    found, part = type_of(expression, known), expression.part
    if found is None or flows(found, wanted):
        return None
    divided = part.how == "chain" and part.of[-1][0] == "/"
    return None if (found, wanted) == ("number", "integer") and not divided and part.how != "float" else found


def clashes(expression: Expression, known: Mapping[str, str]) -> list[Clash]:
    found: list[Clash] = []
    Flow(known, found.append).of(expression.part)
    return found


def compared(part: Operand, word: str) -> bool:
    """True when the bare name is one side of `==` or `!=`, or stands before `in`."""
    if part.how == "comparison":
        first, *rest = part.of
        signs = {sign for sign, _ in rest}
        operands = [first, *(operand for _, operand in rest)]
        if signs & _EQUAL and any(each.how == "name" and each.of[0] == word for each in operands):
            return True
    return any(compared(each, word) for each in inside(part))


def inside(part: Operand) -> list[Operand]:
    """Yields the operands of an expression's part."""
    if part.how in ("chain", "comparison"):
        return [part.of[0], *(operand for _, operand in part.of[1:])]
    return [] if part.how in ("name", "constant") else list(part.of)


class Flow:
    def __init__(self, known: Mapping[str, str], report: Callable[[Clash], object]) -> None:
        self.known = known
        self.report = report

    def of(self, part: Operand) -> Type:
        """Returns the type of the part's value; reports each clash inside once."""
        match part.how:
            case "constant":
                return type_name(part.of[0])
            case "name":
                return self.known.get(part.of[0])
            case "chain":
                return self.chain(part)
            case "comparison":
                return self.comparison(part)
        types = [self.of(each) for each in inside(part)]
        match part.how:
            case "not" | "exists":
                return "boolean"
            case "either":
                return types[0] if len(set(types)) == 1 else None
            case "choice":
                return types[1] if types[1] == types[2] else None
            case "list":
                return "list"
            case "mapping":
                return "object"
            case "sign":
                found = self.need(part, types[0], _NUMBER, "{} has no sign")
                return "integer" if found == "boolean" else found
            case "item":
                return self.item(part, types[0], types[1])
            case "slice":
                return self.need(part, types[0], ("string", "list"), "{} has no parts")
        return self.call(part, types)

    def need(self, part: Operand, found: Type, wanted: Sequence[str], message: str) -> Type:
        if found is not None and found not in wanted:
            self.report(Clash(message.format(_KINDS[found]), part.start, part.end))
            return None
        return found

    def item(self, part: Operand, value: Type, key: Type) -> Type:
        if self.need(part, value, ("string", "list", "object"), "{} has no items") in ("string", "list"):
            message = f"items of {_KINDS[str(value)]} are counted by whole numbers, and this is {{}}"
            self.need(part.of[1], key, ("integer", "boolean"), message)
        return "string" if value == "string" else None

    def call(self, part: Operand, types: Sequence[Type]) -> Type:
        takes, gives, message = _FUNCTIONS.get(part.how, ((), None, ""))
        for wanted, found, operand in zip(takes, types, part.of, strict=False):
            self.need(operand, found, wanted, message)
        if part.how in ("abs", "round"):
            return (
                "integer"
                if (types[0] in ("integer", "boolean") and len(types) == 1) or (part.how == "round" and len(types) == 1)
                else gives
            )
        return gives

    def chain(self, part: Operand) -> Type:
        found = self.of(part.of[0])
        for sign, operand in part.of[1:]:
            found = self.sum(part, sign, found, self.of(operand), operand.end)
        return found

    def sum(self, part: Operand, sign: str, left: Type, right: Type, end: int) -> Type:
        """Returns the result type of two operands and an arithmetic sign."""
        if left is None or right is None:
            return None
        if left in NUMBERS and right in NUMBERS:
            whole = "number" not in (left, right)
            return "number" if sign == "/" or not whole else None if sign == "**" else "integer"
        same = left == right and left in ("string", "list")
        if sign == "+" and same:
            return left
        if sign == "*":
            for one, other in ((left, right), (right, left)):
                if one in ("string", "list") and other in ("integer", "boolean"):
                    return one
        hint = 'write "... {name} ..." to put a value into a text' if sign == "+" and "string" in (left, right) else ""
        verb = _VERBS.get(sign, "divided")
        self.report(Clash(f"{_KINDS[left]} and {_KINDS[right]} cannot be {verb}", part.start, end, hint))
        return None

    def comparison(self, part: Operand) -> Type:
        left = part.of[0]
        found = self.of(left)
        for sign, operand in part.of[1:]:
            right = self.of(operand)
            if found is not None and right is not None:
                self.compare(sign, found, right, left.start, operand.end)
            left, found = operand, right
        return "boolean"

    def compare(self, sign: str, left: str, right: str, start: int, end: int) -> None:
        alike = (left in NUMBERS and right in NUMBERS) or left == right
        if sign in _ORDER and not (alike and left in (*NUMBERS, "string")):
            hint = "only two numbers or two texts are compared"
            self.report(Clash(f"{_KINDS[left]} and {_KINDS[right]} have no order", start, end, hint))
        elif sign in _EQUAL and not alike and "null" not in (left, right):
            said = f"{_KINDS[left]} is never equal to {_KINDS[right]}"
            self.report(Clash(said, start, end, "convert one of them: `int(text)`, `str(number)`", never=True))
        elif sign in ("in", "not in") and right in (*NUMBERS, "null"):
            self.report(Clash(f"nothing can be in {_KINDS[right]}", start, end))
        elif sign in ("in", "not in") and right == "string" and left != "string":
            self.report(Clash(f"only text can be in text, and this is {_KINDS[left]}", start, end))
