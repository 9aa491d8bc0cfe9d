"""`want`, and the strategy `facts`: a model says what shall be true, a planner finds the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.backchain.ground import GroundFact, relevant
from bt_runtime.agents.backchain.meaning import again, all_of, fitting, in_own_words
from bt_runtime.agents.backchain.shown import example_goals
from bt_runtime.agents.backchain.wording import meant, named, named_by_half, parts
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.journal import replay
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Choice, Question

FACTS = Path(__file__).parents[3] / "trees/facts.yaml"
WANT = "version: 1\ntree: t\nblackboard: {wanted: {type: string, default: ''}}\nroot: {want: {goal: Go on, into: wanted"
Plant = Literal["basil", "fern", "orchid"]
Place = Literal["bench", "tap", "table"]


class Greenhouse:
    """A room with plants and a can, and what was done there."""

    def __init__(self) -> None:
        self.at, self.full, self.watered, self.done = "bench", False, set[str](), list[str]()

    def skills(self) -> list[Any]:
        @bt.skill("walk to {place}", brings=["at {place}"], needs=[], on_resume="repeat")
        def walk(place: Place) -> bool:
            """Go somewhere."""
            self.at = place
            self.done.append(f"walk to {place}")
            return True

        @bt.skill("fill the can", needs=["at tap"], brings=["can full"], on_resume="repeat")
        def fill() -> bool:
            """At the tap."""
            self.done.append("fill")
            self.full = self.at == "tap"
            return self.full

        @bt.skill("water {plant}", needs=["can full", "at bench"], brings=["{plant} is watered"], on_resume="repeat")
        def water(plant: Plant) -> bool:
            """With a full can."""
            self.done.append(f"water {plant}")
            if not (self.full and self.at == "bench"):
                return False
            self.watered.add(plant)
            return True

        @bt.skill("say {text}", brings=["{text} is said"], on_resume="repeat")
        def say(text: str) -> bool:
            """Anything may be said."""
            return True

        @bt.skill("can full", condition=True)
        def can_full() -> bool:
            return self.full

        @bt.skill("at {place}", condition=True)
        def at(place: Place) -> bool:
            return self.at == place

        return [walk, fill, water, say, can_full, at]


@pytest.fixture
def house() -> Greenhouse:
    return Greenhouse()


def run_of(house: Greenhouse, model: Any, goal: str = "Water the fern and the basil.", **more: Any) -> bt.Run:
    return bt.Run(bt.load(FACTS, skills=house.skills()), inputs={"goal": goal}, services={"model": model}, **more)


@pytest.mark.rule("want", 1, 3)
def test_what_was_said_to_be_true_is_brought_about_and_tested(house: Greenhouse) -> None:
    model = ScriptedModel(["walk to tap"])
    with run_of(house, model, "Water the fern and the basil, then go.") as run:
        assert run.spin(ticks=500) is SUCCESS
        assert run.blackboard["wanted"] == "fern is watered and basil is watered and at tap"
    assert house.watered == {"fern", "basil"} and house.at == "tap"
    assert len(model.asked) == 1, "one action is of the fern, `the basil` is the same of another, a planner asks nobody"


def test_only_actions_whose_facts_are_known_are_offered_and_of_those_the_ones_that_the_part_names(
    house: Greenhouse,
) -> None:
    """A slot that anything may fill gives no fact."""
    model = ScriptedModel(["fill the can", "walk to tap"])
    with run_of(house, model, "Get ready, then care for the orchid.") as run:
        run.spin(ticks=500)
        assert run.blackboard["wanted"] == "can full and orchid is watered"
    offered = [[option.strip() for option in question.options][:-1] for question in model.asked]
    places = ("bench", "tap", "table")
    assert offered == [[*(f"walk to {place}" for place in places), "fill the can", "water orchid"]]


def test_where_no_way_leads_the_agent_acts_step_by_step(house: Greenhouse) -> None:
    skills = [skill for skill in house.skills() if skill.__name__ != "fill"]
    model = ScriptedModel(["water orchid", "Act: walk to tap", "Act: failure"])
    with bt.Run(bt.load(FACTS, skills=skills), inputs={"goal": "Go on."}, services={"model": model}) as run:
        assert run.spin(ticks=500) is FAILURE
    assert house.done == ["walk to tap"]


@pytest.mark.rule("want", 5)
def test_skills_that_bring_nothing_are_told_with_a_way_out(house: Greenhouse) -> None:
    tree = bt.load("version: 1\ntree: t\nroot: {want: {goal: g, into: wanted}}\n", skills=[house.skills()[-1]])
    with bt.Run(tree, services={"model": ScriptedModel([])}) as run:
        run.tick()
        assert run.status is FAILURE and "says what it brings" in run.parts.engine.root.feedback_message


def test_a_run_of_facts_is_replayed_and_equal(house: Greenhouse, tmp_path: Path) -> None:
    model = ScriptedModel(["water fern"])
    with run_of(house, model, "Somebody is thirsty.", journal=tmp_path) as run:
        assert run.spin(ticks=500) is SUCCESS
        path = run.parts.journal.path
    assert replay(path).same


@pytest.mark.rule("want", 2)
def test_every_thing_is_meant_by_every_and_by_a_plural_but_what_stands_behind_except(house: Greenhouse) -> None:
    for goal, wanted in {
        "Water every plant except the orchid.": "basil is watered and fern is watered",
        "Water the plants.": "basil is watered and fern is watered and orchid is watered",
        "Do not water the fern, and water the orchid.": "orchid is watered",
    }.items():
        with run_of(house, ScriptedModel(lambda question: "water fern"), goal) as run:
            run.tick()
            run.spin(ticks=500)
            assert run.blackboard["wanted"] == wanted


@pytest.mark.rule("want", 4)
@pytest.mark.parametrize("goal", ["Water the fern until it is wet.", "Never water the fern."])
def test_a_goal_that_no_facts_can_say_is_left_to_the_agent(house: Greenhouse, goal: str) -> None:
    with run_of(house, ScriptedModel(["Act: failure"]), goal) as run:
        assert run.spin(ticks=500) is FAILURE
        assert run.blackboard["wanted"] == "" and not house.done


class Scorer(ScriptedModel):
    """Tells the scores of all options."""

    def __init__(self, scores: Callable[[Question], tuple[float, ...]]) -> None:
        super().__init__([])
        self.scores = scores

    def ask(self, question: Question) -> Any:
        told = self.scores(question)
        return ScriptedAnswer(Choice(question.options[0], told.index(max(told)), max(told), 1.0, told))


def test_what_an_action_scores_when_nothing_is_said_is_taken_off(house: Greenhouse) -> None:
    """`fill the can` is likelier than anything, whatever is said."""
    always = {" fill the can": -2.0}
    asked = {" fill the can": -1.0, " water fern": -2.0}

    def scores(question: Question) -> tuple[float, ...]:
        told = always if "Goal: Do it." in question.prompt else asked
        return tuple(told.get(option, -9.0) for option in question.options)

    for weight, wanted in ((0, "can full"), (0.8, "fern is watered")):
        tree = bt.load(f"{WANT}, weight: {weight}}}}}", skills=house.skills())
        with bt.Run(tree, services={"model": Scorer(scores)}) as run:
            assert run.spin(ticks=100) is SUCCESS
            assert run.blackboard["wanted"] == wanted


@pytest.mark.rule("want", 7)
def test_none_of_the_actions_is_meant_where_the_best_is_as_surprising_as_when_nothing_is_said(
    house: Greenhouse,
) -> None:
    for told, wanted in {-4.0: "fern is watered", -8.0: ""}.items():

        def scores(question: Question, told: float = told) -> tuple[float, ...]:
            best = -9.0 if "Goal: Do it." in question.prompt else told
            return tuple(best if option == " water fern" else -20.0 for option in question.options)

        with bt.Run(bt.load(f"{WANT}}}}}", skills=house.skills()), services={"model": Scorer(scores)}) as run:
            assert run.spin(ticks=100) is (SUCCESS if wanted else FAILURE)
            assert run.blackboard["wanted"] == wanted
    assert "nothing is asked for" in run.parts.engine.root.feedback_message


def test_talk_that_names_nothing_is_left_out_and_what_names_a_thing_is_not(house: Greenhouse) -> None:
    answers = {
        "Goal: We are tired.": "none of these",
        "Goal: Care for the fern.": "water fern",
        "Goal: Sell it.": "none of these",
    }

    def said(question: Question) -> str:
        return next(answer for asked, answer in answers.items() if asked in question.prompt)

    with run_of(house, ScriptedModel(said), "We are tired. Care for the fern.") as run:
        run.spin(ticks=500)
        assert run.blackboard["wanted"] == "fern is watered"
    with run_of(house, ScriptedModel(said), "Care for the fern, then sell it.") as run:
        run.spin(ticks=500)
        assert run.blackboard["wanted"] == ""


def test_a_model_without_scores_may_answer_none_of_these_and_the_agent_acts(house: Greenhouse) -> None:
    model = ScriptedModel(["none of these", "Act: walk to tap", "Act: done"])
    with run_of(house, model, "Go on.") as run:
        assert run.spin(ticks=100) is SUCCESS
    assert house.done == ["walk to tap"]


@pytest.mark.rule("want", 4)
def test_a_part_with_if_is_asked_for_only_where_its_test_holds(house: Greenhouse) -> None:
    for goal, done in {
        "Water the fern if the can is full.": [],
        "Unless the can is full, water the fern.": ["walk to tap", "fill", "walk to bench", "water fern"],
        "If the can is not full then water the fern.": ["walk to tap", "fill", "walk to bench", "water fern"],
    }.items():
        house.__init__()  # type: ignore[misc]
        with run_of(house, ScriptedModel(["can full"]), goal) as run:
            assert run.spin(ticks=500) is SUCCESS, goal
        assert house.done == done, goal


def test_if_before_a_sentence_is_of_all_its_parts_and_behind_a_part_of_that_one() -> None:
    for goal, tests in {
        "If it is dry, water the fern and open the vent. Go home.": ["it is dry", "it is dry", ""],
        "Open the vent and water the fern if it is dry.": ["", "it is dry"],
    }.items():
        assert [part.test for part in parts(goal)] == tests
    assert [part.denied for part in parts("Water it if it is not wet. Unless it is wet, go.")] == [True, True]


class Workshop:
    """Bicycles whose chains are known once somebody has looked at them."""

    def __init__(self, *dry: str) -> None:
        self.dry, self.done = dry, list[str]()

    def skills(self) -> list[Any]:
        @bt.skill("look over {bike}", needs=["lamp on"], outputs={"chain_dry": bool})
        def look(bike: Bike) -> Any:
            self.done.append(f"look over {bike}")
            return {"chain_dry": bike in self.dry}

        @bt.skill("oil {bike}", brings=["{bike} is oiled"])
        def oil(bike: Bike) -> bool:
            self.done.append(f"oil {bike}")
            return True

        @bt.skill("light the lamp", brings=["lamp on"])
        def light() -> bool:
            self.done.append("light")
            return True

        return [look, oil, light]


Bike = Literal["red bike", "old bike"]


@pytest.mark.rule("want", 4)
def test_what_is_not_known_is_looked_up_of_each_thing_by_the_action_that_tells_it() -> None:
    shop = Workshop("old bike")
    model = ScriptedModel(lambda question: "chain dry" if "Fact:" in question.prompt else "oil red bike")
    tree = bt.load(FACTS, skills=shop.skills())
    goal = "Oil the red bike if its chain is dry, then oil the old bike if its chain is dry."
    with bt.Run(tree, inputs={"goal": goal}, services={"model": model}) as run:
        assert run.spin(ticks=500) is SUCCESS
        assert run.blackboard["stages"] == ["red bike is oiled if chain dry", "old bike is oiled if chain dry"]
    assert shop.done == ["light", "look over red bike", "look over old bike", "oil old bike"]


@pytest.mark.rule("want", 6)
def test_what_stands_behind_then_is_brought_about_after_the_rest(house: Greenhouse) -> None:
    for goal, done in {
        "Go to the table, then water the fern.": [
            "walk to table",
            "walk to tap",
            "fill",
            "walk to bench",
            "water fern",
        ],
        "Water the fern. Then go to the table.": [
            "walk to tap",
            "fill",
            "walk to bench",
            "water fern",
            "walk to table",
        ],
    }.items():
        house.__init__()  # type: ignore[misc]
        with run_of(house, ScriptedModel(["walk to table", "water fern"] * 2), goal) as run:
            assert run.spin(ticks=500) is SUCCESS
        assert house.done == done, goal


def put_facts() -> list[GroundFact]:
    """Two eggs and a cup that can be put, plain or hot, in two places."""
    found = []
    for thing in ("egg 1", "egg 2", "cup 1"):
        found.append(GroundFact(f"{thing} is hot", f"heat {thing}", "{thing} is hot", (("thing", thing),), "heat"))
        for place in ("sink 1", "table 1"):
            values = (("thing", thing), ("place", place))
            for state, template in (("", "{thing} in {place}"), ("hot ", "hot {thing} in {place}")):
                act = f"put a {state}{thing} in {place}" if state else f"put {thing} in {place}"
                found.append(GroundFact(f"{state}{thing} in {place}", act, template, values, "put"))
    return found


@pytest.mark.rule("want", 1)
def test_an_order_in_an_action_s_own_words_means_that_action() -> None:
    """The one of which it says the most words. A sentence that has the words, but begins otherwise, is no order."""
    for goal, acts in {
        "Put a hot cup in the sink.": {"put a hot cup 1 in sink 1"},
        "Put the cup in the sink, please.": {"put cup 1 in sink 1"},
        "Please heat the cup.": {"heat cup 1"},
        "The cup is put in the sink.": {fact.act for fact in put_facts() if "cup 1" in fact.act and "sink" in fact.act},
    }.items():
        (part,) = parts(goal) if "please." not in goal else parts(goal)[:1]
        assert {fact.act for fact in in_own_words(part, fitting(part, put_facts()))} == acts, goal


@pytest.mark.rule("want", 1)
def test_the_verb_of_one_action_alone_means_that_action_whatever_its_ending() -> None:
    """A wish that says the verb is not asked for. Behind an article it is a noun; where two actions have the verb, or
    none, the model is asked."""
    facts = [
        GroundFact(f"{wall} is {done}", f"{verb} {wall}", f"{{wall}} is {done}", (("wall", wall),), verb)
        for wall in ("north wall", "south wall")
        for verb, done in (("paint", "painted"), ("scrape", "bare"), ("scrape bare", "smooth"), ("wax", "smooth"))
    ]
    for goal, verbs in {
        "The north wall shall be painted.": {"paint"},
        "I would like you to paint the north wall.": {"paint"},
        "Could you see to painting the north wall?": {"paint"},
        "I would like the north wall waxed.": {"wax"},
        "The paint of the north wall comes off.": {"paint", "scrape", "scrape bare", "wax"},
        "Wax every paint of the north wall.": {"wax"},
        "The north wall has to be scraped.": {"paint", "scrape", "scrape bare", "wax"},
        "The north wall looks ugly.": {"paint", "scrape", "scrape bare", "wax"},
    }.items():
        (part,) = parts(goal)
        assert {fact.skill for fact in in_own_words(part, fitting(part, facts))} == verbs, goal


@pytest.mark.rule("want", 1)
def test_a_verb_has_its_particle_and_starting_a_machine_is_said_in_several_ways() -> None:
    """`Start it` and `switch it on` are `turn on`. `Turn it off` does not mean the one action that turns it on."""
    values = (("machine", "washer"),)
    on, off, shut, fill = (
        GroundFact(f"washer is {done}", act, f"{{machine}} is {done}", values, act)
        for act, done in (
            ("turn on washer", "on"),
            ("turn off washer", "off"),
            ("close washer", "closed"),
            ("fill up washer", "full"),
        )
    )
    for goal, expected in {
        "Start the washer.": [on],
        "Let the washer run.": [on],
        "Switch the washer on.": [on],
        "Switch the washer off.": [off],
        "Stop the washer.": [off],
        "Shut the washer.": [shut],
        "The washer shall be filled up.": [fill],
        "Turn the washer around.": [on, off, shut, fill],
    }.items():
        (part,) = parts(goal)
        assert in_own_words(part, [on, off, shut, fill]) == expected, goal
    (part,) = parts("Turn the washer off.")
    assert in_own_words(part, [on, shut]) == [on, shut]


def test_it_is_the_very_thing_that_the_part_before_was_taken_for_and_them_all_of_those() -> None:
    """Of two eggs the model chose one to heat: that one is put away. Two in a counted singular count as well."""
    facts = put_facts()
    one, other = parts("Heat an egg, then put it in the sink.")
    chosen = [fact for fact in facts if fact.act == "heat egg 2"]
    assert {dict(fact.values)["thing"] for fact in fitting(other, facts, chosen)} == {"egg 2"}
    for goal in ("Heat two eggs and put them in the sink.", "Heat two egg and put them in the sink."):
        one, other = parts(goal)
        heated = all_of(chosen, one, facts)
        assert [fact.said for fact in heated] == ["egg 1 is hot", "egg 2 is hot"]
        put = [fact for fact in facts if fact.act == "put egg 2 in sink 1"]
        assert [fact.said for fact in all_of(put, other, facts, heated)] == ["egg 1 in sink 1", "egg 2 in sink 1"]


def test_a_thing_is_named_by_half_by_a_word_that_no_other_has() -> None:
    """A word of what is named in full, and one that others share, are no sign."""
    crews, doors = ["day crew", "night crew"], ["north door", "south door"]
    assert named_by_half("The people of the day shift have to know", crews, []) == ["day crew"]
    assert named_by_half("A car wants to leave on the north side", doors, []) == ["north door"]
    assert named_by_half("The crew is late", crews, []) == []
    assert named_by_half("Close the north door", ["north star", "south star"], ["north door"]) == []
    assert named_by_half("It rains", ["basil", "it"], []) == []


def test_examples_are_other_goals_the_same_for_each_seed() -> None:
    facts = [GroundFact(f"{name} is watered", f"water {name}", "{plant} is watered") for name in "abcdefghij"]
    shown = example_goals(facts, "Water a.", 6, seed=3)
    assert shown == example_goals(facts, "Water a.", 6, seed=3) != example_goals(facts, "Water a.", 6, seed=4)
    acts = [act for _, act in shown]
    assert len({*acts}) == 6 and "water a" not in acts


@pytest.mark.rule("want", 1)
def test_a_goal_is_taken_apart_at_its_joints() -> None:
    for goal, texts in {
        "Prune the basil, then put it on bench 2.": ["Prune the basil", "put it on bench 2"],
        "Water the fern, the basil and the orchid.": ["Water the fern", "the basil", "the orchid"],
        "It is stuffy in here, open both vents.": ["It is stuffy in here, open both vents"],
        "Fill the can. Water all plants except the fern.": ["Fill the can", "Water all plants"],
    }.items():
        assert [part.text for part in parts(goal)] == texts


def test_a_value_is_named_by_whole_words_the_longer_before_the_shorter_and_a_kind_by_its_word() -> None:
    assert named("Heat the small oven", ["oven", "small oven", "all"]) == ["small oven"]
    assert meant("Bring me the pudding", ["pudding 1", "pudding 2", "cup 1"]) == ["pudding 1", "pudding 2"]
    assert meant("Bring me pudding 2", ["pudding 1", "pudding 2"]) == ["pudding 2"]


@pytest.mark.rule("want", 3)
def test_of_many_facts_those_that_the_goal_names_are_offered() -> None:
    facts = [GroundFact(f"box {n} is open", f"open box {n}", "") for n in range(500)]
    kept = relevant(facts, "Open box 499 and box 3.", 10)
    assert len(kept) == 10 and {facts[3], facts[499]} <= {*kept} and kept == sorted(kept, key=facts.index)


def test_a_plural_means_the_things_of_its_kind_and_a_number_so_many_of_them() -> None:
    things = ["apple 1", "apple 2", "apple 3", "cup 1", "water glass 1", "wine glass 1", "wine glass 2"]
    slots = {"thing": things, "place": ["fridge 1", "table 1"]}
    facts = [
        GroundFact(
            f"{thing} in {place}", f"put {thing} in {place}", "{thing} in {place}", (("thing", thing), ("place", place))
        )
        for thing in slots["thing"]
        for place in slots["place"]
    ]
    for text, wanted in {
        "Put two apples in the fridge": ["apple 1 in fridge 1", "apple 2 in fridge 1"],
        "Put the apples in the fridge": [f"apple {n} in fridge 1" for n in (1, 2, 3)],
        "Put every apple in the fridge except apple 2": ["apple 1 in fridge 1", "apple 3 in fridge 1"],
        "Put an apple in the fridge": ["apple 1 in fridge 1"],
        "Put two wine glasses on the table": ["wine glass 1 in table 1", "wine glass 2 in table 1"],
    }.items():
        (part,) = parts(text)
        assert [fact.said for fact in all_of(fitting(part, facts)[:1], part, facts)] == wanted


def test_a_plural_is_spelled_as_english_spells_it() -> None:
    things = ["wine 1", "wine glass 1", "wine glass 2", "dish 1", "cherry 1", "tray 1"]
    for text, meant_by in {
        "Fetch two wine glasses": ["wine glass 1", "wine glass 2"],
        "the dishes": ["dish 1"],
        "some cherries and trays": ["cherry 1", "tray 1"],
    }.items():
        assert meant(text, things) == meant_by


def test_a_thing_named_by_itself_is_treated_as_the_one_before() -> None:
    facts = [
        GroundFact(f"{n} on table 1", f"put {n}", "{t} on table 1", (("t", n),)) for n in ("cup 1", "jug 1", "jug 2")
    ]
    last, part = facts[:1], parts("a cup and a jug")[1]
    assert [fact.said for fact in again(last, part, facts)] == ["jug 1 on table 1"]
    assert again(last, parts("break the jug")[0], facts) == []


class Says:
    """A person with one answer."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[str]()

    def ask(self, question: str) -> Any:
        self.asked.append(question)
        return ScriptedAnswer(self.answer)


