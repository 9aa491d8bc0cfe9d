"""The interlocks of one skill: consent, limits, bounds, locks, and what is done to it on resume."""

from __future__ import annotations

from collections.abc import Iterator

from bt_runtime.language.entry import ELSEWHERE, ON_RESUME, SkillEntry
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.sentence import Sentence


def limits_of(kind: Kind) -> list[str]:
    """Returns the names of the interlocks that a skill has."""
    entry: SkillEntry = kind.data["entry"]
    options = entry.agent_options
    has = {"confirm": options.confirm, "at_most": options.at_most is not None, "uses": entry.uses,
           "requires": entry.requires is not None, "needs": entry.needs,
           "on_resume": entry.said and entry.on_resume != ON_RESUME[0]}  # fmt: skip
    bounds = [f"bounds of {field.name}" for field in _taken(kind) if _bounded(field)]
    return [*(name for name, of in has.items() if of), *bounds]


def locks_lost(old: Kind, new: Kind) -> Iterator[str]:
    """Yields the interlocks of a skill that its new description has no more, or less strictly."""
    was, now = old.data["entry"], new.data["entry"]
    before, after = was.agent_options, now.agent_options
    if (was.impl, dict(was.options)) != (now.impl, dict(now.options)):
        yield "impl"
    if before.confirm and not after.confirm:
        yield "confirm"
    if before.at_most is not None and (after.at_most is None or after.at_most > before.at_most):
        yield "at_most"
    if was.requires is not None and (now.requires is None or was.requires.text != now.requires.text):
        yield "requires"  # another condition may be weaker
    if (before.confirm or before.at_most is not None) and was.sentence != now.sentence:
        yield "sentence"  # the text of a person's question and of counts
    if ON_RESUME.index(now.on_resume) < ON_RESUME.index(was.on_resume):
        yield "on_resume"
    if was.durable and not now.durable:
        yield "durable"
    yield from (name for name in ("uses", "needs") if not {*getattr(was, name)} <= {*getattr(now, name)})
    if any(after.sources.get(name) != of for name, of in before.sources.items()):
        yield "from"
    fields = {field.name: field for field in _taken(new)}
    for field in _taken(old):
        if field.name in fields and _wider(field, fields[field.name]):
            yield f"bounds of {field.name}"


def deeds_alike(one: Kind, other: Kind) -> bool:
    """True when two skills may do the same: they have one implementation, or a world may be told the same sentence."""
    first, second = one.data["entry"], other.data["entry"]
    if first.impl != second.impl or dict(first.options) != dict(second.options):
        return False
    if first.impl not in ELSEWHERE:
        return first.folder == second.folder or ".py:" not in first.impl
    return _overlap(Sentence(first.sentence).pieces[::2], Sentence(second.sentence).pieces[::2])


def _taken(kind: Kind) -> list[Field]:
    return [field for field in kind.fields if not field.writes]


def _bounded(field: Field) -> bool:
    return bool(field.choices) or field.minimum is not None or field.maximum is not None


def _wider(old: Field, new: Field) -> bool:
    if old.choices and (not new.choices or not all(each in old.choices for each in new.choices)):
        return True
    if old.minimum is not None and (new.minimum is None or new.minimum < old.minimum):
        return True
    return old.maximum is not None and (new.maximum is None or new.maximum > old.maximum)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True when a text fits both patterns: pieces with anything between them."""
    first, second = ("\0".join(pieces) for pieces in (one, other))  # \0 stands for any text
    reached = [[False] * (len(second) + 1) for _ in range(len(first) + 1)]  # do so many marks of each fit one text
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            left = i > 0 and reached[i - 1][j]
            up = j > 0 and reached[i][j - 1]
            any_text = (i > 0 and first[i - 1] == "\0") or (j > 0 and second[j - 1] == "\0")
            same = i > 0 and j > 0 and first[i - 1] == second[j - 1] and reached[i - 1][j - 1]
            reached[i][j] = i == j == 0 or same or (any_text and (left or up))
    return reached[-1][-1]
