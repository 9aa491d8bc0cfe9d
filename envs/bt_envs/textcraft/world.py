"""TextCraft: fetch, craft, look into the inventory. Replies are ADaPT's; `why` has the reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice, product
from math import ceil
from typing import Any

from bt_envs.textcraft.recipes import Book, Ingredient, Recipe, counted, game_id, read_line
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.manual import manual
from bt_runtime.skills.worlds.ways import Aim, Way
from bt_runtime.types import Json, Observation, Task, Verdict

# How each fact of TextCraft comes about: what lies around is fetched, the rest is made by the book's recipes.

_MEMBERS = 6  # members of a kind that are tried as an ingredient
_CHOICES = 24  # choices of members for one recipe
_HELD = " in inventory"


def ways(book: Book, fact: str) -> list[Way]:
    asked = counted(fact.removesuffix(_HELD)) if fact.endswith(_HELD) else None
    if asked is None:
        return []
    if book.fetchable(asked.item):
        return [Way(f"get {asked.amount} {asked.item}", (), (fact,))]
    return list(_crafted(book, asked.item, asked.amount, fact))


def _crafted(book: Book, item: str, amount: int, fact: str) -> Iterator[Way]:
    for recipe in book.of.get(item, ()):
        times = ceil(amount / recipe.makes)
        pools = [book.members(need.item)[:_MEMBERS] for need in recipe.needs]
        for chosen in islice(product(*pools), _CHOICES):
            if len(set(chosen)) < len(chosen):
                continue
            pairs = list(zip(recipe.needs, chosen, strict=True))
            told = ", ".join(f"{need.amount} {each}" for need, each in pairs)
            needs = [f"{need.amount * times} {each}{_HELD}" for need, each in pairs]
            yield Way(f"craft {recipe.makes} {item} using {told}", needs, (fact,), float(times), times)


_CRAFT = re.compile(r"craft (.+?) using (.+)")
# `skills` offers to fetch 1 … MOST, and multiples of what a shown recipe calls for up to MANY; `act` takes any number.
MOST, MANY = 6, 24


RULES = (
    "- Get fetches what no recipe makes. What a recipe makes cannot be fetched: it has to be crafted.",
    "- Get or craft all ingredients before you craft with them; a recipe uses them up.",
    "- Follow a recipe as it is shown: exactly so many of each ingredient, exactly so many come of it. For more, do it "
    "again.",
    "- Where a recipe names a kind, such as planks, one item of that kind is named in its place, such as oak planks.",
)


class TextCraft:
    instant = True  # an act is a dictionary lookup: a job of its own would cost more than the act

    def __init__(self, books: Mapping[str, Book]) -> None:
        self._books = dict(books)
        self._task: Task | None = None
        self._book = Book("empty", (), {})
        self._shown: tuple[Recipe, ...] = ()
        self._offers: tuple[str, ...] = ()
        self._bag: dict[str, int] = {}
        self._crafted: set[str] = set()

    def reset(self, task: Task) -> Observation:
        """Starts a task. `task.data` holds `book` (a name) or `recipes` and `kinds` (a custom book), `goal`, and the
        commands to show."""
        try:
            book = self._find_book(task.data)
            lines = [read_line(line) for line in task.data.get("commands", ())]
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            hint = "see `btr lab tasks textcraft --json`"
            raise BtError(f"the task `{task.id}` is none of TextCraft: {problem!r}", hint) from problem
        self._book, self._task = book, task
        self._shown = tuple(recipe for recipe in lines if recipe)
        self._offers = tuple(_offers(book, self._shown))
        self._bag = {}
        self._crafted = set()
        return Observation(f"{self._commands_text()}\n\nGoal: craft {self._goal}.")

    def look(self) -> Observation:
        """Describes recipes and inventory, as ADaPT hands them to an executor of a subtask."""
        return Observation(f"{self._commands_text()}\n\n{self._inventory()}")

    def _commands_text(self) -> str:
        return "Crafting commands:\n" + "\n".join(recipe.command() for recipe in self._shown)

    @property
    def book(self) -> Book:
        """Returns the recipes of this task."""
        return self._book

    @property
    def _goal(self) -> str:
        return str(self._task.data.get("goal", "")) if self._task else ""

    def _find_book(self, data: Mapping[str, Any]) -> Book:
        if "recipes" in data:
            recipes = [read_line(line) for line in data["recipes"]]
            return Book("task", [r for r in recipes if r], data.get("kinds", {}))
        name = data.get("book", "game")
        if name not in self._books:
            raise BtError(f"no recipe book is called `{name}`", f"books here: {', '.join(self._books)}")
        return self._books[name]

    def skills(self) -> Sequence[str]:
        held = self._bag
        crafts = [
            c for r in self._shown for c in self._commands(r) if all(held.get(n.item, 0) >= n.amount for n in c[1])
        ]
        return ("inventory", *self._offers, *dict.fromkeys(sentence for sentence, _ in crafts))

    def _commands(self, recipe: Recipe) -> list[tuple[str, list[Ingredient]]]:
        """Yields the recipe's sentence with every choice of held items for its kinds."""
        pools = [[m for m in self._book.members(n.item) if m in self._bag] for n in recipe.needs]
        found = []
        for chosen in product(*pools):
            if len(set(chosen)) == len(chosen):
                stand_in = {n.item: item for n, item in zip(recipe.needs, chosen, strict=True)}
                needs = [Ingredient(n.amount, item) for n, item in zip(recipe.needs, chosen, strict=True)]
                found.append((recipe.command(stand_in), needs))
        return found

    def act(self, sentence: str) -> Observation:
        said = sentence.strip()
        if said.startswith("get "):
            return self._get(said[4:].strip())
        if said.startswith("craft "):
            return self._craft(said)
        if said.rstrip(":") == "inventory":
            return Observation(self._inventory())
        return _refused(f"Could not execute {sentence}", "the sentences are: get, craft … using …, inventory")

    def _get(self, what: str) -> Observation:
        asked = counted(what) or Ingredient(1, what)
        item = asked.item.rstrip(".")
        if not self._book.fetchable(item):
            if self._book.craftable(item):
                why = f"{item} is not lying around: it has to be crafted"
            elif item in self._book.kinds:
                why = f"{item} is a kind: name one, such as {self._book.kinds[item][0]}"
            else:
                why = f"there is no item called {item}"
            return _refused(f"Could not find {item}", why)
        if asked.amount < 1:
            return _refused(f"Could not find {item}", "the number must be at least 1")
        self._bag[item] = self._bag.get(item, 0) + asked.amount
        return Observation(f"Got {asked.amount} {item}")

    def _craft(self, said: str) -> Observation:
        found = _CRAFT.fullmatch(said)
        if found is None:
            return _refused(f"Could not execute {said}", "write: craft 1 item using 2 first, 1 second")
        item = (counted(found[1]) or Ingredient(1, found[1])).item
        given = []
        for text in found[2].rstrip(".").split(","):
            need = counted(text)
            if need is None:
                return _refused(f"Wrong item format: {text.strip()}", "every ingredient has a number before it")
            given.append(need)
        total: Counter[str] = Counter()
        for need in given:
            total[need.item] += need.amount
        missing = [f"{n} {name}" for name, n in total.items() if self._bag.get(name, 0) < n]
        if missing:
            text = f"Could not find enough items to craft {game_id(item)}"
            return _refused(text, f"not in the inventory: {', '.join(missing)}")
        recipe = next((r for r in self._book.of.get(item, ()) if self._matches(r, given)), None)
        if recipe is None:
            return _refused(f"Could not find a valid recipe for {item}", self._why_no_recipe(item))
        for name, n in total.items():
            self._take(name, n)
        self._bag[item] = self._bag.get(item, 0) + recipe.makes
        self._crafted.add(item)
        return Observation(f"Crafted {recipe.makes} {game_id(item)}")

    def _take(self, name: str, count: int) -> None:
        self._bag[name] -= count
        if not self._bag[name]:
            del self._bag[name]

    def _matches(self, recipe: Recipe, given: Sequence[Ingredient]) -> bool:
        """True when the given items match the recipe's ingredients exactly: same counts, none left over."""
        if len(given) != len(recipe.needs):
            return False
        return self._assign(list(recipe.needs), list(given))

    def _assign(self, needs: list[Ingredient], given: list[Ingredient]) -> bool:
        if not needs:
            return True
        need, rest = needs[0], needs[1:]
        fitting = (i for i, g in enumerate(given) if g.amount == need.amount and self._book.fits(g.item, need.item))
        return any(self._assign(rest, given[:i] + given[i + 1 :]) for i in fitting)

    def _why_no_recipe(self, item: str) -> str:
        ways = [r.command() for r in self._book.of.get(item, ())[:3]]
        if not ways:
            return f"nothing is known that makes {item}"
        return f"the ingredients or their numbers differ from: {'; '.join(ways)}"

    def _inventory(self) -> str:
        if not self._bag:
            return "Inventory: You are not carrying anything."
        return "Inventory: " + " ".join(f"[{item}] ({n})" for item, n in self._bag.items())

    def verdict(self) -> Verdict:
        return Verdict(int(self._goal in self._crafted), 1)

    def holds(self, fact: str) -> bool | None:
        """Tests a fact: `{n} {item} in inventory`, `{item} in inventory`, `{item} can be fetched`."""
        if fact.endswith(" in inventory"):
            asked = counted(fact.removesuffix(" in inventory")) or Ingredient(1, fact.removesuffix(" in inventory"))
            held = sum(self._bag.get(member, 0) for member in self._book.members(asked.item))
            return held >= asked.amount
        if fact.endswith(" can be fetched"):
            return self._book.fetchable(fact.removesuffix(" can be fetched"))
        return None

    def ways(self, fact: str) -> Sequence[Way]:
        """Returns the actions that bring a fact, by all recipes of the book."""
        return ways(self._book, fact)

    def aims(self) -> Sequence[Aim]:
        """Names what the recipes at hand make."""
        made = dict.fromkeys(recipe.item for recipe in self._shown)
        return [Aim("1 {item} in inventory", "craft {item}", {"item": [*made]})]

    def at_once(self) -> Sequence[tuple[int, Sequence[str]]]:
        """Any number of things is carried."""
        return ()

    def picture(self) -> Json:
        """Returns the page's picture: goal, inventory, and the recipes shown."""
        data = self._task.data if self._task else {}
        bag = {"is": "bag", "goal": data.get("goal", ""), "bag": dict(self._bag), "crafted": sorted(self._crafted)}
        return {**bag, "recipes": list(data.get("commands", ()))}

    def digest(self) -> str:
        return blake2b(self.snapshot(), digest_size=8).hexdigest()

    def snapshot(self) -> bytes:
        task = self._task._asdict() if self._task else None
        return json.dumps({"task": task, "bag": self._bag, "crafted": sorted(self._crafted)}).encode()

    def restore(self, snapshot: bytes) -> None:
        try:
            found = json.loads(snapshot)
            bag, crafted = dict(found["bag"]), set(found["crafted"])
            if found["task"] is not None:
                self.reset(Task(**found["task"]))
        except (KeyError, TypeError, ValueError) as problem:
            raise BtError(
                f"this is no snapshot of TextCraft: {problem!r}", "give what `snapshot()` returned"
            ) from problem
        self._bag, self._crafted = bag, crafted

    def manual(self) -> Mapping[str, Json]:
        return manual("textcraft", RULES, "crafting")

    def close(self) -> None:
        """No-op: the world holds no external resource."""


def _refused(text: str, why: str) -> Observation:
    return Observation(text, False, why)


def _offers(book: Book, shown: Sequence[Recipe]) -> list[str]:
    """Returns the fetch sentences for the ingredients of the shown recipes, in useful amounts."""
    counts: dict[str, set[int]] = {}
    for recipe in shown:
        for need in recipe.needs:
            for item in book.members(need.item):
                if book.fetchable(item):
                    own = counts.setdefault(item, set(range(1, MOST + 1)))
                    own.update(range(need.amount, MANY + 1, need.amount) if need.amount > 1 else ())
    return [f"get {n} {item}" for item in sorted(counts) for n in sorted(counts[item])]
