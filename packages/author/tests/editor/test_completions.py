"""What an editor offers: kinds where a node stands, fields inside a kind, the words of a choice, each described."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from bt_runtime.language.emit import generated
from bt_runtime.language.kinds.kind import COMMON
from bt_runtime.language.kinds.registry import shipped_kinds
from packages.author.tests.editor.lsp import Server

pytestmark = pytest.mark.editor
MODELINE = "# yaml-language-server: $schema=tree.schema.json\n"
HEAD = f"{MODELINE}version: 1\ntree: t\nskills: [depot]\nroot:\n"
SHIPPED = generated.schemas()["tree.schema.json"]
KINDS = {
    *(kind.name for kind in shipped_kinds()),
    "go_to",
    "look",
}  # no tree here names the skills of shipped worlds
MANIFESTS = {*SHIPPED["properties"]["skills"]["items"].get("enum", ()), "depot"}
ANY = {field.name for field in COMMON}
_numbers = count()


def offered(server: Server, text: str) -> dict[str, Any]:
    """What is offered at the `|` of the text."""
    before, after = text.split("|")
    line, character = before.count("\n"), len(before) - before.rfind("\n") - 1
    return server.completions(f"completion{next(_numbers)}.yaml", before + after, line, character)


@pytest.mark.parametrize(
    "place",
    [
        "  |\n",
        "  sequence:\n    - |\n",
        "  sequence:\n    - log: a\n    - |\n",
        "  sequence:\n    - che|\n",
        "  retry:\n    times: 3\n    child:\n      |\n",
        "  if:\n    check: a > 1\n    then:\n      |\n",
        "  sequence:\n    children:\n      - |\n",
    ],
)
def test_where_a_node_stands_all_kinds_are_offered_and_nothing_else(server: Server, place: str) -> None:
    assert set(offered(server, HEAD + place)) == KINDS


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("  retry:\n    times: 3\n    |\n", {"child"}),
        ("  parallel:\n    order: in_turn\n    |\n", {"children", "success", "failure", "wait_all"}),
        ("  go_to:\n    place: hall\n    |\n", {"speed"}),
        ("  log:\n    text: hello\n    |\n", {"level"}),
    ],
)
def test_inside_a_kind_its_other_fields_are_offered(server: Server, place: str, fields: set[str]) -> None:
    assert set(offered(server, HEAD + place)) == fields | ANY


def test_below_a_bare_decorator_both_a_child_and_fields_are_offered(server: Server) -> None:
    assert set(offered(server, f"{HEAD}  invert:\n    |\n")) == KINDS | ANY | {"child"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}  parallel:\n    order: |\n", {"together", "in_turn"}),
        (f"{HEAD}  force:\n    status: |\n    child: {{log: a}}\n", {"success", "failure"}),
        (f"{HEAD}  look:\n    side: |\n", {"left", "right"}),
        (f"{MODELINE}version: 1\ntree: t\nskills:\n  - |\nroot: {{log: a}}\n", MANIFESTS),
        (
            f"{MODELINE}version: 1\ntree: t\ninputs:\n  a:\n    type: |\nroot: {{log: a}}\n",
            {"any", "string", "integer", "number", "boolean", "list", "object"},
        ),
    ],
)
def test_the_words_of_a_choice_are_offered(server: Server, text: str, words: set[str]) -> None:
    assert set(offered(server, text)) == words


def test_above_the_root_the_rest_of_the_head_is_offered(server: Server) -> None:
    found = set(offered(server, f"{MODELINE}version: 1\n|\n"))
    assert found >= {"tree", "about", "skills", "inputs", "outputs", "blackboard", "root"}
    assert "version" not in found


def test_what_is_offered_is_described(server: Server) -> None:
    found = offered(server, f"{HEAD}  |\n")
    assert all(item.get("documentation") for item in found.values())
    assert "Runs its child again after a failure." in str(found["retry"]["documentation"])
    assert "Walks to a place." in str(found["go_to"]["documentation"])
    assert found["sequence"]["insertText"].startswith("sequence:\n")
    assert found["check"]["insertText"] == "check: "


def test_a_kind_is_explained_where_the_pointer_rests(server: Server) -> None:
    said = server.hover("hover.yaml", f"{HEAD}  retry:\n    times: 3\n    child: {{log: a}}\n", HEAD.count("\n"), 4)
    assert "Runs its child again after a failure." in said
    assert "must" not in said.partition("```")[0] or "times" in said
    assert "```yaml" in said
