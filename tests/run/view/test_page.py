"""The page in a real browser: it loads, follows a live run, scrubs a recorded one, and shows hostile text as text."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from bt_runtime import Person, Run, Status, View, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import Answered, Tick
from bt_runtime.run.view import Feed
from bt_runtime.run.view.afterwards import ask
from bt_runtime.run.view.page import whole
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.browser import Browser, missing
from tests.run.view.scenes import HOSTILE, craft_run, depot_run, hostile_run, house_run, reasoning_run, wide_tree
from tests.support.pictures import as_it_is

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
SHOWN = """
  const f = btr.fold, out = [];
  const walk = (id) => { const n = f.nodes.get(id); out.push([f.path(id), n.status]); n.children.forEach(walk); };
  f.roots.forEach(walk);
  return out;
"""
SCRUB = "const t = document.getElementById('time'); t.value = arguments[0]; t.dispatchEvent(new Event('input'));"
CUT_OFF = """
  const inside = (r) => r.right <= innerWidth + 1 && r.bottom <= innerHeight + 1;
  const all = [...document.querySelectorAll('header > *, footer > *, nav > *, #tools > *')];
  return all.filter((e) => e.offsetParent && !inside(e.getBoundingClientRect())).map((e) => e.id);
"""
FOLDED = """
  const h = btr.history.head;
  const board = [...h.board.values()].map((e) => [e.scope, e.name, e.value]);
  const told = [...h.told].map(([id, t]) => [id, t.length]), goals = [...h.goals].map(([id, e]) => [id, e.goal]);
  const counts = [...h.nodes.values()].map((n) => [n.id, n.begun, n.ended, n.tick, n.acted]);
  const past = [...h.past].map(([key, past]) => [key, past.map((each) => each[2])]);
  const facts = [...h.nodes.values()].map((n) => [n.id, n.facts]);
  return { board, told, goals, counts, past, facts, lines: h.lines.length };
