"""A loop of AutoPlan on the page: live and from its journal, with every episode, reflection and rewriting."""

from __future__ import annotations

from contextlib import ExitStack

from bt_lab.optimise.loop import optimise
from bt_lab.optimise.setup import OptimiseSetup, draw
from bt_runtime.agents import ScriptedModel
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.recorded import events_of
from bt_runtime.run.view.watch import RunWatch
from packages.lab.tests.bench.optimise.learner import KNOWS, Learner
from tests.support.pictures import as_it_is, as_shown

SETUP = OptimiseSetup("textcraft", "depth 1", batch=2, validation=1, seed=1)


def test_the_page_shows_the_same_live_and_recorded_and_nothing_of_the_loop_is_missing(tmp_path):
    aside, batches = draw(SETUP, 1)
    feed, shapes = Feed(most=None), []

    def watch(run):
        stack = ExitStack()
        watching = RunWatch(run, feed)
        stack.callback(lambda: (watching.end(run.status), shapes.append(as_it_is(run))))
        return stack

    model = ScriptedModel(Learner([*aside, *batches[0]]))
    optimise(SETUP, tmp_path / "p", 1, model=model, journal=tmp_path / "runs", watch=watch)
    (file,) = (tmp_path / "runs").glob("*.btr")
    live, shown = feed.picture(), PagePicture(events_of(file))
    assert as_shown(live) == as_shown(shown) == shapes[0]
    for picture in (live, shown):
        told = [event for events in picture.told.values() for event in events]
        by_kind = {what: [e for e in told if e["what"] == what] for what in ("reflection", "rewriting", "outcome")}
        # the episodes of the first scoring are gone from the tree: the second one has taken their place
        assert [len(by_kind[what]) for what in by_kind] == [2, 1, 3]
        assert all(e["summary"] and e["flaw"] and e["revision"] for e in by_kind["reflection"])
        assert KNOWS in by_kind["rewriting"][0]["plan"]
