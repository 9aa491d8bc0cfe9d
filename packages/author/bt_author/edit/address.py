"""The address of the editor's page for a tree, and for a node in it."""

from __future__ import annotations

from urllib.parse import urlencode


def page_of(address: str, tree: str, at: tuple[int, int] | None = None, story: bool = False) -> str:
    """`tree`: the file below the editor's folder; `at`: line and column of a node; `story`: with its counterexample."""
    base, _, token = address.partition("#")
    given = {"tree": tree, **({"at": f"{at[0]}:{at[1]}"} if at else {}), **({"story": 1} if story else {})}
    return f"{base}?{urlencode(given, safe='/:')}#{token}"
