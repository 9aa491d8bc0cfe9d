"""The tools that `btr mcp` offers: plain functions over a `Site`, without the SDK."""
