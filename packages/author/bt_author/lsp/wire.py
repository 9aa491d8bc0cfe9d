"""Converts our values to those of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from lsprotocol import types
from pygls import uris

from bt_author.lsp.complete import Suggestion
from bt_author.lsp.navigate import Location, Renaming
from bt_author.lsp.outline import Lens, OutlineEntry
from bt_author.lsp.snippet import plain
from bt_author.lsp.text import Position, Text
from bt_runtime.language.faults.diagnostic import Diagnostic, Edit, Fix
from bt_runtime.types import Span

Texts = Callable[[Path], Text]
_ITEMS: Mapping[str, types.CompletionItemKind] = {
    "kind": types.CompletionItemKind.Keyword,
    "skill": types.CompletionItemKind.Function,
    "field": types.CompletionItemKind.Field,
    "value": types.CompletionItemKind.EnumMember,
    "tree": types.CompletionItemKind.File,
    "manifest": types.CompletionItemKind.Module,
    "entry": types.CompletionItemKind.Variable,
    "function": types.CompletionItemKind.Function,
    "word": types.CompletionItemKind.Keyword,
    "port": types.CompletionItemKind.Property,
}


@lru_cache(maxsize=1024)
def uri(path: Path) -> str:
    return uris.from_fs_path(str(path)) or path.as_uri()


def path_of(said: str) -> Path | None:
    """Returns the file of a URI; None for an untitled text or another host."""
    found = uris.to_fs_path(said) if said.startswith("file:") else None
    return Path(found).resolve() if found else None


def position(place: Position) -> types.Position:
    return types.Position(place.line, place.character)


def range_of(text: Text, span: Span | None) -> types.Range:
    start, end = text.range(span)
    return types.Range(position(start), position(end))


def between(text: Text, start: int, end: int) -> types.Range:
    return types.Range(position(text.position(start)), position(text.position(end)))


def diagnostic(text: Text, fault: Diagnostic) -> types.Diagnostic:
    error = fault.severity == "error"
    return types.Diagnostic(
        range=range_of(text, fault.span),
        message="\n".join(part for part in (fault.message, fault.label, fault.help) if part),
        severity=types.DiagnosticSeverity.Error if error else types.DiagnosticSeverity.Warning,
        code=fault.code,
        source="btr",
        tags=[types.DiagnosticTag.Unnecessary] if fault.code in ("BT024", "BT026") else None,
    )


def text_edits(text: Text, edits: Iterable[Edit]) -> list[types.TextEdit]:
    return [types.TextEdit(range_of(text, edit.span), edit.text) for edit in edits]


def action(path: Path, text: Text, fault: Diagnostic, fix: Fix, first: bool) -> types.CodeAction:
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(text, fault)],
        is_preferred=first,
        edit=types.WorkspaceEdit(changes={uri(path): text_edits(text, fix.edits)}),
    )


def item(text: Text, found: Suggestion, snippets: bool) -> types.CompletionItem:
    written = found.insert or found.label
    return types.CompletionItem(
        label=found.label,
        kind=_ITEMS[found.sort],
        detail=found.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, found.doc) if found.doc else None,
        sort_text=f"{found.rank}{found.label}",
        filter_text=text.source[found.start : found.start + 1] + found.label if _quoted(text, found) else found.label,
        insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs,
        text_edit=types.TextEdit(between(text, found.start, found.end), written if snippets else plain(written)),
        additional_text_edits=text_edits(text, found.also) or None,
    )


def _quoted(text: Text, found: Suggestion) -> bool:
    return text.source[found.start : found.start + 1] in ("'", '"') and found.label[:1] not in ("'", '"')


def location(texts: Texts, found: Location) -> types.Location:
    return types.Location(uri(found.path), range_of(texts(found.path), found.span))


def symbol(text: Text, found: OutlineEntry) -> types.DocumentSymbol:
    kind = types.SymbolKind.Namespace if found.below else types.SymbolKind.Field
    whole = range_of(text, found.whole)
    return types.DocumentSymbol(
        found.name, kind, whole, range_of(text, found.named), found.detail or None,
        children=[symbol(text, each) for each in found.below],
    )  # fmt: skip


def lens(text: Text, found: Lens) -> types.CodeLens:
    return types.CodeLens(
        range_of(text, found.span), types.Command(found.title, found.command, arguments=list(found.arguments))
    )


def renaming(texts: Texts, found: Renaming) -> types.WorkspaceEdit:
    if found.moved is None:
        return types.WorkspaceEdit(changes={uri(p): text_edits(texts(p), edits) for p, edits in found.edits.items()})
    old, new = found.moved
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(uri=uri(path)), [*text_edits(texts(path), edits)]
        )
        for path, edits in found.edits.items()
    ]
    return types.WorkspaceEdit(document_changes=[*changes, types.RenameFile(old_uri=uri(old), new_uri=uri(new))])
