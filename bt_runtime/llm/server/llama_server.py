"""llama.cpp's own server: uses its chat template, its tokens and their probabilities, and the grammars it was built
with."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.chat.template import LONGEST
from bt_runtime.llm.decoding import gbnf
from bt_runtime.llm.decoding.choice import ROOT, Trie, check_apart, combine, ended, search
from bt_runtime.llm.decoding.token_boundary import Boundary, BoundaryFinder
from bt_runtime.llm.server import answer, option_end, rollout, served_chat
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.flavour import Flavour, Greeting, ServerText, Setup
from bt_runtime.llm.server.option_end import OptionEnd
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.llm.server.rollout import PathRequest, Rows, TokenRow
from bt_runtime.llm.server.tokenizer import Tokenizer
from bt_runtime.types import Choice, Grammar, Question

NEAR = 64  # probabilities of one place of an answer that are asked for; any other token is less likely than these
ROLLOUTS = 3  # whole answers that may prove a choice; then all ways that are open are looked at together
AT_ONCE = 256  # places whose probabilities are asked for in one request …
REQUEST = 1 << 20  # … and bytes of its prompts, about
DRAWS = 5  # tries of a token: the server tells no probabilities for a part of a letter
LIFT = 12.0  # nats by which tokens that are asked for are lifted above the others, and which are taken off again
MOST_PROBABILITIES = 32_768  # probabilities told for one token
_PLAIN = {"cache_prompt": True, "stream": False, "repeat_penalty": 1.0}
_LIKELIEST = {"temperature": 0, "samplers": ["temperature"]}
_TAIL = 2  # tokens of a prompt's end that an option may merge with: few, so that they come again and are known
_CONTROL = 3  # letters that a token that steers has at least


class LlamaServer(Flavour):
    flavour = "llama-server"
    able = "exact", "greedy", "scores"
    writes = "constrained and checked"
    constrains = counts = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.terminator = setup.terminator
        self.tokenizer = Tokenizer()
        self.end = OptionEnd()
        self.guided: bool | None = None  # built with llguidance; None: not asked yet
        self._begin: list[int] | None = None  # the tokens at the beginning of every prompt
        self._fixed: dict[str, list[int | str]] = {}
        self._lock = threading.Lock()

    @classmethod
    def knows(cls, greeting: Greeting) -> bool:
        return "default_generation_settings" in greeting.props

    # the prompt

    def open(self, line: RequestLine, greeting: Greeting) -> None:
        """Reads the server's template. A server without one uses ChatML by default, so a vocabulary without ChatML's
        tokens means no template."""
        props, chat = greeting.props, self.setup.chat
        self._begin = self.tokenizer.mixed(line, "", begin=True)
        source = props.get("chat_template")
        if chat is False or not isinstance(source, str) or not source:
            return
        sign = "<|im_start|>"
        if chat is None and sign in source and len(self.tokenizer.mixed(line, sign, steer=True)) != 1:
            return

        def render(said: list[dict[str, str]], thinking: bool = False) -> str:
            ask = {"messages": said, "chat_template_kwargs": {"enable_thinking": thinking}}
            return answer.text(line.post("/apply-template", ask), "prompt", LONGEST)

        try:
            self.chat = served_chat.of_render(render, source, partial(render, thinking=True))
        except (Unanswered, ValueError) as fault:
            raise BtError(
                f"{line.server.address}: its chat template cannot be used: {line.server.quoted(str(fault))}",
                "ask it as a base model: `model: {server: …, chat: false}`; or start it with --chat-template-file",
            ) from None
        for shape in (*self.chat.shapes.values(), self.chat.turns or (), self.chat.aloud, self.chat.thought[1:]):
            for part in shape:
                if isinstance(part, str):
                    self._steering(line, _bare(part))
        self.end = self._ends(line, props)

    def _ends(self, line: RequestLine, props: Mapping[str, Any]) -> OptionEnd:
        """Returns the tokens that end this model's text, besides a line break."""
        if self.terminator != "\n" or self.chat is None:
            return OptionEnd()
        newline = next((t for t in self.tokenizer.tokens(line, "\n")[-1:] if self.tokenizer.pieces[t] == b"\n"), -1)
        own, eos = self.chat.turns, props.get("eos_token")
        after = [t for t in self._steering(line, _bare(own.answer)) if isinstance(t, int)][:1] if own else []
        names = [*option_end.KNOWN, *([eos] if isinstance(eos, str) and eos else [])]
        known = self._steering(line, "\n".join(dict.fromkeys(names)))
        return OptionEnd(newline, tuple(dict.fromkeys([*after, *(t for t in known if isinstance(t, int))])))

    def tokens(self, line: RequestLine, prompt: str) -> list[int]:
        """Tokenises a prompt; only the template's parts may become control tokens."""
        content: list[int | str] = []
        for text, fixed in served_chat.parts(prompt) if self.chat else [served_chat.ChatPart(prompt, False)]:
            for piece in self._steering(line, text) if fixed else [text]:
                if isinstance(piece, str) and content and isinstance(content[-1], str):
                    content[-1] += piece
                else:
                    content.append(piece)
        found = self.tokenizer.mixed(line, content[0] if len(content) == 1 else content) if content else []  # type: ignore[arg-type]
        begin = self._begin or []
        return found if begin and found[: len(begin)] == begin else [*begin, *found]

    def _steering(self, line: RequestLine, text: str) -> list[int | str]:
        """Tokenises a part of the template: control tokens, and between them texts that may merge with what follows."""
        known = self._fixed.get(text)
        if known is None:
            there, plain = self.tokenizer.mixed(line, text, steer=True), {*self.tokenizer.mixed(line, text)}
            pieces = {token: self.tokenizer.pieces[token].decode("utf-8", "replace") for token in there}
            odd = [p for t in dict.fromkeys(there) if t not in plain and len((p := pieces[t]).strip()) >= _CONTROL]
            self.tokenizer.many(line, odd)
            steers = {t for t in there if pieces[t] in odd and self.tokenizer.known[pieces[t]] != [t]}
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

    def known_count(self, text: str) -> int | None:
        known = self.tokenizer.known.get(text)
        return None if known is None else len(known)

    def count(self, line: RequestLine, text: str) -> int:
        return len(self.tokenizer.tokens(line, text))

    # choosing

    def choose(self, line: RequestLine, question: Question) -> Choice:
        boundary = self._join(line, self.tokens(line, question.prompt), question.options, self.terminator)
        return self._chosen(line, boundary, question, question.options)

    def decide(self, line: RequestLine, question: Question) -> Choice:
        """Decides a move and its option by one request, when the answer proves that both are the likeliest."""
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

    def _both(
        self, line: RequestLine, moves: Boundary, then: Sequence[Boundary | None], whole: Sequence[list[int]]
    ) -> Rows:
        """The likeliest move with its likeliest option."""
        if any(b is not None and b.prompt != tokens for b, tokens in zip(then, whole, strict=True)):
            return ()  # tokens merge across the end of a move
        grammar = gbnf.of_moves(moves.trie, [b.trie if b else None for b in then])
        longest = max(moves.trie.longest[ROOT] + (b.trie.longest[ROOT] if b else 0) for b in then)
        return self._rollout(line, moves.prompt, grammar, longest)

    def _join(self, line: RequestLine, before: Sequence[int], options: Sequence[str], end: str) -> Boundary:
        tokenizer, finished = self.tokenizer, ended(options, end)
        tail = b"".join(tokenizer.pieces[token] for token in before[-_TAIL:]).decode("utf-8", "ignore")
        tokenizer.many(line, [tail, "\n" + tail, "\n", *(tail + option for option in finished)])  # asked for later
        finder = BoundaryFinder(
            lambda text: tokenizer.tokens(line, text),
            tokenizer.pieces.__getitem__,
            lambda texts: tokenizer.many(line, texts),
            _TAIL,
        )
        boundary = finder.join(before, finished)
        if ROOT in boundary.trie.leaf_of:
            raise Unanswered("/tokenize makes no tokens of an option", 200)
        return boundary

    def _chosen(
        self, line: RequestLine, boundary: Boundary, question: Question, options: Sequence[str], rows: Rows = ()
    ) -> Choice:
        prompt, trie = boundary
        if question.mode == "greedy":
            rows = rows or self._rollout(line, prompt, gbnf.of_trie(trie), trie.longest[ROOT])
            if (found := rollout.greedy(trie, options, rows, self.end.newline)) is not None:
                return found
        provable = question.mode == "exact" and not question.normalise
        if provable and (found := self._proved(line, boundary, options, rows)) is not None:
            return found
        return self._searched(line, boundary, question, options)

    def _proved(self, line: RequestLine, boundary: Boundary, options: Sequence[str], rows: Rows) -> Choice | None:
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

    def _gone(self, line: RequestLine, prompt: Sequence[int], trie: Trie, way: PathRequest) -> Rows:
        most = trie.longest[way.node] - trie.depth[way.node]
        at = [*prompt, *_path(trie, way.node)]
        return self._rollout(line, at, gbnf.of_trie(trie, way.node, way.child), most)

    def _rollout(self, line: RequestLine, prompt: Sequence[int], grammar: str, most: int) -> Rows:
        """A greedy rollout in the grammar, with the model's own probabilities at each position."""
        ask = {"prompt": prompt, "grammar": grammar, "n_predict": most, "n_probs": NEAR, **_LIKELIEST, **_PLAIN}
        said = line.post("/completion", ask)
        told = answer.listed(said, "completion_probabilities")[:most]
        line.note(said, len(prompt), most)
        return [self.end.of(_row(entry)) for entry in told]

    def _searched(self, line: RequestLine, boundary: Boundary, question: Question, options: Sequence[str]) -> Choice:
        """Searches as on a local model; each round takes one or a few requests."""
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

    def _below(
        self, line: RequestLine, prompt: Sequence[int], trie: Trie, nodes: Sequence[int]
    ) -> list[Sequence[float]]:
        most = max(1, min(AT_ONCE, REQUEST // (7 * (len(prompt) + trie.longest[ROOT]))))
        found: list[Sequence[float]] = []
        for start in range(0, len(nodes), most):
            part = nodes[start : start + most]
            found += self._places(line, [[*prompt, *_path(trie, node)] for node in part], [trie.below[n] for n in part])
        return found

    def _places(
        self, line: RequestLine, prompts: list[list[int]], wanted: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """Computes log-probabilities at several places. It raises the wanted tokens' logits so that the server reports
        them, then subtracts the raise."""
        needed = [self.end.needed(tokens) for tokens in wanted]
        lifted = sorted({token for tokens in needed for token in tokens})
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
        for one, prompt, tokens, more in zip(answers, prompts, wanted, needed, strict=True):
            line.note(one, len(prompt), 1)
            found.append(self.end.summed(tokens, _lowered(one, more, frozenset(lifted))))
        return found

    # writing

    def write(self, line: RequestLine, ask: dict[str, Any], grammar: Grammar | None, most: int) -> ServerText:
        prompt = self.tokens(line, ask["prompt"])
        body = {**ask, "prompt": prompt, "n_predict": most, **_PLAIN}
        body["top_k"] = body.get("top_k") or 0
        said = self._constrained(line, body, grammar)
        return ServerText(said, said, "content", said.get("stop_type") == "limit", len(prompt))

    def _constrained(self, line: RequestLine, body: dict[str, Any], grammar: Grammar | None) -> dict[str, Any]:
        """Requests constrained text: by llguidance if built in, otherwise by an equal GBNF grammar."""
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


def _bare(part: str) -> str:
    """Removes the signs that mark a part of the template."""
    return part.strip(served_chat.OPEN + served_chat.CLOSE)


def _path(trie: Trie, node: int) -> list[int]:
    path = []
    while node:
        path.append(trie.token[node])
        node = trie.parent[node]
    return path[::-1]


def _row(entry: Any) -> TokenRow:
    if not isinstance(entry, dict):
        raise Unanswered("the answer's `completion_probabilities` has something in it that is not an object", 200)
    top = answer.listed(entry, "top_logprobs")
    likely: dict[int, float] = {}
    for one in top:
        if not isinstance(one, dict):
            raise Unanswered("the answer's `top_logprobs` has something in it that is not an object", 200)
        likely[answer.whole(one, "id")] = answer.logprob(one)
    return TokenRow(answer.whole(entry, "id"), answer.logprob(entry), likely, min(likely.values(), default=0.0))


def _lowered(said: Mapping[str, Any], wanted: Sequence[int], lifted: frozenset[int]) -> list[float]:
    """Converts lifted probabilities back to log-probabilities.

    Inverts p' = p·e^LIFT / (1 + P·(e^LIFT - 1)), where P is the total probability of the lifted tokens."""
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
