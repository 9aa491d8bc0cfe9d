"""Try by gestures: a tree plays by itself until somebody is needed, and a skill's next answer carries its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
SKILLS = """\
version: 1
skills: eyes
kinds:
  look:
    sentence: look
    outputs:
      things: list
      near: {type: integer, minimum: 0, maximum: 9}
      light: boolean
      colour: {type: string, choices: [red, blue]}
      word: string
"""
TREE = """\
version: 1
tree: main
skills: [eyes]
root:
  sequence:
    - wait: 0.3
    - look: {things: "{things}", near: "{near}", light: "{light}", colour: "{colour}", word: "{word}"}
    - log: "{things} {near} {light} {colour} {word}"
"""
PLAIN = "version: 1\ntree: plain\nskills: [eyes]\nroot:\n  sequence:\n    - wait: 0.3\n    - look: {}\n"
ENDLESS = "version: 1\ntree: endless\nroot: {repeat: {times: -1, child: {wait: 0.2}}}\n"
IDLE = "!app.playing && document.getElementById('do-play')?.innerText === 'Play'"
CHANGE = """
  const e = document.getElementById(arguments[0]);
  e.value = arguments[1];
  e.dispatchEvent(new Event('change'));
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "eyes.yaml").write_text(SKILLS)
    (tmp_path / "trees" / "main.yaml").write_text(TREE)
    (tmp_path / "trees" / "plain.yaml").write_text(PLAIN)
    (tmp_path / "trees" / "endless.yaml").write_text(ENDLESS)
    with Editor(tmp_path, files, sort) as made:
        yield made


def tried(browser: Browser, editor: Editor, tree: str) -> None:
    browser.open(editor.url(editor.folder / "trees" / tree))
    browser.js("localStorage.clear()")
    browser.until("window.app && app.state && app.kinds.length && app.view.places.size")
    browser.click("[data-tab='try']")
    browser.click("#do-begin")
    browser.until("app.told && document.getElementById('do-play')")


def test_a_tree_plays_until_a_skill_waits_and_after_its_answer_to_the_end(browser: Browser, editor: Editor) -> None:
    tried(browser, editor, "plain.yaml")
    browser.click("#do-play")
    browser.until(f"{IDLE} && app.told.nodes.some((n) => n[4])")
    assert browser.js("return app.told.seconds") >= 0.3
    browser.click("[id='do-answer-/plain/1-success']")
    browser.until("app.told.status === 'success'")
    moves = browser.js("return app.told.moves")
    browser.click("#do-play")  # it has ended
    browser.until(IDLE)
    assert browser.js("return app.told.moves") == moves
    browser.open("about:blank")


def test_play_is_stopped_by_its_button(browser: Browser, editor: Editor) -> None:
    tried(browser, editor, "endless.yaml")
    browser.js("const play = app.play; app.plays = 0;"
               "app.play = async () => { app.plays += 1; await play.call(app); app.plays -= 1; };")  # fmt: skip
    browser.click("#do-play")
    browser.until("app.told.moves > 3 && document.getElementById('do-play')?.innerText === 'Stop'")
    browser.js("document.getElementById('do-play').click()")  # each tick makes the button anew
    browser.until(f"{IDLE} && app.plays === 0")
    moves = browser.js("return app.told.moves")
    browser.click("#do-tick")
    browser.until(f"app.told.moves === {moves + 1}")
    assert browser.js("return app.told.status") == "running"
    browser.open("about:blank")


def test_the_next_answer_of_a_skill_carries_its_outputs_by_fields_of_their_types(
    browser: Browser, editor: Editor
) -> None:
    """A list as text, a slider, a switch, a choice, a text. A wrong value is refused in words, and Keep holds them."""
    tried(browser, editor, "main.yaml")
    browser.click("#next")
    browser.js(CHANGE, "next-0", "success")
    for name, value in {"things": "[cup, 2]", "near": "3", "colour": '"blue"', "word": "it's: so"}.items():
        browser.until(f"document.getElementById('next-0-{name}')")
        before = browser.js("return app.told.moves")
        browser.js(CHANGE, f"next-0-{name}", value)
        browser.until(f"app.told.moves > {before}")
    browser.click("#next-0-light")
    browser.until("app.told.stands[0][3].every((port) => port[7] !== '')")
    browser.js(CHANGE, "next-0-things", "7")
    browser.until("document.getElementById('notice').innerText.includes('`things` takes a list')")
    browser.console()  # the value that was refused
    browser.click("#do-play")
    browser.until(f"{IDLE} && app.told.status === 'success'")
    assert "3 true blue it's: so" in browser.js("return app.told.lines.at(-1)")
    browser.click("#do-keep")
    browser.until("app.told.kept")
    test = (editor.folder / browser.js("return app.told.kept")).read_text()
    assert '"near": 3' in test and "trial.status is SUCCESS" in test
    browser.open("about:blank")
