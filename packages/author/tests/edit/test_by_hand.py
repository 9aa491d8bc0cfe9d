"""A newcomer builds, tries, proves and keeps a patrol tree with real input events alone: by mouse, and by keyboard."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from bt_runtime.language.project import trust
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
MOST = 60
SKILLS = """\
version: 1
skills: rover
about: A small robot on wheels.
kinds:
  drive:
    impl: rover.py:drive
    sentence: "drive to {place}"
    params:
      place: {type: string, choices: [dock, hall, kitchen]}
  charge: {impl: rover.py:work, sentence: charge at the dock}
  look: {impl: rover.py:work, sentence: look around}
  greet: {impl: rover.py:work, sentence: greet whoever is there}
  back_up: {impl: rover.py:work, sentence: back up a little}
"""
ROVER = """\
def drive(place):
    yield from work()


def work():
    while True:
        yield
"""
MEANT = """\
root:
  reactive_fallback:
    children:
      - sequence:
          name: recharge
          when: battery < 0.2
          children:
            - drive: dock
            - charge: {}
      - fallback:
          children:
            - timeout: {seconds: 30, child: {drive: hall}}
            - back_up: {}
"""
CODES = {"Enter": 13, "Tab": 9, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Editor]:
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    (tmp_path / "skills").mkdir()
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "rover.yaml").write_text(SKILLS)
    (tmp_path / "skills" / "rover.py").write_text(ROVER)
    with Editor(tmp_path, files, sort) as made:
        yield made


class Person:
    """Somebody at the page. What is read from the page is only looked at; all that is done goes by input events."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.gestures = browser, 0

    def look(self, script: str, *args: Any) -> Any:
        return self.browser.js(f"return {script};", *args)

    def until(self, holds: str) -> None:
        self.browser.until(holds, 20, str(self.look("document.getElementById('notice').textContent")))

    def key(self, name: str, modifiers: int = 0) -> None:
        code = CODES.get(name) or ord(name.upper())
        text = {"text": "\r"} if name == "Enter" else {"text": name} if len(name) == 1 and not modifiers & 6 else {}
        given = {"key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.browser.protocol("Input.dispatchKeyEvent", {"type": "keyDown", **given, **text})
        self.browser.protocol("Input.dispatchKeyEvent", {"type": "keyUp", **given})

    def write(self, text: str) -> None:
        """Letters, in the field that has the focus; what it holds is chosen first, as Ctrl A does."""
        self.browser.protocol(
            "Input.dispatchKeyEvent",
            {"type": "keyDown", "key": "a", "code": "KeyA", "modifiers": 2, "commands": ["selectAll"]},
        )
        self.browser.protocol("Input.dispatchKeyEvent", {"type": "keyUp", "key": "a", "code": "KeyA"})
        self.browser.protocol("Input.insertText", {"text": text})

    def version(self) -> Any:
        return self.look("app.state ? app.state.version + app.state.path : ''")

    def changed(self, before: Any) -> None:
        self.gestures += 1
        self.browser.until(
            f"app.state && app.state.version + app.state.path !== {before!r}", 20,
            str(self.look("document.getElementById('notice').textContent + ' · ' + document.activeElement.id")),
        )  # fmt: skip


class Mouse(Person):
    """Everything by the pointer, but the letters of a field."""

    def at(self, target: str) -> tuple[float, float]:
        """The middle of what a CSS selector names, brought into sight as a wheel does."""
        self.browser.until(f"document.querySelector({target!r})", 20, target)
        script = "(() => { const e = document.querySelector(arguments[0]); if (!e.closest('svg')) e.scrollIntoView"
        script += "({block: 'nearest'}); const r = e.getBoundingClientRect(); "
        script += "return [r.x + r.width / 2, r.y + r.height / 2]; }).apply(null, arguments)"
        x, y = self.look(script, target)
        return float(x), float(y)

    def event(self, kind: str, x: float, y: float, **more: Any) -> None:
        given = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, **more}
        self.browser.protocol("Input.dispatchMouseEvent", given)

    def click(self, target: str) -> None:
        x, y = self.at(target)
        self.event("mouseMoved", x, y, button="none")
        self.event("mousePressed", x, y)
        self.event("mouseReleased", x, y)

    def tab(self, name: str) -> None:
        if self.look("app.shownTab") != name:
            self.click(f"[data-tab={name}]")

    def box(self, *path: int) -> str:
        """The box at this place, as a person sees where it is."""
        number = self.look("app.state.nodes.find((n) => n.path.join() === arguments[0].join()).id", list(path))
        self.browser.until(f"document.querySelector('#tree [data-id=\"{number}\"]')")
        self.browser.until("!app.view.moved && !app.view.stale && !app.waiting")
        box = f'#tree [data-id="{number}"] rect'
        (x, y), (left, top, right, low) = (
            self.at(box),
            self.look(
                "Object.values((({left, top, right, bottom}) => ({left, top, right, bottom}))"
                "(document.getElementById('tree').getBoundingClientRect()))"
            ),
        )
        if not (left < x < right and top < y < low):
            self.gestures += 1
            self.click("#fit")
            self.browser.until("!app.view.moved && !app.view.stale && !app.waiting")
        return box

    def pick(self, *path: int) -> None:
        self.click(self.box(*path))
        self.browser.until(f"app.node && app.node.path.join() === {','.join(map(str, path))!r}")

    def drag(self, kind: str, *into: int) -> None:
        """A kind from the palette onto a box."""
        before, target = self.version(), self.box(*into)
        x, y = self.at(f'#kinds [data-kind="{kind}"]')
        self.pulled((x, y), self.at(target))
        self.changed(before)

    def pulled(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        (x, y), (to_x, to_y) = start, end
        self.event("mouseMoved", x, y, button="none")
        self.event("mousePressed", x, y)
        for part in (0.1, 0.6, 1.0):
            self.event("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part, buttons=1)
        self.event("mouseReleased", to_x, to_y)

    def slide(self, slider: str, start: float, end: float) -> None:
        """The knob of a slider from one part of its way to another."""
        script = (
            "(() => { const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x, r.width]; })"
        )
        _, y = self.at(slider)
        left, wide = self.look(script + ".apply(null, arguments)", slider)
        knob = 16
        at = [left + knob / 2 + (wide - knob) * part for part in (start, end)]
        self.pulled((at[0], y), (at[1], y))

    def asked(self, button: str, answer: str) -> None:
        """A button that asks for a name or a kind."""
        before = self.version()
        self.click(button)
        self.until("document.getElementById('ask').open")
        self.write(answer)
        self.click("#yes")
        self.changed(before)

    def choose(self, field: str, value: str) -> None:
        """A list: headless Chromium draws none, so the letter that a list takes is typed after the click."""
        before = self.version()
        self.click(f"#{field}")
        self.key(value[0])
        self.key("Enter")
        self.changed(before)

    def fill(self, field: str, text: str) -> None:
        """Clicks into a field, writes, and clicks beside it."""
        before = self.version()
        if self.look("document.activeElement.id") != field:
            self.click(f"#{field}")
        self.write(text)
        self.click("#palette input")
        self.changed(before)


class Keyboard(Person):
    """Everything by keys: Tab until the focus is there, letters, arrows and the gestures' keys."""

    def reach(self, wanted: str, most: int = 90) -> None:
        """Presses Tab until the element of this id has the focus: all that is used can be reached so."""
        self.browser.until(f"document.getElementById({wanted!r})", 20, wanted)
        for _ in range(most):
            if self.look("document.activeElement.id") == wanted:
                return
            self.key("Tab")
        raise AssertionError(f"{wanted} is not reached by Tab")

    def fill(self, field: str, text: str, leave: str = "Tab") -> None:
        before = self.version()
        self.reach(field)
        self.write(text)
        self.key(leave)
        self.changed(before)

    def unfold(self, summary: str) -> None:
        self.reach(summary)
        if not self.look(f"document.getElementById({summary!r}).parentNode.open"):
            self.key("Enter")

    def gesture(self, key: str, text: str = "") -> None:
        """A gesture by its key, with what its question or the palette is answered."""
        before = self.version()
        if self.look("document.activeElement.tagName") in ("INPUT", "SELECT", "SUMMARY", "BUTTON"):
            self.reach("tree")
        self.key(key)
        self.browser.until("document.activeElement && document.activeElement.tagName === 'INPUT'")
        self.write(text)
        self.key("Enter")
        self.changed(before)


def tried(person: Person, press: Any) -> None:
    """A move in Try: it is over when the page has another state of the trial."""
    before = person.look("window.app.told ? app.told.moves + app.told.seconds + JSON.stringify(app.told.board) : ''")
    press()
    person.gestures += 1
    now = "app.told && app.told.moves + app.told.seconds + JSON.stringify(app.told.board)"
    person.browser.until(f"({now}) !== {before!r} && document.getElementById('do-tick')")


def checked(person: Person, press: Any) -> list[str]:
    person.browser.until("!app.checking")
    press()
    person.gestures += 1
    person.until("!app.checking && app.checked")
    return list(person.look("app.checked.rows.map((row) => row.outcome)"))


def sound(editor: Editor, person: Person) -> None:
    """The file means the tree that was to be built; the kept test passes; not too many gestures."""
    from bt_runtime.language.source import parse

    root = editor.session.workspace.root
    made = parse((root / "trees" / "patrol.yaml").read_text()).sound().data()
    meant = parse(MEANT).sound().data()
    meant["root"]["reactive_fallback"]["children"][1]["fallback"]["children"][1]["back_up"]["when"] = "battery >= 0.2"
    assert plain(made["root"]) == plain(meant["root"])
    assert made["blackboard"] == {"battery": {"type": "number", "default": 0.9, "minimum": 0, "maximum": 1}}
    (test,) = (root / "tests").glob("test_*.py")
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(asked, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


RUNS = "window.btr && [...btr.fold.nodes.values()].find((n) => n.kind === 'drive' && n.status === 'R')"


def edited(editor: Editor, person: Person) -> None:
    """The run has ended, its tree was changed and saved; not too many gestures."""
    person.until("!app.state.unsaved")
    assert "drive: kitchen" in (editor.session.workspace.root / "trees" / "patrol.yaml").read_text().replace("{}", "")
    live = editor.commands.running.live
    assert live is not None and live.state == "over"
    assert person.gestures <= MOST, person.gestures


def plain(node: Any) -> Any:
    """The meaning of a node, whether its children stand below it or under `children`, and its value bare or by name."""
    if isinstance(node, list):
        return [plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {}
    for name, value in node.items():
        if isinstance(value, dict) and list(value) == ["children"]:
            value = value["children"]
        if isinstance(value, dict) and list(value) == ["place"]:
            value = value["place"]
        made[name] = plain(value)
    return made


PROMISE = "battery < 0.2 and back_up is running"


def test_a_newcomer_gets_to_the_end_by_keyboard_alone(browser: Browser, editor: Editor, tmp_path: Path) -> None:
    """An entry with bounds, guard, recovery and timeout; the guard tried with a slider; a property broken, mended and
    proved; the story kept as a test that passes. Keys alone, at most 60 gestures, no YAML."""
    browser.open(editor.url())
    browser.js("localStorage.clear()")
    browser.until("window.app && app.view.svg.clientWidth")
    me = Keyboard(browser)
    before = me.version()
    me.reach("new")
    me.key("Enter")
    me.write("patrol")
    me.key("Enter")
    me.changed(before)
    me.reach("tree")
    me.key("2")
    me.reach("new-blackboard")
    me.write("battery")
    me.key("Tab")
    me.key("n")
    before = me.version()
    me.key("Tab")
    me.write("0.9")
    me.key("Enter")
    me.changed(before)
    me.unfold("port-blackboard-battery-more")
    me.fill("port-blackboard-battery-minimum", "0")
    me.fill("port-blackboard-battery-maximum", "1")
    me.gesture("s", "reactive_fallback")
    me.gesture("a", "sequence")
    me.gesture("r", "recharge")
    me.key("1")
    me.unfold("common")
    me.fill("field-when", "battery < 0.2")
    me.gesture("a", "drive")
    me.fill("field-place", "dock", "Enter")
    me.gesture("a", "charge")
    me.key("ArrowLeft")
    me.key("ArrowLeft")
    me.gesture("a", "fallback")
    me.gesture("a", "timeout")
    me.fill("field-seconds", "30", "Enter")
    me.gesture("a", "drive")
    me.fill("field-place", "hall", "Enter")
    me.key("ArrowLeft")
    me.gesture("a", "back_up")
    assert me.look("app.state.faults.filter((f) => f.severity === 'error').map((f) => f.message)") == []
    me.reach("tree")
    me.key("5")
    tried(me, lambda: (me.reach("do-begin"), me.key("Enter")))
    tried(me, lambda: (me.reach("do-tick"), me.key("Enter")))
    asks = "app.told.nodes.filter((n) => n[4]).map((n) => n[5])"
    assert me.look(asks) == ["/patrol/1/0/0"]
    me.reach("try-battery")
    tried(me, lambda: me.key("Home"))
    assert me.look("document.activeElement.id") == "try-battery"  # the next key moves it on
    assert me.look(asks) == ["/patrol/recharge/0"]
    me.reach("never")
    me.write(PROMISE)
    assert checked(me, lambda: me.key("Enter")) == ["refuted"]
    me.reach("do-begin-true")
    me.key("Enter")
    me.browser.until("app.told && app.told.story")
    me.reach("do-end")
    me.key("Enter")
    me.browser.until("app.told.story.state === 'broken'")
    me.gestures += 2
    me.reach("tree")
    me.key("1")
    me.unfold("common")
    me.fill("field-when", "battery >= 0.2")
    me.reach("tree")
    me.key("5")
    me.reach("never")
    assert checked(me, lambda: me.key("Enter")) == ["proved"]
    me.reach("do-begin-true")
    me.key("Enter")
    me.browser.until("app.told && app.told.story && app.told.story.at === 0")
    me.reach("do-end")
    me.key("Enter")
    me.browser.until("app.told.story.state === 'kept'")
    me.reach("do-keep")
    me.key("Enter")
    me.browser.until("app.told.kept")
    me.gestures += 3
    me.reach("tree")
    me.key("s", 2)
    me.until("!app.state.unsaved")
    me.gestures += 1
    sound(editor, me)
    me.key("Enter", 2)
    for question in ("Run trees/patrol.yaml", "This folder is not trusted yet"):
        me.until(f"document.getElementById('changes-title').textContent === {question!r}")
        me.reach("write")
        me.key("Enter")
    me.until(RUNS)
    me.reach("tree")
    for arrow in ("Right", "Right", "Down", "Right", "Right"):
        me.key(f"Arrow{arrow}")
    me.until(f"btr.fold.nodes.get(btr.chosen) === {RUNS.partition(' && ')[2]}")
    me.reach("halt")
    me.key("Enter")
    me.key("Enter")
    me.until("btr.over(btr.history.head)")
    me.reach("tree")
    me.key("E", 8)
    me.browser.until("window.app && app.node && app.node.kind === 'drive' && app.node.path.join() === '1,0,0'")
    me.gestures += 6
    me.reach("tree")
    me.key("1")
    me.fill("field-place", "kitchen", "Enter")
    me.key("s", 2)
    me.gestures += 1
    edited(editor, me)


def test_a_newcomer_gets_to_the_end_by_mouse_alone(browser: Browser, editor: Editor) -> None:
    """The same tree, trial, proof and test as by keyboard, with the pointer; only the letters of a field are typed."""
    browser.open(editor.url())
    browser.js("localStorage.clear()")
    browser.until("window.app && app.view.svg.clientWidth")
    me = Mouse(browser)
    me.asked("#new", "patrol")
    me.tab("head")
    me.click("#new-blackboard")
    me.write("battery")
    me.click("#new-blackboard-default")
    me.write("0.9")
    before = me.version()
    me.click("[aria-label='Add to Entries']")
    me.changed(before)
    me.choose("port-blackboard-battery-type", "number")
    me.click("#port-blackboard-battery-more")
    me.fill("port-blackboard-battery-minimum", "0")
    me.fill("port-blackboard-battery-maximum", "1")
    me.asked("[data-gesture=swap]", "reactive_fallback")
    me.drag("sequence")
    me.pick(0)
    me.asked("[data-gesture=rename]", "recharge")
    me.tab("node")
    me.click("#common")
    me.fill("field-when", "battery < 0.2")
    me.drag("drive", 0)
    me.fill("field-place", "dock")
    me.drag("charge", 0)
    me.drag("fallback")
    me.drag("timeout", 1)
    me.fill("field-seconds", "30")
    me.drag("drive", 1, 0)
    me.fill("field-place", "hall")
    me.drag("back_up", 1)
    me.tab("try")
    tried(me, lambda: me.click("#do-begin"))
    tried(me, lambda: me.click("#do-tick"))
    asks = "app.told.nodes.filter((n) => n[4]).map((n) => n[5])"
    assert me.look(asks) == ["/patrol/1/0/0"]
    tried(me, lambda: me.slide("#try-battery", 0.9, 0.05))
    assert me.look(asks) == ["/patrol/recharge/0"]
    me.click("#never")
    me.write(PROMISE)
    assert checked(me, lambda: me.click("#do-check")) == ["refuted"]
    me.click("#do-begin-true")
    me.until("app.told && app.told.story")
    me.click("#do-end")
    me.until("app.told.story.state === 'broken'")
    me.pick(1, 1)
    me.tab("node")
    me.fill("field-when", "battery >= 0.2")
    me.tab("try")
    assert checked(me, lambda: me.click("#do-check")) == ["proved"]
    me.click("#do-begin-true")
    me.until("app.told && app.told.story && app.told.story.at === 0")
    me.click("#do-end")
    me.until("app.told.story.state === 'kept'")
    me.click("#do-keep")
    me.until("app.told.kept")
    me.click("#save")
    me.until("!app.state.unsaved")
    me.gestures += 6
    sound(editor, me)
    me.click("#run")
    for question in ("Run trees/patrol.yaml", "This folder is not trusted yet"):
        me.until(f"document.getElementById('changes-title').textContent === {question!r}")
        me.click("#write")
    me.until(RUNS)
    number = me.look(f"({RUNS}).id")
    me.browser.until(f"document.querySelector('#tree [data-id=\"{number}\"]')")
    me.click(f'#tree [data-id="{number}"]')
    me.until(f"btr.chosen === {number}")
    me.click("#halt")
    me.click("#halt.sure")
    me.until("btr.over(btr.history.head)")
    me.until("document.querySelector('[data-do=file]').textContent === 'Edit from here'")  # the bar is drawn anew
    me.click("[data-do=file]")
    me.browser.until("window.app && app.node && app.node.kind === 'drive' && app.node.path.join() === '1,0,0'")
    me.gestures += 7
    me.tab("node")
    me.fill("field-place", "kitchen")
    me.click("#save")
    me.gestures += 1
    edited(editor, me)


def test_the_tree_is_whole_for_a_screen_reader(browser: Browser, editor: Editor) -> None:
    """The browser's own accessibility tree has each node with its words, guard and level, and which one is active; the
    arrow keys move that one, and every control of the page has a name."""
    text = "version: 1\ntree: main\nskills: [rover]\nblackboard: {battery: 1.0}\n" + MEANT
    (editor.session.workspace.root / "trees" / "main.yaml").write_text(text)
    browser.open(editor.url())
    browser.js("localStorage.clear()")
    browser.until("window.app && app.state && app.view.places.size")
    me = Keyboard(browser)
    me.reach("tree")
    me.key("ArrowRight")
    me.until("app.node.name === 'recharge' && app.view.drawn.get(app.view.chosen).painted.includes('chosen')")
    nodes = [n for n in browser.protocol("Accessibility.getFullAXTree", {})["nodes"] if not n["ignored"]]

    def facts(node: Any) -> dict[str, Any]:
        return {each["name"]: each["value"].get("value") for each in node.get("properties", [])}

    items = [n for n in nodes if n["role"]["value"] == "treeitem"]
    said = {n["name"]["value"]: facts(n).get("level") for n in items}
    assert len(items) == 8
    guarded = next(name for name in said if "recharge" in name)
    assert "battery < 0.2" in guarded and said[guarded] == 2, said
    tree = next(n for n in nodes if n["role"]["value"] == "tree")
    active = next(each for each in tree["properties"] if each["name"] == "activedescendant")
    chosen = next(n for n in items if n["name"]["value"] == guarded)
    assert active["value"]["relatedNodes"][0]["backendDOMNodeId"] == chosen["backendDOMNodeId"]
    assert facts(chosen)["selected"] and facts(chosen)["expanded"]
    controls = {"button", "textbox", "combobox", "checkbox", "slider", "searchbox", "tab", "switch", "spinbutton"}
    nameless = [n["role"]["value"] for n in nodes if n["role"]["value"] in controls and not n["name"]["value"]]
    assert nameless == []
