"""Parses tokens in one pass, with Python's precedence and bounded depth."""

from __future__ import annotations

from bt_runtime.language.expression import part
from bt_runtime.language.expression.call import EXISTS, FUNCTIONS, KNOWN
from bt_runtime.language.expression.error import BOUND, CALL, FOREIGN, NAME, SYNTAX, ExpressionError
from bt_runtime.language.expression.part import Operand
from bt_runtime.language.expression.scope import CONSTANTS, OPERATORS, STATEMENTS
from bt_runtime.language.expression.token import Token, literal, tokens
from bt_runtime.language.expression.value import MOST_BITS, negative, positive
from bt_runtime.language.faults.diagnostic import did_you_mean

DEEPEST = 32  # brackets, signs and conditions inside each other

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN = range(1, 8)
_LEVELS = {"or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT}
_LEVELS |= dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in", "not", "is"), _COMPARE)


class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.names: dict[str, tuple[int, int]] = {}  # free name → its first place
        self.asked: set[str] = set()  # names inside `exists`

    def whole(self) -> Operand:
        if self.tokens[0].kind == "end":
            raise ExpressionError(SYNTAX, "an expression should stand here", "write one, such as `battery < 0.2`")
        made = self.expression()
        if self.tokens[self.at].kind != "end":
            raise self.unexpected(self.tokens[self.at])
        return made

    def expression(self) -> Operand:
        self.deeper()
        then = self.binary(_OR)
        if self.take("if"):
            condition = self.binary(_OR)
            self.need("else", "`this if condition else that` chooses")
            then = part.choice(condition, then, self.expression())
        self.depth -= 1
        return then

    def binary(self, floor: int) -> Operand:
        left = self.prefix(floor)
        while (level := self.level()) >= floor:
            rest: list[tuple[str, Operand]] = []
            while self.level() == level:
                rest.append((self.sign(), self.binary(level + 1)))
            if level <= _AND:
                left = part.either(left, rest, stop=level == _OR)
            elif level == _COMPARE:
                left = part.comparison(left, rest)
            else:
                left = part.chain(left, rest)
        return left

    def level(self) -> int:
        token = self.tokens[self.at]
        if token.kind not in ("sign", "name") or (token.text == "not" and self.tokens[self.at + 1].text != "in"):
            return 0
        return _LEVELS.get(token.text, 0)

    def sign(self) -> str:
        token = self.next()
        if token.text == "not":
            self.next()
            return "not in"
        if token.text == "is" and self.take("not"):
            return "is not"
        return token.text

    def prefix(self, floor: int) -> Operand:
        token = self.tokens[self.at]
        if token.kind == "name" and token.text == "not" and floor <= _NOT:
            times = 0
            while self.take("not"):
                times += 1
            return part.negation(self.binary(_COMPARE), times, token.start)
        if token.kind == "sign" and token.text in "+-":
            self.next()
            self.deeper()
            operand = self.prefix(_SIGN)
            self.depth -= 1
            operation = negative if token.text == "-" else positive
            return part.applied("sign", operation, (operand,), token.start, operand.end)
        return self.power()

    def power(self) -> Operand:
        base = self.postfix()
        if not self.take("**"):
            return base
        self.deeper()
        exponent = self.prefix(_SIGN)
        self.depth -= 1
        return part.chain(base, [("**", exponent)])

    def postfix(self) -> Operand:
        made = self.atom()
        while True:
            if self.take("["):
                self.deeper()
                made = self.item(made)
                self.depth -= 1
            elif self.ahead("."):
                made = self.field(made, self.next())
            else:
                return made

    def field(self, value: Operand, dot: Token) -> Operand:
        """Parses `pose.x`, which reads a key of a mapping; attributes of objects cannot be read."""
        name, after = self.tokens[self.at], self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if name.kind != "name" or name.text.startswith("_") or after.text == "(":
            hint = '`name.field` and `name["field"]` read what a mapping has; there is nothing else to be had'
            if name.text in FUNCTIONS and after.text == "(":
                raise self.method(value, name)
            raise ExpressionError(FOREIGN, "`.` has no place here", hint, dot.start, dot.end)
        self.next()
        return part.field(value, part.constant(name.text, name.start, name.end))

    def method(self, value: Operand, name: Token) -> ExpressionError:
        """Returns the error for `text.lower()`, with the call of the function as the hint."""
        self.at += 2
        self.several(")")
        of, end = self.text[value.start : value.end], self.tokens[self.at - 1].end
        given = self.text[name.end : end].strip()[1:].lstrip()
        written = f"{name.text}({of}{'' if given == ')' else ', '}{given}"
        return ExpressionError(FOREIGN, f"`{name.text}` is a function", f"write `{written}`", value.start, end)

    def item(self, value: Operand) -> Operand:
        nothing = part.constant(None, value.end, value.end)
        first = nothing if self.ahead(":") else self.expression()
        if not self.take(":"):
            return part.indexed(value, first, self.need("]", "close the bracket").end)
        last = nothing if self.ahead("]") else self.expression()
        return part.sliced(value, first, last, self.need("]", "a part is written `[from:to]`").end)

    def atom(self) -> Operand:
        token = self.next()
        if token.kind == "number":
            return part.constant(_number(token), token.start, token.end)
        if token.kind == "text":
            return part.constant(literal(token), token.start, token.end)
        if token.kind == "name":
            return self.word(token)
        if token.text == "(":
            return self.bracket(token)
        if token.text == "[":
            items = self.several("]")
            return part.listing(items, token.start, self.tokens[self.at - 1].end)
        if token.text == "{":
            return self.mapping(token)
        raise self.unexpected(token)

    def word(self, token: Token) -> Operand:
        word = token.text
        if word in CONSTANTS:
            return part.constant(CONSTANTS[word], token.start, token.end)
        if word in STATEMENTS:
            raise ExpressionError(FOREIGN, f"`{word}` has no place in an expression", "", token.start, token.end)
        if word in OPERATORS:
            raise self.unexpected(token)
        if self.take("("):
            return self.call(token)
        if word.startswith("__"):
            raise ExpressionError(
                NAME,
                f"no value is named `{word[:40]}`",
                "a name of a port has no `__` before it",
                token.start,
                token.end,
            )
        self.names.setdefault(word, (token.start, token.end))
        return part.name(word, token.start, token.end)

    def call(self, token: Token) -> Operand:
        word = token.text
        if word == EXISTS:
            return self.exists(token)
        function = FUNCTIONS.get(word)
        if function is None:
            hint = did_you_mean(word, KNOWN, f"there are {', '.join(sorted(KNOWN))}")
            raise ExpressionError(CALL, f"no function is named `{word}`", hint, token.start, token.end)
        operands = self.several(")")
        end = self.tokens[self.at - 1].end
        if not function.fewest <= len(operands) <= function.most:
            takes = (
                str(function.fewest) if function.fewest == function.most else f"{function.fewest} to {function.most}"
            )
            values = "value" if takes == "1" else "values"
            raise ExpressionError(CALL, f"`{word}` takes {takes} {values}, not {len(operands)}", "", token.start, end)
        return part.called(word, function, operands, token.start, end)

    def exists(self, token: Token) -> Operand:
        asked = self.next()
        if asked.kind != "name" or asked.text in OPERATORS or not self.take(")"):
            raise ExpressionError(CALL, "`exists` takes one name", "as in `exists(name)`", token.start, asked.end)
        self.asked.add(asked.text)
        return part.exists(asked.text, token.start, self.tokens[self.at - 1].end)

    def bracket(self, opening: Token) -> Operand:
        """Parses a bracket; with a comma in it, it is a list."""
        if self.ahead(")"):
            raise self.unexpected(self.tokens[self.at])
        first = self.expression()
        if self.take(")"):
            first.start, first.end = opening.start, self.tokens[self.at - 1].end
            return first
        if self.tokens[self.at].kind == "end":
            raise self.unexpected(self.tokens[self.at], "this bracket is never closed", "close it by `)`")
        self.need(",", "close the bracket")
        return part.listing([first, *self.several(")")], opening.start, self.tokens[self.at - 1].end)

    def several(self, closing: str) -> list[Operand]:
        items: list[Operand] = []
        while not self.take(closing):
            items.append(self.expression())
            if not self.ahead(closing):
                self.need(",", f"close the bracket by `{closing}`")
        return items

    def mapping(self, opening: Token) -> Operand:
        pairs: list[tuple[Operand, Operand]] = []
        while not self.take("}"):
            key = self.expression()
            if not pairs and self.ahead("}"):
                raise self.braced(opening, self.next())
            self.need(":", 'a mapping is written `{"key": value}`')
            pairs.append((key, self.expression()))
            if not self.ahead("}"):
                self.need(",", "close the bracket by `}`")
        return part.mapping(pairs, opening.start, self.tokens[self.at - 1].end)

    def braced(self, opening: Token, closing: Token) -> ExpressionError:
        """Returns the error for braces inside an expression, such as `{n} > 3`, with the text without braces as the
        hint."""
        text = self.text
        plain = f"{text[: opening.start]}{text[opening.end : closing.start].strip()}{text[closing.end :]}"
        hint = "no braces here: a name stands for its value"
        if len(plain) <= 40 and not {"{", "}"} & set(plain):
            hint = f"no braces here: `{plain}`"
        message = "braces are for holes in a text, and this is an expression already"
        return ExpressionError(SYNTAX, message, hint, opening.start, closing.end)

    def next(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def ahead(self, text: str) -> bool:
        token = self.tokens[self.at]
        return token.text == text and token.kind in ("sign", "name")

    def take(self, text: str) -> bool:
        if self.ahead(text):
            self.at += 1
            return True
        return False

    def need(self, text: str, hint: str) -> Token:
        token = self.tokens[self.at]
        if not self.take(text):
            raise self.unexpected(token, f"`{text}` should stand here", hint)
        return token

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            token = self.tokens[self.at]
            hint = f"at most {DEEPEST} levels; `set` parts of it first"
            raise ExpressionError(BOUND, "this expression is nested too deeply", hint, token.start, token.end)

    def unexpected(self, token: Token, message: str = "", hint: str = "") -> ExpressionError:
        if token.text in STATEMENTS and token.kind == "name":
            return ExpressionError(FOREIGN, f"`{token.text}` has no place in an expression", "", token.start, token.end)
        if token.kind == "end":
            return ExpressionError(SYNTAX, message or "this expression ends too early", hint, token.start, token.end)
        before = self.tokens[max(0, self.tokens.index(token) - 1)]
        for word in (token, before):
            if word.kind == "name" and word.text not in OPERATORS and word.text.lower() in OPERATORS:
                said, hint = f"`{word.text}` has no place in an expression", f"write `{word.text.lower()}`"
                return ExpressionError(FOREIGN, said, hint, word.start, word.end)
        if token.text == "(" and not message:
            message, hint = "only a function is called", f"there are {', '.join(sorted(KNOWN))}"
        elif not message and token.kind in ("name", "text", "number") and before.kind in ("name", "text", "number"):
            hint = "two values need a sign or word between them; text is written in quotes"
        return ExpressionError(
            SYNTAX, message or f"`{token.text[:40]}` does not fit here", hint, token.start, token.end
        )


def _number(token: Token) -> int | float:
    if token.text.isdigit():
        value = int(token.text) if len(token.text) <= MOST_BITS // 3 else 1 << MOST_BITS
        if value.bit_length() <= MOST_BITS:
            return value
    else:
        real = float(token.text)
        if real != float("inf"):
            return real
    raise ExpressionError(BOUND, "this number is too large", f"at most {MOST_BITS} bits", token.start, token.end)
