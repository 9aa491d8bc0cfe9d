"""`infer` and `route`: a model as a leaf. What it is asked, what it may answer, what becomes of the answer."""

from __future__ import annotations

import json
import math
import random
import re
from types import SimpleNamespace

import pytest

from bt_runtime import BtError, Budget, Faults, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.answers import NodeAnswer, grammar_of, odds_from, settled
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.agents.services import agent_services
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.language.outputs import Output
from bt_runtime.llm.decoding.choice import Trie, check_apart
from bt_runtime.llm.decoding.grammar import accepts
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.support.scoring import Scoring

rule = pytest.mark.rule


def liking(*words, by=2.0):
    """Options that contain an earlier word are likelier."""
    return lambda q: [-next((i for i, w in enumerate(words) if w in o), len(words)) * by - 0.1 for o in q.options]


def tree(root, more="inputs: {message: {type: string, default: hello}}"):
    return f"version: 1\ntree: t\n{more}\nroot:\n  {root}\n"


@pytest.fixture
def start():
    runs = []

    def begin(root, model, more="inputs: {message: {type: string, default: hello}}", **given):
        run = Run(load(tree(root, more)), services={"model": model}, **given)
        runs.append(run)
        return run

    yield begin
    for run in runs:
        run.close()


TEAM = (
    'infer: {prompt: "Says {message}", outputs: {team: {choices: [billing, support]}}, '
    "margin: margin, distribution: odds}"
)


# What it is asked, and what becomes of it ----------------------------------------------------------


@rule("infer", 1)
def test_outputs_are_asked_one_after_the_other_each_with_those_before_in_view(start):
    root = (
        'infer: {prompt: "Says {message}", outputs: {team: {choices: [billing, support]}, note: string, sum: integer}}'
    )
    model = Scoring(liking("support"), [" it broke", " 42"])
    run = start(root, model)
    assert run.spin(seconds=120) is SUCCESS
    assert [run.blackboard[name] for name in ("team", "note", "sum")] == ["support", "it broke", 42]
    assert [q.prompt.rpartition("Says hello\n")[2] for q in model.asked] == [
        "team:", "team: support\nnote:", "team: support\nnote: it broke\nsum:",
    ]  # fmt: skip
    assert "team: one of billing, support" in model.asked[0].prompt


@rule("infer", 2)
def test_as_a_test_it_succeeds_where_its_expression_holds_of_the_answer(start):
    root = (
        'if: {check: {infer: {prompt: "Says {message}", outputs: {angry: boolean}, margin: margin, '
        'holds: "angry and margin > 1.5"}}, then: {set: {did: calm}}, else: {set: {did: ask}}}'
    )
    for by, did in ((2.0, "calm"), (1.0, "ask")):
        run = start(root, Scoring(liking("yes", by=by)))
        run.spin(seconds=120)
        assert run.blackboard["did"] == did and run.blackboard["angry"] is True


@rule("infer", 3, 4)
def test_a_choice_is_exact_with_the_scores_of_all_and_tells_margin_and_distribution(start):
    model = Scoring(lambda q: [math.log(0.1), math.log(0.3)])
    run = start(TEAM, model)
    assert run.spin(seconds=120) is SUCCESS
    assert run.blackboard["margin"] == pytest.approx(math.log(3))
    assert run.blackboard["odds"] == {"team": {"billing": 0.25, "support": 0.75}}
    assert [q.mode for q in model.asked] == ["scores"]
    near = start(
        "infer: {prompt: x, outputs: {n: {type: integer, minimum: 1, maximum: 3}}, margin: m}",
        model2 := Scoring(liking("2")),
    )
    assert near.spin(seconds=120) is SUCCESS and near.blackboard["n"] == 2
    assert model2.asked[0].options == (" 1", " 2", " 3")


@rule("infer", 5)
def test_the_answer_stands_until_the_question_is_another_one(start):
    """As the test of a `while` it asks its model once for each message, and the branch is ticked in between."""
    root = (
        'while: {check: {infer: {prompt: "Says {message}", outputs: {ok: boolean}, holds: ok}}, '
        "do: {wait: {until: false}}}"
    )
    model = Scoring(lambda q: (-1, -2) if "bad" not in q.prompt else (-2, -1), polls=1)
    run = start(root, model, "blackboard: {message: {type: string, default: fine}}")
    assert {run.tick().status for _ in range(5)} == {RUNNING}
    assert len(model.asked) == 1
    run.blackboard["message"] = "bad"
    assert run.spin(seconds=120) is FAILURE
    assert len(model.asked) == 2


