"""Recorded decisions as conversations, for training with other tools: `messages`, or pairs of better and worse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bt_lab.distill import called
from bt_lab.distill.documents import Document
from bt_lab.distill.journals import Life, joined
from bt_runtime.agents.growing import CUT_OFF, UNUSABLE
from bt_runtime.agents.story import EXPAND, OPENINGS, SILENT
from bt_runtime.llm.chat.chat import Chat

Message = dict[str, Any]  # `role`, `content`; `weight: 0` marks an answer that is not learnt
Asked = dict[str, Any]  # a row's question: `prompt`, and `tools` if any
# Where the task begins behind what is fixed: examples first where there are any.
_EXAMPLES = re.compile(r"\n\n(?=Earlier tasks, and how they went:\n)")
_TASK = re.compile(r"\n\n(?=Your (?:primary goal|task) is to: )")
_TASK_LINE = re.compile(r"^Your (?:primary goal|task) is to: ", re.MULTILINE)
_PLAN = f"{EXPAND}\n"
_BLANK = re.compile(r"\n\n")  # in what is neither: a judgement's system text has none
_STEP = re.compile(rf"\n(?=(?:{'|'.join(sorted(o for o, m in OPENINGS.items() if m != 'expand'))}) )")
# A step of the node itself in what stands between its answers: outside text never begins a line like this.
_OWN = re.compile("|".join(sorted(OPENINGS)))
_UNTAUGHT = re.compile(
    rf"^(?:(?:{'|'.join(sorted(o for o, m in OPENINGS.items() if m != 'expand'))}) .*"
    rf"|{EXPAND}\n(?:.*\n)*?(?={re.escape(UNUSABLE)}|{re.escape(CUT_OFF)}))",
    re.MULTILINE,
)


def messages(document: Document, until: int | None = None, untaught: bool = False) -> list[Message]:
    """The conversation as messages: system text, question, and turns, up to a position, else to the last answer.

    `untaught`: an agent's steps that are not to be learnt are turns of the model with `weight: 0`, as they are at run
    time. Without it they stay part of the user's turn, for tools that learn every turn of the model."""
    until = document.learn[-1][1] if until is None else until
    spans = [(start, end) for start, end in document.learn if end <= until]
    own = all(_OWN.match(document.text, start) for start, _ in spans)  # a judge only quotes an agent's steps
    untaught = untaught and own and _TASK.search(document.text[:until]) is not None
    if untaught:  # a plan that was refused is one step with the word that began it
        spans = [(start, end) for start, end in spans if document.text[start:end].strip() != EXPAND]
    at = spans[0][0] if spans else until
    found = opening(document.text[:at])
    if untaught:
        *found, asked = found
        found += heard(asked["content"], _TASK_LINE)
    for start, end in spans:
        if start > at:
            found += heard(document.text[at:start]) if untaught else [_message("user", document.text[at:start])]
        if untaught and found[-1]["role"] == "assistant":
            found.append(_message("user", SILENT))
        for number, said in enumerate(_STEP.split(document.text[start:end].strip())):
            if number:
                found.append(_message("user", SILENT))
            found.append(_message("assistant", said))
        at = end
    if document.text[at:until].strip():
        found.append(_message("user", document.text[at:until]))
    return found


def heard(text: str, after: re.Pattern[str] | None = None) -> list[Message]:
    """Splits what came between two answers into the user's turns and the node's own untaught steps; `after`: only
    behind the last match."""
    at = max((found.end() for found in after.finditer(text)), default=0) if after else 0
    told: list[Message] = []
    begin = 0
    for step in _UNTAUGHT.finditer(text, at):
        told.append(_message("user", text[begin : step.start()].strip() or SILENT))
        told.append({**_message("assistant", step.group()), "weight": 0})
        begin = step.end()
    if text[begin:].strip():
        told.append(_message("user", text[begin:]))
    return told


def opened(document: Document) -> Document:
    """Like `messages`, but text that the runtime began for the model (`Act:` of an agent with one move, `team:` of an
    `infer`) moves to the answer, because the model continues it."""
    spans = [(_begun(document.text, start), end) for start, end in document.learn]
    return document._replace(learn=joined(spans))


def _begun(text: str, at: int) -> int:
    """Returns the start of the line that the answer at this position continues."""
    start = text.rfind("\n", 0, at) + 1
    if start == at:
        return at - len(_PLAN) if text.endswith(_PLAN, 0, at) else at
    return start if start and text[start:at].rstrip().endswith((":", "?")) else at


def opening(prompt: str) -> list[Message]:
    """Splits a prompt, up to the first answer, into a system text and a user text."""
    task = next(reversed([*_TASK.finditer(prompt)]), None)
    begins = _EXAMPLES.search(prompt) or task or _BLANK.search(prompt)
    parts = (prompt[: begins.start()], prompt[begins.end() :]) if begins else ("", prompt)
    return [_message(role, text) for role, text in zip(("system", "user"), parts, strict=True) if text.strip()]


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": text.strip()}


def rendered(said: Sequence[Message], chat: Chat | None) -> dict[str, Any]:
    """Renders a conversation by a chat template, or without one as plain text. Returns the text and the spans to
    learn, each with the end of its turn; an answer of `weight: 0` has no span."""
    learnt = [m.get("weight") != 0 for m in said if m["role"] == "assistant"]
    shown = _rendered(said, chat)
    return {**shown, "spans": [span for span, taught in zip(shown["spans"], learnt, strict=True) if taught]}


