"""The episode that every family is shown."""

from bt_runtime.agents.story import StoryStep

TODAY = "2026-01-31"
SYSTEM = "You are a robot in a house.\nThink, then act."
STEPS = [
    StoryStep("think", "The cup may be in 1 of the 2 cupboards."),
    StoryStep("act", "open cupboard 1", "It holds a cup, size 42, größer als 茶碗."),
]
