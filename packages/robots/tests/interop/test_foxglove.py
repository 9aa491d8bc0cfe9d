"""The panels of docs/foxglove.json look at topics and fields that a recording has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import bt_runtime as bt
from bt_robots.recordings.mcap import TOPICS

LAYOUT = json.loads((Path(__file__).parents[4] / "docs" / "foxglove.json").read_text("utf-8"))


def test_every_panel_of_the_layout_looks_at_a_topic_and_a_field_that_there_is() -> None:
    panels = LAYOUT["configById"]
    paths = [path["value"] for panel in panels.values() for path in panel.get("paths", ())]
    paths += [panel[key] for panel in panels.values() for key in ("topicToRender", "topicPath") if key in panel]
    assert len(paths) == len(panels)
    for path in paths:
        topic = re.match(r"[a-z/]+", path)
        assert topic is not None
        fields = TOPICS[topic[0]].fields
        for name in re.findall(r"[.{]([a-z]+)", path):
            assert name in fields or name in fields["changes"]["items"]["properties"]
    tree = bt.load("countdown").spec
    assert f'"/{tree.name}"' in paths[0] and f'"{next(iter(tree.inputs))}"' in paths[1]
