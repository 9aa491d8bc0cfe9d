"""A worker with a random model: mechanics, parity with brute force, sharing, cancelling. Nothing here harms it."""

from __future__ import annotations

import math
import random
import threading
from dataclasses import replace

import pytest

from bt_runtime import BtError
from bt_runtime.llm.job import Cancelled
from bt_runtime.types import Grammar, Question
from tests.support.random_models import MICRO, make_gguf

VERBS = ["find", "pick up", "put down", "open", "close", "go to"]
THINGS = ["egg", "egg carton", "apple", "bowl", "fridge 1", "fridge 2", "kitchen"]
SKILLS = [f"{verb} the {thing}" for verb in VERBS for thing in THINGS]
WAIT = 60
ROUNDING = 0.02  # nats: 16-bit keys and values, summed in another order when the batch has another shape


WORDS = "the cup is on a table and you see an apple in the sink then"


def prompt(seed: int, words: int = 40) -> str:
    return " ".join(random.Random(seed).choices(WORDS.split(), k=words)) + "\nAct:"


@pytest.mark.parametrize("seed", range(8))
def test_exact_agrees_with_scoring_everything(model, seed):
    """The arg max of best-first search is that of all scores, and its log-probability too."""
    options = [" " + s for s in random.Random(seed).sample(SKILLS, 20)]
    scores = model.choose(prompt(seed), options, mode="scores").wait(WAIT)
    exact = model.choose(prompt(seed), options).wait(WAIT)
    assert exact.index == max(range(len(options)), key=lambda i: scores.scores[i])
    assert exact.logprob == pytest.approx(max(scores.scores), abs=ROUNDING)
    assert scores.text == exact.text == options[exact.index]


def test_an_options_score_does_not_depend_on_the_other_options(model):
    """One option alone gets the score that it gets among many."""
    options = [" " + s for s in SKILLS]
    together = model.choose(prompt(1), options, mode="scores").wait(WAIT).scores
    for index in (0, 1, 17, 41):
        alone = model.choose(prompt(1), [options[index]], mode="scores").wait(WAIT)
        assert alone.scores[0] == pytest.approx(together[index], abs=ROUNDING)
        assert alone.margin == math.inf


def test_more_options_than_sequences_are_all_scored(open_model):
    """A thousand options, through 256 sequences and a small room: every one gets its score, the best is the best."""
    model = open_model(room=2048)
    options = [f" {verb} the {thing} of room {n}" for verb in VERBS for thing in THINGS for n in range(24)][:1000]
    scored = model.choose(prompt(2), options, mode="scores").wait(60)
    assert len(scored.scores) == 1000
    assert model.choose(prompt(2), options).wait(60).logprob == pytest.approx(max(scored.scores), abs=ROUNDING)
    for index in (0, 500, 999):
        alone = model.choose(prompt(2), [options[index]], mode="scores").wait(WAIT)
        assert alone.logprob == pytest.approx(scored.scores[index], abs=ROUNDING)


def test_the_terminator_parts_an_option_from_its_beginning(model):
    """`find the egg` is not preferred or punished for being the beginning of `find the egg carton`."""
    both = [" find the egg", " find the egg carton"]
    scores = model.choose(prompt(3), both, mode="scores").wait(WAIT).scores
    assert scores[0] != scores[1]
    assert model.choose(prompt(3), both[::-1], mode="scores").wait(WAIT).scores == pytest.approx(
        scores[::-1], abs=ROUNDING
    )


@pytest.mark.parametrize("vocabulary", ["micro", "micro_spm"])
def test_a_space_at_the_seam_belongs_to_whoever_has_it(open_model, request, vocabulary):
    """`Act:` + ` go` and `Act: ` + `go` are the same text, so they get the same scores."""
    model = open_model(request.getfixturevalue(vocabulary))
    left = model.choose(prompt(4), [" " + s for s in SKILLS[:6]], mode="scores").wait(WAIT)
    right = model.choose(prompt(4) + " ", SKILLS[:6], mode="scores").wait(WAIT)
    assert left.scores == pytest.approx(right.scores, abs=0.05)
    assert left.index == right.index


