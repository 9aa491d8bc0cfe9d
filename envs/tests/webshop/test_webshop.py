"""WebShop: an invented shop, the files that people have, the recorded pages of its own engine, its rewards."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("rapidfuzz")
pytest.importorskip("snowballstemmer")

from bt_envs.webshop import files
from bt_envs.webshop.catalogue import Product, ShopCatalogue
from bt_envs.webshop.ranking import rounded
from bt_envs.webshop.reward import ShopGoal, alike, of_kind, reward
from bt_envs.webshop.suite import SUITE, catalogue_at
from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.plugins import Wanted
from bt_runtime.testing import SUCCESS

ITEM = {
    "asin": "B000000001", "name": "Oak Side Table Round", "pricing": "$49.99$61.50", "query": "Side Tables",
    "product_category": "Home › Furniture › Tables", "full_description": "A table of oak.",
    "small_description": ["Round top", "Easy to clean"], "images": ["x"],
    "customization_options": {"Color": [{"value": "Oak/Natural"}, {"value": "White"}], "Size": None},
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def official(folder: Path, more: int = 0) -> Path:
    """A shop in the form of WebShop's own files."""
    rows = [
        ITEM,
        *(
            {**ITEM, "asin": f"B{i:09}", "name": f"Pine Chair {i}", "customization_options": {}}
            for i in range(2, more + 2)
        ),
    ]
    (folder / "items_shuffle.json").write_text(json.dumps([*rows, {**ITEM, "asin": "nan"}, {**ITEM, "name": "again"}]))
    (folder / "items_ins_v2.json").write_text(json.dumps({
        ITEM["asin"]: {"attributes": ["easy to clean"], "instruction": "find a table",
                       "instruction_attributes": ["easy to clean"]}
    }))  # fmt: skip
    (folder / "items_human_ins.json").write_text(json.dumps({
        ITEM["asin"]: [{"instruction": "i want an oak table.", "instruction_attributes": ["easy clean"],
                        "instruction_options": {"color": "oak | natural"}}],
        "B999999999": [{"instruction": "not sold", "instruction_attributes": ["x"], "instruction_options": []}],
    }))  # fmt: skip
    return folder


@pytest.fixture
def shop(tmp_path):
    world = SUITE.open(data=official(tmp_path, 12))
    (task,) = SUITE.tasks(0, 9, kinds=["human"], data=tmp_path, part="all")
    world.reset(task)
    return world


def test_the_oracle_buys_what_every_invented_instruction_asks_for():
    world = SUITE.open()
    for split in SUITE.splits:
        for task in SUITE.tasks(2, 30, split):
            world.reset(task)
            assert all(world.act(said).ok for said in SUITE.oracle(world, task)) and world.verdict() == (100, 100), task


def test_no_brand_of_one_split_is_in_another_and_the_shop_has_300_products():
    from bt_envs.webshop import invent

    brands = [{p.title.split()[0] for p in invent.products(split, 0)} for split in SUITE.splits]
    assert not brands[0] & brands[1] and not brands[0] & brands[2] and not brands[1] & brands[2]
    assert len({p.asin for p in invent.products("train", 0)}) == 300


@pytest.mark.data
def test_the_search_gives_the_pages_that_the_real_engine_gave(data, tmp_path):
    """At least 35 of the 41 recorded pages in their order, every total."""
    found = files.shop_in(data / "webshop")
    shop = catalogue_at(found, 0, str(tmp_path))
    rows = [json.loads(line) for line in (data / "webshop" / "search_pages_recorded.jsonl").read_text().splitlines()]
    pages = [(shop.search(r["query"]), r) for r in rows]
    same = [[p.asin for p in got[(r["page"] - 1) * 10 : r["page"] * 10]] == r["asins"] for got, r in pages]
    assert len(same) == 41 and sum(same) >= 35 and all(len(got) == r["total"] for got, r in pages)


@pytest.mark.data
def test_buying_the_target_of_every_goal_scores_one(data, tmp_path):
    place = data / "webshop"
    world = SUITE.open(data=place, index=str(tmp_path))
    tasks = SUITE.tasks(0, 1000, "eval", ["human", "synthetic"], data=place, part="all", index=str(tmp_path))
    assert len(tasks) == 446
    for task in tasks:
        world.reset(task)
        assert all(world.act(said).ok for said in SUITE.oracle(world, task)) and world.verdict() == (100, 100), task.id


def test_the_users_own_files_are_a_shop(tmp_path):
    """Prices of a range, options in lower case, what the shop passes over; goals of people and of the rule."""
    found = files.shop_in(official(tmp_path))
    (product,) = {p.asin: p for p in reversed([*files.products(found)])}.values()
    assert product.price == "$49.99 to $61.5" and product.options == {"color": ["oak | natural", "white"]}
    tasks = SUITE.tasks(0, 9, kinds=["human", "synthetic"], data=tmp_path, part="all")
    assert sorted(t.kind for t in tasks) == ["human", "synthetic", "synthetic"]
    human = next(t for t in tasks if t.kind == "human")
    assert human.goal.startswith("i want an oak table, and price lower than ") and human.data["options"] == [
        "oak | natural"
    ]
    packed = tmp_path / "packed"
    packed.mkdir()
    with gzip.open(packed / "items_shuffle.json.gz", "wt") as file:
        file.write(json.dumps([ITEM]))
    assert [p.title for p in files.products(files.shop_in(packed))] == ["Oak Side Table Round"]
    assert SUITE.read(packed / "goals.json", Wanted()) is None


