"""Expressions from untrusted texts: a small part of Python's, bounded in size, time and memory.

    compile("battery < low").evaluate({"battery": 0.1, "low": 0.2})     # True
    Template("go to {room}").evaluate({"room": "kitchen"})            # "go to kitchen"

What is not in the grammar here does not exist: no text of an author reaches Python's own parser or `eval`.
"""

from __future__ import annotations

from bt_runtime.language.expression.error import ExpressionError
from bt_runtime.language.expression.expression import Expression, compile
from bt_runtime.language.expression.scope import Value, ValueScope
from bt_runtime.language.expression.template import Template

__all__ = ["Expression", "ExpressionError", "Template", "Value", "ValueScope", "compile"]