def test_a_prompt_cut_inside_a_letter_of_many_bytes_is_fine(model):
    """Text that ends in letters of several tokens is joined without losing any of it."""
    for end in ("naïve 💥", "日本", "é"):
        assert model.choose(prompt(5) + end, ["x", "yy", "💥"]).wait(WAIT).text in ("x", "yy", "💥")


def test_a_shared_beginning_is_computed_once(model):
    """A second prompt with the same long beginning runs only its own tokens."""
    text = prompt(6, words=300)
    first = model.write(text + " one", max_tokens=1)
    first.wait(WAIT)
    second = model.write(text + " two", max_tokens=1)
    second.wait(WAIT)
    assert second.spent.reused >= 0.97 * second.spent.prompt
    assert second.spent.computed <= 10
    assert model.stats()["shared"] > 0


def test_a_beginning_that_is_just_being_computed_is_waited_for(model):
    """Sixteen jobs asked at once over one long text compute it once between them."""
    text = prompt(7, words=400)
    jobs = [model.write(f"{text} number {n}", max_tokens=2) for n in range(16)]
    for job in jobs:
        job.wait(WAIT)
    longest = jobs[0].spent.prompt
    assert sum(job.spent.computed for job in jobs) < longest + 16 * 16


def test_a_prompt_asked_again_is_not_computed_again(model):
    """What comes after it is remembered too: the first decision costs nothing."""
    model.choose(prompt(8), SKILLS[:5]).wait(WAIT)
    again = model.choose(prompt(8), [" apple", " bowl"], mode="greedy")
    again.wait(WAIT)
    assert again.spent.reused == again.spent.prompt
    assert again.spent.computed == 0
    first, second = (model.write(prompt(8), max_tokens=9, temperature=0.5).wait(WAIT) for _ in range(2))
    assert first == second


def test_the_way_to_the_winner_stays_in_the_cache(model):
    """An agent's next prompt goes on from what it chose; the choice is not computed again."""
    text = prompt(9, words=200)
    chosen = model.choose(text, [" " + s for s in SKILLS]).wait(WAIT)
    following = model.write(f"{text}{chosen.text}\nYou see nothing.\nAct:", max_tokens=1)
    following.wait(WAIT)
    assert following.spent.reused >= model.count(text) + model.count(chosen.text)


def test_greedy_follows_the_likeliest_branch(model):
    """Its first token is the best of the first tokens' scores."""
    options = [" apple", " bowl", " cup", " sink"]
    greedy = model.choose(prompt(10), options, mode="greedy").wait(WAIT)
    assert greedy.text in options
    assert model.choose(prompt(10), [" apple"], mode="greedy").wait(WAIT).logprob == 0.0


def test_a_move_and_what_it_is_about_are_decided_in_one_job(model):
    """The move is the best of the moves, the rest the best after that move; the prompt is computed once."""
    text = prompt(30, words=200)
    moves = {"Think:": (), "Act:": tuple(" " + s for s in SKILLS), "Expand:": (" one", " two")}
    flat = [(m, o) for m, options in moves.items() for o in options or ("",)]
    job = model.decide(text, moves)
    decided = job.wait(WAIT)
    assert decided.text == "".join(flat[decided.index])
    assert job.spent.computed < 200 + 3 * 400
    move = flat[decided.index][0]
    if moves[move]:
        assert decided.text == move + model.choose(text + move, moves[move]).wait(WAIT).text
    assert model.decide(text, {"Act:": (" go",)}).wait(WAIT).text == "Act: go"
    assert model.decide(text, {"Think:": ()}).wait(WAIT).text == "Think:"


