"""The editor's page in a real browser: each gesture by its key, and those of the mouse; nothing is written unseen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.asking import Proposal
from bt_author.edit.serving import PAGE, Editor
from bt_runtime.testing.case import Case
from bt_runtime.testing.story_file import StoryFile, StoryTick
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
TREE = """\
version: 1
tree: main   # the first
blackboard: {a: {type: integer, default: 1}}
root:
  sequence:
    - log: one   # told
    - fallback:
        - check: a > 1
        - succeed: {}
    - wait: 1
"""
ENTER, DELETE = "\ue007", "\ue017"


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees" / "main.yaml").write_text(TREE)
    with Editor(tmp_path, files, sort) as made:
        yield made


@pytest.fixture
def page(browser: Browser, editor: Editor) -> Iterator[Browser]:
    browser.open(editor.url())
    browser.js("localStorage.clear()")
    browser.until("window.app && app.state && app.kinds.length && app.view.places.size")
    yield browser
    browser.open("about:blank")  # before the server goes


def text(page: Browser) -> str:
    return str(page.js("return app.state.text"))


def choose(page: Browser, *path: int) -> None:
    page.js("document.getElementById('tree').focus(); app.pickPath(arguments[0])", list(path))


def changed(page: Browser, before: int) -> None:
    page.until(f"app.state.version > {before}")


def version(page: Browser) -> int:
    return int(page.js("return app.state.version"))


def point(page: Browser, *path: int) -> dict[str, float]:
    """The middle of a node's box on the screen."""
    found = page.js(
        """const n = app.state.nodes.find((n) => n.path.join() === arguments[0].join());
        const r = app.view.drawn.get(n.id).rect.getBoundingClientRect();
        return { left: r.left, top: r.top, width: r.width, height: r.height };""",
        list(path),
    )
    return dict(found)


