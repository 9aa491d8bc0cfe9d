"""What `validate --fix` writes gives the same result. Sound random trees are damaged by usual mistakes; what the fixes
then write is the tree before the damage, or keeps a fault. `BTR_DAMAGED=5000` tries more trees."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
import yaml

from bt_runtime.language import source
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.run import check_file
from bt_runtime.types import Json
from tests.support.random_trees import SKILLS, Maker

TREES = int(os.environ.get("BTR_DAMAGED", "150"))
Written = Callable[["re.Match[str]", Random], str]
_KEY = r"(?m)^(?P<lead>[ -]*)(?P<key>[a-z]\w+)(?=:)"
_BEFORE = r"(?m)(?P<lead>^[ -]*(?:if|when|unless|until|check): (?!'?\{|').*?)"  # in an expression


class Damage(NamedTuple):
    """A mistake: what it replaces, and by what."""

    where: str
    written: Written


def _typo(found: re.Match[str], random: Random) -> str:
    word = found["key"]
    at = random.randrange(1, len(word))
    ways = (word[:at] + word[at + 1 :], word[:at] + word[at - 1] + word[at:],
            word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :])  # fmt: skip
    return found["lead"] + random.choice(ways)


def _capitals(found: re.Match[str], random: Random) -> str:
    word = found["key"]
    camel = "".join(part.capitalize() for part in word.split("_"))
    return found["lead"] + random.choice((camel, word.upper(), word.capitalize(), word.replace("_", "-")))


def _other(**names: str) -> Damage:
    """Other libraries' names of kinds or fields."""

    def written(found: re.Match[str], random: Random) -> str:
        return found["lead"] + random.choice(names[found["key"]].split())

    return Damage(rf"(?m)^(?P<lead>[ -]*)(?P<key>{'|'.join(names)})(?=:)", written)


def _sign(**signs: str) -> Damage:
    return Damage(
        _BEFORE + rf"\b(?P<sign>{'|'.join(signs)})\b ?",
        lambda found, random: found["lead"] + random.choice(signs[found["sign"]].split("|")),
    )


def _plain(text: str) -> Written:
    return lambda found, random: found.expand(text)


def _any(*texts: str) -> Written:
    return lambda found, random: found.expand(random.choice(texts))


