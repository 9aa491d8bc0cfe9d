"""Ordinary words that made-up names are drawn from: how a thing looks, what it is of, what it is."""

from __future__ import annotations


def _each(listed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(listed.split()))


LOOKS = _each(
    """white black red blue green yellow orange pink brown gray purple cyan lime magenta violet crimson scarlet amber
    ivory olive teal azure beige golden silver dark light pale bright dull clear cloudy smooth rough polished cracked
    carved cut chiseled mossy dusty wet dry warm cold hot frozen cooked baked raw fresh dried stale bitter sweet sour
    heavy light thin thick long short tall wide narrow flat round square hollow solid soft hard sharp blunt twisted
    bent straight folded woven knitted painted gilded striped spotted plain fancy ancient new old young wild tame
    sacred cursed royal common rare tiny small large great giant northern southern eastern western inner outer upper
    lower broken mended sealed open hidden glowing shining burning sunken floating flying sticky slippery warped
    enchanted powered trapped weighted brewing writable leather wooden iron stone nether ender end red lapis"""
)
STUFFS = _each(
    """oak spruce birch jungle acacia pine maple cedar elm ash willow teak walnut cherry bamboo cork reed cane vine ivy
    iron copper tin lead zinc silver gold bronze brass steel nickel quartz granite marble slate basalt flint chalk
    clay sand gravel mud dirt coal charcoal salt sulfur amber jade ruby emerald diamond opal pearl crystal coral bone
    horn shell scale feather fur hide leather wool silk cotton linen hemp jute felt paper parchment wax honey sugar
    wheat barley rye oats rice corn melon pumpkin carrot potato beetroot apple pear plum grape cocoa pepper ginger
    mushroom fungus moss kelp cactus tulip rose poppy lily daisy orchid allium cornflower dandelion snow ice water
    lava ash smoke dust powder slime ink glass brick tile stone rock pebble obsidian redstone glowstone sandstone
    netherite spider rabbit fish cod salmon turtle phantom ghast blaze shulker dragon magma chorus prismarine"""
)
THINGS = _each(
    """plank log stick board beam post rod pole wheel axle gear spring lever button switch plate panel door gate fence
    wall slab stairs ladder rail track cart wagon boat raft oar sail rope string thread cord chain hook nail bolt
    screw ring band belt strap buckle button bead ball bead block bar ingot nugget shard chip flake crumb dust powder
    grain seed root stem leaf bud flower petal bush shoot berry nut fruit juice syrup oil cream cheese butter bread
    cake cookie pie stew soup bowl cup mug jar bottle bucket barrel crate chest box basket bag sack pouch purse lamp
    lantern torch candle lens mirror window pane frame painting banner flag carpet rug bed pillow blanket curtain
    chair bench table desk shelf lectern book map scroll letter pen brush dye paint ink glue resin tar bow arrow
    sword shield axe pickaxe shovel hoe hammer saw knife spear helmet boots leggings chestplate cloak glove hat mask
    crown furnace oven stove kiln anvil loom mill press pump pipe valve piston hopper dispenser dropper observer
    repeater comparator target clock compass bell drum flute horn harp whistle kite doll puppet dice net trap cage
    lure rod saddle lead harness tag nest hive comb egg wing tail claw tooth skull eye heart tear star moon charge
    crystal beacon conduit anchor portal altar shrine statue urn vase pot planter trellis bricks tiles pillar arch
    dome roof floor step bridge tower wood hyphae terracotta concrete carpet wool sign trapdoor minecart stand
    rocket shears clay ball meal rod snowball scaffolding composter smoker stonecutter grindstone cauldron"""
)
