"""Asks a server once what it can do: for `btr import mcp NAME`."""

from __future__ import annotations

import asyncio

from mcp_types import Tool

from bt_author.mcp.leaf.config import ServerConfig
from bt_author.mcp.leaf.link import Link, digest
from bt_author.mcp.leaf.manifest import Foreign


def tools_of(config: ServerConfig) -> list[Foreign]:
    """The allowed tools of a server, which is started for that and ended again."""

    async def ask() -> list[Foreign]:
        link = Link(config)
        try:
            await link.ready()
            return [_foreign(tool) for name, tool in link.tools.items() if config.allows(name)]
        finally:
            await link.close()

    return asyncio.run(ask())


def _foreign(tool: Tool) -> Foreign:
    hints = tool.annotations
    repeatable = hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
    about = tool.description or tool.title or ""
    return Foreign(tool.name, about, tool.input_schema, tool.output_schema, repeatable, digest(tool))
