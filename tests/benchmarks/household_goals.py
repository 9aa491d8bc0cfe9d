"""Goals of a household, and how well an embedder tells them apart.

Each line is one errand said in several ways. LOO@1: of all other goals, does the nearest have the same errand's verb?
slot@1: does it have the same verb, thing and place, that is, is it the same errand? contrast: is another wording of
the errand nearer than a goal that shares more words and means something else?
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from bt_runtime.memory.embedder import embed_packed
from bt_runtime.memory.experience import normalise
from bt_runtime.memory.vector import unpack
from bt_runtime.types import Embedder

# kind | the same errand in other words | …
ERRANDS = """
store | put the apple in the fridge | place the apple inside the refrigerator | the apple belongs into the fridge
store | put the milk in the fridge | place the milk inside the refrigerator | the milk should be kept in the fridge
store | put the cup in the cupboard | place the mug inside the cabinet | the cup belongs into the cupboard
store | put the pan in the cupboard | stow the frying pan in the cabinet | the pan should go into the cupboard
find | find the apple | look for an apple | search the rooms until you see an apple
find | find the remote control | look for the tv remote | search for the remote of the television
find | find the car keys | look where the keys of the car are | search for my car keys
find | find the red book | look for the book with the red cover | search for a red book
wash | wash the plate | clean the dirty plate | rinse the plate in the sink
wash | wash the cup | clean the dirty mug | rinse the cup in the sink
wash | wash the towels | do the laundry with the towels | clean the dirty towels in the machine
wash | wash the window | clean the glass of the window | wipe the dirty window
light | turn on the lamp | switch the light on | make the lamp shine
light | turn off the lamp | switch the light off | make the lamp go dark
device | turn on the television | switch the tv on | start the television
device | turn off the television | switch the tv off | shut the television down
heat | heat the soup | warm up the soup on the stove | make the cold soup hot
heat | heat the milk | warm up some milk | make the cold milk hot
cut | slice the bread | cut the loaf of bread into slices | make slices of the bread
cut | slice the tomato | cut the tomato into pieces | chop a tomato
open | open the window | let some fresh air in through the window | the window should be open
open | open the fridge | pull the door of the refrigerator open | the fridge should be open
close | close the window | shut the window | the window should not stay open
close | close the fridge | shut the door of the refrigerator | the fridge should not stay open
serve | set the table for two | lay plates and forks for two people | prepare the dining table for two
serve | bring a glass of water to the sofa | carry some water over to the couch | serve a glass of water at the sofa
serve | bring the newspaper to the bed | carry the paper over to the bed | deliver the newspaper in bed
water | water the plants | give the flowers some water | pour water on the potted plants
"""

# goal | the same in other words | nearly the same words, another meaning
CONTRASTS = """
turn on the lamp in the bedroom | make the bedroom bright | turn off the lamp in the bedroom
close the window in the kitchen | shut the kitchen window | open the window in the kitchen
put the cup on the plate | set the mug onto the dish | put the plate on the cup
bring the book from the bed to the desk | carry the book to the desk | bring the book from the desk to the bed
find the knife and wash it | look for a dirty knife and clean it | find the knife and hide it
take the apple out of the fridge | remove the apple from the refrigerator | put the apple into the fridge
fill the glass with water | pour water into a glass | empty the glass with water
heat the soup | warm up the broth | cool the soup
set the table for dinner | lay plates and cutlery for the evening meal | clear the table after dinner
lock the front door | make sure nobody can come in at the front | unlock the front door
put two cups on the table | place a pair of mugs on the table | put two cups under the table
wash the white shirt | do the laundry for the white shirt | iron the white shirt
throw the old newspaper away | put the old paper into the bin | read the old newspaper
feed the cat | give the cat something to eat | brush the cat
charge the phone | plug the telephone in | answer the phone
sweep the floor | brush the dirt off the ground | paint the floor
slice the bread | cut the loaf into pieces | bake the bread
hang the coat on the hook | put the jacket on its peg | take the coat off the hook
switch the oven off | the oven should no longer be on | switch the oven on
bring a mug to the desk | carry a mug over to the writing desk | bring a hammer to the door
find the apple in the kitchen | look for an apple, it should be in the kitchen | find the broom in the kitchen
put the spoon in the drawer | place the spoon inside the drawer | put the drawer in the van
wash the plate and the fork | clean the fork and the plate | wash the car and the dog
pick up the box in the hall | lift the box that stands in the hall | pick up the child in the car
turn on the radio | switch the radio on, please | turn on your heel
open the door of the garage | open the garage | open the book at page ten
bring two plates to the table | carry a pair of plates to the table | bring two friends to the party
wipe the kitchen counter | clean the counter of the kitchen | count the kitchen tiles
water the plant by the window | give water to the plant at the window | paint the frame of the window
empty the bin in the bathroom | take the bathroom rubbish out | fill the tub in the bathroom
fetch the blue towel | bring me the towel that is blue | fetch the blue car
move the chair next to the bed | put the chair beside the bed | move to the city next to the sea
make a cup of coffee | brew some coffee for me | make a map of the house
dry the dishes | dry the plates and cups with a towel | dry the firewood
fetch a blanket for the guest | get the visitor something warm to cover up with | fetch a taxi for the guest
"""


class Quality(NamedTuple):
    loo: float
    slot: float
    contrast: float


def _table(text: str) -> list[list[str]]:
    return [[normalise(cell) for cell in line.split("|")] for line in text.strip().splitlines()]


def quality(embedder: Embedder) -> Quality:
    errands, contrasts = _table(ERRANDS), _table(CONTRASTS)
    goals = [(goal, kind, number) for number, (kind, *said) in enumerate(errands) for goal in said]
    texts = [goal for goal, _, _ in goals] + [goal for line in contrasts for goal in line]
    vectors = {t: unpack(v) for t, v in zip(texts, embed_packed(embedder, texts), strict=True)}

    def near(a: str, b: str) -> float:
        return sum(x * y for x, y in zip(vectors[a], vectors[b], strict=True))

    scores = {(a, b): near(goals[a][0], goals[b][0]) for a, b in combinations(range(len(goals)), 2)}
    nearest = [
        max((j for j in range(len(goals)) if j != i), key=lambda j, i=i: scores[min(i, j), max(i, j)])  # type: ignore[misc]
        for i in range(len(goals))
    ]
    same_kind = sum(goals[i][1] == goals[j][1] for i, j in enumerate(nearest))
    same = sum(goals[i][2] == goals[j][2] for i, j in enumerate(nearest))
    kept = sum(near(goal, other) > near(goal, trap) for goal, other, trap in contrasts)
    return Quality(same_kind / len(goals), same / len(goals), kept / len(contrasts))