@rule("infer", 6)
def test_the_budget_of_the_run_is_counted_and_holds(start):
    root = "infer: {prompt: x, outputs: {a: boolean, b: boolean, c: boolean}}"
    run = start(root, model := Scoring(liking("yes")), budget=Budget(decisions=2))
    assert run.spin(seconds=120) is FAILURE
    assert len(model.asked) == 2 and "a" not in run.blackboard
    assert "decisions 2 of the run" in run.parts.engine.root.feedback_message


def test_cases_are_shown_as_they_would_have_gone(start):
    root = (
        'infer: {prompt: "{who} says {message}", outputs: {team: {choices: [billing, support]}, ok: boolean}, '
        "shots: [{message: my bill, team: billing, ok: true}]}"
    )
    more = "inputs: {message: {type: string, default: hello}, who: {type: string, default: Ann}}"
    run = start(root, model := Scoring(liking("support")), more)
    assert run.spin(seconds=120) is SUCCESS
    assert "Ann says my bill\nteam: billing\nok: yes\n\nAnn says hello\nteam:" in model.asked[0].prompt.replace(
        "\n\n\n", "\n\n"
    )


def test_experiences_are_retrieved_by_the_filled_in_prompt_as_agents_do_it(start):
    class Episodes:
        asked = ()

        def ask(self, goal, tokens, count, **about):
            self.asked = (goal, tokens, count, about["level"])
            found = SimpleNamespace(taken=[SimpleNamespace(text="Says hallo\nok: yes")], why=lambda: "it is near")
            return ScriptedAnswer(found, 1)

    memory = Episodes()
    run = start(
        'infer: {prompt: "Says {message}", outputs: {ok: boolean}, examples: 2}', model := Scoring(liking("yes")),
        recall=False,
    )  # fmt: skip
    agent_services(run.parts.context).episodes = memory
    assert run.spin(seconds=120) is SUCCESS
    assert memory.asked == ("Says hello", 2000, 2, "agent")
    assert "Example 1\nSays hallo\nok: yes\n" in model.asked[0].prompt


def test_votes_think_for_themselves_with_other_seeds_and_are_counted_together(start):
    root = (
        'infer: {prompt: "Says {message}", outputs: {ok: boolean}, votes: 3, think: 20, temperature: 0.7, '
        "margin: margin, distribution: odds}"
    )
    thoughts = [" it is good", " it is bad", " it is good"]
    likes = lambda q: [math.log(0.8), math.log(0.2)] if "good" in q.prompt else [math.log(0.2), math.log(0.8)]  # noqa: E731
    run = start(root, model := Scoring(likes, thoughts), seed=3)
    assert run.spin(seconds=120) is SUCCESS
    assert run.blackboard["ok"] is True
    assert run.blackboard["odds"] == {"ok": {"yes": 0.6, "no": 0.4}}
    assert len({q.seed for q in model.asked if q.kind == "write"}) == 3


def test_a_model_without_scores_chooses_but_tells_no_margin(start):
    class Plain(Scoring):
        def ask(self, question):
            if question.mode == "scores":
                raise BtError(f"server {NO_SCORES}", "ask for another mode")
            job = super().ask(question)
            job.answer = job.answer._replace(logprob=math.nan, margin=math.nan)
            return job

    run = start("infer: {prompt: x, outputs: {ok: boolean}}", Plain(liking("yes")))
    assert run.spin(seconds=120) is SUCCESS and run.blackboard["ok"] is True
    run = start("infer: {prompt: x, outputs: {ok: boolean}, margin: margin}", Plain(liking("yes")))
    assert run.spin(seconds=120) is FAILURE
    assert NO_SCORES in run.parts.context.crashes[0].message and run.parts.context.crashes[0].path == "/t"


def test_a_model_that_keeps_to_no_grammar_is_told_with_the_output_and_a_way_out(start):
    run = start("infer: {prompt: x, outputs: {sum: {type: integer, maximum: 9}}}", Scoring(liking(), ["about ten"]))
    assert run.spin(seconds=120) is FAILURE
    assert "`sum` was answered with what it cannot be" in run.parts.context.crashes[0].message


