"""Trees with one fault each, and the diagnostic that an editor shows for it."""

from __future__ import annotations

HEAD = "# yaml-language-server: $schema=tree.schema.json\nversion: 1\ntree: t\nskills: [depot]\nroot:\n"


ONE_FAULT = {
    "unknown kind": ("  seqence:\n    - log: a\n", 0, 3, "seqence is not allowed"),
    "unknown kind inside": ("  sequence:\n    - chek: a > 1\n", 1, 7, "chek is not allowed"),
    "unknown kind below a bare decorator": ("  invert:\n    chek: a > 1\n", 1, 5, "chek is not allowed"),
    "unknown field": ("  log: {text: a, levl: info}\n", 0, 18, "levl is not allowed"),
    "misspelt needed field": ("  retry:\n    time: 3\n    child: {log: a}\n", 1, 5, "time is not allowed"),
    "missing field": ("  retry:\n    times: 3\n", 0, 3, 'Missing property "child"'),
    "nothing where fields are needed": ("  retry:\n", 0, 9, "a mapping of its fields"),
    "two keys": ("  sequence:\n  - retry:\n    times: 3\n", 1, 5, "more properties"),
    "kind alone": ("  sequence:\n    - succeed\n", 1, 7, "one key, its kind"),
    "list for a node": ("  - log: a\n", 0, 3, "one key, its kind"),
    "text for a child": ("  invert:\n    child: go home\n", 1, 12, "one key, its kind"),
    "empty node": ("  sequence:\n    - {}\n", 1, 7, "fewer properties"),
    "empty list": ("  sequence: []\n", 0, 13, "too few items"),
    "no list": ("  sequence: hello\n", 0, 13, "a list of nodes"),
    "no list, by field": ("  sequence:\n    children: {log: a}\n", 1, 15, "array"),
    "number wanted": ("  wait: soon\n", 0, 9, "a number, or a template"),
    "integer wanted": ("  retry: {times: 1.5, child: {log: a}}\n", 0, 18, "an integer, or a template"),
    "text wanted": ("  agent: {goal: 3}\n", 0, 17, "put in quotes"),
    "expression wanted": ("  check: [a]\n", 0, 10, "an expression"),
    "below the least": ("  retry:\n    times: 0\n    child: {log: a}\n", 1, 12, "below the minimum of 1"),
    "no such word": ("  force:\n    status: sucess\n    child: {log: a}\n", 1, 13, '"success", "failure"'),
    "empty cases": ("  switch: {on: a, cases: {}}\n", 0, 26, "fewer properties"),
    "bad name of an entry": ("  set: {1st: 2}\n", 0, 9, "letters, digits and _"),
    "bad name of a node": ("  log: {text: a, name: a/b}\n", 0, 24, "none of / *"),
    "value for a kind without": ("  succeed: now\n", 0, 12, "takes no value"),
    "wait for nothing": ("  wait: {}\n", 0, 3, 'Missing property "until"'),
    "skill with an unknown field": ("  go_to: {place: hall, sped: 1}\n", 0, 24, "sped is not allowed"),
    "skill without a parameter": ("  go_to: {speed: 1}\n", 0, 3, 'Missing property "place"'),
    "skill beyond its bounds": ("  go_to: {place: hall, speed: 5}\n", 0, 31, "above the maximum of 2"),
    "skill with no such choice": ("  look: {side: up}\n", 0, 16, '"left", "right"'),
    "output of a skill that is no entry": ("  look: {side: left, seen: things}\n", 0, 28, "entry that is written"),
}  # fmt: skip