DAMAGES = {
    "a key with a slip": Damage(_KEY, _typo),
    "a key with capitals": Damage(_KEY, _capitals),
    "a node of another library": _other(
        fallback="Selector selector", sequence="Sequence", invert="Inverter inverter", retry="RetryUntilSuccessful",
        sequence_with_memory="SequenceStar", parallel="ParallelNode", repeat="Loop Repeat",
        until_failure="UntilFailure", once="RunOnce OneShot", skip_unless="SkipUnlessUpdated",
        recovery="RecoveryNode", pipeline="PipelineSequence", succeed="AlwaysSuccess Success", unset="UnsetBlackboard",
        fail="AlwaysFailure Failure", wait="Sleep Timer", rate="RateController cooldown", check="ScriptCondition",
        set="SetBlackboard", precondition="Precondition",
    ),
    "a field of another library": _other(
        times="attempts num_attempts retries count n", seconds="duration secs time delay timeout", hz="frequency",
        success="success_count threshold", failure="failure_count", when="if condition", unless="skip_if",
        updated="entry", check="condition", why="reason", status="result", name="label",
    ),
    "a tab": Damage(r"(?m)^((?:  )+)(?=\S)", lambda found, random: "\t" * (len(found[1]) // 2)),
    "half a tab": Damage(r"(?m)^  (?=  )", _plain("\t")),
    "no space after a colon": Damage(r"(?m)^([ -]*\w+): (?=\S)", _plain(r"\1:")),
    "no space after a dash": Damage(r"(?m)^( *)- (?=\w)", _plain(r"\1-")),
    "no dash": Damage(r"(?m)^( *)- (?=\w)", _any(r"\1", r"\1  ")),
    "no colon": Damage(r"(?m)^( *-? ?\w+):$", _plain(r"\1")),
    "an equals sign for a colon": Damage(r"(?m)^([ -]*\w+): (?=\S)", _any(r"\1 = ", r"\1=")),
    "a number in quotes": Damage(r"(?m): (\d+)$", _any(r": '\1'", r': "\1"')),
    "a duration with its unit": Damage(r"(?m)seconds: (\d+)$", _any(r"seconds: \1s", r"seconds: \1 s")),
    "another truth": Damage(r": (true|false)$", lambda found, random: ": " + random.choice(
        ("yes", "on", "Yes", "True", "TRUE", "1") if found[1] == "true" else ("no", "off", "No", "False", "0"))),
    "a result in capitals": Damage(r"(status|then|else|order|on): (\w+)$", lambda found, random: (
        f"{found[1]}: {random.choice((found[2].upper(), found[2].capitalize()))}")),
    "an operator of C": _sign(**{"and": "&&|AND", "or": "|| |OR", "not": "!|NOT"}),
    "one equals sign": Damage(r"(?m)^(.*(?:if|when|unless|until|check): [^'].*)==", _any(r"\1=", r"\1===")),
    "a hole without quotes": Damage(r"'(\{[^']*\})'", _any(r"\1", r"'${\1}'")),
    "a hole of a shell": Damage(r"'\{(\w+)\}'", _any("'${\\1}'", "'{{\\1}}'", "${\\1}", "$\\1")),
    "a sum without its hole": Damage(r"'\{([^']*)\}'", _plain(r"\1")),
    "a test in braces": Damage(r"(?m)(check|if|when|unless|until): ([^'\n]+)$", _any(r"\1: '{\2}'", r"\1: {\2}")),
    "a text without quotes": Damage(r"'(\w+)'", _plain(r"\1")),
    "assigned with an equals sign": Damage(r"(?m)set:\n +(\w+): (\S+)$", _any(r"set: \1 = \2", r"set: \1 := \2")),
    "a child among the fields": Damage(r"(?m)^( *)child:\n((?:\1 +.*\n)+)", lambda found, random: re.sub(
        "(?m)^  ", "", found[2])),
    "a child in a list": Damage(r"(?m)^( +)child:\n\1  (?=\w)", _plain(r"\1child:\n\1- ")),
    "a number for a name": Damage(r"(?m)^(blackboard:\n(?:  .*\n)*?  \w+):\n    type: (\w+)", _any(
        r"\1:\n    type: int", r"\1:\n    type: bool", r"\1:\n    type: str")),
    "no version": Damage(r"\Aversion: 1\n", _any("", "version: '1'\n", "version: 1.0\n", "version: 2\n")),
    "an entry with a slip": Damage(
        r"(?m)^(.*(?:if|when|unless|until|check|updated): .*)\b[abn]\b", _any(r"\1c", r"\1N")),
    "a space too much": Damage(r"(?m)^( +)(?=\S)", _any(r"\1 ", r"\1  ")),
    "a space too few": Damage(r"(?m)^ ( *)(?=\S)", _plain(r"\1")),
}  # fmt: skip


def sound(seed: int) -> str:
    """A sound tree. Some of its texts look as if something were wrong with them."""
    random = Random(seed)
    while True:
        text = Maker(random, size=random.randint(2, 14)).text()
        says = random.choice(("yes", "it's on", "n = 3", "{not a}: b", "wait:3", "&& or !", "Selector", "${a", "a: b"))
        text = text.replace("fail: 'no'", f"fail: {yaml.safe_dump(says, default_style=chr(34)).strip()}")
        if not errors(text):
            return text


def checked(text: str) -> Checked:
    return Loader(Path.cwd(), SKILLS).text(text, "t.yaml", Path.cwd())


def errors(text: str) -> list[str]:
    return [str(fault) for fault in checked(text).diagnostics if fault.severity == "error"]


def fixed(text: str) -> str:
    return check_file.mended(text, "t.yaml", checked)[0]


def data(text: str) -> Json:
    return source.parse(text).sound().data()


def damaged(text: str, damage: Damage, random: Random) -> str:
    """The text with the mistake at one of its places; the text where it has none."""
    places = list(re.finditer(damage.where, text))
    if not places:
        return text
    found = random.choice(places)
    return text[: found.start()] + damage.written(found, random) + text[found.end() :]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_fixes_of_a_mistake_give_the_tree_before_it_or_leave_a_fault() -> None:
    mended = dict.fromkeys(DAMAGES, 0)
    for seed in range(TREES):
        before, random = sound(seed), Random(seed)
        for name in random.sample(sorted(DAMAGES), k=4):
            text = damaged(before, DAMAGES[name], random)
            made = fixed(text)
            assert fixed(made) == made, (seed, name, text, made)
            if made == text or errors(made):
                continue
            mended[name] += 1
            assert data(made) == data(before), (seed, name, text, made)
    assert sum(map(bool, mended.values())) > 15, mended


def test_fixes_change_nothing_in_a_sound_tree() -> None:
    for seed in range(TREES):
        text = sound(seed)
        assert fixed(text) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("check:\n    updated=n", ""),  # a field and its value, not a comparison
        ('fail="a: b"', ""),  # a text in quotes with a colon, not a key
        ('fail = "n = 3"', 'fail: "n = 3"'),
    ],
)
def test_an_equals_sign_for_a_colon_loses_no_text(written: str, meant: str) -> None:
    head = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 0}}\nroot:\n  "
    assert fixed(f"{head}{written}\n") == f"{head}{meant or written}\n"
