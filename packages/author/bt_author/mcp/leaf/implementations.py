"""The way `mcp/SERVER/TOOL` of a manifest, with its keys. Nothing here imports the SDK."""

from __future__ import annotations

from bt_runtime.language.impls import WITHIN, Implementation

IMPLEMENTATIONS = {
    WITHIN: Implementation(
        "Calls a tool of an MCP server that `servers:` of btr.yaml names.",
        "bt_author.mcp.leaf.skill:ToolSkill",
        {
            "seen": {
                "type": "string",
                "pattern": "^[0-9a-f]{16}$",
                "description": "A digest of the tool's description as it was imported. Another one is refused.",
            },
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "How many seconds one call may take. Without: what `servers:` says, else 60.",
            },
        },
        check="bt_author.mcp.leaf.config:check",
        reasons="bt_author.mcp.leaf.config:reasons",
    )
}