@pytest.mark.parametrize(
    "broken", ["", "[", "[{}]", "[1]", '[{"asin": "B1"}]', '{"asin": 1}', '[{"asin": "B1", "name"']
)
def test_a_broken_file_of_products_is_named(tmp_path, broken):
    (tmp_path / "items_shuffle.json").write_text(broken)
    with pytest.raises(BtError, match=r"items_shuffle\.json"):
        [*files.products(files.shop_in(tmp_path))]


def test_pages_lead_to_each_other_as_in_the_shop(shop):
    assert shop.look().text == f"Webshop \nInstruction:  \n{shop._task.goal} \n[Search] " and not shop.skills()
    text = shop.act("search[pine chair]").text
    assert text.startswith(
        "[Back to Search] \nPage 1 (Total results: 12) \n[Next >] \n[B000000002] \nPine Chair 2 \n$49.99 to $61.5 \n"
    )
    assert text.count("Pine Chair") == 3 and len([s for s in shop.skills() if "[B0" in s]) == 10
    assert "[< Prev]" in shop.act("click[Next >]").text and shop.act("click[< Prev]").text == text
    assert not shop.act("search[again]").ok and shop.act("click[b000000002]").text.endswith("[Reviews] \n[Buy Now] ")
    assert "A table of oak." in shop.act("click[Description]").text
    assert shop.act("click[< Prev]").text.endswith("[Buy Now] ") and shop.act("click[Back to Search]").ok
    assert not shop.skills() and shop.written() == ("search[{words}]",)


def test_options_are_chosen_shown_and_forgotten_with_the_item(shop):
    shop.act("search[oak table]")
    shop.act("click[B000000001]")
    assert shop.act("click[white]").text == "You have clicked white." and shop.holds("white is chosen")
    assert "[[white]]" in shop.look().text
    shop.act("click[< Prev]")
    assert "[[" not in shop.act("click[B000000001]").text
    shop.act("click[oak | natural]")
    assert shop.act("click[Buy Now]").text == "Your score (min 0.0, max 1.0): 1.0" and shop.verdict() == (100, 100)
    assert not shop.skills() and shop.act("search[x]").text.startswith("Your score")


def test_a_state_is_kept_and_put_back(shop):
    for said in ("search[pine chair]", "click[Next >]", "click[B000000012]", "click[Features]"):
        before, digest, text = shop.snapshot(), shop.digest(), shop.look().text
        shop.act(said)
        shop.restore(before)
        assert (shop.digest(), shop.look().text) == (digest, text)
        assert shop.act(said).ok


@pytest.mark.parametrize(
    ("view", "part"),
    [("react", "[Search]"), ("adapt", "[Search]"), ("text", " [SEP] Search"), ("text_rich", "[button] Search")],
)
def test_each_view_shows_the_same_shop(tmp_path, view, part):
    world = SUITE.open(view=view)
    task = SUITE.tasks(0, 1)[0]
    assert part in world.reset(task).text
    for said in SUITE.oracle(world, task):
        assert said in world.skills() or said.startswith("search[")
        world.act(said)
    assert world.verdict() == (100, 100)
    with pytest.raises(BtError, match="no view"):
        SUITE.open(view="round")


def test_a_purchase_is_scored_by_kind_attributes_options_and_price():
    """The four expected values of WebShop's own test: 1, 2/3, and less for another kind."""
    table = Product(
        "A", "Oak Table", "$50", 50, "tables", "Home › Tables", nouns=("oak", "table"), attributes=("easy to clean",)
    )
    goal = ShopGoal(table, ("easy to clean",), ("red",), 60)
    assert reward(table, {"color": "bright red"}, goal) == 1 and reward(table, {}, goal) == pytest.approx(2 / 3)
    assert reward(table._replace(value=70), {"color": "red"}, goal) == pytest.approx(2 / 3)
    assert of_kind(Product("B", "Lamp", nouns=("lamp",)), table) == 0
    mixed = Product("C", "x", nouns=("oak", "b", "c"))
    assert of_kind(mixed, table._replace(nouns=("oak", *"adefgh"))) == 0.5
    assert alike("large", "x-large") and not alike("large", "small")


@pytest.mark.parametrize(
    ("length", "kept"), [(0, 0), (24, 24), (39, 39), (40, 40), (41, 40), (42, 42), (57, 56), (1000, 984)]
)
def test_lengths_are_rounded_as_the_index_keeps_them(length, kept):
    assert rounded(length) == kept


def test_an_index_is_read_again_and_a_bad_one_is_told(tmp_path):
    shelf = [Product(f"B{i:09}", f"Table {i}") for i in range(5)]
    path = tmp_path / "shop.index"
    assert len(ShopCatalogue.at(path, iter(shelf))) == len(ShopCatalogue.at(path, iter(()))) == 5
    path.write_bytes(b"no index" * 200)
    with pytest.raises(BtError) as caught:
        ShopCatalogue.at(path, iter(shelf))
    assert "delete it" in caught.value.hint


def test_an_agent_writes_what_it_searches_and_clicks_the_rest():
    task = SUITE.tasks(4, 1, "eval")[0]
    world = SUITE.open()
    world.reset(task)
    way = []
    for said in SUITE.oracle(world, task):
        way.append(said)
        world.act(said)
    world.reset(task)
    lines = iter([*(f"Act: {said}" for said in way), "Act: done"])
    model = ScriptedModel(lambda question: next(lines))
    with Run(load("react"), inputs={"goal": task.goal}, world=world, services={"model": model}, recall=False) as run:
        assert run.spin(seconds=60) is SUCCESS
    assert world.verdict() == (100, 100)
    assert len([q for q in model.asked if q.kind == "write"]) == 1  # the search; all clicks are choices
