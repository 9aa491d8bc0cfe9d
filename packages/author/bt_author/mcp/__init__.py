"""The Model Context Protocol in both directions: `tools/` and `server.py` let an assistant author trees, `leaf/` makes
tools of other servers skills of a tree. Nothing below the command line imports this room; the SDK is imported by its
servers and sessions only."""
