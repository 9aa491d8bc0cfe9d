"""A scripted assistant: the SDK's client, counting what it reads and writes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from bt_author.mcp.server import served
from bt_author.mcp.tools.every import TOOLS, Tools
from bt_author.mcp.tools.site import Site
from bt_runtime.language.project.child import python


class Assistant:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.written = self.read = 0  # characters of calls and of answers

    async def call(self, tool: str, **given: Any) -> Any:
        answer = await self.client.call_tool(tool, given)
        self.written += len(json.dumps({"name": tool, "arguments": given}))
        self.read += len(answer.content[0].text)
        return answer

    async def text(self, tool: str, **given: Any) -> str:
        answer = await self.call(tool, **given)
        assert not answer.is_error, answer.content[0].text
        return str(answer.content[0].text)

    async def refused(self, tool: str, **given: Any) -> str:
        answer = await self.call(tool, **given)
        assert answer.is_error, answer.content[0].text
        return str(answer.content[0].text)


def asked(
    root: Path, do: Callable[[Assistant], Awaitable[Any]], *allow: str, mode: str = "auto", tools: Tools = TOOLS,
    ask: Any = None, shown: list[str] | None = None, **how: Any,
) -> Any:  # fmt: skip
    """Runs a script against the server in this process."""
    site = Site(root, frozenset(allow), (shown if shown is not None else []).append)

    async def main() -> Any:
        with anyio.fail_after(60):
            async with Client(served(site, tools, ask), mode=mode, **how) as client:
                return await do(Assistant(client))

    return anyio.run(main)


def command(*words: str) -> list[str]:
    return python("bt_runtime.cli", "serve", "mcp", *words)
