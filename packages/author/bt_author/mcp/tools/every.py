"""All tools by name, in the order in which an assistant sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_author.mcp.tools import checking, fault_rows, looking, playing, recorded, writing
from bt_author.mcp.tools.answer import Answer
from bt_author.mcp.tools.site import Site
from bt_author.mcp.tools.tool import Tool
from bt_runtime.language.faults.diagnostic import BtError, Faults, did_you_mean
from bt_runtime.testing.promise import Broken
from bt_runtime.testing.waiting import StillRunning

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (*looking.TOOLS, *checking.TOOLS, *playing.TOOLS, *writing.TOOLS, *recorded.TOOLS)
}  # fmt: skip
Tools = Mapping[str, Tool]
KEEPING = ("validate", "format", "fix")  # name the texts that they are given or make


def call(site: Site, name: str, given: Mapping[str, Any], tools: Tools = TOOLS) -> Answer:
    """Calls a tool; whatever a person could mend comes back as words, and never as an exception."""
    try:
        tool = _tool(name, tools)
        given = site.drafts.filled(given)
        answer = tool.call(site, given)
        told = site.drafts.told(given, answer.data.get("text")) if tool.name in KEEPING else ""
        return answer._replace(text=answer.text.rstrip("\n") + told) if told else answer
    except Faults as faults:
        listed = list(faults.diagnostics)
        data = {"sound": False, "faults": [fault_rows.data(fault) for fault in listed[: fault_rows.MOST_FAULTS]]}
        return Answer(fault_rows.text(listed), data, failed=True)
    except BtError as error:
        return Answer(str(error), {"error": error.message, "help": error.hint}, failed=True)
    except (Broken, StillRunning) as error:
        return Answer(str(error), {"error": str(error), "help": ""}, failed=True)
    except OSError as error:
        return Answer(f"this file cannot be used: {error.strerror}", {"error": str(error.strerror)}, failed=True)


def _tool(name: str, tools: Tools) -> Tool:
    tool = tools.get(name)
    if tool is None:
        raise BtError(f"there is no tool `{name:.40}`", did_you_mean(name, tools))
    return tool


def wrong(tool: Tool, given: Mapping[str, Any]) -> str:
    """Returns what is wrong with a call's arguments; "" when they are valid."""
    from jsonschema import Draft202012Validator

    closed = {**tool.schema(), "additionalProperties": False}
    fault = next(iter(Draft202012Validator(closed).iter_errors(dict(given))), None)
    if fault is None:
        return ""
    where = "".join(f"[{part!r}]" if isinstance(part, int) else f".{part}" for part in fault.absolute_path)
    return f"{tool.name}{where}: {fault.message:.300}"
