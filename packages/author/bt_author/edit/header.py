"""Edits the head of a tree file: its name, skills, ports and entries."""

from __future__ import annotations

from bt_author.edit import brackets, values
from bt_author.edit.draft import Draft
from bt_author.edit.lines import Lines, Untouchable
from bt_runtime.language.fixes import STEP
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, nothing

ORDER = ("version", "tree", "about", "skills", "inputs", "outputs", "blackboard", "root")
SECTIONS = ("inputs", "outputs", "blackboard")


def set_port(draft: Draft, section: str, name: str, value: str) -> Draft:
    """Sets an input, an output or an entry with its type: `integer`, or `{type: integer, default: 1}`; an empty type
    removes it."""
    if section not in SECTIONS:
        raise Untouchable(f"there is no section `{section}`", "inputs, outputs or blackboard")
    data = draft.data()
    top, found = _top(draft), _section(draft, section)
    if not value.strip():
        if not isinstance(found, YamlMap) or found.get(name) is None:
            raise Untouchable(f"there is no `{name}` in `{section}`", "")
        del data[section][name]
        if not data[section]:
            del data[section]
            return draft.means(_replaced(draft, _key(top, section), found, []), data)
        return draft.means(_removed(draft, found, name), data)
    meant = values.written(value)
    if found is None or nothing(found) or (isinstance(found, YamlMap) and not found.pairs):
        data = {**data, section: {name: meant}}
        rows = [f"{section}:", f"{' ' * STEP}{name}: {value}"]
        text = _placed(draft, section, rows) if found is None else _replaced(draft, _key(top, section), found, rows)
        return draft.means(text, data)
    if not isinstance(found, YamlMap):
        raise Untouchable(f"`{section}` is no mapping", "mend it in the text first")
    old = found.get(name)
    data[section][name] = meant
    if old is not None:
        key = next(k for k, _ in found.pairs if k.text == name)
        return draft.means(values.behind(draft, key, old, [value]), data)
    if draft.lines.in_brackets(found):
        at = found.end.index - 1
        if found.start.line == found.end.line and found.end.column + len(name) + len(value) < 100:
            return draft.means(f"{draft.text[:at].rstrip()}, {name}: {value}{draft.text[at:]}", data)
        opened = draft.same(brackets.without_brackets(draft.text, draft.top, found))
        return set_port(opened, section, name, value)
    last = draft.lines.last_of(found)
    row = f"{' ' * found.start.column}{name}: {value}"
    return draft.means(draft.lines.replaced(last + 1, last, [row]), data)


def key_of(draft: Draft, section: str, name: str) -> Scalar:
    """Returns the key of an input, an output or an entry."""
    found = _section(draft, section) if section in SECTIONS else None
    key = next((k for k, _ in found.pairs if k.text == name), None) if isinstance(found, YamlMap) else None
    if key is None:
        raise Untouchable(f"there is no `{name}` in `{section}`", "")
    return key


def set_skills(draft: Draft, names: list[str]) -> Draft:
    """Sets the manifests whose skills the tree may use."""
    data, found = draft.data(), _section(draft, "skills")
    written = f"[{', '.join(names)}]"
    if found is None:
        made = {**data, "skills": names}
        return draft.means(_placed(draft, "skills", [f"skills: {written}"]), made)
    data["skills"] = names
    if isinstance(found, YamlList) and not draft.lines.in_brackets(found):
        new = [name for name in names if name not in found.data()]
        if names == [*found.data(), *new]:
            dash, last = draft.lines.rows[found.start.line].index("-"), draft.lines.last_of(found)
            rows = [f"{' ' * dash}- {name}" for name in new]
            return draft.means(draft.lines.replaced(last + 1, last, rows), data)
    return draft.means(values.behind(draft, _key(_top(draft), "skills"), found, [written]), data)


def set_text(draft: Draft, name: str, value: str) -> Draft:
    """`tree` or `about`."""
    if name not in ("tree", "about"):
        raise Untouchable(f"`{name}` is not set here", "in the text")
    data, found = draft.data(), _section(draft, name)
    meant = values.written(value)
    if found is None:
        return draft.means(_placed(draft, name, [f"{name}: {value}"]), {**data, name: meant})
    data[name] = meant
    return draft.means(values.behind(draft, _key(_top(draft), name), found, [value]), data)


def _top(draft: Draft) -> YamlMap:
    if not isinstance(draft.top, YamlMap):
        raise Untouchable("this file is no tree", "a tree file is a mapping with `version`, `tree` and `root`")
    return draft.top


def _section(draft: Draft, name: str) -> Node | None:
    return _top(draft).get(name)


def _key(top: YamlMap, name: str) -> Scalar:
    return next(key for key, _ in top.pairs if key.text == name)


def _placed(draft: Draft, section: str, rows: list[str]) -> str:
    """Returns the text with a new section, inserted in the usual order of a head."""
    after = ORDER[ORDER.index(section) + 1 :]
    for key, _ in _top(draft).pairs:
        if key.text in after:
            at = draft.lines.above(key.start.line, 0)
            return draft.lines.replaced(at, at - 1, rows)
    lines = Lines(draft.text)
    lines.rows += rows
    return lines.text()


def _replaced(draft: Draft, key: Scalar, old: Node, rows: list[str]) -> str:
    return draft.lines.replaced(key.start.line, max(draft.lines.last_of(old), key.start.line), rows)


def _removed(draft: Draft, found: YamlMap, name: str) -> str:
    number = next(i for i, (k, _) in enumerate(found.pairs) if k.text == name)
    key, value = found.pairs[number]
    text, lines = draft.text, draft.lines
    if lines.in_brackets(found):
        if number + 1 < len(found.pairs):
            return text[: key.start.index] + text[found.pairs[number + 1][0].start.index :]
        return text[: found.pairs[number - 1][1].end.index] + text[value.end.index :]
    return lines.replaced(key.start.line, lines.last_of(value), [])
