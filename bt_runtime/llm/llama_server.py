"""llama.cpp's own server: its template, its tokens and their probabilities, and grammars in what it was built with."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import answer, gbnf, rollout, served_chat
from bt_runtime.llm.answer import Unanswered
from bt_runtime.llm.chat import Chat
from bt_runtime.llm.choice import ROOT, Trie, check_apart, combine, ended, search
from bt_runtime.llm.request import Line
from bt_runtime.llm.rollout import Row, Rows, Way
from bt_runtime.llm.spelling import Spelling
from bt_runtime.llm.template import LONGEST
from bt_runtime.llm.token_boundary import Boundary, BoundaryFinder
from bt_runtime.types import Choice, Grammar, Question

NEAR = 64  # probabilities of one place of an answer that are asked for; any other token is less likely than these
ROLLOUTS = 3  # whole answers that may prove a choice; then all ways that are open are looked at together
AT_ONCE = 256  # places whose probabilities are asked for in one request …
REQUEST = 1 << 20  # … and bytes of its prompts, about
DRAWS = 5  # of a token: when it is a part of a letter, the server leaves the probabilities out
LIFT = 12.0  # nats by which tokens that are asked for are lifted above the others, and which are taken off again
MOST_PROBABILITIES = 32_768  # of one place
_PLAIN = {"cache_prompt": True, "stream": False, "repeat_penalty": 1.0}
_LIKELIEST = {"temperature": 0, "samplers": ["temperature"]}
_TAIL = 2  # tokens of a prompt's end that an option may merge with: few, so that they come again and are known
_CONTROL = 3  # letters that a token that steers has at least


class LlamaServer:
    able = "exact", "greedy", "scores"
    writes = "constrained and checked"

    def __init__(self, terminator: str, asked_again: Callable[[], None]) -> None:
        self.terminator, self.asked_again = terminator, asked_again
        self.spelling = Spelling()
        self.chat: Chat | None = None
        self.guided: bool | None = None  # was it built with llguidance? None: nobody has asked
        self._begin: list[int] | None = None  # the tokens at the beginning of every prompt
        self._fixed: dict[str, list[int | str]] = {}
        self._lock = threading.Lock()

    # the prompt

    def open(self, line: Line, props: Mapping[str, Any], chat: bool | None) -> None:
        """Its template. A server without one falls back to ChatML; so a vocabulary without ChatML's signs has none."""
        self._begin = self.spelling.mixed(line, "", begin=True)
        source = props.get("chat_template")
        if chat is False or not isinstance(source, str) or not source:
            return
        sign = "<|im_start|>"
        if chat is None and sign in source and len(self.spelling.mixed(line, sign, steer=True)) != 1:
            return

        def render(said: list[dict[str, str]]) -> str:
            ask = {"messages": said, "chat_template_kwargs": {"enable_thinking": False}}
            return answer.text(line.post("/apply-template", ask), "prompt", LONGEST)

        try:
            self.chat = served_chat.of_render(render, source)
        except (Unanswered, ValueError) as fault:
            raise BtError(
                f"{line.server.address}: its chat template cannot be used: {line.server.quoted(str(fault))}",
                "ask it as a base model: `model: {server: …, chat: false}`; or start it with --chat-template-file",
            ) from None
        for shape in (*self.chat.shapes.values(), self.chat.turns or ()):
            for part in shape:
                if isinstance(part, str):
                    self._steering(line, part.strip(served_chat.OPEN + served_chat.CLOSE))

    def tokens(self, line: Line, prompt: str) -> list[int]:
        """Only what the template says may steer."""
        content: list[int | str] = []
        for text, fixed in served_chat.parts(prompt) if self.chat else [served_chat.Part(prompt, False)]:
            for piece in self._steering(line, text) if fixed else [text]:
                if isinstance(piece, str) and content and isinstance(content[-1], str):
                    content[-1] += piece
                else:
                    content.append(piece)
        found = self.spelling.mixed(line, content[0] if len(content) == 1 else content) if content else []  # type: ignore[arg-type]
        begin = self._begin or []
        return found if begin and found[: len(begin)] == begin else [*begin, *found]

    def _steering(self, line: Line, text: str) -> list[int | str]:
        """A part of the template: the tokens that steer, and the texts between them, which merge with what follows."""
        known = self._fixed.get(text)
        if known is None:
            there, plain = self.spelling.mixed(line, text, steer=True), {*self.spelling.mixed(line, text)}
            pieces = {token: self.spelling.pieces[token].decode("utf-8", "replace") for token in there}
            odd = [p for t in dict.fromkeys(there) if t not in plain and len((p := pieces[t]).strip()) >= _CONTROL]
            self.spelling.many(line, odd)
            steers = {t for t in there if pieces[t] in odd and self.spelling.known[pieces[t]] != [t]}
            known = []
            for token in there:
                if token in steers:
                    known.append(token)
                elif known and isinstance(known[-1], str):
                    known[-1] += pieces[token]
                else:
                    known.append(pieces[token])
            self._fixed[text] = known
        return known

    # choosing

    def choose(self, line: Line, question: Question) -> Choice:
        boundary = self._join(line, self.tokens(line, question.prompt), question.options, self.terminator)
        return self._chosen(line, boundary, question, question.options)

    def decide(self, line: Line, question: Question) -> Choice:
        """A move and one of its options by one answer, where that answer proves both."""
        names = (*question.moves,)
        before = self.tokens(line, question.prompt)
        moves = self._join(line, before, names, "")
        whole = [[*moves.prompt, *_path(moves.trie, leaf)] for leaf in moves.trie.leaf_of]
        then = [
            self._join(line, tokens, question.moves[name], self.terminator) if question.moves[name] else None
            for name, tokens in zip(names, whole, strict=True)
        ]
        rows = self._both(line, moves, then, whole)
        move = self._chosen(line, moves, question, names, rows)
        options, at = then[names.index(move.text)], names.index(move.text)
        first = question.before(move.text)
        if options is None:
            return Choice(move.text, first, move.logprob, move.margin)
        path = _path(moves.trie, moves.trie.leaf_of[at])
        same = [row.token for row in rows[: len(path)]] == path and options.prompt == whole[at]
        rest = rows[len(path) :] if same else ()
        return combine(move, self._chosen(line, options, question, question.moves[move.text], rest), first)

    def _both(self, line: Line, moves: Boundary, then: Sequence[Boundary | None], whole: Sequence[list[int]]) -> Rows:
        """The likeliest move with the likeliest of its options."""
        if any(b is not None and b.prompt != tokens for b, tokens in zip(then, whole, strict=True)):
            return ()  # tokens merge across the end of a move
        grammar = gbnf.of_moves(moves.trie, [b.trie if b else None for b in then])
        longest = max(moves.trie.longest[ROOT] + (b.trie.longest[ROOT] if b else 0) for b in then)
        return self._rollout(line, moves.prompt, grammar, longest)

    def _join(self, line: Line, before: Sequence[int], options: Sequence[str], end: str) -> Boundary:
        spelling, finished = self.spelling, ended(options, end)
        tail = b"".join(spelling.pieces[token] for token in before[-_TAIL:]).decode("utf-8", "ignore")
        spelling.many(line, [tail, "\n" + tail, "\n", *(tail + option for option in finished)])  # what it will ask for
        finder = BoundaryFinder(
            lambda text: spelling.tokens(line, text),
            spelling.pieces.__getitem__,
            lambda texts: spelling.many(line, texts),
            _TAIL,
        )
        boundary = finder.join(before, finished)
        if ROOT in boundary.trie.leaf_of:
            raise Unanswered("/tokenize makes no tokens of an option", 200)
        return boundary

    def _chosen(
        self, line: Line, boundary: Boundary, question: Question, options: Sequence[str], rows: Rows = ()
    ) -> Choice:
        prompt, trie = boundary
        if question.mode == "greedy":
            rows = rows or self._rollout(line, prompt, gbnf.of_trie(trie), trie.longest[ROOT])
            if (found := rollout.greedy(trie, options, rows)) is not None:
                return found
        provable = question.mode == "exact" and not question.normalise
        if provable and (found := self._proved(line, boundary, options, rows)) is not None:
            return found
        return self._searched(line, boundary, question, options)

    def _proved(self, line: Line, boundary: Boundary, options: Sequence[str], rows: Rows) -> Choice | None:
        prompt, trie = boundary
        quest = rollout.exact(trie, options, ROLLOUTS)
        try:
            way = next(quest)
            while True:
                rows = rows or self._gone(line, prompt, trie, way)
                way, rows = quest.send(rows), ()
        except StopIteration as finished:
            found: Choice | None = finished.value
            return found

    def _gone(self, line: Line, prompt: Sequence[int], trie: Trie, way: Way) -> Rows:
        most = trie.longest[way.node] - trie.depth[way.node]
        at = [*prompt, *_path(trie, way.node)]
        return self._rollout(line, at, gbnf.of_trie(trie, way.node, way.child), most)

    def _rollout(self, line: Line, prompt: Sequence[int], grammar: str, most: int) -> Rows:
        """The likeliest answer in the grammar, with what the model itself says of each place."""
        ask = {"prompt": prompt, "grammar": grammar, "n_predict": most, "n_probs": NEAR, **_LIKELIEST, **_PLAIN}
        said = line.post("/completion", ask)
        told = answer.listed(said, "completion_probabilities")[:most]
        line.note(said, len(prompt), most)
        return [_row(entry) for entry in told]

    def _searched(self, line: Line, boundary: Boundary, question: Question, options: Sequence[str]) -> Choice:
        """The same search as on a local model; all places of one round are one request, or few."""
        prompt, trie = boundary
        if question.mode == "scores":
            check_apart(options, trie)
        width = 1 if question.mode == "greedy" else 32
        quest = search(trie, options, question.mode, width, question.normalise)
        try:
            nodes = next(quest)
            while True:
                nodes = quest.send(self._below(line, prompt, trie, nodes))
        except StopIteration as finished:
            choice: Choice = finished.value
            return choice

    def _below(self, line: Line, prompt: Sequence[int], trie: Trie, nodes: Sequence[int]) -> list[Sequence[float]]:
        most = max(1, min(AT_ONCE, REQUEST // (7 * (len(prompt) + trie.longest[ROOT]))))
        found: list[Sequence[float]] = []
        for start in range(0, len(nodes), most):
            part = nodes[start : start + most]
            found += self._places(line, [[*prompt, *_path(trie, node)] for node in part], [trie.below[n] for n in part])
        return found

    def _places(self, line: Line, prompts: list[list[int]], wanted: Sequence[Sequence[int]]) -> list[list[float]]:
        """The tokens that are wanted are lifted, so that they are among the likeliest; then that is taken off again."""
        lifted = sorted({token for tokens in wanted for token in tokens})
        ask = {
            "prompt": prompts, "n_predict": 1, "n_probs": min(MOST_PROBABILITIES, len(lifted) + NEAR),
            "post_sampling_probs": True, "logit_bias": [[token, LIFT] for token in lifted], "temperature": 1.0,
            "samplers": [], **_PLAIN,
        }  # fmt: skip
        for _ in range(DRAWS):
            said = line.post("/completion", ask, several=True)
            answers = [*answer.listed(said, "several")] if "several" in said else [said]
            if all(isinstance(one, dict) and "completion_probabilities" in one for one in answers):
                break
        if len(answers) != len(prompts) or not all(isinstance(one, dict) for one in answers):
            raise Unanswered(f"/completion answered {len(prompts)} prompts {len(answers)} times", 200)
        answers.sort(key=lambda one: answer.figure(one, "index", len(prompts)))
        found = []
        for one, prompt, tokens in zip(answers, prompts, wanted, strict=True):
            line.note(one, len(prompt), 1)
            found.append(_lowered(one, tokens, frozenset(lifted)))
        return found

    # writing

    def write(self, line: Line, ask: dict[str, Any], grammar: Grammar | None, most: int) -> tuple[Any, ...]:
        """What it said, the object with the text, its name there, and whether it was cut."""
        prompt = self.tokens(line, ask["prompt"])
        body = {**ask, "prompt": prompt, "n_predict": most, **_PLAIN}
        body["top_k"] = body.get("top_k") or 0
        said = self._constrained(line, body, grammar)
        return said, said, "content", said.get("stop_type") == "limit", len(prompt)

    def _constrained(self, line: Line, body: dict[str, Any], grammar: Grammar | None) -> dict[str, Any]:
        """By llguidance where it was built in, else by the same grammar in llama.cpp's own notation."""
        if grammar is None:
            return line.post("/completion", body)
        if grammar.kind == "json_schema":
            return line.post("/completion", {**body, "json_schema": json.loads(grammar.text)})
        if self.guided is not False:
            text = grammar.text if grammar.kind == "lark" else f"start: /{_slashed(grammar.text)}/"
            try:
                said = line.post("/completion", {**body, "grammar": "%llguidance {}\n" + text})
                self.guided = True
                return said
            except Unanswered as fault:
                if fault.status not in (400, 500) or "llguidance" not in str(fault):
                    raise
                self.guided = False
        return line.post("/completion", {**body, "grammar": gbnf.of_grammar(grammar)})


def _path(trie: Trie, node: int) -> list[int]:
    path = []
    while node:
        path.append(trie.token[node])
        node = trie.parent[node]
    return path[::-1]


def _row(entry: Any) -> Row:
    if not isinstance(entry, dict):
        raise Unanswered("the answer's `completion_probabilities` has something in it that is not an object", 200)
    top = answer.listed(entry, "top_logprobs")
    likely: dict[int, float] = {}
    for one in top:
        if not isinstance(one, dict):
            raise Unanswered("the answer's `top_logprobs` has something in it that is not an object", 200)
        likely[answer.whole(one, "id")] = answer.logprob(one)
    return Row(answer.whole(entry, "id"), answer.logprob(entry), likely, min(likely.values(), default=0.0))


def _lowered(said: Mapping[str, Any], wanted: Sequence[int], lifted: frozenset[int]) -> list[float]:
    """Of p' = p·e^LIFT / (1 + P·(e^LIFT - 1)), where P is what all that were lifted have together, back to log p."""
    told: dict[int, float] = {}
    for one in answer.listed(answer.entry(said, "completion_probabilities"), "top_probs"):
        if not isinstance(one, dict):
            raise Unanswered("the answer's `top_probs` has something in it that is not an object", 200)
        told[answer.whole(one, "id")] = answer.probability(one)
    share = min(1.0, sum(p for token, p in told.items() if token in lifted))
    lift = math.exp(LIFT)
    rest = max(1.0 - share, sum(p for token, p in told.items() if token not in lifted))
    together = share / (share + lift * rest) if share else 0.0
    scale = 1.0 + together * (lift - 1.0)
    least = min(told.values(), default=0.0)
    return [min(0.0, _log(told.get(token, least) * scale) - LIFT) for token in wanted]


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _slashed(pattern: str) -> str:
    """A regular expression inside the slashes of a Lark terminal."""
    return pattern.replace("/", "\\/").replace("\n", "\\n")
