"""Control nodes of mobile robots, with the meaning that Nav2 gives them."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind, Twin

_NODES = "bt_runtime.tree.nodes.navigation"
_CHILDREN = Field("children", "nodes", "The children, in order.", required=True)

PIPELINE = Kind(
    "pipeline", "control", "A sequence whose earlier children go on while the later ones run.",
    (_CHILDREN,), (
        "Every tick begins at the first child; one that succeeds, and one that is running although a later child has "
        "been reached before, hands over to the next one within the same tick.",
        "A child that is running keeps what comes after it waiting until it has succeeded for the first time.",
        "It succeeds when its last child has; children before it that are still running are then halted.",
        "A child that fails ends it with FAILURE, and all that is running is halted.",
        "A skipped child is passed over; when all were skipped it is skipped itself.",
    ),
    "pipeline:\n  - rate:\n      hz: 1\n      child:\n        check: battery > 0.2\n  - wait: 10\n",
    bare="children", impl=f"{_NODES}:Pipeline", onward="success", sign="→→",
    twin=Twin("PipelineSequence", standard=False),
)  # fmt: skip
RECOVERY = Kind(
    "recovery", "control", "Does something; when it fails, recovers and does it again.", (
        Field("do", "node", "What to do.", required=True),
        Field("recover", "node", "What to do when that has failed, before the next attempt.", required=True),
        Field("times", "integer", "How often it recovers: a whole number from 0, or -1 for ever.", default=1,
              minimum=0, extra=(-1,)),
    ), (
        "SUCCESS of `do` is SUCCESS; when it fails, `recover` is started within the same tick.",
        "When `recover` has succeeded, `do` is started again at the next tick; when it fails or is skipped, "
        "the node fails.",
        "A failure of `do` after `times` recoveries is a FAILURE; each start counts anew.",
        "A skipped `do` makes it skipped.",
    ),
    "recovery:\n  times: 3\n  do:\n    check: battery > 0.2\n  recover:\n    wait: 5\n",
    impl=f"{_NODES}:Recovery", waits=True, sign="⚑↺",
    twin=Twin("RecoveryNode", {"times": "number_of_retries"}, standard=False),
)  # fmt: skip
ROUND_ROBIN = Kind(
    "round_robin", "control", "Tries one child after another, and another one first each time.",
    (_CHILDREN,), (
        "A child that succeeds ends it with SUCCESS; the next start begins at the child after it, after the last at "
        "the first.",
        "A child that fails or is skipped hands over to the next one within the same tick; when each had its turn and "
        "failed, it fails, and when all were skipped, it is skipped.",
        "A running child is resumed at the next tick.",
        "After a FAILURE and after a halt the next start begins at the first child.",
    ),
    "round_robin:\n  - check: battery > 0.2\n  - wait: 5\n",
    bare="children", impl=f"{_NODES}:RoundRobin", sign="?⟳", twin=Twin("RoundRobin", standard=False),
)  # fmt: skip

NAVIGATION = (PIPELINE, RECOVERY, ROUND_ROBIN)
