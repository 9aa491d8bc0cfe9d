"""Events add up to the run: whoever looks on sees the tree as it is."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import Run, load
from bt_runtime.clock import Manual
from bt_runtime.events import Line
from bt_runtime.journal.codec import patch, patched
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.plain import MOST_TEXT, plain
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.scenes import house_run, wide_tree
from tests.support.pictures import as_it_is, as_shown


def test_after_every_tick_the_picture_is_the_tree_with_its_grafts_and_cleared_results():
    with house_run(clock=Manual()) as run:
        feed = Feed()
        RunWatch(run, feed)
        grown = len(list(run.nodes()))
        for _ in range(60):
            run.tick()
            assert as_shown(feed.picture()) == as_it_is(run)
        assert len(list(run.nodes())) > grown + 20


LOOP = """
version: 1
tree: loop
blackboard: {n: {type: integer, default: 0}}
root:
  repeat:
    times: 3
    child:
      sequence:
        - reactive_fallback: [{check: n % 2 == 1}, {set: {n: "{n + 1}"}}]
        - wait: 0.01
        - log: {text: "again {n}", when: n < 100}
"""


def test_results_that_a_new_round_clears_without_a_word_are_cleared_in_the_picture():
    clock = Manual()
    with Run(load(LOOP), clock=clock) as run:
        feed = Feed()
        RunWatch(run, feed)
        for _ in range(20):
            run.tick()
            assert as_shown(feed.picture()) == as_it_is(run)
            clock.advance(0.02)


def test_a_replaced_an_inserted_and_a_removed_node_are_shown_where_they_stand():
    clock = Manual()
    with Run(load(LOOP.replace("- wait: 0.01", "- {wait: {seconds: 5, name: pause}}")), clock=clock) as run:
        feed = Feed()
        RunWatch(run, feed)
        run.tick()
        run.replace("/loop/0/pause", "wait: {seconds: 7, name: other}")
        run.tick()
        assert "/loop/0/other" in dict(as_shown(feed.picture()))
        run.insert("/loop/0", "log: hello", 0)
        run.remove("/loop/0/other")
        run.tick()
        assert as_shown(feed.picture()) == as_it_is(run)


def test_a_picture_says_itself_in_events_that_add_up_to_the_same():
    with house_run(clock=Manual()) as run:
        feed = Feed()
        RunWatch(run, feed)
        run.spin(ticks=50)
        first = feed.picture()
        again = PagePicture(json.loads(json.dumps(list(first.events()))))
        assert as_shown(again) == as_shown(first) and again.tick == first.tick
        for part in ("board", "goals", "prompts"):
            assert getattr(again, part) == getattr(first, part), part
        assert {k: list(v) for k, v in again.told.items()} == {k: list(v) for k, v in first.told.items()}


def test_a_reader_that_comes_late_or_is_slow_sees_what_one_sees_that_was_there_all_the_time():
    clock = Manual()
    with Run(load(wide_tree(6, 4)), clock=clock) as run:
        feed = Feed(most=50)
        RunWatch(run, feed)
        early, cursor = PagePicture(), None
        slow, slow_cursor = PagePicture(), None
        for tick in range(300):
            run.tick()
            clock.advance(0.01)
            part = feed.after(cursor)
            early, cursor = (PagePicture(part.events) if part.anew else _on(early, part.events)), part.cursor
            if tick in (0, 100, 200):
                part = feed.after(slow_cursor)
                slow, slow_cursor = (PagePicture(part.events) if part.anew else _on(slow, part.events)), part.cursor
        late = PagePicture(feed.after(None).events)
        part = feed.after(slow_cursor)
        slow = PagePicture(part.events) if part.anew else _on(slow, part.events)
        assert part.anew  # it had fallen behind the ring
        assert as_shown(early) == as_shown(late) == as_shown(slow) == as_it_is(run)


def _on(picture: PagePicture, events: list) -> PagePicture:
    for event in events:
        picture.take(event)
    return picture


def test_what_a_feed_keeps_is_bounded_however_long_the_run():
    feed = Feed(most=100)
    feed.put({"k": "shape", "t": 0.0, "add": [[0, -1, "a", "wait", "leaf", "", ""]], "gone": [], "order": {}})
    for n in range(5000):
        feed.put({"k": "tick", "t": n / 100, "n": n, "s": [[0, "RSF"[n % 3]]]})
    assert len(feed.after(None, most=10**9).events) < 120
    assert feed.picture().tick == 4999


def test_a_watcher_that_has_gone_leaves_nothing_behind():
    """Not its lines, nor what agents tell, nor ticks, writes and worlds: all of it goes on without being heard."""
    feed = Feed()
    with house_run(clock=Manual()) as run:
        listeners = run.parts.context.stream.count
        watch = RunWatch(run, feed)
        run.tick()
        watch.detach()
        watch.detach()
        before = feed.after(None, most=10**9).events
        run.parts.context.emit(Line("/x", "info", "said when it had gone"))
        run.spin(ticks=500)
        assert run.parts.context.stream.count == listeners
        assert feed.after(None, most=10**9).events == before and not watch.kept


rows = st.dictionaries(st.tuples(st.text(max_size=3), st.integers(0, 3)), st.text(max_size=3), max_size=6)


@settings(derandomize=True, max_examples=80)
@given(rows, rows)
def test_what_changed_in_working_memory_laid_over_what_was_gives_what_is(before, changed):
    def table(found):
        return {"things": [[*key, value] for key, value in found.items()], "facts": [], "here": ["", ""]}

    now = {**before, **changed}
    change = patch(table(before), table(now))
    assert change is not None and patched(table(before), change) == table(now)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(scalars, lambda s: st.lists(s) | st.dictionaries(st.text(), s), max_leaves=30)


@settings(derandomize=True, max_examples=80)
@given(values)
def test_any_value_becomes_json_that_a_browser_can_read(value):
    text = json.dumps(plain(value), allow_nan=False)
    text.encode("utf-8")


def test_huge_deep_and_broken_values_are_cut_and_never_raised():
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    deep: list = []
    deep.append(deep)
    assert len(plain("x" * 10**6)) == MOST_TEXT
    assert "broke" in plain(Broken())
    json.dumps(plain({"deep": deep, "many": list(range(10**5)), 3: {1, 2}, "lone": "\ud800"})).encode()
