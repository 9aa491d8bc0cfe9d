"""The tools that `btr serve mcp` offers: plain functions over a `Site`, without the SDK."""