def drag(page: Browser, start: tuple[float, float], end: tuple[float, float]) -> None:
    moves = [
        {"type": "pointerMove", "x": int(start[0]), "y": int(start[1])}, {"type": "pointerDown", "button": 0},
        {"type": "pointerMove", "x": int(start[0]) + 12, "y": int(start[1]) + 12, "duration": 30},
        {"type": "pointerMove", "x": int(end[0]), "y": int(end[1]), "duration": 60}, {"type": "pointerUp", "button": 0},
    ]  # fmt: skip
    actions = [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": moves}]
    page.ask("POST", f"{page.session}/actions", {"actions": actions})


def test_a_box_goes_where_it_is_let_go(page: Browser) -> None:
    """The last node dragged onto the fallback stands in it; its comments and those of the rest stay."""
    now, wait, into = version(page), point(page, 2), point(page, 1)
    drag(
        page,
        (wait["left"] + 20, wait["top"] + wait["height"] / 2),
        (into["left"] + into["width"] / 2, into["top"] + into["height"] / 2),
    )
    changed(page, now)
    assert text(page).endswith("        - check: a > 1\n        - succeed: {}\n        - wait: 1\n")
    assert "log: one   # told" in text(page)


def test_kinds_are_dragged_from_the_palette_again_and_again(page: Browser) -> None:
    """A drag selects no text of the page: the browser would take the next drag for one of that text."""
    for times in (1, 2, 3):
        now, root = version(page), point(page)
        row = "document.querySelector('[data-kind=\"fallback\"]').getBoundingClientRect()"
        kind = page.js(f"const r = {row}; return [r.left, r.top];")
        drag(page, (kind[0] + 10, kind[1] + 8), (root["left"] + root["width"] / 2, root["top"] + root["height"] / 2))
        changed(page, now)
        assert text(page).endswith("    - wait: 1\n" + "    - fallback: []\n" * times)
        assert page.js("return getSelection().toString()") == ""


def test_a_form_sets_a_field_and_an_external_edit_appears(page: Browser, editor: Editor) -> None:
    """What is typed in the form stands in the text; what another editor writes meanwhile is merged and shown."""
    now = version(page)
    choose(page, 2)
    page.click("#field-seconds")
    page.js("document.getElementById('field-seconds').value = ''")
    page.keys("2.5" + ENTER)
    changed(page, now)
    assert "- wait: 2.5" in text(page)
    file = editor.session.workspace.root / "trees/main.yaml"
    file.write_text(TREE.replace("# the first", "# my first"))
    page.until("app.state.text.includes('# my first')")
    assert "- wait: 2.5" in text(page)
    assert "wait: 2.5" not in file.read_text()
    page.click("#save")
    page.until("!app.state.unsaved")
    assert file.read_text() == text(page)


def test_two_windows_show_one_text(page: Browser, editor: Editor) -> None:
    """A gesture in one window is seen in the other; an old one is told to look first."""
    with Browser() as other:
        other.open(editor.url())
        other.until("window.app && app.state")
        path = editor.session.path("trees/main.yaml")
        now = version(page)
        choose(page, 2)
        page.keys(DELETE)
        changed(page, now)
        other.until("!app.state.text.includes('wait')")
        assert other.js("return app.state.text") == editor.session.buffer(path).text


def test_faults_stand_on_their_boxes(page: Browser) -> None:
    page.js("app.act('text', { text: app.state.text.replace('wait: 1', 'wiat: 1') })")
    page.until("app.state.faults.length")
    page.until("document.querySelectorAll('.box.bad').length === 1")


def test_the_text_is_completed_and_checked_as_it_is_typed(page: Browser) -> None:
    """In the text's field: kinds are offered, what is typed becomes the tree, a fault has a mark on its line, the next
    line is indented as the last one, and one undo takes back what completion wrote."""
    page.js("app.tab('text')")
    page.until("app.typing.field.value === app.state.text")
    now = version(page)
    page.js("const f = app.typing.field; f.focus(); f.go(9, 100);")
    page.keys(f"{ENTER}- wa")
    changed(page, now)
    page.until("app.state.faults.length && document.querySelector('#typing .gutter .error')?.title.includes('BT014')")
    page.until("!document.querySelector('#typing .offered').hidden")
    assert page.js("return document.querySelector('#typing [aria-selected=true] b').textContent") == "wait"
    typed, now = page.js("return app.typing.text"), version(page)
    page.keys(ENTER)
    changed(page, now)
    page.until("app.state.text.includes('    - wait:')")
    page.js("document.execCommand('undo')")
    assert page.js("return app.typing.text") == typed


WIDTHS = """
const f = app.typing.field, range = document.createRange();
range.selectNodeContents([...f.back.querySelectorAll("div div")].find((each) => each.textContent === "# end"));
return [range.getBoundingClientRect().width, 5 * f.wide()];
"""


def test_the_coloured_text_lies_under_the_typed_one(page: Browser) -> None:
    """Line by line and letter by letter, also in a long text that was scrolled to its end."""
    page.js("app.tab('text'); const f = app.typing.field; f.value = f.value + '# end\\n'.repeat(400); f.go(405, 3);")
    shown = page.js(
        "return [...document.querySelectorAll('#typing .back > div > div')].map((each) => each.textContent)"
    )
    text = page.js("return app.typing.text").split("\n")
    first = int(page.js("return document.querySelector('#typing .gutter > div > div').textContent")) - 1
    assert len(shown) < 150 and shown == text[first : first + len(shown)] and first + len(shown) > 405
    wide = page.js(WIDTHS)
    assert abs(wide[0] - wide[1]) < 1
    lefts = page.js("return ['back', 'area'].map((name) => app.typing.field[name].getBoundingClientRect().left)")
    assert lefts[0] == lefts[1]


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_picture_is_of_the_tree_or_a_branch_folded_or_not(page: Browser, form: str) -> None:
    """The chosen branch says nothing of its siblings; a folded node says how much is below it."""
    choose(page, 1)
    page.js("app.view.toggle(app.node.id)")
    page.until("app.view.folded.size === 1")

    def drawn(branch: bool, folds: bool) -> str:
        page.js("document.getElementById('of-branch').checked = arguments[0]; app.pictured = '';", branch)
        page.js("document.getElementById('of-folds').checked = arguments[0]; app.picture(arguments[1])", folds, form)
        page.until("app.pictured")
        return str(
            page.js("return app.pictured.startsWith('data:image/png') ? 'png' : decodeURIComponent(app.pictured)")
        )

    if form == "png":
        assert drawn(True, True) == "png"
        return
    assert "succeed" in (whole := drawn(False, False)) and "wait" in whole
    assert "wait" not in (branch := drawn(True, False)) and "succeed" in branch
    assert "succeed" not in (folded := drawn(True, True)) and "2 more below" in folded


def test_a_folded_branch_stays_folded_after_a_gesture(page: Browser) -> None:
    choose(page, 1)
    page.js("app.view.everything = true; app.view.toggle(app.node.id)")
    page.until("app.view.folded.size === 1")
    now = version(page)
    page.js("app.act('set', { node: [0], field: 'name', value: 'first' })")
    changed(page, now)
    page.until("app.view.folded.size === 1")


def test_a_tree_is_tried_by_clicks(page: Browser, editor: Editor) -> None:
    """Begin, tick, and the boxes show what happened; the story is kept as a test file."""
    page.click("[data-tab='try']")
    page.click("#panel button")
    page.until("app.told")
    page.js("app.tried('tick', { times: 3 })")
    page.until("app.told.moves > 1 && document.querySelectorAll('.box.S').length > 1")
    assert "object" not in page.js("return document.getElementById('panel').innerText")
    page.js("app.tried('keep')")
    page.until("app.told.kept")
    kept = editor.session.workspace.root / page.js("return app.told.kept")
    assert "def test_main_as_it_was_played" in kept.read_text()


def test_the_time_line_of_a_trial_leads_back_and_shows_two_branches(page: Browser) -> None:
    """By keys and the line's controls: back, another entry's value, and the branch that was left beside it."""
    guarded = TREE.replace("{a:", "{c: {type: boolean, default: false}, a:").replace(
        "wait: 1", "wait: {seconds: 1, unless: c}"
    )
    page.js("app.act('text', { text: arguments[0] })", guarded)
    page.until("app.state.text.includes('unless: c')")
    page.click("[data-tab='try']")
    page.click("#do-begin")
    page.until("app.told")
    page.click("#do-tick")
    page.until("app.told.moves === 1")
    page.click("#do-on")
    page.until("app.told.moves > 1 && !document.getElementById('moves').hidden")
    moves = page.js("return app.told.moves")
    page.js("document.getElementById('tree').focus()")
    page.keys("[" * moves)
    page.until("app.told.moves === 0 && document.getElementById('when').textContent.startsWith('0 of')")
    page.keys("]")
    page.until("app.told.moves === 1")
    page.click("#try-c")
    page.until("app.told.line.branch === 1 && document.querySelector('.box.differs')")
    assert "wait 1: idle, there success" in page.js("return document.getElementById('panel').innerText")
    page.js("const box = document.getElementById('branch'); box.value = '0'; box.dispatchEvent(new Event('change'))")
    page.until("app.told.line.branch === 0 && app.told.line.steps.length > 1")


def test_another_writer_does_not_lead_an_answer_to_another_node(page: Browser, editor: Editor) -> None:
    """A node comes before the chosen one meanwhile: the answer reaches the node that it is for."""
    file = editor.session.path("trees/main.yaml")

    def written(text: str) -> None:
        beside = file.with_suffix(".part")
        beside.write_text(text)
        beside.replace(file)

    choose(page, 2)
    page.keys("r")
    page.until("document.getElementById('ask').open")
    written(TREE.replace("    - log: one", "    - log: zero\n    - log: one"))
    page.until("app.state.text.includes('zero')")
    page.keys("pause" + ENTER)
    page.until("app.state.text.includes('name: pause')")
    assert "    - wait:\n        seconds: 1\n        name: pause\n" in text(page)


def test_nodes_in_brackets_show_what_was_tried_too(page: Browser) -> None:
    page.js("app.act('text', { text: app.state.text.replace('- wait: 1', '- sequence: [{succeed: {}}, {fail: no}]') })")
    page.until("app.state.text.includes('fail: no')")
    page.click("[data-tab='try']")
    page.js("app.tried('begin').then(() => app.tried('tick', { times: 9 }))")
    page.until("app.told && app.told.moves")
    found = page.js("return app.state.nodes.map((n) => [n.kind, app.fold.nodes.get(n.id).status])")
    assert ["fail", "F"] in found and [status for kind, status in found if kind == "succeed"] == ["S", "S"]


def test_a_counterexample_is_played_in_the_page(browser: Browser, editor: Editor) -> None:
    """The address of a story opens its first move; Next leads to the move that breaks the promise."""
    case = Case({}, {}, {}, (("tick", 1), ("tick", 1)), None, 0.0)
    ticks = (StoryTick("nothing", (("tick", 1),)), StoryTick("it ends", (("tick", 1),)))
    broken = StoryFile("main", "never", "a is set", case, ticks, None, {"never": ["a == 1"]})
    path = editor.session.path("trees/main.yaml")
    editor.commands.tryouts.stories[path] = broken
    browser.open(editor.url(path, story=True))
    browser.until("window.app && app.told && app.told.story")
    assert "Tick 0 of 2" in browser.js("return document.getElementById('panel').innerText")
    browser.js("[...document.querySelectorAll('#panel button')].find((b) => b.textContent === 'Next').click()")
    browser.until("app.told.story.state === 'broken'")
    assert "The promise is broken here." in browser.js("return document.getElementById('panel').innerText")


def test_the_page_fits_a_phone(editor: Editor) -> None:
    """At 390 pixels nothing of the bars is out of reach; a trial goes on, and nothing is edited."""
    with Browser(width=390, height=800) as phone:
        phone.open(editor.url())
        phone.until("window.app && app.state")
        outside = phone.js("return [...document.querySelectorAll('header > *')].filter((e) => e.offsetParent && "
                           "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.id);")  # fmt: skip
        assert outside == []
        assert "not for phones" in phone.js("return document.body.innerText")
        before = phone.js("return app.state.version")
        phone.js("app.act('format')")
        phone.until("document.getElementById('notice').textContent.includes('nothing was changed')")
        phone.click("[data-tab='try']")
        phone.click("#do-begin")
        phone.until("app.told")
        phone.click("#do-tick")
        phone.until("app.told.moves === 1")
        assert phone.js("return app.state.version") == before
        assert not phone.console()


def test_nothing_of_the_page_loads_from_elsewhere() -> None:
    for file in PAGE.iterdir():
        assert not re.search(r"https?://(?!www\.w3\.org)", file.read_text(encoding="utf-8")), file.name


def test_a_change_in_a_sentence_is_shown_as_a_diff_and_taken(tmp_path: Path, browser: Browser) -> None:
    """Typed on the page, proposed by a stand-in for the model, dropped once and taken once."""
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees" / "main.yaml").write_text(TREE)

    def write(path: Path, before: str, wish: str, told: object) -> Proposal:
        return Proposal(before.replace("wait: 1", "wait: 7"), [f"for: {wish}"])

    with Editor(tmp_path, files, sort, writer=write) as made:
        browser.open(made.url())
        browser.js("localStorage.clear()")
        browser.until("window.app && app.state && app.kinds.length && app.view.places.size")
        for button, waits in (("menu button:not(#write)", "wait: 1"), ("#write", "wait: 7")):
            browser.js("document.querySelector('[data-gesture=wish]').click()")
            browser.js(
                "document.getElementById('answer').value = 'wait longer'; document.getElementById('yes').click()"
            )
            browser.until("document.getElementById('changes').open")
            shown = str(browser.js("return document.getElementById('diff').textContent"))
            assert "for: wait longer" in shown and "+    - wait: 7" in shown
            browser.js(f"document.querySelector('#changes {button}').click()")
            browser.until("!document.getElementById('changes').open")
            browser.until(f"app.state.text.includes({waits!r})")
        browser.open("about:blank")
    assert (tmp_path / "trees" / "main.yaml").read_text() == TREE
