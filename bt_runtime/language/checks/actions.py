"""What a tree's agents may do: the names under `actions:`, and the entries that its skills look at by themselves."""

from __future__ import annotations

from bt_runtime.language.findings import Findings, did_you_mean
from bt_runtime.language.source import Scalar, YamlList
from bt_runtime.language.spec import NodeSpec, TreeSpec

WORLD = "world"  # in `actions:` all that the world offers
_NOT = "not "


def check_actions(tree: TreeSpec, spec: NodeSpec, findings: Findings) -> None:
    """A tree that lists no skills has those of whoever includes it, and they are not known here."""
    listed = spec.given.get("actions")
    known = [kind.name for kind in tree.registry if kind.family == "skill"]
    if not known or not isinstance(listed, YamlList):
        return
    for item in listed:
        if isinstance(item, Scalar) and "{" not in item.text and item.text not in (*known, WORLD):
            findings.error(
                "BT012",
                f"`actions` names `{item.text:.60}`, which is no skill of this tree",
                spec.file,
                item.span,
                did_you_mean(item.text, [*known, WORLD]),
                f"skills here: {', '.join(known)}",
            )


def looked_at(tree: TreeSpec) -> set[str]:
    """Entries that fill a slot, or that tell whether a skill can be done now."""
    found: set[str] = set()
    for entry in (kind.data["entry"] for kind in tree.registry if "entry" in kind.data):
        found.update(entry.acting.sources.values())
        for fact in entry.needs:
            words = fact.removeprefix(_NOT).partition("{")[0].split()
            found.update("_".join(words[: n + 1]) for n in range(len(words)))
    return found
