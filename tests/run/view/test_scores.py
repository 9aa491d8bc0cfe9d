"""The page of a recorded run shows how likely a model finds each option of a decision, token by token."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")
pytest.importorskip("llama_cpp", reason="needs the llm extra")

from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli.running.scoring import Scoring
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.run.view import Feed
from bt_runtime.run.view.recorded import events_of
from bt_runtime.run.view.runs import answered
from bt_runtime.run.view.server import Server
from tests.run.view.browser import Browser, missing
from tests.support.random_models import Shape, make_gguf
from tests.support.room import Room

TREE = "version: 1\ntree: t\nroot:\n  agent: {goal: be at the left, recall: false}\n"
LINES = ["Think: I go.", "Act: go left", "Act: done"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return str(make_gguf(tmp_path_factory.mktemp("model") / "micro.gguf", Shape(context=8192)))


@pytest.fixture
def journal(tmp_path):
    with Run(load(TREE), world=Room(), model=ScriptedModel(LINES), clock=Manual(), journal=tmp_path) as run:
        run.spin(ticks=60)
    (path,) = tmp_path.glob("*.btr")
    return path


def command(path, model):
    return Scoring(model).of_journal(path, lambda name, given: answered(path, name, given))


def decided(path) -> list[dict]:
    return [e for e in events_of(path) if e["k"] == "agent" and e["what"] == "decision"]


def test_a_decision_on_the_page_names_the_question_that_was_asked_for_it(journal):
    """Its number leads to the recorded question of that node with options; thoughts are asked for in between."""
    asked = [e for e in Recording(journal).events if e.kind == "ask"]
    steps = [e["step"] for e in decided(journal)]
    assert len(steps) == 3 and steps == sorted(set(steps))
    assert all(Recording(journal).body(asked[step - 1])["what"] != "write" for step in steps)
    assert len(asked) > len(steps)


def test_a_decision_is_scored_by_the_model_of_the_page(journal, file):
    """A child process scores what was offered then: the moves, and the sentences that could be done."""
    step = decided(journal)[1]["step"]
    told = command(journal, file)("scores", {"step": step})
    moves, acts = told["places"]
    assert {row["option"] for row in moves["options"]} == {"Think:", "Act:"}
    assert {"go left", "done", "failure"} <= {row["option"].strip() for row in acts["options"]}
    assert all(0 <= piece["probability"] <= 1 for row in acts["options"] for piece in row["pieces"])


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (None, {"step": 1}, "--model FILE"),
        ("no.gguf", {"step": 1}, "no.gguf"),
        ("x", {"step": "1"}, "number of a decision"),
        ("x", {}, "number of a decision"),
    ],
)
def test_what_cannot_be_scored_is_said_on_the_page(journal, model, given, said):
    """Without a model it says how to name one; a file that is not there, and a number that is none, are told."""
    with pytest.raises(BtError) as told:
        command(journal, model)("scores", given)
    assert said in told.value.message


def test_other_requests_of_the_page_are_answered_as_before(journal):
    """`why` goes on to who answers it."""
    assert command(journal, None)("why", {"path": "/t", "at": None})["sentences"]


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_the_page_asks_when_the_line_is_opened_and_shows_each_token(journal):
    """Opened once it asks once; the chosen option stands out; a fault is told in its place."""
    asked, there = [], threading.Event()
    row = {"option": " go left", "score": -0.5, "prior": -3.0, "end": 0.9, "merged": 0, "broken": False}
    row["pieces"] = [{"text": " go", "probability": 0.7}, {"text": " <b>left", "probability": 0.96}]

    def heard(name, given):
        asked.append((name, given["step"]))
        if not there.is_set():
            raise BtError("no model is named", "name one")
        return {"model": "micro.gguf", "places": [{"opening": "Act:", "options": [row], "left_out": 2}]}

    feed = Feed(most=None)
    feed.put(*events_of(journal))
    feed.close()
    server = Server(feed, heard)
    try:
        with Browser() as browser:
            browser.open(server.url)
            browser.until("window.btr && btr.history.last > 1")
            browser.js("btr.latest(); btr.goTo([...btr.fold.nodes.values()].find((n) => n.kind === 'agent').id)")
            browser.keys("1")
            browser.until("document.querySelectorAll('details.scores').length === 3")
            line = "document.querySelectorAll('details.scores')[1]"
            browser.js(f"{line}.querySelector('summary').click()")
            browser.until(f"{line}.textContent.includes('no model is named')")
            there.set()
            browser.js(f"{line}.open = false")
            browser.js(f"{line}.open = true")
            browser.until(f"{line}.querySelectorAll('.token').length === 3")
            assert "<b>left" in browser.js(f"return {line}.querySelector('tr.chosen').textContent")
            assert "and 2 less likely ones" in browser.js(f"return {line}.textContent")
            browser.console()
    finally:
        server.close()
    step = decided(journal)[1]["step"]
    assert asked == [("scores", step), ("scores", step)]
