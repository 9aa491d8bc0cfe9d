"""Warnings about what is valid and hardly meant: texts that look like something else, and entries that nobody has.

Imported when something looks so: a sound tree loads none of it."""

from __future__ import annotations

from bt_runtime.faults.diagnostic import Edit, Fix
from bt_runtime.language import nesting, typos
from bt_runtime.language.checks.references import PlacedExpression, Usage, Use
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.source import Scalar
from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.language.values import inside
from bt_runtime.types import Span


def no_boolean(value: str, node: Scalar, file: str, diagnostics: Diagnostics) -> None:
    """Warns about `set: {done: no}`, which writes the text "no", and a text is true."""
    label = typos.boolean(node)
    if label:
        help = f'if the text is meant: `"{value}"`'
        message = f"`{value}` is a text here, and as a test each text is true"
        diagnostics.warning("BT021", message, file, node.span, label, help)


def null_meant(each: PlacedExpression, start: int, end: int) -> tuple[str, tuple[Fix, ...]] | None:
    """Returns the help and the fix for `mode == none`: the word is null, and the text was meant."""
    text = each.expression.text[start:end]
    for word in ("none", "None"):
        if text.endswith(word):
            at = inside(each.node, end - len(word) + each.shift, end + each.shift)
            quote = "'" if isinstance(each.node, Scalar) and not each.node.plain else '"'
            written = f"{quote}{word}{quote}"
            return f"`{word}` is null; if the text is meant: `{written}`", (Fix(f"write `{written}`", (Edit(at, written),)),)
    return None


def output_of(tree: TreeSpec, name: str) -> tuple[str, tuple[Fix, ...]] | None:
    """Returns what to write when a node has an output of this name and writes it nowhere."""
    for spec in tree.root.walk():
        field = spec.kind.field(name)
        if field is not None and field.writes and field.type in DATA_TYPES and name not in spec.given:
            written = f'{name}: "{{{name}}}"'
            edits = _given(tree, spec, written)
            label = f"`{spec.kind.name}` on line {spec.span.line} gives it: `{written}`"
            title = f"write `{written}` at `{spec.kind.name}`"
            return label, ((Fix(title, edits),) if edits and spec.file == tree.file else ())
    return None


def _given(tree: TreeSpec, spec: NodeSpec, written: str) -> tuple[Edit, ...]:
    """Writes a field into a node, by its text: the spec knows the places of its fields alone."""
    line, at = spec.span.line, spec.span.end_column
    text = LINE_BREAK.split(tree.text)[line - 1]
    rest = text[at - 1 :].partition(" #")[0].rstrip()
    bare = spec.given.get(spec.kind.bare or "")
    if rest in (":", ": {}"):
        first = min((node.span.line for node in spec.given.values()), default=0)
        if not first:
            return (Edit(Span(line, at, line, at + len(rest)), f": {{{written}}}"),)
        below = LINE_BREAK.split(tree.text)[line]
        indent = len(below) - len(below.lstrip(" "))
        return (Edit(Span(line, at + len(rest), line, at + len(rest)), f"\n{' ' * indent}{written}"),)
    if rest.startswith(": {"):
        return (Edit(Span(line, at + 3, line, at + 3), f"{written}, "),)
    if isinstance(bare, Scalar) and bare.span.line == bare.span.end_line == line and len(spec.given) == 1:
        start, end = bare.span._replace(end_column=bare.span.column), bare.span._replace(column=bare.span.end_column)
        return (Edit(start, f"{{{spec.kind.bare}: "), Edit(end, f", {written}}}"))
    return ()


def after_the_loop(tree: TreeSpec, used: Usage, diagnostics: Diagnostics) -> None:
    """Warns about an item of a loop that is read where the loop is over."""
    writers: dict[str, list[Use]] = {}
    for use in used.writes:
        writers.setdefault(use.name, []).append(use)
    for name, uses in writers.items():
        loops = [use for use in uses if use.field.name == "as" and use.spec.kind.node_fields]
        if len(loops) < len(uses) or name in tree.ports or name in used.perhaps:
            continue
        within = {id(spec) for use in loops for spec in use.spec.walk()}
        read = next((each for each in used.reads if each.name == name and id(each.spec) not in within), None)
        if read is not None and not diagnostics.full("warning"):
            loop = loops[0].spec
            each_own = loop.kind.name == "for_all"
            why = "each copy has its own" if each_own else "then it is the last item, and after an empty list none"
            help = "`give:` and `into:` gather what the copies write" if each_own else (
                f'if it is meant, keep it in the loop: `on_success: {{last: "{{{name}}}"}}`'
            )
            message = f"`{name}` is read outside of the `{loop.kind.name}` on line {loop.span.line}: {why}"
            diagnostics.warning("BT023", message, read.spec.file, read.span, "", help)
