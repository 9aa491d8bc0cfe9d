"""The language server: passes the editor's requests to the workspace, and diagnostics back. One thread; it awaits
only time."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from bt_author.lsp import complete, navigate, wire
from bt_author.lsp.document import Document
from bt_author.lsp.outline import Mentions, lenses, outline
from bt_author.lsp.proofs import Proofs
from bt_author.lsp.text import Position, Text
from bt_author.lsp.workspace import Files, Sort, Workspace
from bt_runtime._version import __version__
from bt_runtime.language import fixes, project
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.tidy import tidy

LONGEST_WAIT = 0.5  # seconds that a check of a large file may wait for the next keystroke
AT_ONCE = 0.03  # seconds: what is checked quicker than this is checked before an answer
PATIENCE = 1.0  # seconds: what takes longer to check is hovered over and outlined as it was before the last keys
BATCH = 25  # files that are checked before their faults are told
PARENT_EVERY = 5.0  # seconds between two looks whether the editor is still there


class _Protocol(LanguageServerProtocol):
    """Positions in UTF-16, which every client has; texts are kept by `Workspace`, which counts lines as editors do."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = [types.PositionEncodingKind.Utf16]
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    def __init__(self, files: Files, sort: Sort) -> None:
        super().__init__("btr", __version__, protocol_cls=_Protocol)
        self.files, self.sort = files, sort
        self.spaces: dict[Path, Workspace] = {}
        self.versions: dict[Path, int] = {}
        self.waiting: dict[Path, asyncio.TimerHandle] = {}  # files whose check is due
        self.took: dict[Path, float] = {}
        self.tests = Mentions()
        self.proofs = Proofs(self.tell_proofs)
        self.worker: asyncio.Task[None] | None = None
        self.parent: asyncio.Task[None] | None = None

    # Which workspace -------------------------------------------------------------------------

    def open_folder(self, folder: Path) -> Workspace:
        folder = folder.resolve()
        if folder not in self.spaces:
            self.spaces[folder] = Workspace(folder, self.files, self.sort)
        return self.spaces[folder]

    def space(self, path: Path) -> Workspace:
        above = [root for root in self.spaces if path.is_relative_to(root)]
        if above:
            return self.spaces[max(above, key=lambda root: len(root.parts))]
        return self.open_folder(project.find_root(path.parent) or path.parent)

    def text(self, path: Path) -> Text:
        return self.space(path).text(path) or Text("")

    def document(self, uri: str, patience: float = math.inf) -> tuple[Workspace, Document] | None:
        """Returns a file as it is now, checked. When the check takes longer than `patience`, returns the previous
        result."""
        path = wire.path_of(uri)
        if path is None:
            return None
        space = self.space(path)
        if path in self.waiting:
            if self.took.get(path, 0.0) < patience or path not in space.documents:
                self.check(path)
            else:
                document = space.documents[path]
                document.text, document.spec, document.good = space.texts[path], None, document.spec or document.good
        unit_now = space.document(path)
        return (space, unit_now) if unit_now is not None else None

    # Checking --------------------------------------------------------------------------------

    def later(self, path: Path) -> None:
        """Schedules a check after a keystroke; after a slow check it waits longer."""
        self.proofs.edited(path)
        if path not in self.waiting:
            took = self.took.get(path, 0.0)
            delay = 0.0 if took < AT_ONCE else min(took, LONGEST_WAIT)
            self.waiting[path] = asyncio.get_running_loop().call_later(delay, self.check, path)

    def check(self, path: Path) -> None:
        timer = self.waiting.pop(path, None)
        if timer is not None:
            timer.cancel()
        start = time.perf_counter()
        space = self.space(path)
        space.check(path)
        self.took[path] = time.perf_counter() - start
        self.tell(space)
        self.prove(space, path)
        self.work()

    def tell(self, space: Workspace) -> None:
        for path, found in space.diagnostics():
            self.publish(space, path, found)

    def publish(self, space: Workspace, path: Path, found: list[Diagnostic]) -> None:
        text = space.text(path) or Text("")
        listed = [wire.diagnostic(text, fault) for fault in (*found, *self.proofs.shown.get(path, ()))]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(wire.uri(path), listed, self.versions.get(path))
        )

    def prove(self, space: Workspace, path: Path) -> None:
        """Asks for the proofs of an open tree without faults."""
        document = space.documents.get(path)
        sound = not any(fault.severity == "error" for fault in space.published.get(path, []))
        if sound and path in space.texts and document is not None and document.spec is not None:
            self.proofs.ask(path, document.spec)

    def tell_proofs(self, path: Path) -> None:
        space = self.space(path)
        self.publish(space, path, space.published.get(path, []))

    def work(self) -> None:
        """Starts the background task that checks the project's remaining files, one at a time, between requests of
        the editor."""
        if self.worker is None or self.worker.done():
            self.worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        done = 0
        while space := next((each for each in self.spaces.values() if each.queue), None):
            path = next((each for each in space.queue if each in space.texts), None) or next(iter(space.queue))
            space.check(path)
            done += 1
            if done % BATCH == 0 or not space.queue:
                self.tell(space)
            await asyncio.sleep(0)

    async def _watch(self, pid: int) -> None:
        while True:
            await asyncio.sleep(PARENT_EVERY)
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                os._exit(1)
            except PermissionError:
                return