"""


def shown(browser: Browser):
    return [tuple(row) for row in browser.js(SHOWN)]


def recording(run: Run, ticks: int = 500) -> list:
    feed = Feed(most=None)
    watch = RunWatch(run, feed)
    run.spin(ticks=ticks)
    watch.end(run.status)
    return feed.after(None, most=10**9).events


@pytest.fixture
def file(tmp_path):
    def write(events: list) -> str:
        (tmp_path / "page.html").write_text(whole(events), encoding="utf-8")
        return (tmp_path / "page.html").as_uri()

    return write


def test_the_page_follows_a_live_run_to_its_end(browser, artefact):
    with house_run(clock=Manual()) as run, View(run) as view:
        browser.open(view.url)
        browser.until("btr.fold.nodes.size > 0")
        for _ in range(30):
            run.tick()
        browser.until("btr.fold.tick === 30")
        assert shown(browser) == as_it_is(run)
        browser.until("document.querySelectorAll('.step').length > 0")
        assert browser.js("return document.querySelector('#status').textContent") == "running"
        browser.screenshot(artefact / "live.png")
        run.spin(ticks=500)
        view.finish()
        browser.until("btr.fold.latest.over !== undefined")
        browser.until("document.querySelector('#status').textContent.startsWith('succeeded')")
        assert shown(browser) == as_it_is(run)
        assert "3/3 met" in browser.js("return document.querySelector('#status').textContent")


def test_grafts_appear_where_they_grow(browser):
    with house_run(clock=Manual()) as run, View(run) as view:
        browser.open(view.url)
        browser.until("document.querySelectorAll('.box').length === 1")
        while run.parts.engine.nodes == 1:
            run.tick()
        browser.until(f"document.querySelectorAll('.box.grown').length === {run.parts.engine.nodes - 1}")


def test_pause_step_and_halt_from_the_page(browser):
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 1000\n"), hz=200) as run, View(run) as view:
        browser.open(view.url)
        spin = threading.Thread(target=run.spin)
        spin.start()
        try:
            browser.until("!document.getElementById('controls').hidden")
            browser.click("#pause")
            browser.until("document.querySelector('#status').textContent === 'paused'")
            browser.click("#step")
            browser.click("#pause")
            browser.until("document.querySelector('#status').textContent === 'running'")
            browser.click("#halt")
            assert not run.parts.runner.stopped, "once is no more than a question"
            browser.click("#halt")
            spin.join(60)
            assert run.parts.runner.stopped == "stopped from the page"
        finally:
            run.parts.runner.halt("the test is over")
            spin.join(60)


def test_a_person_answers_yes_or_no_or_in_words_from_the_page(browser):
    @skill("fell the {tree}", confirm=True)
    def fell(tree: str) -> None:
        pass

    text = "version: 1\ntree: t\nroot:\n  sequence: [fell: oak, agent: {goal: walk, moves: [act, ask]}]\n"
    model, heard = ScriptedModel(["Ask: which <b>way</b>?", "Act: done"]), []
    tree = load(text, skills=[fell])
    with Run(tree, model=model, services={"person": Person()}) as run, View(run) as view:
        run.listen(lambda answer: heard.append(answer.answer), Answered)
        browser.open(view.url)
        spin = threading.Thread(target=run.spin)
        spin.start()
        try:
            browser.until("document.querySelectorAll('#asks button').length === 2")
            browser.click("#asks button")
            browser.until("document.querySelector('#asks input') !== null")
            assert "which <b>way</b>?" in browser.js("return document.querySelector('#asks').textContent")
            browser.js("document.querySelector('#asks input').value = 'to the left'")
            browser.click("#asks button")
            browser.until("document.getElementById('asks').hidden")
            spin.join(60)
            assert heard == ["yes", "to the left"] and run.status is Status.SUCCESS
            view.finish()
            said: list[str] = []
            late = threading.Thread(target=lambda: said.append(ask(view, "+ a line\nwrite it?")), daemon=True)
            late.start()
            browser.until("document.querySelectorAll('#asks button').length === 2")
            browser.click("#asks button")
            late.join(60)
            assert said == ["yes"], "also when the run is over"
        finally:
            run.parts.runner.halt("the test is over")
            spin.join(60)


def test_a_recorded_run_is_scrubbed_forward_and_back_to_the_same_states(browser, file, artefact):
    states = {}
    with house_run(clock=Manual()) as run:
        run.listen(lambda tick: states.update({tick.number: as_it_is(run)}), Tick)
        events = recording(run)
    browser.open(file(events))
    browser.until("window.btr && btr.history.last > 50")
    assert shown(browser) == states[max(states)]
    assert browser.js("return document.getElementById('status').textContent").startswith("succeeded")
    for moment in (40, 10, 77, 3, 78, 1):
        browser.js(
            "const t = document.getElementById('time'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))",
            moment,
        )
        tick = browser.js("return btr.fold.tick")
        assert shown(browser) == states[tick]
    browser.js(SCRUB, 60)
    browser.until("document.querySelectorAll('.box').length > 5")
    browser.screenshot(artefact / "recorded.png")
    before = browser.js("return btr.moment")
    browser.keys("]")
    browser.until(f"btr.moment === {before + 1}")
    browser.keys("l")
    browser.until("btr.moment === null")
    assert shown(browser) == states[max(states)]


def test_playing_a_recording_comes_to_its_end(browser, file):
    with craft_run(clock=Manual()) as run:
        browser.open(file(recording(run)))
    browser.until("window.btr && btr.history.last > 1")
    browser.js("window.at_ = []; const seek = btr.seek.bind(btr); btr.seek = (m) => { at_.push(m); seek(m); };")
    browser.keys(" ")
    browser.until("at_[0] === 0 && at_.length > btr.history.last && btr.moment === btr.history.last && !btr.playing")


@pytest.mark.parametrize("live", [True, False])
def test_what_a_model_writes_is_text_whatever_it_writes(browser, file, live):
    with hostile_run(clock=Manual()) as run:
        if live:
            with View(run) as view:
                browser.open(view.url)
                run.spin(ticks=20)
                view.finish()
                unharmed(browser)
        else:
            browser.open(file(recording(run, 20)))
            browser.until("window.btr && btr.history.last > 0")
            browser.keys("l")
            unharmed(browser)


def unharmed(browser: Browser) -> None:
    browser.until("btr.fold.latest.over !== undefined")
    for tab, key in (("node", "1"), ("board", "2"), ("world", "3"), ("log", "4")):
        browser.keys(key)
        browser.until(f"btr.panel.tab === '{tab}' && !btr.panel.stale")
        assert browser.js("return document.querySelectorAll('#panel img, #panel script, #tree image').length") == 0
        assert browser.js("return document.title") == "react"
    browser.keys("1")
    browser.until("document.querySelector('#panel').textContent.includes('onerror')")
    text = browser.js("return document.body.textContent")
    assert "\u202e" not in text and "\x1b" not in text and "‹U+202E›" in text
    assert "שלום" in text and "🤖" in text
    assert HOSTILE[:30] in browser.js("return document.querySelector('.step .said').textContent")


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_world_from_above_is_drawn_in_metres_whatever_is_in_it(browser, file, spoilt):
    """Every wall, mark and thing is a shape; what is no number, or is markup, draws nothing and says itself as text."""
    seen = {
        "is": "map", "size": [16, 10], "walls": [[0, 0, 16, 0.5]], "marks": [[3, 4]], "cell": 0.25,
        "path": [[1, 1], [2, 3]], "places": [{"name": "shelf a", "x": 2, "y": 8, "seen": True}],
        "things": [[5, 5, 0.3, "box"], [6, 5, 0.3, "walker"]],
        "target": [4, 4], "robot": [1, 2, 0.5, 0.2], "stuck": True, "text": "driving",
    }  # fmt: skip
    if spoilt:
        seen |= {
            "size": "wide",
            "walls": [[HOSTILE] * 4, 7],
            "things": [[1, 1, 1, HOSTILE]],
            "robot": [None],
            "text": HOSTILE,
        }
    world = SimpleNamespace(act=None, instant=True, picture=lambda: seen)
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 1\n"), world=world, clock=Manual()) as run:
        browser.open(file(recording(run, 3)))
    browser.until("window.btr && btr.history.last > 0")
    browser.keys("l")
    browser.keys("3")
    browser.until("document.querySelector('#panel .ground')", 60)
    count = "return document.querySelectorAll('#panel .ground:not(.key) .{}').length"
    found = {
        name: browser.js(count.format(name)) for name in ("wall", "mark", "box", "walker", "place", "way", "robot")
    }
    wanted = dict.fromkeys(found, 1)
    assert found == (wanted | {"wall": 0, "robot": 0, "walker": 0} if spoilt else wanted)
    assert browser.js("return document.querySelectorAll('#panel img, #panel script').length") == 0
    assert (HOSTILE[:20] if spoilt else "driving · stuck") in browser.js(
        "return document.querySelector('#panel').textContent"
    )


def test_search_finds_nodes_that_are_folded_away_and_keys_move_in_the_tree(browser, file):
    with Run(load(wide_tree(40, 6)), clock=Manual()) as run:
        events = recording(run, 3)
    browser.open(file(events))
    browser.until("document.querySelectorAll('.box').length > 3")
    browser.keys("/")
    browser.keys("shelf_33\ue007")  # Enter
    browser.until("document.querySelectorAll('.box.hit').length === 1")
    assert browser.js("return btr.fold.nodes.get(btr.chosen).name") == "shelf_33"
    browser.js("document.getElementById('search').blur()")
    browser.keys("\ue013")  # up
    assert browser.js("return btr.fold.nodes.get(btr.chosen).name") == "shelf_32"
    browser.keys("\ue012")  # left
    assert browser.js("return btr.fold.path(btr.chosen)") == "/warehouse"
    browser.keys("e")
    browser.until("btr.tree.places.size === btr.fold.nodes.size")


def test_two_thousand_nodes_at_a_hundred_hertz_stay_smooth(browser, artefact):
    with Run(load(wide_tree(100, 18)), hz=100) as run, View(run) as view:
        browser.open(view.url)
        browser.until("btr.fold.nodes.size > 1900")
        browser.js("window.frames_ = 0; const beat = () => { frames_++; requestAnimationFrame(beat); }; beat();")
        spin = threading.Thread(target=run.spin, kwargs={"ticks": 300})
        spin.start()
        spin.join(60)
        frames, drawn = browser.js("return [frames_, btr.tree.drawn.size]")
        browser.screenshot(artefact / "two_thousand.png")
        view.finish()
        browser.until("btr.fold.latest.over !== undefined")
        assert shown(browser) == as_it_is(run)
        assert drawn < 400, "only what is in sight is drawn"
        assert frames > 30, "the page stood still"


def test_a_page_without_its_token_says_what_to_do(browser):
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 1\n")) as run, View(run) as view:
        browser.open(view.url.split("#")[0])
        browser.until("!document.getElementById('notice').hidden")
        assert "#" in browser.js("return document.getElementById('notice').textContent")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_cut_off_in_a_small_window(file, artefact, dark):
    with house_run(clock=Manual()) as run:
        address = file(recording(run))
    with Browser(700, 500, dark=dark) as browser:
        browser.open(address)
        browser.until("window.btr && btr.history.last > 50")
        browser.js("btr.seek(60)")
        browser.until("document.querySelectorAll('.step').length > 0")
        wide = browser.js(CUT_OFF)
        assert wide == [] and browser.js("return document.documentElement.scrollWidth") <= 700
        browser.screenshot(artefact / f"small{'_dark' if dark else ''}.png")
        assert not browser.console()


def test_the_page_folds_events_as_python_does(browser, file):
    """`fold.js` and `picture.py` are two hands of one rule."""

    def told(row):
        return json.dumps(row, sort_keys=True)

    with house_run(clock=Manual()) as run:
        events = json.loads(json.dumps(recording(run)))
    browser.open(file(events))
    browser.until("window.btr && btr.history.last > 50")
    picture = PagePicture(events)
    head = browser.js(FOLDED)
    board = [[scope, name, event["value"]] for (scope, name), event in picture.board.items()]
    assert sorted(map(told, head["board"])) == sorted(map(told, board))
    assert sorted(head["told"]) == sorted([id, len(told)] for id, told in picture.told.items())
    assert sorted(head["goals"]) == sorted([id, e["goal"]] for id, e in picture.goals.items())
    assert head["lines"] == len(picture.lines)
    spots = picture.spots.values()
    assert sorted(head["counts"]) == sorted([s.id, s.begun, s.ended, s.tick, s.acted] for s in spots)
    past = [["\0".join(key), [value for _, _, value in values]] for key, values in picture.past.items()]
    assert sorted(map(told, head["past"])) == sorted(map(told, past))
    assert sorted(map(told, head["facts"])) == sorted(told([s.id, s.facts or None]) for s in spots)


def test_follow_shows_the_skill_at_work_and_not_what_waits_beside_it(browser, tmp_path, file):
    with depot_run(tmp_path, hz=100) as run:
        events = recording(run, 20)
    browser.open(file(events))
    browser.until("window.btr && btr.history.last > 5")
    browser.js("btr.seek(8)")
    browser.until("btr.fold.runs()?.kind === 'drive_to'")
    browser.until("document.querySelector('#panel').textContent.includes('m to hall')")
    browser.until("document.querySelector('#crumbs').textContent.endsWith('drive_to')")


def test_a_hit_among_two_thousand_nodes_stands_in_the_middle_and_can_be_read(browser, file):
    with Run(load(wide_tree(100, 18)), clock=Manual()) as run:
        events = recording(run, 2)
    browser.open(file(events))
    browser.until("btr.fold.nodes.size > 1900")
    browser.keys("z/")
    browser.keys("shelf_77\ue007")
    browser.until("document.querySelectorAll('.box.hit.chosen').length === 1")
    middle = """
      const box = document.querySelector('.box.hit.chosen').getBoundingClientRect();
      const stage = document.getElementById('tree').getBoundingClientRect();
      return [box.x + box.width / 2 - stage.x - stage.width / 2, box.y + box.height / 2 - stage.y - stage.height / 2];
    """
    browser.until("btr.tree.at.scale >= 0.72 && !btr.waiting")
    assert all(abs(off) < 40 for off in browser.js(middle))


def test_the_node_panel_tells_all_that_is_known(browser, tmp_path, file):
    with depot_run(tmp_path, hz=200) as run:
        events = recording(run, 200)
    browser.open(file(events))
    browser.until("window.btr && btr.history.last > 5")
    browser.js("btr.latest()")

    def panel(kind: str) -> str:
        browser.js("btr.goTo([...btr.fold.nodes.values()].find((n) => n.kind === arguments[0]).id)", kind)
        browser.until(f"btr.panel.parts.node.of === btr.chosen && btr.fold.nodes.get(btr.chosen).kind === '{kind}'")
        return str(browser.js("return document.querySelector('#panel').textContent"))

    check = panel("check")
    assert (
        "depot.yaml:19" in check and "battery > 0.5" in check and "battery = 0." in check and "very tick" not in check
    )
    browser.js("btr.seek(btr.history.marks.find((mark) => mark.kind === 'bad').moment + 1)")
    broken = panel("open_door")
    assert "the handle came off" in broken and "test_page" not in broken and "scenes.py" in broken
    assert "→ " in broken and "Writes" in broken
    ports = panel("tree")
    assert "place" in ports and "input, string" in ports and "output, list" in ports
    assert browser.js("return [...document.querySelectorAll('#trees button')].map((b) => b.textContent.slice(-6))") == [
        "depot", "survey"
    ]  # fmt: skip
    browser.js("document.querySelectorAll('#trees button')[1].click()")
    browser.until("btr.tree.places.size === 4 || btr.tree.places.size === 3")
    browser.keys("t")
    browser.until("btr.tree.down && [...btr.tree.places.values()].every((p) => !p.parent || p.y > p.parent.y)")


def test_an_entry_is_written_from_the_page_and_what_does_not_fit_is_said_there(browser):
    text = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 1}}\nroot:\n  wait: 99\n"
    with Run(load(text)) as run, View(run) as view:
        browser.open(view.url)
        run.tick()
        browser.until("window.btr && btr.fold.board.size")  # a key before the page listens goes nowhere
        browser.keys("2")
        browser.until("document.querySelector('[data-write]')")
        browser.click("[data-write]")
        browser.js("document.querySelector('.writing input').value = '\"five\"'")
        browser.click(".writing button")
        browser.until("document.querySelector('.wrong')?.textContent.includes('takes an integer')")
        browser.js("document.querySelector('.writing input').value = '5'")
        browser.click(".writing button")
        browser.until("btr.fold.board.get('\\u0000n').value === 5")
        browser.until("document.querySelector('.slot').textContent.includes('a person, on this page')")
        assert run.blackboard["n"] == 5
        browser.console()  # the refusal is an answer of 409, which the browser notes


def test_the_page_says_why_the_run_failed_and_leads_there(browser, file):
    with Run(load("version: 1\ntree: t\nroot:\n  sequence:\n    - log: a\n    - check: 1 + 1 > 2\n")) as run:
        browser.open(file(recording(run)))
    browser.until("window.btr && btr.history.last > 0")
    browser.js("btr.latest()")
    browser.until("!document.getElementById('blame').hidden")
    assert browser.js("return document.getElementById('blame').textContent") == (
        "Failed at /t/1: `1 + 1 > 2` does not hold"
    )
    browser.click("#blame")
    browser.until("btr.fold.path(btr.chosen) === '/t/1'")


def test_what_a_model_reasoned_is_folded_away_and_a_trimmed_story_says_so(browser, file, artefact):
    """Opened by a click; what was left out of the prompt is told between the steps, which stay where they are."""
    events = recording(reasoning_run())
    browser.open(file(events))
    browser.until("window.btr && btr.history.last > 5")
    browser.js("btr.latest(); btr.goTo([...btr.fold.nodes.values()].find((n) => n.kind === 'agent').id)")
    browser.keys("1")
    browser.until("document.querySelectorAll('.step.reasoning').length >= 3")
    folded = browser.js("return [...document.querySelectorAll('.step.reasoning details')].map((d) => d.open)")
    assert folded and not any(folded)
    said = "return document.querySelector('.step.reasoning pre').textContent"
    assert browser.js(said).startswith("The room is empty")
    assert browser.js("return document.querySelector('.step.reasoning pre').checkVisibility()") is False
    browser.js("document.querySelector('.step.reasoning summary').click()")
    assert browser.js("return document.querySelector('.step.reasoning pre').checkVisibility()") is True
    assert "oldest of" in browser.js("return document.querySelector('.step.trimmed').textContent")
    browser.screenshot(artefact / "reasoning.png")
