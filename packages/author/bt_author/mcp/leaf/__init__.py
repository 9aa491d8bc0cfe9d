"""Tools of MCP servers as skills: `impl: mcp/SERVER/TOOL` in a manifest, and `servers:` in `btr.yaml`."""
