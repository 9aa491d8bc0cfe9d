"""An assistant takes no interlock away without a person's yes, and is not asked for anything else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mcp import types

from bt_author.loosening import loosened
from bt_author.mcp.tools.every import call
from bt_author.mcp.tools.site import Site
from packages.author.tests.mcp.assistant import Assistant, asked

ROUNDS = int(os.environ.get("LOOSENINGS", "150"))
Data = dict[str, Any]
SKILLS: Data = {
    "version": 1,
    "skills": "doors",
    "policies": {"skills": {"unlock": ["operator", "author"]}},
    "properties": {"shut": {"never": "open == true"}},
    "kinds": {
        "unlock": {
            "impl": "doors.py:unlock", "sentence": "unlock {place}", "confirm": True, "at_most": 2, "uses": ["key"],
            "needs": ["the door is there"], "on_resume": "fail", "about": "Unlocks.",
            "params": {"place": {"type": "string", "choices": ["hall", "porch"]},
                       "speed": {"type": "number", "minimum": 0, "maximum": 2}},
        },
        "look": {"impl": "doors.py:look", "sentence": "look around", "on_resume": "repeat"},
        "ring": {"sentence": "ring at {place}", "params": {"place": "string"}, "confirm": True},
    },
}  # fmt: skip
TREE: Data = {
    "version": 1,
    "tree": "safe",
    "skills": ["doors"],
    "policies": {
        "use": "robot",
        "skills": {"unlock": {"from": ["author"], "place": ["operator", "author"]}},
        "labels": {"entries": {"mail": "outside"}},
    },
    "properties": {"calm": {"never": "mail == 'x'", "on_violation": "halt"}},
    "blackboard": {"mail": {"type": "string", "default": "hall"}},
    "root": {"sequence": [{"unlock": {"place": "hall", "speed": 1}}, {"log": "{mail}"}]},
}


def at(data: Data, path: str) -> Any:
    for part in path.split("/")[:-1]:
        data = data[part]
    return data


def drop(path: str) -> Callable[[Data], None]:
    return lambda data: at(data, path).pop(path.rpartition("/")[2])


def put(path: str, value: Any) -> Callable[[Data], None]:
    return lambda data: at(data, path).__setitem__(path.rpartition("/")[2], value)


def renamed(data: Data) -> None:
    data["kinds"]["unlock2"] = {**data["kinds"].pop("unlock"), "confirm": False}


def beside(data: Data) -> None:
    data["kinds"]["open_up"] = {"impl": "doors.py:unlock", "params": {"place": "string"}}


def any_sentence(data: Data) -> None:
    data["kinds"]["say"] = {"sentence": "{what} at {place}", "params": {"what": "string", "place": "string"}}


U = "kinds/unlock/"
LOOSER: dict[str, list[Callable[[Data], None]]] = {
    "skills": [
        *(drop(f"{U}{key}") for key in ("confirm", "at_most", "uses", "needs")),
        put(f"{U}confirm", False), put(f"{U}at_most", 3), put(f"{U}uses", ["other"]), put(f"{U}on_resume", "repeat"),
        put(f"{U}impl", "doors.py:look"), put(f"{U}sentence", "water the plants of {place}"),
        put(f"{U}params/place", "string"), put(f"{U}params/place/choices", ["hall", "vault"]),
        put(f"{U}params/speed/maximum", 9), drop(f"{U}params/speed/minimum"),
        drop("kinds/unlock"), drop("policies"), drop("properties"),
        put("policies/skills/unlock", ["outside", "author"]),
        put("policies/endorse", ["unlock"]), put("policies/reads", ["unlock"]), drop("kinds/ring/confirm"),
        renamed, beside, any_sentence,
    ],
    "tree": [
        drop("policies"), drop("properties"), drop("policies/use"), drop("policies/skills/unlock/from"),
        put("policies/skills/unlock/place", ["operator", "author", "outside"]), drop("policies/labels"),
        put("policies/labels/entries/mail", "author"), put("policies/endorse", ["wanted"]),
        put("properties/calm/on_violation", "warn"), put("properties/calm/never", "mail == 'y'"),
        put("policies/reads", ["unlock"]), put("skills", []),
    ],
}  # fmt: skip
NEUTRAL: dict[str, list[Callable[[Data], None]]] = {
    "skills": [
        put(f"{U}about", "Unlocks a door."), put("about", "Doors."), put(f"{U}at_most", 1), put(f"{U}confirm", 30),
        put("kinds/look/sentence", "look about"), put("kinds/look/confirm", True), put(f"{U}uses", ["key", "arm"]),
        put("kinds/wave", {"sentence": "wave", "on_resume": "repeat"}), drop("kinds/look"),
        put(f"{U}params/speed/maximum", 1), put(f"{U}params/place/choices", ["hall"]), put("kinds/look/takes", 2),
        put("policies/skills/unlock", ["author"]), put("properties/quiet", {"never": "loud == true"}),
    ],
    "tree": [
        put("about", "A tree."), put("root/sequence", [{"log": "hello"}]), put("inputs", {"goal": "string"}),
        put("policies/skills/unlock/from", []), put("properties/more", {"always": "mail != ''"}),
        put("blackboard/other", {"type": "number", "default": 1}), put("policies/plans", {"from": ["author"]}),
        put("properties/calm/about", "Calm."),
    ],
}  # fmt: skip


def changed(sort: str, changes: list[Callable[[Data], None]]) -> str:
    data = json.loads(json.dumps(SKILLS if sort == "skills" else TREE))
    for change in changes:
        with suppress(KeyError, TypeError):  # an earlier change has taken its place away
            change(data)
    return json.dumps(data, indent=1)


@pytest.fixture
def doors(project: Path) -> Path:
    (project / "skills" / "doors.yaml").write_text(changed("skills", []))
    (project / "skills" / "doors.py").write_text(
        "def unlock(place, speed=1):\n    pass\n\n\ndef look(place=0, speed=1):\n    pass\n"
    )
    (project / "trees" / "safe.yaml").write_text(changed("tree", []))
    return project


FILES = {"skills": "skills/doors.yaml", "tree": "trees/safe.yaml"}


def loosens(project: Path, sort: Any, after: str) -> list[str]:
    path = project / FILES[sort]
    return loosened(project, path, path.read_text(), after, sort)


@pytest.mark.parametrize("sort", ["skills", "tree"])
def test_each_interlock_that_goes_is_found_and_no_neutral_edit(sort: str, doors: Path) -> None:
    """One change at a time."""
    missed = [n for n, change in enumerate(LOOSER[sort]) if not loosens(doors, sort, changed(sort, [change]))]
    found = {
        n: told for n, change in enumerate(NEUTRAL[sort]) if (told := loosens(doors, sort, changed(sort, [change])))
    }
    assert (missed, found) == ([], {})
    assert loosens(doors, sort, "") and loosens(doors, sort, "root: [")


@pytest.mark.parametrize("sort", ["skills", "tree"])
def test_a_loosening_is_found_among_any_other_edits(sort: str, doors: Path) -> None:
    """Random neutral edits are not asked about; with one loosening behind them they are."""
    random = Random(sort)
    for _ in range(ROUNDS):
        edits = random.sample(NEUTRAL[sort], random.randint(0, 4))
        assert loosens(doors, sort, changed(sort, edits)) == []
        mixed = [*edits, random.choice(LOOSER[sort])]
        if changed(sort, mixed) != changed(sort, edits):
            told = loosens(doors, sort, changed(sort, mixed))
            assert told, changed(sort, mixed)


def test_a_skill_of_another_file_is_held_to_the_interlocks_of_the_same_deed(doors: Path) -> None:
    """A second manifest that offers the same implementation, or the same sentence of a world, without `confirm`."""
    path = doors / "skills" / "other.yaml"
    for kind in ({"impl": "doors.py:unlock", "params": {"place": "string"}}, {"sentence": "ring at the hall"}):
        text = json.dumps({"version": 1, "skills": "other", "kinds": {"mine": kind}})
        assert loosened(doors, path, "", text, "skills")
    harmless = json.dumps({"version": 1, "skills": "other", "kinds": {"mine": {"sentence": "wave"}}})
    assert loosened(doors, path, "", harmless, "skills") == []


def test_a_file_in_the_place_of_an_installed_one_is_compared_with_that(doors: Path, monkeypatch: Any) -> None:
    """A manifest that the project did not have hides the installed one of its name, with its `confirm`."""
    installed = doors / "elsewhere"
    installed.mkdir()
    (installed / "doors.yaml").write_text(changed("skills", []))
    (doors / FILES["skills"]).unlink()
    monkeypatch.setattr(
        "bt_runtime.language.project.installed", lambda folder: [installed] if folder == "skills" else []
    )
    path = doors / FILES["skills"]
    assert loosened(doors, path, "", changed("skills", [drop(f"{U}confirm")]), "skills")
    assert loosened(doors, path, "", changed("skills", []), "skills") == []


WRITES = [
    ("tree", drop("policies")), ("tree", drop("properties")), ("skills", drop(f"{U}confirm")),
    ("skills", put(f"{U}impl", "doors.py:look")),
]  # fmt: skip


def answering(yes: bool | None, heard: list[str]) -> Any:
    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        heard.append(params.message)
        return types.ElicitResult(action="accept", content={"yes": yes})

    return answer


@pytest.mark.parametrize("case", range(len(WRITES)))
@pytest.mark.parametrize("yes", [True, False, None], ids=["yes", "no", "nobody"])
def test_write_loosens_only_after_a_yes(doors: Path, case: int, yes: bool | None) -> None:
    """The question lists what goes before the diff. Without a yes, or with nobody to ask, the file stays."""
    sort, change = WRITES[case]
    path, text, heard = FILES[sort], changed(sort, [change]), list[str]()
    before = (doors / path).read_text()

    async def script(assistant: Assistant) -> Any:
        return await assistant.call("write", path=path, text=text)

    how = {} if yes is None else {"elicitation_callback": answering(yes, heard)}
    answer = asked(doors, script, **how)
    assert answer.is_error is not (yes is True), answer
    assert (doors / path).read_text().strip() == (text if yes else before).strip()
    assert len(heard) == (yes is not None)
    if heard:
        assert heard[0].startswith(f"The assistant wants to write {path}, and takes away:\n- ")


def test_a_write_that_loosens_nothing_is_not_asked_about(doors: Path) -> None:
    heard: list[str] = []

    async def script(assistant: Assistant) -> Any:
        return await assistant.call("write", path=FILES["tree"], text=changed("tree", [put("about", "A tree.")]))

    assert not asked(doors, script, elicitation_callback=answering(False, heard)).is_error and heard == []


def test_the_write_itself_holds_the_interlocks(doors: Path) -> None:
    """No other door around the question: the tool refuses in words, unless the person started with `--allow loosen`;
    a yes to one change is none to another."""
    text = changed("skills", [drop(f"{U}confirm")])
    site = Site(doors)
    site.agreed.add("The assistant wants to write skills/doors.yaml, and takes away:\n- something else\n")
    told = call(site, "write", {"path": FILES["skills"], "text": text})
    assert told.failed and "--allow loosen" in told.text and "`confirm`" in told.text
    assert not call(Site(doors, frozenset({"loosen"})), "write", {"path": FILES["skills"], "text": text}).failed
