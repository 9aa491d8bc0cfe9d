"""`btr completion SHELL`: prints a script with which the shell completes commands, options, values and files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bt_runtime.cli import COMMANDS, Exit, found, of_plugins
from bt_runtime.faults.diagnostic import BtError

SHELLS = ("bash", "zsh", "fish")


class Option(NamedTuple):
    flags: tuple[str, ...]
    about: str
    words: tuple[str, ...]  # what may follow, when that is a fixed choice
    takes: bool  # does a value follow


class Command(NamedTuple):
    name: str
    about: str
    options: tuple[Option, ...]
    words: tuple[str, ...]  # what may stand without a flag: actions, choices


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="default: by $SHELL")
    parser.epilog = 'bash: eval "$(btr completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc; \
fish: btr completion fish > ~/.config/fish/completions/btr.fish'


def run(args: argparse.Namespace) -> int:
    shell = args.shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise BtError("which shell?", f"name it: btr completion {'|'.join(SHELLS)}")
    print({"bash": bash, "zsh": zsh, "fish": fish}[shell](list(commands())), end="")
    return Exit.SUCCESS


def commands() -> Iterator[Command]:
    """Reads the commands from the parsers. A command whose extra is not installed is listed by name only."""
    for name, about in {**{name: about for name, (about, _) in COMMANDS.items()}, **of_plugins()}.items():
        parser = argparse.ArgumentParser(prog=f"btr {name}")
        vars(parser)["helped"] = True
        try:
            found(name).configure(parser)
        except ImportError:
            pass
        except BtError:
            pass
        yield command(name, about, parser)


def command(name: str, about: str, parser: argparse.ArgumentParser) -> Command:
    options: list[Option] = []
    words: list[str] = []
    for action in parser._actions:  # argparse shows its options in no other way
        choices = tuple(str(c) for c in action.choices or ())
        if action.option_strings:
            takes = action.nargs != 0
            options.append(Option(tuple(action.option_strings), action.help or "", choices, takes))
        else:
            words += choices
    return Command(name, about, tuple(options), tuple(words))


def bash(found: list[Command]) -> str:
    cases = []
    for c in found:
        flags = " ".join(flag for o in c.options for flag in o.flags)
        cases.append(f'    {c.name}) flags="{flags}"; words="{" ".join(c.words)}" ;;')
    valued = [
        f"    {c.name}:{flag}) COMPREPLY=($(compgen -W \"{' '.join(o.words)}\" -- \"$cur\")); return ;;"
        for c in found for o in c.options for flag in o.flags if o.words
    ]  # fmt: skip
    lines = [
        "_btr() {",
        "  local cur prev command i flags words",
        '  cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command=""',
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    case "${COMP_WORDS[i]}" in -*) ;; *) command="${COMP_WORDS[i]}"; break ;; esac',
        "  done",
        '  case "$command:$prev" in',
        *valued,
        "  esac",
        '  case "$command" in',
        f'    "") flags="--help --version"; words="{" ".join(c.name for c in found)}" ;;',
        *cases,
        "  esac",
        '  case "$cur" in',
        '    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;',
        '    *) COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        '       [ -n "$command" ] && COMPREPLY+=($(compgen -f -- "$cur")) ;;',
        "  esac",
        "}",
        "complete -o filenames -F _btr btr",
    ]
    return "\n".join(lines) + "\n"


def zsh(found: list[Command]) -> str:
    lines = [
        "#compdef btr",
        "_btr() {",
        "  local -a commands options words",
        f"  commands=({' '.join(_quoted(f'{c.name}:{_plain(c.about)}') for c in found)})",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
        "  fi",
        '  case "$words[2]:$words[CURRENT-1]" in',
    ]
    for c in found:
        for o in c.options:
            if o.words:
                lines += [f"    {c.name}:{flag}) compadd -- {' '.join(o.words)}; return ;;" for flag in o.flags]
    lines += ["  esac", '  case "$words[2]" in']
    for c in found:
        options = " ".join(_quoted(f"{flag}:{_plain(o.about)}") for o in c.options for flag in o.flags)
        more = f"compadd -- {' '.join(c.words)}; " if c.words else ""
        lines.append(f"    {c.name}) options=({options}); [[ $PREFIX != -* ]] && {{ {more}true; }} ;;")
    lines += [
        "  esac",
        "  if [[ $PREFIX == -* ]]; then _describe option options; else _files; fi",
        "}",
        'if [ "$funcstack[1]" = "_btr" ]; then _btr "$@"; else compdef _btr btr; fi',
    ]
    return "\n".join(lines).replace("local -a commands options words\n", "local -a commands options\n") + "\n"


def fish(found: list[Command]) -> str:
    lines = ["complete -c btr -n __fish_use_subcommand -f"]
    for c in found:
        lines.append(f"complete -c btr -n __fish_use_subcommand -a {c.name} -d {_quoted(_plain(c.about))}")
        within = f"complete -c btr -n '__fish_seen_subcommand_from {c.name}'"
        if c.words:
            lines.append(f"{within} -a {_quoted(' '.join(c.words))}")
        for o in c.options:
            flags = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in o.flags)
            values = f" -x -a {_quoted(' '.join(o.words))}" if o.words else " -r" if o.takes else ""
            lines.append(f"{within} {flags}{values} -d {_quoted(_plain(o.about))}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Removes the characters that are special in zsh's descriptions."""
    return "".join(c for c in text.replace(":", ",") if c.isprintable() and c not in "[]\\`$")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
