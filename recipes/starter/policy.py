"""A policy: what a teacher's agent says line by line, and its end, played against what was done already."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from bt_runtime.agents.story import StoryStep

Policy = Generator[str, None, bool]


def played(policy: Policy, steps: Iterable[StoryStep], note: Callable[[StoryStep], None]) -> tuple[str, bool]:
    """What a policy says next, after all that was done was played against it; and whether that is its end."""
    try:
        line = next(policy)
        for step in steps:
            note(step)
            line = policy.send(None)
    except StopIteration as end:
        return ("Act: done" if end.value else "Act: failure"), True
    return line, False


class Thinks:
    """Who thinks aloud; `step` is what was done last."""

    step: StoryStep

    def _think(self, text: str) -> Policy:
        """Once: another thought in its place was heard too, and is not argued with."""
        while True:
            yield f"Think: {text}"
            if self.step.move == "think":
                return True