def test_alone_or_beside_others_scores_differ_by_rounding_and_clear_choices_not_at_all(model):
    """What floating point allows: the shape of the batch moves a score by a little, never a choice with a margin."""
    alone = [model.choose(prompt(12 + n), SKILLS[:12], mode="scores").wait(WAIT) for n in range(6)]
    noise = [model.write(prompt(50 + n), max_tokens=30, temperature=1.0, seed=n) for n in range(12)]
    among = [model.choose(prompt(12 + n), SKILLS[:12], mode="scores") for n in range(6)]
    for one, job in zip(alone, among, strict=True):
        other = job.wait(WAIT)
        assert other.scores == pytest.approx(one.scores, abs=ROUNDING)
        assert one.margin < 2 * ROUNDING or other.index == one.index
    for job in noise:
        job.wait(WAIT)


def test_repeatable_gives_the_same_bits_whatever_went_before_and_goes_on_beside(open_model):
    """Nothing is shared, one job at a time: texts and scores are equal to the last bit."""
    model = open_model(repeatable=True)
    ask = {"max_tokens": 40, "temperature": 0.7, "top_p": 0.9, "min_p": 0.02, "seed": 5}
    scores = model.choose(prompt(13), SKILLS, mode="scores").wait(WAIT).scores
    text = model.write(prompt(11), **ask).wait(WAIT)
    busy = [model.write(prompt(60 + n), max_tokens=5, temperature=1.0, seed=n) for n in range(4)]
    again = model.choose(prompt(13), SKILLS, mode="scores")
    busy += [model.choose(prompt(13, words=41), SKILLS[:9]) for _ in range(3)]
    text_again = model.write(prompt(11), **ask)
    assert again.wait(WAIT).scores == scores
    assert text_again.wait(WAIT) == text
    for job in busy:
        job.wait(WAIT)