@pytest.mark.parametrize(("root", "said", "line"), [
    ("infer: {prompt: x, outputs: {a: {about: nothing}}}", "the output `a` has no type", 5),
    ("infer: {prompt: x, outputs: {a: strin}}", "`strin` is no type of an output", 5),
    ("infer: {prompt: x, outputs: {a: {choices: [b, 'b']}}}", "has the choice 'b' twice", 5),
    ("infer: {prompt: x, outputs: {a: {choices: [b, 'c ']}}}", "'c ' cannot be a choice", 5),
    ("infer: {prompt: x, outputs: {a: {choices: []}}}", "not a list with something in it", 5),
    ("infer: {prompt: x, outputs: {a: {type: list}}}", "does not say what is in it", 5),
    ("infer: {prompt: x, outputs: {a: {type: integer, minimum: 3, maximum: 1}}}", "nothing is between 3 and 1", 5),
    ("infer: {prompt: x, outputs: {a: {type: string, minimum: 3}}}", "`minimum` says nothing of a string", 5),
    ("infer: {prompt: x, outputs: {a: string}, margin: m}", "nothing is chosen here that could have a margin", 5),
    ("infer: {prompt: x, outputs: {a: boolean}, votes: 5}", "5 votes at temperature 0 are the same one", 5),
    ("infer: {prompt: x, outputs: {a: boolean}, shots: [{a: 3}]}", "`a` cannot be answered like this", 5),
    ("infer: {prompt: x, outputs: {a: boolean}, shots: [{b: 3}]}", "this case has no `a`", 5),
    ("infer: {prompt: 'x {message', outputs: {a: boolean}}", "", 5),
    ("route: {prompt: x, children: [{log: {text: a, about: b}}, {log: c}]}", "does not say what it is for", 5),
])  # fmt: skip
def test_what_is_written_wrongly_is_told_in_words_with_its_place(root, said, line):
    with pytest.raises(Faults) as told:
        load(tree(root, "inputs: {message: string}"))
    errors = [d for d in told.value.diagnostics if d.severity == "error"]
    assert errors[0].span.line == line and said in errors[0].message


def test_a_port_of_another_type_is_a_fault_of_the_plan():
    with pytest.raises(Faults, match="`a` is an integer, and this writes a boolean"):
        load(tree("infer: {prompt: x, outputs: {a: boolean}}", "outputs: {a: integer}"))


def test_choices_may_be_computed_and_are_held_to_the_same(start):
    root = 'infer: {prompt: x, outputs: {room: {choices: "{rooms}"}}}'
    run = start(root, Scoring(liking("cellar")), "inputs: {rooms: {type: list, default: [hall, cellar]}}")
    assert run.spin(seconds=120) is SUCCESS and run.blackboard["room"] == "cellar"
    run = start(root, Scoring(liking("cellar")), "inputs: {rooms: {type: list, default: []}}")
    assert run.spin(seconds=120) is FAILURE
    assert "`choices` of `room`" in run.parts.context.crashes[0].message


def test_two_options_of_the_same_tokens_are_a_fault_where_scores_are_asked_for():
    with pytest.raises(BtError, match="cannot tell 'a' from 'b'"):
        check_apart([" a", " b"], Trie([[1, 2], [1, 2]]))
    check_apart([" a", " a"], Trie([[1, 2], [1, 2]]))


# Bounds are in the grammar ------------------------------------------------------------------------


def test_numbers_are_held_to_their_bounds_by_the_grammar():
    """For random bounds exactly the numbers between them are in the language."""
    rng = random.Random(5)
    for _ in range(60):
        low, high = sorted(rng.randint(-3000, 3000) for _ in "ab")
        whole = re.compile(grammar_of(Output("a", "integer", minimum=low, maximum=high)).text)
        for n in {low - 1, low, low + 1, 0, high - 1, high, high + 1, *(rng.randint(-4000, 4000) for _ in range(40))}:
            assert bool(whole.fullmatch(f" {n}\n")) is (low <= n <= high), (low, high, n)
        parts = re.compile(grammar_of(Output("a", "number", minimum=low / 100, maximum=high / 100)).text)
        for n in {low - 1, low, high, high + 1, *(rng.randint(-4000, 4000) for _ in range(40))}:
            text = f"{n / 100:.2f}"
            assert bool(parts.fullmatch(f" {text}\n")) is (low <= n <= high or (n == 0 and low <= 0 <= high)), (
                low,
                high,
                n,
            )


def test_what_is_between_the_bounds_is_read_by_the_engine_of_grammars_too():
    pytest.importorskip("llguidance")
    grammar = grammar_of(Output("a", "integer", minimum=-5))
    assert accepts(grammar, " -5\n") and accepts(grammar, "12") and not accepts(grammar, " -6\n")
    things = Output("a", "list", items=Output("i", "object", fields=(Output("n", "string"), Output("k", "integer"))))
    assert accepts(grammar_of(things), '[{"n": "cup", "k": 2}]') and not accepts(grammar_of(things), '[{"n": 1}]')
    line = grammar_of(Output("a", "string", max_length=5))
    assert accepts(line, " abcde\n") and accepts(line, "abc") and not accepts(line, " abcdef\n")


