"""A pretended robot: driving takes half a second, and can be taken back."""

import asyncio
import sys
import time

import bt_runtime as bt


class GoTo(bt.Skill):
    """One of these for each node of the tree."""

    def start(self, place: str) -> None:
        self.place = place
        self.arrives = time.monotonic() + 0.5
        self.feedback = f"driving to {place}"

    def poll(self) -> bt.Status:
        return bt.Status.SUCCESS if time.monotonic() >= self.arrives else bt.Status.RUNNING

    def cancel(self) -> None:
        print(f"(stops on the way to {self.place})", file=sys.stderr)


async def charge() -> float:
    """What a skill returns can be kept by the tree: `charge: {level: "{battery}"}`."""
    await asyncio.sleep(0.5)
    return 1.0
