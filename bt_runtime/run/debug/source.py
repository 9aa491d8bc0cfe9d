"""The YAML of one node from the text of its tree, for editing."""

from __future__ import annotations

from bt_runtime.language.spec import NodeSpec, TreeSpec


def text_of(spec: NodeSpec, tree: TreeSpec) -> str:
    """The node's text; "" when it is unavailable, or the node is part of a line without braces of its own."""
    lines, at = tree.text.splitlines(), spec.span
    if spec.file != tree.file or not 0 < at.line <= len(lines):
        return ""
    deep, first = at.column - 1, lines[at.line - 1]
    if first[:deep].rstrip().endswith("{"):
        return _braced("\n".join([first[first[:deep].rindex("{") :], *lines[at.line :]]))
    if first[:deep].strip(" -"):
        return ""
    found = [first[deep:]]
    for line in lines[at.line :]:
        if line.strip() and len(line) - len(line.lstrip(" ")) < deep:
            break
        found.append(line[deep:])
    while found and (not found[-1].strip() or found[-1].lstrip().startswith("#")):
        found.pop()  # empty lines and comments at the end belong to the next node
    return "\n".join(found) + "\n"


def _braced(text: str) -> str:
    """Returns a mapping in braces, up to its closing brace."""
    deep, quote = 0, ""
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        else:
            deep += (sign in "{[") - (sign in "}]")
            if not deep:
                return text[: at + 1] + "\n"
    return ""