def test_odds_of_votes_are_averaged_and_the_first_of_equals_wins():
    votes = [NodeAnswer("x", "x"), NodeAnswer("y", "y"), NodeAnswer("y", "y")]
    answer, margin = settled(votes, {})
    assert answer.value == "y" and margin == pytest.approx(math.log(2))
    assert odds_from([0.5, 0.5]).index == 0 and odds_from([1.0]).margin == 100.0


# Journals -------------------------------------------------------------------------------------------


def test_a_run_that_was_recorded_is_replayed_without_a_model_and_resumed_without_asking_again(tmp_path):
    root = "sequence: [{" + TEAM + '}, {wait: {until: "go"}}, {log: "{team}"}]'
    more = "inputs: {message: {type: string, default: hello}}\nblackboard: {go: {type: boolean, default: false}}"
    file = tmp_path / "t.yaml"
    file.write_text(tree(root, more))
    run = Run(load(str(file)), services={"model": Scoring(liking("support"))}, journal=tmp_path / "runs")
    for _ in range(6):
        run.tick()
    assert run.blackboard["team"] == "support"
    run.close()
    (path,) = (tmp_path / "runs").iterdir()
    assert replay(path).same
    later = Scoring(liking("billing"))
    with resume(path, model=later, changed=True) as again:
        assert again.blackboard["team"] == "support" and not later.asked
        again.blackboard["go"] = True
        assert again.spin(seconds=120) is SUCCESS
    assert Recording(path).last_tick


# route ----------------------------------------------------------------------------------------------


def route(more="", children=None):
    children = children or (
        "[{fail: {name: repair, about: it is broken}}, {set: {values: {did: paid}, name: pay, about: a bill}}, "
        "{set: {values: {did: sent}, about: all else}}]"
    )
    return f'route: {{prompt: "Says {{message}}", children: {children}{more}}}'


@rule("route", 1)
def test_a_model_chooses_a_child_by_its_name_and_what_it_is_for(start):
    run = start(route(), model := Scoring(liking("pay")))
    assert run.spin(seconds=120) is SUCCESS and run.blackboard["did"] == "paid"
    assert "repair: it is broken\npay: a bill\nall else\n" in model.asked[0].prompt
    assert model.asked[0].options == (" repair", " pay", " all else") and len(model.asked) == 1


@rule("route", 2)
@pytest.mark.parametrize(("tries", "result", "did"), [(1, FAILURE, None), (2, SUCCESS, "sent"), (-1, SUCCESS, "sent")])
def test_with_more_tries_it_goes_on_with_the_next_likeliest(start, tries, result, did):
    run = start(route(f", tries: {tries}"), Scoring(liking("repair", "all else")))
    assert run.spin(seconds=120) is result and run.blackboard.get("did") == did


@rule("route", 3)
def test_a_skipped_child_makes_way_for_the_next_likeliest(start):
    children = "[{log: {text: a, name: a, about: b, when: 'false'}}, {set: {values: {did: c}, name: c, about: d}}]"
    run = start(route(children=children), Scoring(liking("a")))
    assert run.spin(seconds=120) is SUCCESS and run.blackboard["did"] == "c"


@rule("route", 4)
def test_where_it_is_not_sure_something_else_is_done(start):
    run = start(route(", sure: 3, unsure: {set: {did: asked}}, margin: margin"), Scoring(liking("pay", by=1.0)))
    assert run.spin(seconds=120) is SUCCESS and run.blackboard["did"] == "asked"
    assert run.blackboard["margin"] == pytest.approx(1.0)
    assert start(route(", sure: 3"), Scoring(liking("pay", by=1.0))).spin(seconds=120) is FAILURE


@rule("route", 5)
def test_it_waits_for_its_model_counts_what_it_asks_and_stops_when_it_is_halted(start):
    run = start(route(), model := Scoring(liking("pay"), polls=3))
    assert run.tick().status is RUNNING
    assert run.parts.context.services.spent.decisions == 1
    run.halt("enough")
    assert model.jobs[0].cancelled
    assert start(route(), Scoring(liking("pay")), budget=Budget(decisions=0)).spin(seconds=120) is FAILURE


def test_an_agent_below_a_route_is_not_told_of_it_as_of_a_plan(start):
    children = "[{agent: {goal: pay the bill, moves: [act], name: pay, about: a bill}}]"

    def say(question):
        return "pay" if question.prompt.endswith("Next:") else "done"

    run = start(route(children=children), model := ScriptedModel(say))
    assert run.spin(seconds=120) is SUCCESS
    assert "sibling" not in model.asked[-1].prompt and "Your task is to: pay the bill" in model.asked[-1].prompt


