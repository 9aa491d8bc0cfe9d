"""The world is shown as it stands; looking never stands in the way of acting."""

from __future__ import annotations

import struct
import threading
import zlib
from types import SimpleNamespace

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli.running.screen import screen
from bt_runtime.clock import Manual
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.scene import picture
from bt_runtime.run.view.watch import RunWatch
from bt_runtime.run.view.world_watcher import WorldWatcher
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Observation
from tests.run.view.scenes import HOSTILE, craft_run, house_run


def test_a_house_shows_every_thing_once_where_it_is():
    with house_run(clock=Manual()) as run:
        world = run.parts.resources.world
        for _ in range(60):
            run.tick()
            seen = picture(world)
            things = [t["name"] for room in seen["rooms"] for place in room["places"] for t in place["things"]]
            assert sorted(things + seen["hands"]) == sorted(world.state.name(i) for i in range(len(world.state.kinds)))
            here = [room["name"] for room in seen["rooms"] if room["here"]]
            assert here == [world.house.rooms[world.state.bodies[0].room].name]


def test_a_world_that_goes_on_drawing_into_one_object_is_shown_as_it_changes():
    drawn = {"is": "text", "text": "a"}
    world, said = SimpleNamespace(picture=lambda: drawn, instant=True), []
    looker = WorldWatcher(world, lambda seen: said.append(dict(seen)))
    for text in "abb":
        drawn["text"] = text
        looker.after_tick()
    assert [seen["text"] for seen in said] == ["a", "b"]


def test_the_bag_of_textcraft_is_what_was_fetched_and_crafted():
    with craft_run(clock=Manual()) as run:
        feed = Feed()
        RunWatch(run, feed)
        assert feed.picture().latest["world"]["picture"]["bag"] == {}
        run.spin(ticks=50)
        seen = feed.picture().latest["world"]["picture"]
        assert seen["goal"] in seen["bag"] and seen["goal"] in seen["crafted"]


def test_a_camera_s_frame_becomes_a_png_of_the_same_pixels():
    rgb = bytes(range(36))
    seen = picture(
        SimpleNamespace(frame=lambda: SimpleNamespace(width=4, height=3, rgb=rgb), look=lambda: Observation(""))
    )
    import base64

    data = base64.b64decode(seen["png"])
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and struct.unpack(">2I", data[16:24]) == (4, 3)
    length = struct.unpack(">I", data[33:37])[0]
    rows = zlib.decompress(data[41 : 41 + length])
    assert b"".join(rows[i + 1 : i + 13] for i in range(0, 39, 13)) == rgb


def test_a_world_that_breaks_while_it_is_looked_at_is_shown_as_that():
    def broken():
        raise RuntimeError("no light")

    assert "no light" in picture(SimpleNamespace(look=broken))["text"]
    assert picture(None) is None and picture(SimpleNamespace()) is None


class Robot:
    """A slow world; it notes who looks when."""

    instant = False

    def __init__(self) -> None:
        self.acting = threading.Lock()
        self.looked: list[tuple[str, bool]] = []
        self.done = 0

    def act(self, sentence: str) -> Observation:
        with self.acting:
            self.done += 1
        return Observation(f"did {sentence}")

    def skills(self) -> list[str]:
        return ["wave"]

    def picture(self):
        self.looked.append((threading.current_thread().name, self.acting.locked()))
        return {"is": "text", "text": f"waved {self.done} times"}


def test_a_slow_world_is_looked_at_in_the_thread_that_has_just_acted_and_never_in_the_tick():
    world, model = Robot(), ScriptedModel(["Act: wave", "Act: wave", "Act: done"])
    with Run(load("react"), inputs={"goal": "wave twice"}, world=world, model=model) as run:
        feed = Feed()
        RunWatch(run, feed)
        before = len(world.looked)
        ticker = threading.current_thread().name
        assert run.spin(seconds=120) is SUCCESS
        assert [name == ticker for name, _ in world.looked[before:]] == [False, False]
        assert feed.picture().latest["world"]["picture"]["text"] == "waved 2 times"


class Dial(Skill):
    """A skill that can be looked at."""

    def start(self) -> None:
        self.at = 0

    def poll(self) -> Status:
        self.at += 1
        return Status.RUNNING if self.at < 4 else Status.SUCCESS

    def picture(self):
        return {"is": "text", "text": f"at {self.at}"}


def test_a_skill_with_a_picture_is_shown_where_there_is_no_world_while_somebody_looks_on(monkeypatch):
    monkeypatch.setattr("bt_runtime.run.view.world_watcher.EVERY", 0)
    tree, feed = load("version: 1\ntree: t\nroot:\n  turn: {}\n", skills=[skill(name="turn")(Dial)]), Feed()
    with Run(tree) as run:
        watch = RunWatch(run, feed)
        run.tick()
        assert "world" not in feed.picture().latest, "nobody looks"
        feed.enter()
        run.tick()
        assert feed.picture().latest["world"]["picture"] == {"is": "text", "text": "at 2"}
        run.spin()
        watch.end(run.status)
    assert feed.picture().latest["world"]["picture"] == {"is": "text", "text": "at 4"}


def test_the_terminal_s_picture_fits_the_window_and_obeys_nothing_that_is_in_it():
    with house_run(clock=Manual()) as run:
        feed = Feed()
        RunWatch(run, feed)
        feed.put({"k": "agent", "t": 0.0, "id": 0, "what": "goal", "goal": HOSTILE})
        for tick in range(94):
            run.tick()
            if tick % 10:
                continue
            for lines, width in ((1, 1), (5, 20), (24, 80), (200, 400)):
                shown = screen(feed.picture(), lines, width, False)
                assert len(shown) <= max(2, lines) and all(len(line) <= width for line in shown)
                assert all(line.isprintable() for line in shown)
    assert screen(PagePicture(), 24, 80, True)