def serve(files: Files, sort: Sort, stdin: BinaryIO, stdout: BinaryIO) -> None:
    made(files, sort).start_io(stdin, stdout)


def made(files: Files, sort: Sort) -> Server:
    server = Server(files, sort)
    for method, (answer, options) in ANSWERS.items():
        server.feature(method, options)(answer)
    return server


# Documents ---------------------------------------------------------------------------------------


def initialize(server: Server, params: types.InitializeParams) -> None:
    folders = [wire.path_of(each.uri) for each in params.workspace_folders or ()]
    if not folders and params.root_uri:
        folders = [wire.path_of(params.root_uri)]
    for folder in folders:
        if folder is not None and folder.is_dir():
            server.open_folder(folder)
            if len(folders) == 1:
                os.chdir(folder)  # names relative to the working directory resolve there


def initialized(server: Server, _: types.InitializedParams) -> None:
    for space in server.spaces.values():
        space.scan()
    server.work()
    watched = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
    if watched and watched.dynamic_registration:
        globs = [types.FileSystemWatcher(f"**/*.{suffix}") for suffix in ("yaml", "yml", "md", "py")]
        options = types.DidChangeWatchedFilesRegistrationOptions(globs)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        server.client_register_capability(types.RegistrationParams([types.Registration("files", method, options)]))
    if server.process_id:
        server.parent = asyncio.get_running_loop().create_task(server._watch(server.process_id))