def confirmed(house: Greenhouse, person: Any, **more: Any) -> bt.Run:
    text = WANT.replace("goal: Go on", "goal: Water the fern, confirm: true") + "}}"
    return bt.Run(bt.load(text, skills=house.skills()), services={"model": ScriptedModel([]), "person": person}, **more)


def test_what_was_understood_is_confirmed_by_a_person_once_also_in_a_replay(house: Greenhouse, tmp_path: Path) -> None:
    person = Says("Yes.")
    with confirmed(house, person, journal=tmp_path) as run:
        assert run.spin(ticks=100) is SUCCESS
        assert run.blackboard["wanted"] == "fern is watered"
        path = run.parts.journal.path
    assert replay(path).same
    assert person.asked == ["`Water the fern`: shall this be true: fern is watered? (yes or no)"]


@pytest.mark.parametrize("person", [Says("no, the basil"), None])
def test_what_nobody_confirms_is_not_wanted(house: Greenhouse, person: Any) -> None:
    with confirmed(house, person) as run:
        assert run.spin(ticks=100) is FAILURE
        assert run.blackboard["wanted"] == ""


class Yard:
    """A world that names what can be wanted of it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def look(self, who: int = 0) -> bt.Observation:
        return bt.Observation("A yard.")

    def act(self, sentence: str) -> bt.Observation:
        self.done.append(sentence)
        return bt.Observation("Done.")

    def skills(self) -> list[str]:
        return ["sweep"]

    def aims(self) -> list[Any]:
        return [["{thing} in {place}", "put {thing} in {place}", {"thing": ["cup 1", "hat 1"], "place": ["shed 1"]}]]


def test_a_world_names_what_can_be_wanted_of_it(house: Greenhouse) -> None:
    model, text = ScriptedModel(["put hat 1 in shed 1"]), WANT.replace("Go on", "Tidy up the shed") + "}}"
    with bt.Run(bt.load(text, skills=house.skills()), world=Yard(), services={"model": model}) as run:
        assert run.spin(ticks=100) is SUCCESS
        assert run.blackboard["wanted"] == "hat 1 in shed 1"
    assert [option.strip() for option in model.asked[0].options][:-1] == ["put cup 1 in shed 1", "put hat 1 in shed 1"]
