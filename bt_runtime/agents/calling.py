"""`form: tools`: an agent's skills as the tools of its model's own chat template, its steps as calls of them.

A step asks first for a tool, then for its arguments, each among what can be done now; so a call is always a sentence of
the world. What is kept of a step, its sentence, is the same as without tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_runtime.agents.scoring import scored
from bt_runtime.agents.story import ACT, ASK, HEARD, OPENINGS, SILENT, THINK, StoryStep
from bt_runtime.agents.surroundings import DONE, FAILURE, RECALL
from bt_runtime.agents.worked_example import steps_of
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.sentence import Sentence, spoken
from bt_runtime.llm.chat.calls import Call, CallForm, Tool, plain
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.types import Choice, Grammar, Introduced, Json, Question

if TYPE_CHECKING:
    from bt_runtime.agents.growing import PlanGrowing
    from bt_runtime.skills.phrase import Phrase, Slot

_HINT = "leave `form` out: every model that writes text is asked in sentences"
_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean"}
_WORDS = r"""[^\s.,;:!?…*#_"'()<>=|/\\-][^"\\\x00-\x1f]*"""  # letters of a thought: without quotes, which need escapes
_TEXT = r'"[^"\\\x00-\x1f ][^"\\\x00-\x1f]{0,119}"'
_NUMBER = {"integer": r"(0|-?[1-9][0-9]{0,8})", "number": r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?"}
_SAID = {
    THINK: Tool("think", "Say in one line what you know and what you do next. You are answered OK.",
                (("thought", "string"),)),
    ASK: Tool("ask", "Ask the person who is there a question. You are told what they say.", (("question", "string"),)),
}  # fmt: skip
_ENDS = {
    DONE: Tool("done", "Say that you have seen that the goal is reached, and not before."),
    FAILURE: Tool("failure", "Give up, only when nothing is left to try."),
}
_OTHER = Tool("act", "Do another thing that can be done now, in these words.", (("sentence", "string"),))
_LEFT_OVER = {"think": "thought", "ask": "question"}
Chosen = Generator[Any, Any, tuple[str, str, Choice]]


class Pattern(NamedTuple):
    sentence: Sentence
    tool: Tool


def toolbox(
    agent: PlanGrowing, moves: Sequence[str], text: Callable[[], str], recalls: bool, ends: Sequence[str]
) -> Toolbox:
    """The tools of an agent that begins. `text`: its prompt up to the next call's name. `recalls`: it may ask its
    working memory. `ends`: by which sentences it may end. Raises BtError for a model or a move without calls."""
    chat = agent.chat
    why = chat.calls if chat is not None else "it has no chat template"
    if not isinstance(why, CallForm) or chat is None:
        raise BtError(f"`form: tools`: this model's template is of no use for it: {why}", _HINT)
    if "expand" in moves:
        raise BtError("`form: tools`: a plan is no call: `expand` is not among its moves", _HINT)
    if agent.spec.values["think"] == "model":
        raise BtError("`form: tools` goes with `think: move` only", "leave `think: model` out, or `form`")
    lines = _patterns(agent, recalls)
    said = [tool for opening, tool in _SAID.items() if OPENINGS[opening] in moves]
    return Toolbox(why, chat, text, [*_named(lines)], said, ends)


def _patterns(agent: PlanGrowing, recalls: bool) -> list[tuple[str, str, str, Mapping[str, str]]]:
    """Every kind of sentence that the agent may ever choose: a name or "", the sentence, about it, its slots' types."""
    actions, world = agent.actions, agent.context.services.world
    found: list[tuple[str, str, str, Mapping[str, str]]]
    found = [(kind.name, kind.data["entry"].sentence, kind.about, kind.data["entry"].types) for kind in actions.kinds]
    manual: Sequence[Any] = world.manual().get("skills", ()) if isinstance(world, Introduced) else ()
    for line in map(str, actions.patterns(manual)):
        said, _, needs = line.partition(" (needs: ")
        found.append(("", said, f"{said}; needs {needs.rstrip(')')}" if needs else said, {}))
    found += [("", phrase.sentence.template, phrase.sentence.template, {}) for phrase in actions.of_world()]
    if world is not None:
        found += [("", k.data["entry"].sentence, k.about, {}) for k in actions.known]
    if recalls:
        found.append(("", f"{RECALL}{{kind}}", "Be told where things of this kind were seen before", {}))
    return found


def _named(lines: Iterable[tuple[str, str, str, Mapping[str, str]]]) -> Iterator[Pattern]:
    """Each sentence once. No name begins another one, so that a name has a probability of its own."""
    seen, taken = set[str](), [tool.name for tool in (*_SAID.values(), *_ENDS.values(), _OTHER)]
    known = []
    for name, said, about, types in lines:
        if said not in seen:
            seen.add(said)
            known.append((name, Sentence(said, types), about))
    for name, sentence, about in known:
        base = re.sub(r"\W+", "_", name or " ".join(sentence.pieces[::2]).lower()).strip("_") or "say"
        number, free = 1, base
        while any(free.startswith(other) or other.startswith(free) for other in taken):
            number, free = number + 1, f"do{number if number > 1 else ''}_{base}"
        taken.append(free)
        slots = {slot: _TYPES.get(sentence.types.get(slot, ""), "string") for slot in sentence.slots}
        yield Pattern(sentence, Tool(free, f"{plain(about).rstrip('.')}.", tuple(slots.items())))


class Toolbox:
    """The tools of one agent, and the way from sentences to calls."""

    def __init__(
        self,
        form: CallForm,
        chat: Chat,
        text: Callable[[], str],
        patterns: Sequence[Pattern],
        said: Sequence[Tool],
        ends: Sequence[str],
    ) -> None:
        self.form, self.chat, self.text = form, chat, text
        self.patterns = sorted(patterns, key=lambda each: -sum(map(len, each.sentence.pieces[::2])))
        listed = [*said, *(each.tool for each in patterns), *([] if patterns else [_OTHER])]
        self.tools = tuple(_harmless(each, chat) for each in [*listed, *(_ENDS[end] for end in ends)])
        self._known: dict[str, tuple[str, dict[str, Json]]] = {}

    def call(self, sentence: str) -> tuple[str, dict[str, Json]]:
        """The tool and the arguments that say this sentence."""
        if sentence not in self._known:
            self._known[sentence] = self._read(sentence)
        return self._known[sentence]

    def _read(self, sentence: str) -> tuple[str, dict[str, Json]]:
        if sentence in _ENDS:
            return _ENDS[sentence].name, {}
        for pattern, tool in self.patterns:
            found = pattern.parse(sentence)
            if found is not None and pattern.say(found) == sentence:
                return tool.name, found
        return _OTHER.name, {"sentence": sentence}

    def sentence(self, name: str, arguments: Mapping[str, Json]) -> str:
        """The sentence that a call says: the inverse of `call`."""
        for said, tool in _ENDS.items():
            if tool.name == name:
                return said
        for pattern, tool in self.patterns:
            if tool.name == name:
                return pattern.say(arguments)
        return str(arguments["sentence"])

    def begun(self, phrase: Phrase, params: Mapping[str, Json]) -> tuple[str, str]:
        """Returns the tool of a sentence that was begun, and its arguments as text, up to the first open one."""
        name = next((tool.name for said, tool in self.patterns if said.template == phrase.sentence.template), "")
        if not name:
            raise BtError(f"`form: tools`: `{phrase.sentence.template}` is no sentence of this agent's tools", _HINT)
        told = "".join(f"{_json(slot)}: {_json(value)}, " for slot, value in params.items())
        return name, f"{{{told}{_json(phrase.rest[0])}: "

    def told(self, step: StoryStep) -> Call:
        if step.move in _LEFT_OVER:
            heard = HEARD if step.move == "think" else step.observation.strip() or SILENT
            return step.move, _json({_LEFT_OVER[step.move]: step.text}), heard
        name, arguments = self.call(step.text)
        return name, _json(arguments), step.observation.strip() or SILENT

    def example(self, text: str) -> str:
        """An experience with its steps as calls."""
        head, steps = steps_of(text)
        called = [self.told(step) for step in steps if step.move != "expand"]
        lines = [f'{{"name": {_json(name)}, "arguments": {arguments}}}\n{heard}' for name, arguments, heard in called]
        return "\n".join([head, *lines])

    def offered(self, name: str) -> str:
        """A tool's name as an option: with what follows it up to its arguments, where that is one line of letters."""
        whole = name + self.form.between(name)
        return name if "\n" in whole or self.chat.harmless(whole) != whole else whole


def _harmless(tool: Tool, chat: Chat) -> Tool:
    return tool._replace(about=chat.harmless(tool.about))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# One decision ------------------------------------------------------------------------------------


def chosen(agent: PlanGrowing, box: Toolbox, sentences: Sequence[str], openings: Iterable[str]) -> Chosen:
    """Chooses a tool, then its arguments. Returns the move's opening, the sentence, and the choice with both scores."""
    calls: dict[str, list[tuple[str, str]]] = {}  # tool → (arguments, sentence) of each call
    calls.update({tool.name: [] for opening, tool in _SAID.items() if opening in openings})
    for sentence in sentences:
        if agent.actions.unfinished(sentence) is not None:
            name, arguments = box.begun(*agent.actions.begun[sentence])
        else:
            name, given = box.call(sentence)
            arguments = f"{_json(given)} "  # ends with a blank: a closed bracket needs no terminator
        calls.setdefault(name, []).append((arguments, sentence))
    how = agent.spec.values["choose"]
    names = {box.offered(name): name for name in calls}
    first = Choice(next(iter(names)), 0, 0.0, float("inf"))
    if len(names) > 1:
        moves: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
        first = yield from agent.asked(
            Question("decide", box.text(), moves=moves, mode="greedy" if how == "greedy" else "exact")
        )
    name = names[first.text]
    for opening, tool in _SAID.items():
        if tool.name == name:
            return opening, "", first
    options = calls[name]
    if len(options) == 1:
        return ACT, options[0][1], first
    begun = name + box.form.between(name)
    question = Question("choose", box.text() + begun, options=tuple([option for option, _ in options]), mode=how)
    last = yield from scored(agent, question, box.form.opening + begun)
    said = options[last.index][1]
    return ACT, said, last._replace(logprob=first.logprob + last.logprob, margin=min(first.margin, last.margin))


def line(agent: PlanGrowing, box: Toolbox, opening: str) -> Generator[Any, Any, str]:
    """Asks for a thought, or for a question: the one argument of its tool."""
    tool = _SAID[opening]
    begun = f"{{{_json(tool.slots[0][0])}:"
    wrote = yield from _wrote(agent, box, tool.name, begun, rf' ?"{_WORDS}"\}}')
    try:
        return " ".join(str(json.loads(begun + wrote)[tool.slots[0][0]]).split())
    except ValueError:  # cut off
        return " ".join(wrote.strip().strip('"').split())


def rest(agent: PlanGrowing, box: Toolbox, phrase: Phrase, params: Mapping[str, Json]) -> Generator[Any, Any, str]:
    """Asks for the arguments that are left, and returns them as the rest of the phrase's sentence."""
    name, begun = box.begun(phrase, params)
    slots = [*dict.fromkeys(phrase.rest[0::2])]
    pattern = ", ".join(
        (f"{re.escape(_json(slot))}: " if number else " ?") + _values(phrase.slots[slot])
        for number, slot in enumerate(slots)
    )
    wrote = yield from _wrote(agent, box, name, begun.rstrip(), rf"{pattern}\}}")
    try:
        given = {**params, **json.loads(begun.rstrip() + wrote)}
    except ValueError:  # cut off: the sentence cannot be read, which its observation says
        return wrote.strip()
    return "".join(part if number % 2 else spoken(given[part]) for number, part in enumerate(phrase.rest))


def _values(slot: Slot) -> str:
    if slot.fillers is None and slot.form:
        return f'"({slot.form})"'
    if slot.fillers is None:
        return {**_NUMBER, "boolean": "(true|false)"}.get(slot.type, _TEXT)
    return "(" + "|".join(re.escape(_json(value)) for value in slot.fillers) + ")"


def _wrote(agent: PlanGrowing, box: Toolbox, name: str, begun: str, pattern: str) -> Generator[Any, Any, str]:
    values = agent.spec.values
    prompt = box.text() + name + box.form.between(name) + begun
    wrote = yield from agent.asked(Question(
        "write", prompt, grammar=Grammar("regex", pattern), max_tokens=values["think_tokens"],
        temperature=agent.temperature, seed=agent.seed(),
    ))  # fmt: skip
    return str(wrote.text)