def opened(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    path = wire.path_of(params.text_document.uri)
    if path is not None:
        server.versions[path] = params.text_document.version
        server.space(path).opened(path, params.text_document.text)
        server.later(path)


def changed(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    path = wire.path_of(params.text_document.uri)
    if path is None:
        return
    space = server.space(path)
    text = space.texts.get(path) or Text("")
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            places = Position(start.line, start.character), Position(end.line, end.character)
            text = text.changed(*places, change.text)
        else:
            text = Text(change.text)
    server.versions[path] = params.text_document.version
    space.edited(path, text)
    server.later(path)


def closed(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    path = wire.path_of(params.text_document.uri)
    if path is not None:
        server.versions.pop(path, None)
        server.space(path).closed(path)
        server.work()


def saved(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    path = wire.path_of(params.text_document.uri)
    if path is not None and path.name == project.PROJECT_FILE:
        server.space(path).changed_on_disk([path])
        server.work()


def watched(server: Server, params: types.DidChangeWatchedFilesParams) -> None:
    for change in params.changes:
        path = wire.path_of(change.uri)
        if path is not None and path not in server.space(path).texts:
            server.space(path).changed_on_disk([path])
    server.work()


# Answers ------------------------------------------------------------------------------------------


def _offset(document: Document, place: types.Position) -> int:
    return document.text.offset(Position(place.line, place.character))


def completion(server: Server, params: types.CompletionParams) -> types.CompletionList:
    found = server.document(params.text_document.uri, AT_ONCE)
    if found is None:
        return types.CompletionList(False, [])
    space, document = found
    can = server.client_capabilities.text_document
    sort = can.completion.completion_item if can and can.completion else None
    snippets = bool(sort and sort.snippet_support)
    items = complete.complete(space, document, _offset(document, params.position))
    return types.CompletionList(False, [wire.item(document.text, each, snippets) for each in items])


def hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    found = server.document(params.text_document.uri, PATIENCE)
    said = navigate.hover(*found, _offset(found[1], params.position)) if found is not None else None
    if found is None or said is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said[0]), wire.range_of(found[1].text, said[1]))


def definition(server: Server, params: types.DefinitionParams) -> list[types.Location]:
    found = server.document(params.text_document.uri)
    places = navigate.definition(*found, _offset(found[1], params.position)) if found is not None else []
    return [wire.location(server.text, each) for each in places]


def references(server: Server, params: types.ReferenceParams) -> list[types.Location]:
    found = server.document(params.text_document.uri)
    places = navigate.references(*found, _offset(found[1], params.position)) if found is not None else []
    return [wire.location(server.text, each) for each in places]


def prepare_rename(server: Server, params: types.PrepareRenameParams) -> types.Range | None:
    found = server.document(params.text_document.uri)
    thing = navigate.renamable(*found, _offset(found[1], params.position)) if found is not None else None
    return wire.range_of(found[1].text, thing.span) if found is not None and thing is not None else None


def rename(server: Server, params: types.RenameParams) -> types.WorkspaceEdit | None:
    found = server.document(params.text_document.uri)
    if found is None:
        return None
    try:
        return wire.renaming(server.text, navigate.rename(*found, _offset(found[1], params.position), params.new_name))
    except BtError as error:
        raise JsonRpcException(f"{error.message}: {error.hint}", int(types.LSPErrorCodes.RequestFailed)) from None


def actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    found = server.document(params.text_document.uri)
    if found is None:
        return []
    space, document = found
    first, last = params.range.start.line, params.range.end.line
    near = [
        f
        for f in space.faults(document)
        if (r := document.text.range(f.span)).start.line <= last and r.end.line >= first
    ]
    near = fixes.fixable(near, {str(document.path): document.text.yaml})
    return [
        wire.action(document.path, document.text, fault, fix, fix is fault.fixes[0])
        for fault in near
        for fix in fault.fixes
    ]


def symbols(server: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    found = server.document(params.text_document.uri, PATIENCE)
    return [wire.symbol(found[1].text, each) for each in outline(found[1])] if found is not None else []


def formatting(server: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    found = server.document(params.text_document.uri)
    if found is None or found[1].content not in ("tree", "skills", "project"):
        return []
    text = found[1].text
    made = tidy(text.source)
    if made is None or made == text.source:
        return []
    return [types.TextEdit(wire.between(text, 0, len(text.source)), made)]


def code_lens(server: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    found = server.document(params.text_document.uri)
    if found is None:
        return []
    space, document = found
    return [
        wire.lens(document.text, each)
        for each in lenses(document, space.home(document.path.parent) or space.root, server.tests)
    ]


ANSWERS: dict[str, tuple[Any, Any]] = {
    types.INITIALIZE: (initialize, None),
    types.INITIALIZED: (initialized, None),
    types.TEXT_DOCUMENT_DID_OPEN: (opened, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (changed, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (closed, None),
    types.TEXT_DOCUMENT_DID_SAVE: (saved, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (watched, None),
    types.TEXT_DOCUMENT_COMPLETION: (
        completion,
        types.CompletionOptions(trigger_characters=[" ", ":", "{", "[", "-", '"']),
    ),
    types.TEXT_DOCUMENT_HOVER: (hover, None),
    types.TEXT_DOCUMENT_DEFINITION: (definition, None),
    types.TEXT_DOCUMENT_REFERENCES: (references, None),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (prepare_rename, None),
    types.TEXT_DOCUMENT_RENAME: (rename, types.RenameOptions(prepare_provider=True)),
    types.TEXT_DOCUMENT_CODE_ACTION: (actions, types.CodeActionOptions([types.CodeActionKind.QuickFix])),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (symbols, None),
    types.TEXT_DOCUMENT_FORMATTING: (formatting, None),
    types.TEXT_DOCUMENT_CODE_LENS: (code_lens, None),
}
