"""Explains a tree or a manifest that is not there, or lies where none is taken from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from bt_runtime.language import manifest, project
from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.faults.diagnostic import did_you_mean
from bt_runtime.types import Span


class Loading(Protocol):
    """The loader, as far as it is asked for what is there."""

    project: Path | None
    diagnostics: Diagnostics


def no_manifest(loader: Loading, name: str, file: str, span: Span) -> None:
    known = project.names("skills", root=loader.project)
    label, owner = did_you_mean(name, known), re.search(r"`skills: \[(.+)\]`", manifest.offering(name, loader.project))
    label = f"did you mean `{owner[1]}`, whose skill it is?" if owner else label
    message, help = f"there is no skill manifest `{name:.60}`", f"manifests here: {', '.join(known) or 'none'}"
    loader.diagnostics.error("BT040", message, file, span, label, help)


def not_included(loader: Loading, why: str, name: str, file: str, span: Span) -> None:
    if why == "outside":
        message = f"`{name:.60}` lies outside the project"
        loader.diagnostics.error("BT041", message, file, span, help="move it into the project")
    else:
        message, help = f"there is no tree `{name:.60}`", "looked beside this file, in trees/ and among the shipped"
        loader.diagnostics.error("BT040", message, file, span, tree_meant(loader, name), help)


def tree_meant(loader: Loading, name: str) -> str:
    own = project.find_tree(name, loader.project).own if project.nameable(name) else ()
    return f"did you mean `{own[0]}`?" if own else did_you_mean(name, project.names("trees", root=loader.project))
