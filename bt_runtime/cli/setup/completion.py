"""`btr config completion SHELL`: prints a script with which the shell completes commands, options, values and files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bt_runtime.cli import COMMANDS, WORDS, Exit, found, of_plugins
from bt_runtime.language.faults.diagnostic import BtError

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
    parser.epilog = 'bash: eval "$(btr config completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc; \
fish: btr config completion fish > ~/.config/fish/completions/btr.fish'


def run(args: argparse.Namespace) -> int:
    shell = args.shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise BtError("which shell?", f"name it: btr config completion {'|'.join(SHELLS)}")
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
    words += WORDS.get(name, ())
    return Command(name, about, tuple(options), tuple(words))


def bash(found: list[Command]) -> str:
    cases = []
    for c in found:
        flags = " ".join(flag for o in c.options for flag in o.flags)
        cases.append(f'    "{c.name}") flags="{flags}"; words="{" ".join(c.words)}" ;;')
    valued = [
        f"    \"{c.name}:{flag}\") COMPREPLY=($(compgen -W \"{' '.join(o.words)}\" -- \"$cur\")); return ;;"
        for c in found for o in c.options for flag in o.flags if o.words
    ]  # fmt: skip
    lines = [
        "_btr() {",
        "  local cur prev command both i flags words",
        '  cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command=""',
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    case "${COMP_WORDS[i]}" in -*) ;; *) command="${COMP_WORDS[i]}"; break ;; esac',
        "  done",
        "  if ((i + 1 < COMP_CWORD)); then",
        '    both="$command ${COMP_WORDS[i+1]}"',
        f'    case "$both" in {_double(found)}) command="$both" ;; esac',
        "  fi",
        '  case "$command:$prev" in',
        *valued,
        "  esac",
        '  case "$command" in',
        f'    "") flags="--help --version"; words="{" ".join(_single(found))}" ;;',
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
        f"  commands=({' '.join(_quoted(f'{c.name}:{_plain(c.about)}') for c in found if ' ' not in c.name)})",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
        "  fi",
        '  local command="$words[2]" both="$words[2] $words[3]"',
        f'  if (( CURRENT > 3 )); then case "$both" in {_double(found)}) command="$both" ;; esac; fi',
        '  case "$command:$words[CURRENT-1]" in',
    ]
    for c in found:
        for o in c.options:
            if o.words:
                lines += [f'    "{c.name}:{flag}") compadd -- {" ".join(o.words)}; return ;;' for flag in o.flags]
    lines += ["  esac", '  case "$command" in']
    for c in found:
        options = " ".join(_quoted(f"{flag}:{_plain(o.about)}") for o in c.options for flag in o.flags)
        more = f"compadd -- {' '.join(c.words)}; " if c.words else ""
        lines.append(f'    "{c.name}") options=({options}); [[ $PREFIX != -* ]] && {{ {more}true; }} ;;')
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
        first, _, word = c.name.partition(" ")
        if not word:
            lines.append(f"complete -c btr -n __fish_use_subcommand -a {c.name} -d {_quoted(_plain(c.about))}")
        seen = " && ".join(f"__fish_seen_subcommand_from {each}" for each in filter(None, (first, word)))
        within = f"complete -c btr -n '{seen}'"
        if c.words:
            lines.append(f"{within} -a {_quoted(' '.join(c.words))}")
        for o in c.options:
            flags = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in o.flags)
            values = f" -x -a {_quoted(' '.join(o.words))}" if o.words else " -r" if o.takes else ""
            lines.append(f"{within} {flags}{values} -d {_quoted(_plain(o.about))}")
    return "\n".join(lines) + "\n"


def _single(found: list[Command]) -> list[str]:
    return [c.name for c in found if " " not in c.name]


def _double(found: list[Command]) -> str:
    """Returns a shell pattern of the commands of two words."""
    return "|".join(f'"{c.name}"' for c in found if " " in c.name)


def _plain(text: str) -> str:
    """Removes the characters that are special in zsh's descriptions."""
    return "".join(c for c in text.replace(":", ",") if c.isprintable() and c not in "[]\\`$")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