def test_a_seed_decides_and_another_seed_decides_otherwise(model):
    texts = [model.write(prompt(14), max_tokens=16, temperature=1.5, seed=s).wait(WAIT).text for s in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_writing_ends_at_a_stop_text_or_at_the_length(model):
    """The stop text is not part of the answer, even when a token holds more than it."""
    free = model.write(prompt(15), max_tokens=30).wait(WAIT)
    assert (free.ended, free.tokens) == ("length", 30)
    stop = free.text[5:7]
    cut = model.write(prompt(15), max_tokens=30, stop=[stop]).wait(WAIT)
    assert cut.ended == "stop"
    assert cut.text == free.text[: free.text.index(stop)]


def test_a_grammar_is_obeyed_by_a_model_that_knows_nothing(model):
    """Random weights, hot sampling: every answer is in the language."""
    grammar = Grammar("regex", r"(go to|find) (egg|fridge [0-9]{1,3})\n")
    for seed in range(8):
        answer = model.write(prompt(16), grammar=grammar, temperature=1.5, seed=seed).wait(WAIT)
        assert answer.ended == "grammar"
        assert answer.text.endswith("\n") and answer.text.split()[0] in ("go", "find")


def test_forced_tokens_are_not_decoded_one_by_one(model):
    """What the grammar leaves no choice about is run in one batch with what follows."""
    job = model.write(prompt(17), grammar=Grammar("regex", "the apple is in the fridge in the kitchen (a|b)\n"))
    answer = job.wait(WAIT)
    assert answer.ended == "grammar"
    assert answer.tokens >= 10


@pytest.mark.parametrize(
    "grammar",
    [Grammar("lark", "start: nowhere"), Grammar("regex", "(("), Grammar("json_schema", "{"), Grammar("lark", " ")],
)
def test_a_grammar_that_cannot_be_compiled_is_an_error_never_free_text(model, grammar):
    with pytest.raises(BtError, match="grammar"):
        model.write(prompt(18), grammar=grammar).wait(WAIT)


def test_a_length_stop_under_a_grammar_says_so(model):
    """An unfinished answer is marked as such: it is no plan."""
    answer = model.write(prompt(19), grammar=Grammar("regex", "[a-z]{200}"), max_tokens=5).wait(WAIT)
    assert answer.ended == "length"


def test_a_prompt_beyond_the_context_names_the_number_that_works(model):
    """The worker says it as an answer; the next job is served as usual."""
    with pytest.raises(BtError, match="1024") as fault:
        model.write("cup " * 3000, max_tokens=1).wait(WAIT)
    assert "1023" in fault.value.hint
    with pytest.raises(BtError):
        model.choose("cup " * 3000, ["a", "b"]).wait(WAIT)
    assert model.write(prompt(20), max_tokens=1).wait(WAIT).tokens == 1


def test_a_cancelled_job_answers_no_more_and_does_no_harm(model):
    """Its poll says who cancelled it; jobs beside it and after it are answered."""
    beside = model.write(prompt(21), max_tokens=40)
    gone = model.write(prompt(22, words=600), max_tokens=200)
    gone.cancel("the operator pressed stop")
    gone.cancel("twice")
    with pytest.raises(Cancelled, match="operator pressed stop"):
        gone.poll()
    assert beside.wait(WAIT).tokens == 40
    assert model.choose(prompt(23), SKILLS[:4]).wait(WAIT).text in SKILLS


def test_what_was_computed_before_a_cancel_is_reused(open_model):
    """Cancelled in mid-prompt: the chunks that were done are not done again."""
    model = open_model(chunk=32)
    text = prompt(24, words=700)
    job = model.write(text, max_tokens=300)
    seen = model.write(text + " more", max_tokens=1)  # waits for the same prompt
    job_waits = model.write("the cup", max_tokens=1)
    job_waits.wait(WAIT)
    job.cancel("enough")
    seen.wait(WAIT)
    assert seen.spent.reused > 0


def test_embeddings_are_unit_vectors_of_the_texts(model):
    one, two, same = model.embed(["open the fridge", "a bowl", "open the fridge"]).wait(WAIT)
    assert sum(x * x for x in one) == pytest.approx(1.0, abs=1e-4)
    assert one == same != two
    assert model.embed([]).wait(WAIT) == []


def test_count_counts_tokens_and_remembers(model, monkeypatch):
    text = "the apple in the fridge " * 3
    counted = model.count(text)
    assert 0 < counted < len(text)
    monkeypatch.setattr(model._worker, "ask_count", None)  # whoever asks the worker once more breaks
    assert model.count(text) == counted


def test_wake_is_called_when_an_answer_is_there(open_model):
    """A sleeping runner is told; it does not have to ask again and again."""
    model, rung = open_model(), threading.Event()
    job = model.ask(Question("write", "the cup", max_tokens=3, wake=rung.set))
    assert job.wakes and rung.wait(WAIT)
    assert job.poll() is not None


def test_bad_arguments_are_faults_and_the_worker_lives(model):
    for ask in (
        lambda: model.choose("x", []),
        lambda: model.choose("x", ["a\nb"]),
        lambda: model.write("x", max_tokens=0),
    ):
        with pytest.raises(BtError):
            ask()
    assert model.choose("", ["a", "b"]).wait(WAIT).text in ("a", "b")
    assert model.stats()["restarts"] == 0


def test_the_figures_add_up(open_model):
    """Every job asked is answered, failed or cancelled; none is lost."""
    model = open_model()
    for n in range(5):
        model.write(prompt(n), max_tokens=2).wait(WAIT)
    with pytest.raises(BtError, match="a prompt of"):
        model.write("cup " * 3000, max_tokens=1).wait(WAIT)
    stats = model.stats()
    assert (stats["asked"], stats["answered"], stats["failed"], stats["cancelled"]) == (6, 5, 1, 0)
    assert stats["gpu_layers"] == 0 and stats["devices"] == ["CPU"]


def test_a_quantised_model_answers_on_any_processor(open_model, tmp_path):
    """Prompts of many tokens in 8-bit weights do not kill the worker, tile unit or not."""
    path = make_gguf(tmp_path / "q8.gguf", replace(MICRO, dtype="q8_0"))
    chosen = open_model(path).choose(prompt(3), SKILLS).wait(WAIT)
    assert chosen.text in SKILLS