def _rendered(said: Sequence[Message], chat: Chat | None) -> dict[str, Any]:
    system = next((m["content"] for m in said if m["role"] == "system"), "")
    if chat is None:
        user, *others = [m["content"] for m in said if m["role"] != "system"]
        return _in_one_turn(f"{system}\n\n{user}\n" if system else f"{user}\n", others[::2], others[1::2])
    rest = [chat.harmless(m["content"]) for m in said if m["role"] != "system"]
    user, answers, heard = rest[0], rest[1::2], rest[2::2]
    begin = chat.say(chat.harmless(system), user)
    if chat.turns is None:
        return _in_one_turn(begin, answers, heard)
    ask, tail = (begin[: begin.rindex(user) + len(user)], begin[begin.rindex(user) + len(user) :])
    how = chat.turns
    blank = how.answer[: len(how.answer) - len(how.answer.lstrip())]
    over = called.turn_end(how.answer, chat.markers) or blank or "\n"
    text, spans = ask, []
    for number, answer in enumerate(answers):
        text += how.again if number < len(answers) - 1 else tail
        spans.append([len(text), len(text) + len(answer) + len(over)])
        text += answer + over
        if number < len(answers) - 1:
            text += how.answer.removeprefix(over) + heard[number]
    return {"text": text, "spans": spans}


def _in_one_turn(text: str, answers: Sequence[str], heard: Sequence[str]) -> dict[str, Any]:
    spans = []
    for number, answer in enumerate(answers):
        spans.append([len(text), len(text) + len(answer) + 1])
        text += f"{answer}\n" + (f"{heard[number]}\n" if number < len(heard) else "")
    return {"text": text, "spans": spans}


def pairs(lives: Iterable[tuple[Life, bool]]) -> Iterator[dict[str, Any]]:
    """Prompts with a chosen and a rejected answer; `lives` come with whether their run succeeded. A refused plan is
    rejected, and the plan that its node wrote instead is chosen. For a prompt in several lives, an answer of a good
    life is chosen; an answer that occurs only in others is rejected."""
    good: dict[str, dict[str, tuple[Message, Asked]]] = {}
    bad: dict[str, dict[str, tuple[Message, str]]] = {}
    for life, met in lives:
        yield from _mended(life) if met and life.good else ()
        for prompt, said, asked in _calls(life) if life.form is not None else _answers(life):
            key = json.dumps(said)
            if met and life.good:
                good.setdefault(prompt, {}).setdefault(key, (said, asked))
            else:
                bad.setdefault(prompt, {}).setdefault(key, (said, life.path))
    for prompt, chosen in good.items():
        first, asked = next(iter(chosen.values()))
        for key, (said, path) in bad.get(prompt, {}).items():
            if key not in chosen:
                yield _pair(asked, first, said, "outcome", path)


def _answers(life: Life) -> Iterator[tuple[str, Message, Asked]]:
    """Yields every answer of a life: the text before it, the answer, and what a row holds of the question."""
    for document in map(opened, life.whole()):
        for start, end in document.learn:
            said = _STEP.split(document.text[start:end].strip())[0]
            yield document.text[:start], _message("assistant", said), {"prompt": messages(document, start)}


def _calls(life: Life) -> Iterator[tuple[str, Message, Asked]]:
    for found in called.conversations(life.form, life.whole()):
        for number, call in enumerate(found.calls):
            asked = {"prompt": found.asked(number), "tools": found.offered()}
            yield json.dumps(asked), called.said(call), asked


def _mended(life: Life) -> Iterator[dict[str, Any]]:
    for number in sorted(life.refused):
        prompt, answer = life.decisions[number][1:]
        later = enumerate(life.decisions[number + 1 :], number + 1)
        good = next((d for n, d in later if d.what == "write" and n not in life.refused), None)
        if good is None or not good.prompt.startswith(prompt):
            continue
        at = _begun(prompt, len(prompt))
        begun = f"{prompt[at:]} " if prompt.endswith(":") else prompt[at:]
        whole = next((d for d in life.documents if d.text.startswith(prompt)), None)
        asked = messages(whole, at) if whole is not None else opening(prompt[:at])
        better, worse = (_message("assistant", begun + text.strip()) for text in (good.answer, answer))
        yield _pair({"prompt": asked}, better, worse, "refused", life.path)


def _pair(asked: Asked, chosen: Message, rejected: Message, why: str, node: str) -> dict[str, Any]:
    return {**asked, "chosen": [chosen], "rejected": [rejected], "why": why, "node": node}


def taught(lives: Iterable[Life], chat: Chat | None, as_text: bool, untaught: bool = False) -> Iterator[dict[str, Any]]:
    """Returns every decision of these lives, one row for each life. `untaught`: as for `messages`."""
    for life in lives:
        for found in called.conversations(life.form, life.documents):
            row = found.row()
            row = called.rendered(row, chat) if as_text else row
            yield {**row, "tree": life.kind, "node": life.path}
        for document in life.documents if life.form is None else ():
            if not as_text:
                row = {"messages": messages(opened(document), untaught=untaught)}
            elif chat is None:
                row = {"text": document.text, "spans": [list(span) for span in document.learn]}
            else:
                row = rendered(messages(opened(document), untaught=True), chat)
            yield {**row, "tree": life.kind, "node": life.path}
