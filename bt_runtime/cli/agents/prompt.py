"""`btr view prompt`: prints the prompt of the first node that asks a model, without asking it; or a recorded prompt."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from typing import Any, NamedTuple

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import add_register
from bt_runtime.cli.agents.worlds import add_task, begin
from bt_runtime.cli.color import BLUE, DIM, GREEN, PLAIN, add_color, painted
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.running.run import opened
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.terminal import json_text
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.settings import Settings
from bt_runtime.llm.chat.chat import Chat, chat_of, recalled
from bt_runtime.llm.server import key
from bt_runtime.llm.server.prompt_parts import shown, spoken
from bt_runtime.run.run import Run
from bt_runtime.types import Question

SECONDS = 60.0  # that the first question may take: a memory's embedder is loaded, a world is looked at
_TONES = {"template": DIM, "system": BLUE, "model": GREEN, "user": ""}


class ShownPrompt(NamedTuple):
    """A prompt, and what is known of its model."""

    kind: str
    prompt: str
    offered: Any  # moves, options, or what ends it
    chat: Chat | None = None
    file: str = ""  # a local model's file
    about: str = ""  # which recording, where it is a recorded one
    model: str = ""  # … and its model, as the run named it


def configure(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--memory", metavar="FILE", help="experiences to learn from [BTR_MEMORY]")
    parser.add_argument("--model", metavar="FILE", help="whose chat template, register and tokens; else a base model's")
    text = "the Nth question (decision:N of `btr runs fork`) of the recorded run named as TREE (`last`); -1: its last"
    parser.add_argument("--step", type=int, metavar="N", help=text)
    add_register(parser)
    text = "each option token by token, with its end and its prior, as --model scores it"
    parser.add_argument("--scores", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="the question for programs")
    add_folder(parser)
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    asked = first(args) if args.step is None else recorded(args)
    if args.scores:
        from bt_runtime.cli.agents import prompt_scores

        _named(asked, args.model)
        prompt_scores.show(asked.kind, asked.prompt, asked.offered, args.model, args.json)
        return Exit.SUCCESS
    show(asked, args)
    return Exit.SUCCESS


def _named(asked: ShownPrompt, model: str | None) -> None:
    """Raises BtError if no model is named. That of a recorded run is told, not opened: a journal may be anybody's."""
    from bt_runtime.llm.settings import find_model

    try:
        find_model(model)
    except BtError as fault:
        hint = f"the run asked {visible(asked.model)}: add --model with it, or with another one"
        raise BtError(fault.message, hint if asked.model else fault.hint) from fault


def first(args: argparse.Namespace) -> ShownPrompt:
    """Runs the tree up to its first question, which ends the run."""
    settings = Settings({"env": args.env, "memory": args.memory, "model": args.model, "prompts": args.prompts})
    tree = opened(args.tree)
    trust_prompt.trees([tree], settings)
    heard: list[Question] = []
    asked = list[Run]()

    def listen(question: Question) -> str:
        heard.append(question)
        asked[0].halt("heard", for_good=True)
        raise BtError("the prompt was written", "nothing is to be done")

    model = ScriptedModel(listen)
    file = as_asked(model, args.model) if args.model else ""
    with ExitStack() as stack:
        inputs, task = begin(args, settings, tree.spec, stack)
        made = stack.enter_context(
            Run(
                tree,
                inputs=inputs,
                world=task and task.world,
                model=model,
                memory=settings["memory"],
                services={"prompts": settings["prompts"] or ""},
            )
        )
        asked.append(made)
        made.parts.resources.notebook = None  # nothing is to be remembered of this
        made.spin(seconds=SECONDS)
    if not heard:
        raise BtError("no node of this tree asked a model", "is there an agent, and does the tree reach it?")
    question = heard[0]
    offered = question.moves or question.options or question.stop
    return ShownPrompt(question.kind, question.prompt, offered, chat_of(model), file)


