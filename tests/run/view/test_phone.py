"""A run on a phone: a finger answers its questions and halts it, and nothing that is needed lies outside the window."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bt_runtime import Person, Run, Status, View, load, skill
from tests.run.view.browser import missing
from tests.run.view.phone import Phone

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
TREE = """\
version: 1
tree: wood
root:
  sequence:
    - log: the wood is reached
    - fell: oak
    - fell: elm
"""
BELOW = """
  return [...document.querySelectorAll('button, input, #status, #asks .said')].filter((e) => e.offsetParent)
    .filter((e) => { const r = e.getBoundingClientRect(); return r.top < 0 || r.bottom > innerHeight + 1; })
    .map((e) => e.id || e.textContent);
"""
SEEN = """
  const t = document.getElementById('tree').getBoundingClientRect();
  const b = [...document.querySelectorAll('.box.R')].at(-1)?.getBoundingClientRect();
  return t.height > 120 && b && b.left >= t.left && b.right <= t.right && b.top >= t.top && b.bottom <= t.bottom;
"""


def spoken(long: str = ""):
    @skill("fell the {tree}" + long, on_resume="repeat", confirm=True)
    def fell(tree: str):
        while tree == "elm":
            yield "at work"

    return load(TREE, skills=[fell])


@contextmanager
def on_a_phone(run: Run) -> Iterator[Phone]:
    """The page of a run that spins."""
    with View(run) as view, Phone() as phone:
        spinning = threading.Thread(target=lambda: (run.spin(), view.finish()))
        spinning.start()
        try:
            phone.open(view.url)
            phone.until("window.btr && !document.getElementById('asks').hidden && document.querySelector('.box.R')")
            yield phone
            assert not phone.console()
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_a_run_is_watched_confirmed_and_halted_by_a_finger() -> None:
    with Run(spoken(), hz=50, services={"person": Person()}) as run, on_a_phone(run) as phone:
        assert phone.outside() == [] == phone.js(BELOW)
        phone.until(f"(() => {{ {SEEN} }})()")
        assert "May I fell the oak?" in phone.js("return document.getElementById('asks').innerText")
        phone.tap("#asks button")
        phone.until("document.getElementById('asks').innerText.includes('elm')")
        phone.tap("#asks button")
        phone.until("document.getElementById('asks').hidden")
        phone.until("document.getElementById('panel').innerText.includes('at work')")
        phone.until(f"(() => {{ {SEEN} }})()")
        assert phone.outside() == [] == phone.js(BELOW)
        phone.tap("#halt")
        phone.until("document.getElementById('halt').textContent.includes('sure?')")
        assert not run.parts.runner.stopped
        phone.tap("#halt")
        phone.until("document.getElementById('status').textContent === 'stopped'")
        assert run.parts.runner.stopped == "stopped from the page"


def test_a_question_is_refused_by_a_finger() -> None:
    with Run(spoken(), hz=50, services={"person": Person()}) as run, on_a_phone(run) as phone:
        phone.tap("#asks button:last-child")
        phone.until("document.getElementById('status').textContent === 'failed'")
        assert run.status is Status.FAILURE
        assert "said: no" in run.parts.engine.root.children[1].feedback_message


def test_a_long_question_leaves_its_answers_and_the_tree_in_sight() -> None:
    long = spoken(" that stands by the river, at the northern end of the long valley behind the mill" * 4)
    with Run(long, hz=50, services={"person": Person()}) as run, on_a_phone(run) as phone:
        assert phone.outside() == [] == phone.js(BELOW)
        phone.until(f"(() => {{ {SEEN} }})()")
        phone.tap("#asks button")
        phone.until("document.getElementById('asks').innerText.includes('elm')")