def test_the_starter_answers_within_what_it_may_and_the_same_twice(start):
    pytest.importorskip("llama_cpp")
    root = (
        'infer: {prompt: "A message: {message}", outputs: {team: {choices: [billing, support]}, '
        "n: {type: integer, minimum: 1, maximum: 5}, sum: {type: number, minimum: 0, maximum: 9}, "
        "parts: {type: list, items: {choices: [cup, plate]}, max_items: 2}}, margin: margin, distribution: odds}"
    )
    found = []
    for _ in "ab":
        with Run(load(tree(root)), model="starter") as run:
            assert run.spin(seconds=60) is SUCCESS, run.parts.context.crashes
            found.append({name: run.blackboard[name] for name in ("team", "n", "sum", "parts", "margin", "odds")})
    assert found[0] == found[1]
    assert 0 <= found[0]["sum"] <= 9 and found[0]["team"] in ("billing", "support") and found[0]["margin"] > 0
    assert sum(found[0]["odds"]["team"].values()) == pytest.approx(1) and json.dumps(found[0])


@pytest.mark.parametrize(
    "root",
    [
        "agent: {goal: rest, moves: [think, act], temperature: 0.5, %s}",
        "plan: {goal: rest, leaf: react, temperature: 0.5, %s}",
        "reflect: {goal: rest, into: said, temperature: 0.5, %s}",
        "infer: {prompt: x, outputs: {word: string}, temperature: 0.5, %s}",
        "infer: {prompt: x, outputs: {sure: boolean}, think: 20, temperature: 0.5, %s}",
    ],
    ids=["agent", "plan", "reflect", "infer", "thought"],
)
def test_each_node_says_how_it_samples_and_what_it_leaves_open_stays_the_models(start, root):
    """`top_p`, `min_p` and `top_k` go with what is written, and only where the node says them."""
    asked = []
    for said in ("top_p: 0.9, min_p: 0.05, top_k: 40", "top_k: 3", ""):
        script = ["Think: x", "Act: done"] if root.startswith("agent") else ["x"] * 3
        model = ScriptedModel(script) if root.startswith("agent") else Scoring(liking(), script)
        start(root % said, model, "blackboard: {said: {type: list, default: []}, word: string, sure: boolean}").spin(
            ticks=6
        )
        asked.append(next(q for q in model.asked if q.kind == "write"))
    assert [(q.temperature, q.top_p, q.min_p, q.top_k) for q in asked] == [
        (0.5, 0.9, 0.05, 40), (0.5, 1.0, 0.0, 3), (0.5, 1.0, 0.0, 0)
    ]  # fmt: skip


@pytest.mark.parametrize("said", ["top_p: 1.5", "min_p: -1", "top_k: 0.5", "top_k: -2"])
def test_a_sampler_that_cannot_be_is_a_fault_of_the_plan(said):
    with pytest.raises(Faults, match=said.partition(":")[0]):
        load(tree(f"agent: {{goal: rest, {said}}}"))


def test_votes_are_asked_side_by_side_each_with_a_seed_of_its_own(start):
    """So that a model answers them in one batch; what comes of them does not hang on the order of their answers."""
    model = Scoring(liking("billing"), ["a", "b", "c", "d", "e"], polls=3)
    run = start(TEAM[:-1] + ", votes: 5, think: 20, temperature: 0.7}", model)
    run.tick()
    assert [q.kind for q in model.asked] == ["write"] * 5 and len({q.seed for q in model.asked}) == 5
    assert run.spin(ticks=20) is SUCCESS and len(model.asked) == 10
    assert run.blackboard["team"] == "billing" and run.blackboard["odds"]["team"]["billing"] > 0.8


def test_votes_that_are_halted_or_fail_leave_no_question_open(start):
    model = Scoring(liking("billing"), ["a", "b", "c"], polls=3)
    run = start(TEAM[:-1] + ", votes: 3, think: 20, temperature: 0.7}", model)
    run.tick()
    run.halt("enough")
    assert all(job.cancelled for job in model.jobs) and len(model.jobs) == 3


def test_votes_are_recorded_and_replayed_whatever_their_order(tmp_path):
    model = Scoring(liking("billing"), ["a", "b", "c"], polls=2)
    text = tree(TEAM[:-1] + ", votes: 3, think: 20, temperature: 0.7}")
    with Run(load(text), model=model, journal=tmp_path) as run:
        assert run.spin(ticks=30) is SUCCESS
        path = run.parts.journal.path
    assert replay(path).same
