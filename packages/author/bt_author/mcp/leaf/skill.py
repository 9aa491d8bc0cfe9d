"""A tool as a skill: progress is feedback, cancelling cancels, structured results are outputs, errors are FAILURE.

What a server says is text from outside: it is bounded, loses control characters, and never becomes a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_author.mcp.leaf.config import ServerConfig, find, named, root_of
from bt_author.mcp.leaf.pool import DECLINED, Answered, Call, Pool, Question
from bt_runtime.language import ports
from bt_runtime.language.faults.diagnostic import BtError, message_of
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.faults.format import printed, visible
from bt_runtime.language.project import trust
from bt_runtime.skills.skill import Skill
from bt_runtime.tree.nodes.interlocks import allows
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.tree.context import Context

RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE
SERVICE = "mcp_servers"
MOST_TEXT = 20_000  # characters of a text that is kept
MOST_SAID = 500  # characters of a failure
DEPTH = 32  # levels of structured results
TEXT = "text"  # the output that holds a tool's text


class ToolSkill(Skill):
    """One tool for one node. Nothing is started before the node is."""

    wakes = True  # the call wakes the tree

    def __init__(self, kind: Kind, context: Context) -> None:
        Extra("mcp", "`impl: mcp/…`").need("mcp")  # before the first tick
        self.kind, self.context = kind, context
        entry = kind.data["entry"]
        self.server, self.tool = named(entry.impl)
        self.root = root_of(Path(entry.folder))
        self.options = entry.options
        self.outputs = [field for field in kind.fields if field.writes]
        self.call: Call | None = None
        self.config: ServerConfig | None = None
        self.refused = ""  # why it did not begin
        self.asking: tuple[Question, Any] | None = None  # a question of the server, put to the person

    def start(self, **params: Any) -> None:
        self.result, self.feedback, self.asking, self.call = None, "", None, None
        try:
            self.begin(params)
        except BtError as error:
            self.refused = words(error)

    def begin(self, params: dict[str, Any]) -> None:
        config = self.config = find(self.server, self.root)
        if config.command:
            trust.may_run(f"the server `{config.name}` ({config.shown})", config.root)
        else:
            trust.may_send(config.url, config.root)
        given = {name: value for name, value in params.items() if value is not None}
        timeout = float(self.options.get("timeout", config.timeout))
        seen = str(self.options.get("seen", ""))
        self.call = pool_of(self.context).call(config, self.tool, given, seen, timeout, self.context.wake)

    def poll(self) -> Status:
        call = self.call
        if call is None:
            return self.failed(self.refused)
        self._ask(call)
        if not call.end.done():
            self.feedback = visible(self.blotted(call.said))
            return RUNNING
        self.call = None
        if call.end.cancelled():
            return self.failed(f"`{self.tool}` was cancelled")
        error = call.end.exception()
        if error is not None:
            return self.failed(words(error))
        return self.judged(call.end.result())

    def judged(self, result: Any) -> Status:
        said = "\n".join(part.text for part in result.content if getattr(part, "type", "") == "text")
        text = printed(self.blotted(said))
        if result.is_error:
            return self.failed(text or f"`{self.tool}` says that it failed")
        data = result.structured_content
        if _depth(data) > DEPTH:
            return self.failed(f"`{self.tool}` gave data that is more than {DEPTH} levels deep")
        self.feedback = " ".join(visible(text[:MOST_SAID]).split())
        data = self.config.blotted(data) if self.config is not None else data
        try:
            self.result = self.read(data if isinstance(data, dict) else {}, text)
        except ports.PortFault as fault:
            return self.failed(f"`{self.tool}` gave what its manifest does not say: {fault.message}")
        return SUCCESS

    def read(self, data: dict[str, Json], text: str) -> dict[str, Json] | None:
        """The outputs by their names; raises PortFault for a value of another type."""
        found: dict[str, Json] = {}
        for field in self.outputs:
            if field.name in data:
                value = data[field.name]
                found[field.name] = value[:MOST_TEXT] if isinstance(value, str) else value
                ports.check(field, found[field.name])
            elif field.name == TEXT:
                found[TEXT] = text[:MOST_TEXT]
        return found or None

    def failed(self, why: str) -> Status:
        self.feedback = visible(self.blotted(why)[:MOST_SAID])
        return FAILURE

    def blotted(self, text: str) -> str:
        return str(self.config.blotted(text)) if self.config is not None else text

    def cancel(self) -> None:
        if self.asking is not None:
            self.asking[1].cancel("the skill was halted")
            self.asking = None
        if self.call is not None:
            self.call.cancel()
            self.call = None

    # What the server asks --------------------------------------------------------------------

    def _ask(self, call: Call) -> None:
        """Puts a question of the server to the run's person, one at a time; without a person it is declined."""
        if self.asking is not None:
            question, reply = self.asking
            answer = reply.poll()
            if answer is None:
                return
            self.asking = None
            question.answer(answered(question.form, str(answer)))
        while call.questions and self.asking is None:
            question = call.questions.popleft()
            person = self.context.services.person
            if person is None or not fillable(question.form):
                question.answer(DECLINED)
                continue
            said = f"The server {self.server} asks: {visible(self.blotted(question.message)[:1000])}"
            ask: Callable[[str], Any] = person.ask
            if sort_of(question.form) == "boolean":
                ask, said = getattr(person, "confirm", person.ask), f"{said} (yes or no)"
            self.asking = (question, ask(said))


def words(error: BaseException) -> str:
    """An error on one line, with its way out."""
    hint = f" ({error.hint})" if isinstance(error, BtError) and error.hint else ""
    return f"{message_of(error)}{hint}"


def fillable(form: dict[str, Any]) -> bool:
    """True for a form with one field that a line can fill, or with none, which asks for consent."""
    return sort_of(form) in ("boolean", "string", "number", "integer")


def sort_of(form: dict[str, Any]) -> str:
    fields = form.get("properties") or {}
    if not fields:
        return "boolean"
    one = next(iter(fields.values()))
    return str(one.get("type", "")) if len(fields) == 1 and isinstance(one, dict) else ""


def answered(form: dict[str, Any], text: str) -> Answered:
    """A line that a person typed, as the answer to a form."""
    fields, sort = form.get("properties") or {}, sort_of(form)
    if not text.strip() or not form:
        return DECLINED
    if sort == "boolean":
        return ("accept", dict.fromkeys(fields, True)) if allows(text) else DECLINED
    value: Any = text
    if sort in ("number", "integer"):
        try:
            value = int(text) if sort == "integer" else float(text)
        except ValueError:
            return DECLINED
    return "accept", {next(iter(fields)): value}


def pool_of(context: Context) -> Pool:
    """The servers of this run; closed with it."""
    whole = context.whole
    found: Pool | None = whole.services.given.get(SERVICE)
    if found is None:
        found = whole.services.given[SERVICE] = Pool()
        whole.leaving.callback(found.close)
    return found


def _depth(value: Any, room: int = DEPTH + 1) -> int:
    """The depth of a value, as far as `room`."""
    if room <= 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(each, room - 1) for each in inner), default=0)
