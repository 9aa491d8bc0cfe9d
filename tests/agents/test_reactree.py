"""ReAcTree's published success (listing 11): four things to the kitchen table, checked node by node."""

from __future__ import annotations

from bt_runtime.testing import SUCCESS
from tests.support.room import Room

THINGS = ("apple", "pancake", "cupcake", "juice")
FOUND = {  # rooms that the search names, and the one where it succeeds; None: working memory knows where it is
    "apple": (["kitchen 1", "living room 1", "bedroom 1"], 1),
    "pancake": (["kitchen 1", "living room 1", "bedroom 1"], 2),
    "cupcake": (["kitchen 1", "living room 1", "bedroom 1"], 0),
    "juice": None,
}


def script():
    yield "Think: There are four subgoals, in any order."
    yield "Expand:\nparallel:\n" + "".join(f"- move the {t} on the kitchen table\n" for t in THINGS)
    for thing in THINGS:
        yield f"Think: To move the {thing}, two subgoals one after the other."
        yield f"Expand:\nsequence:\n- find and pick up the {thing}\n- find the kitchen table and put down the {thing}\n"
        if FOUND[thing] is None:
            yield f"Think: I need to know where the {thing} is."
        else:
            rooms, right = FOUND[thing]
            yield f"Think: The {thing} may be in one of {len(rooms)} rooms."
            yield "Expand:\nfallback:\n" + "".join(f"- find and pick up the {thing} in {room}\n" for room in rooms)
            for at in range(right + 1):
                yield "Act: go left"
                yield "Act: done" if at == right else "Act: failure"
        if FOUND[thing] is None:
            yield "Act: go right"
            yield "Act: done"
        yield "Act: jump"
        yield "Act: done"


def shape(node):
    """kind, goal or nothing, status, and the same below; the trees around agents are left out."""
    kind = node.spec.kind.name
    if kind == "tree":
        return shape(node.children[0]) if node.children else ("tree",)
    inner = [shape(c) for c in node.children]
    return (kind, getattr(node, "goal", ""), node.status.name.lower(), inner)


def test_the_tree_of_listing_11_grows_as_published(start):
    lines = script()
    goal = "Put the apple, pancake, cupcake, and juice on the kitchen table."
    run = start("reactree", lambda ask: next(lines), world=Room(), goal=goal)
    assert run.spin(ticks=2000) is SUCCESS
    kind, said, status, (parallel,) = shape(run.parts.engine.root)
    assert (kind, said, status) == ("agent", goal, "success")
    assert parallel[0] == "parallel" and len(parallel[3]) == 4
    for thing, branch in zip(THINGS, parallel[3], strict=True):
        assert branch[:3] == ("agent", f"move the {thing} on the kitchen table", "success")
        (sequence,) = branch[3]
        find, put = sequence[3]
        assert sequence[0] == "sequence"
        assert find[:3] == ("agent", f"find and pick up the {thing}", "success")
        assert put == ("agent", f"find the kitchen table and put down the {thing}", "success", [])
        if FOUND[thing] is None:
            assert find[3] == []
            continue
        rooms, right = FOUND[thing]
        (fallback,) = find[3]
        assert fallback[0] == "fallback"
        assert [c[2] for c in fallback[3]] == ["failure"] * right + ["success"] + ["invalid"] * (len(rooms) - right - 1)
        tried = [f"find and pick up the {thing} in {room}" for room in rooms[: right + 1]]
        assert [c[1] for c in fallback[3][: right + 1]] == tried
    agents = [n for n in run.nodes() if n.spec.kind.name == "agent" and n.ending is not None]
    assert len(agents) == 1 + 4 + 8 + 2 + 3 + 1  # the root, four moves, eight halves, and the rooms that were tried
