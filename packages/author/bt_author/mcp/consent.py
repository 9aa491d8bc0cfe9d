"""Asks the person for consent, in their client's own dialogue or at a terminal.

The client asks in one of two ways, by the version of the protocol: it is sent a request, or the call is answered with a
question and made again with the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
import mcp_types as types

from bt_runtime.language.faults.format import printed

Ask = Callable[[str], bool]  # blocks until the person has answered
KEY = "confirm"
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"yes": {"type": "boolean", "title": "Do it"}},
    "required": ["yes"],
}


async def consent(
    ctx: Any, params: types.CallToolRequestParams, question: str, ask: Ask | None
) -> bool | types.InputRequiredResult:
    """Returns True only for a yes. A person at this terminal is asked first: a client's answer cannot replace
    theirs."""
    shown = printed(question)
    if ask is not None:
        return await anyio.to_thread.run_sync(ask, shown)
    capable = ctx.session.client_capabilities
    if capable is None or capable.elicitation is None:
        return False
    if ctx.session.can_send_request:
        return _yes(await ctx.session.elicit_form(shown, FORM))
    answers = getattr(params, "input_responses", None) or {}
    if KEY in answers and params.request_state == shown:  # the answer to this question, and not to an earlier one
        return _yes(answers[KEY])
    asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message=shown, requested_schema=FORM))
    return types.InputRequiredResult(input_requests={KEY: asked}, request_state=shown)


def _yes(answer: Any) -> bool:
    return getattr(answer, "action", "") == "accept" and (getattr(answer, "content", None) or {}).get("yes") is True