def as_asked(model: ScriptedModel, named: str) -> str:
    """Formats a prompt for this model, and returns the model's file, if it has one. A server and a plugin's model are
    asked for their format; a file's weights are not loaded."""
    from bt_runtime.llm.backends import FILE, backend_name, open_with_backend
    from bt_runtime.llm.local.header import read_header, register_with
    from bt_runtime.llm.model_setting import adapters, apart
    from bt_runtime.llm.settings import find_model, is_address

    where, how = apart(find_model(named))
    if is_address(where):
        from bt_runtime.llm.server.endpoint import Endpoint

        key.named(where)
        with Endpoint(where, **how) as endpoint:
            model.chat_template, model.register = endpoint.chat_template, endpoint.register
            model.constrains = endpoint.constrains
            return ""
    if backend_name(where) != FILE:
        with open_with_backend(where, **how) as own:
            model.chat_template, model.register, model.constrains = own.chat_template, own.register, own.constrains
        return ""
    header = read_header(where)
    model.register = register_with(header, [adapter.file for adapter in adapters(how.get("lora", ()))])
    if header.chat_template and how.get("chat") is not False:
        chat = Chat.of(header.chat_template, header.markers, header.ends)
        model.chat_template = chat.in_one_turn() if how.get("turns") == "one" else chat
    return where


def recorded(args: argparse.Namespace) -> ShownPrompt:
    recording = Recording(folder.find(args.tree, reading(args)))
    asked = [event for event in recording.events if event.kind == "ask"]
    number = args.step if args.step > 0 else len(asked) + 1 + args.step
    if not 1 <= number <= len(asked):
        raise BtError(
            f"{recording.name} has no question {args.step}: it asked its models {len(asked)} times",
            f"--step takes 1 to {len(asked)}, or -1 for the last" if asked else "run a tree with an agent",
        )
    event = asked[number - 1]
    body = recording.body(event)
    offered = json.loads(str(body["offered"])) if body.get("offered") else {}
    kept = recording.head["models"].get(body["model"], {})
    about = f"{recording.name}: question {number} of {len(asked)}, tick {event.tick}, {body['path']}"
    return ShownPrompt(
        str(body["what"]), str(body["prompt"]), offered.get("moves") or offered.get("options") or (),
        recalled(kept.get("template")), about=about, model=_told(recording.head.get("model"), body["model"]),
    )  # fmt: skip


def _told(models: Any, name: str) -> str:
    found = models.get(name) if isinstance(models, dict) else models
    return found if isinstance(found, str) else json.dumps(found) if found else ""


def show(asked: ShownPrompt, args: argparse.Namespace) -> None:
    tokens = None
    if asked.file:
        from bt_runtime.llm.local.tokenizer import tokens_of

        tokens = tokens_of(asked.file, asked.prompt, asked.chat is not None)
    if args.json:
        of_kind = {"choose": "options", "decide": "moves", "write": "stop"}.get(asked.kind, "options")
        told: dict[str, Any] = {"kind": asked.kind, "prompt": asked.prompt, of_kind: asked.offered}
        told |= {"tokens": [token._asdict() for token in tokens]} if tokens is not None else {}
        told |= {"about": asked.about} if asked.about else {}
        told |= {"spoken": [said._asdict() for said in spoken(asked.prompt, asked.chat)]} if asked.chat else {}
        print(json_text(told, indent=2))
        return
    if asked.about:
        print(visible(asked.about), file=sys.stderr)
    color = painted(sys.stdout, args.color)
    for who, text in spoken(asked.prompt, asked.chat):
        tone = _TONES[who] if color else ""
        print(f"{tone}{shown(text)}{PLAIN if tone else ''}", end="")
    offered = asked.offered if isinstance(asked.offered, dict) else {"": asked.offered}
    for move, options in offered.items():
        said = "".join(f"\n    {option.strip()}" for option in options)
        print(f"\n  {move or 'one of'}{said}" if asked.kind != "write" else "", end="")
    print()
    if tokens is not None:
        steering = sum(token.steers for token in tokens)
        print(f"{len(tokens)} tokens, {steering} of them control tokens of the template", file=sys.stderr)
