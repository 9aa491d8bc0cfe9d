"""Grammars for line-by-line plans: ADaPT's numbered steps with their order, and ReAcTree's lists. As in
`plan_grammar`, the node's limits are part of the grammar: number of parts, length, depth."""

from __future__ import annotations

from bt_runtime.language.emit.dialect import DEFAULT_LIMITS, PlanLimits
from bt_runtime.llm.decoding.grammar import any_of, literal
from bt_runtime.types import Grammar

CONTROLS = ("sequence", "fallback", "parallel")
MOST_THOUGHT = 400  # characters of the line before the steps
_LETTER = r"[^\x00-\x20\x7f-\xa0]"  # a letter of any script
_INSIDE = r"[^\x00-\x1f\x7f-\x9f]"  # a letter or a blank


def numbered(limits: PlanLimits = DEFAULT_LIMITS) -> Grammar:
    """The text after `# Think:`: a thought, `Step 1: …` and so on, and optionally their order."""
    counts = range(1, limits.width + 1)
    rules = [f'start: THOUGHT? "\\n" {_step(1)}']
    for count in counts:
        more = [_step(count + 1)] if count < limits.width else []
        ways = " | ".join([*more, f"order_{count}"])
        rules.append(f'{_step(count)}: {literal(f"Step {count}: ")} PART ("\\n" ({ways})?)?')
        rules.append(f'order_{count}: "Execution Order: " any_{count}_{limits.depth} "\\n"?')
        rules += _joins(count, limits)
    part = f"{_LETTER}{_INSIDE}{{0,{limits.string - 1}}}"
    terminals = [f"THOUGHT: /{_INSIDE}{{1,{MOST_THOUGHT}}}/", f"PART: /{part}/"]
    return Grammar("lark", "\n".join([*rules, *terminals, ""]))


def _step(number: int) -> str:
    return f"step_{number}"


def _joins(count: int, limits: PlanLimits) -> list[str]:
    """Returns grammar rules for combinations of the first `count` steps, with nested brackets up to the depth limit."""
    found = [f"one_{count}_0: {any_of([f'Step {number}' for number in range(1, count + 1)])}"]
    for depth in range(limits.depth + 1):
        if depth:
            found.append(f'one_{count}_{depth}: one_{count}_0 | "(" any_{count}_{depth - 1} ")"')
        found.append(f"all_{count}_{depth}: {_several(f'one_{count}_{depth}', ' AND ', count)}")
        found.append(f"any_{count}_{depth}: {_several(f'all_{count}_{depth}', ' OR ', count)}")
    return found


def _several(what: str, between: str, most: int) -> str:
    return f"{what} ({literal(between)} {what}){{0,{most - 1}}}" if most > 1 else what


def listed(limits: PlanLimits = DEFAULT_LIMITS) -> Grammar:
    """The grammar of `- control flow: …` and `- subgoals: …`, whose items are separated by a comma and a space."""
    letter, inside = _LETTER.replace("[^", "[^,.;"), _INSIDE.replace("[^", "[^,")
    parts = _several("PART", ", ", limits.width)
    rules = [
        f'start: "- control flow: " ({any_of(CONTROLS)}) "\\n- subgoals: " {parts} "\\n"?',
        f"PART: /{letter}{inside}{{0,{limits.string - 1}}}/",
    ]
    return Grammar("lark", "\n".join([*rules, ""]))
