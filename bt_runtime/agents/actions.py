"""The skills that an agent may take as actions: which skills of its tree, which values fill their slots, which are
possible now.

Without `actions:` these are all that the tree lists, unless the run has a world: then they are what the world offers.
With it, nothing else is offered, planned or done, here or in the agents of its expansions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from bt_runtime.agents.facts import ANY, Facts, entry
from bt_runtime.agents.kinds.checks import WORLD
from bt_runtime.agents.services import agent_services
from bt_runtime.language.emit.dialect import Form, FormField, ValueType
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.kind import Kind, Registry
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.activity import Activity, Wrapping, refused
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.skills.phrase import Phrase, phrase_of, writable
from bt_runtime.skills.words import outputs, words
from bt_runtime.skills.worlds.manual import manifest_of
from bt_runtime.tree.nodes.deed import Deed, test
from bt_runtime.tree.nodes.interlocks import left, limited
from bt_runtime.tree.nodes.skill import act
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.types import FreeText, Json

if TYPE_CHECKING:
    from bt_runtime.agents.model_node import ModelNode
    from bt_runtime.language.entry import SkillEntry

_AROUND = ("world", "memory")  # implementations that are acted in by their sentence


class Planned(NamedTuple):
    """The leaves of a plan, for the grammar under which it is written."""

    leaves: list[Form]  # skills as nodes, with typed fields
    sentences: list[str]
    open: list[str]  # regular expressions of sentences with slots that are written


class Actions:
    def __init__(self, node: ModelNode) -> None:
        self.node, self.context = node, node.context
        every = listed(node)
        self.names = whitelist(node, every)
        named = [k for k in every if self.names is None or k.name in self.names]
        own = self.names is not None or self.context.services.world is None
        done = [k for k in named if own and k.data["entry"].impl not in _AROUND]
        self.kinds = [k for k in done if self.names is not None or not test(k)]  # tests are asked by `needs`
        self.around = [k for k in named if k.data["entry"].impl == WORLD]  # the world's sentences that are allowed
        lists = [every, *listings(node)] if self.context.services.world is not None else [every]
        self.known = [k for kinds in lists for k in kinds if k.data["entry"].impl == WORLD]
        self.known += self.context.services.world_skills
        self.counted = any(limited(e) or e.requires is not None for e in (k.data["entry"] for k in self.known))
        self.facts = Facts(node, every)
        self.deeds: dict[str, Deed] = {}
        self.begun: dict[str, tuple[Phrase, dict[str, Json]]] = {}  # sentences offered last

    def offered(self, kinds: Sequence[Kind]) -> list[Kind]:
        """The skills that the policies let the agent choose now; without a policy all of them."""
        policy = self.context.services.policy
        return [k for k in kinds if policy is None or policy.offers(self.node, k.name, k.data["entry"].sentence)]

    def let(self, sentences: Sequence[str]) -> Sequence[str]:
        """Returns the world's sentences that are allowed by `actions`, the policies, `requires` and what is left of
        `at_most`."""
        policy = self.context.services.policy
        if policy is not None:
            sentences = [said for said in sentences if policy.offers(self.node, "", said)]
        if self.names is not None and WORLD not in self.names:
            sentences = [sentence for sentence in sentences if _entry_in(self.around, sentence) is not None]
        if not self.counted:
            return sentences
        return [s for s in sentences if (entry := self.entry_of(s)) is None or left(self.context, entry)]

    def entry_of(self, sentence: str) -> SkillEntry | None:
        """The manifest's entry for a sentence of the world, whether or not `actions` names its skill. `actions`
        decides what is offered; the manifest's conditions hold for every start."""
        return _entry_in(self.known, sentence)

    def patterns(self, of_world: Sequence[str]) -> list[str]:
        """The sentence patterns of the world's actions: all of them, or the allowed ones."""
        if self.names is None or WORLD in self.names:
            return list(of_world)
        forms = [kind.data["entry"].sentence for kind in self.around]
        return [line for line in of_world if line.partition(" (needs: ")[0] in forms]

    # What can be done now --------------------------------------------------------------------

    def sentences(self) -> list[str]:
        """Lists the sentences in a fixed order. A sentence ending with a blank is a beginning: the model writes its
        rest."""
        self.facts.forget()
        self.begun = {}
        for open in self.of_world():
            self.begun.update((said, (open, {})) for said, _ in open.beginnings())
        for kind in self.offered(self.kinds):
            needs = kind.data["entry"].needs
            phrase = self.phrase(kind) if left(self.context, kind.data["entry"]) else None
            for said, params in phrase.beginnings() if phrase is not None else ():
                if self.facts.all(needs, params) is not False:
                    self.begun.setdefault(said, (phrase, params))  # type: ignore[arg-type]
        return [*self.begun]

    def of_world(self) -> list[Phrase]:
        """The world's actions whose sentence has a free part, which the agent writes."""
        world = self.context.services.world
        said: Sequence[str] = world.written() if isinstance(world, FreeText) else ()
        return [writable(WORLD, each) for each in said if self.let([each])]

    def phrase(self, kind: Kind) -> Phrase | None:
        about = kind.data["entry"]
        given = {slot: self.fillers(source) for slot, source in about.agent_options.sources.items()}
        return phrase_of(kind.name, about.sentence, kind.fields, given, about.agent_options.forms)

    def fillers(self, source: str) -> Sequence[Json]:
        """The present values of a source: a skill's outputs, a blackboard entry, things of the world, or any skill's
        output."""
        skill, dot, output = source.partition(".")
        given = agent_services(self.context).skill_outputs
        found = given.get((skill, output)) if dot else entry(self.node.scope, source)
        things = getattr(self.context.services.world, "things", None)
        if found is None and source == "things" and callable(things):
            found = things()
        if found is None and not dot:
            found = given.get((ANY, source))
        if isinstance(found, str | int | float):
            return (found,)
        return tuple(found) if isinstance(found, list | tuple | dict) else ()

    def unfinished(self, begun: str) -> Phrase | None:
        """Returns the phrase that begins with this text and whose rest the model has to write; None when nothing is
        left to write."""
        found = self.begun.get(begun)
        return found[0] if found is not None and found[0].open else None

    # Doing it --------------------------------------------------------------------------------

    def knows(self, begun: str) -> bool:
        return begun in self.begun

    def do(self, begun: str, written: str) -> Activity:
        """Builds the sentence of an action from its beginning and the text that the model wrote."""
        phrase, params = self.begun[begun]
        read = phrase.read(params, written.strip())
        if read is None:
            forms = [f"`{slot.name}` is of the form {slot.form}" for slot in phrase.slots.values() if slot.form]
            why = f"`{begun}{written.strip()}` cannot be read as `{phrase.sentence.template}`"
            why = f"{', '.join([why, *forms])}."
            return refused(why)
        if phrase.skill == WORLD:
            world: Any = self.context.services.world
            said = phrase.sentence.say(read)
            return act(world, said, self.context, self.entry_of(said), self.node)
        kind = next(k for k in self.kinds if k.name == phrase.skill)
        wants = self.wanting(kind, read) if phrase.open else ""
        if wants:
            return refused(wants)
        before = self.deeds.get(kind.name)
        deed = self.deeds[kind.name] = Deed(kind, self.node, read, before.node.target if before is not None else None)
        return SkillJob(self, kind, deed)

    def wanting(self, kind: Kind, params: dict[str, Json]) -> str:
        """Names the unmet `needs` of the skill, now that the last slot is filled; "" when all hold."""
        self.facts.forget()
        lacks = [fact for fact in kind.data["entry"].needs if self.facts.holds(fact, params) is False]
        said = ", ".join(Sentence(fact).say(params) for fact in lacks)
        return f"This cannot be done now: it needs {said}." if lacks else ""

    def told(self, kind: Kind, params: dict[str, Json], done: EndedAnswer) -> EndedAnswer:
        """Stores a skill's outputs for slots that take them, and puts them into words."""
        for name, value in outputs(kind, done).items():
            agent_services(self.context).skill_outputs.update({(kind.name, name): value, (ANY, name): value})
        return done._replace(value=words(kind, params, done))

    # In words --------------------------------------------------------------------------------

    def described(self) -> list[str]:
        """Returns a line for each skill, for the system text; constant while the tree is unchanged."""
        return [_described(kind) for kind in self.kinds]

    def around_us(self) -> list[str]:
        """The present values of all sources, as a text for the prompt."""
        sources = dict.fromkeys(s for k in self.kinds for s in k.data["entry"].agent_options.sources.values())
        return [f"{name}: {', '.join(map(str, found))}" for name in sources if (found := self.fillers(name))]

    def planned(self) -> Planned:
        """The actions that a plan may hold, whether or not they are possible now: an earlier part may enable them."""
        leaves, sentences, open = [], [], []
        for kind in self.offered(self.kinds):
            phrase = self.phrase(kind)
            if phrase is None:
                continue
            leaf = _leaf(kind, phrase)
            leaves += [leaf] if leaf is not None else []
            if phrase.open:
                open.append(phrase.quoted())
            else:
                sentences += [said for said, _ in phrase.beginnings()]
        open += [phrase.quoted() for phrase in self.of_world()]
        return Planned(leaves, sentences, open)

    def registry(self) -> Registry:
        """The kinds that a plan's leaves may be."""
        return Registry((*self.kinds, *self.around))


class SkillJob(Wrapping):
    """A skill that an agent has started; its result is described in words at the end."""

    def __init__(self, actions: Actions, kind: Kind, deed: Deed) -> None:
        self.actions, self.kind = actions, kind
        self.inner = self.deed = deed

    def poll(self) -> EndedAnswer | News | None:
        done = self.inner.poll()
        return self.actions.told(self.kind, self.deed.params, done) if isinstance(done, EndedAnswer) else done


def listed(node: ModelNode) -> list[Kind]:
    """The skills of the innermost tree around the node that lists any. A subtree without a list uses the list of the
    tree that includes it."""
    return next(listings(node), [])


def known_skills(node: ModelNode) -> list[Kind]:
    """The skills that a planner may use: those that the trees around the node list, else those of the manifest that
    the run's world names, else those of the project that a world carries out."""
    services = node.context.services
    return listed(node) or [*manifest_of(services.world)] or [*services.world_skills]


def listings(node: ModelNode) -> Iterator[list[Kind]]:
    """The skills of each tree around the node that lists any, the innermost first."""
    at: Any = node
    while at is not None:
        kinds = [k for k in node.context.growth.registry(at) if k.family == "skill"]
        if kinds:
            yield kinds
        at = at.parent
        while at is not None and not isinstance(at, Subtree):
            at = at.parent


def _entry_in(kinds: Sequence[Kind], sentence: str) -> SkillEntry | None:
    """Returns the entry whose sentence matches. Prefers an entry that limits its starts when several match."""
    entries = [k.data["entry"] for k in kinds]
    found = [e for e in entries if Sentence(e.sentence, e.types).parse(sentence) is not None]
    return next((e for e in found if limited(e)), found[0] if found else None)


def whitelist(node: ModelNode, kinds: Sequence[Kind]) -> frozenset[str] | None:
    """The skills that `actions:` of this node and of the agents above it allow; None when none of them has the
    field."""
    known = [*(k.name for k in kinds), WORLD]
    allowed: frozenset[str] | None = None
    for each in (node, *node.agents_above()):
        given = each.value("actions") if each.spec.values.get("actions") is not None else None
        if given is None:
            continue
        for name in given if each is node else ():
            if name not in known:
                hint = did_you_mean(str(name), known, f"skills here: {', '.join(known)}")
                raise BtError(f"`actions` names `{name}`, which is no skill of this tree", hint)
        own = frozenset(map(str, given))
        allowed = own if allowed is None else allowed & own
    return allowed


def _leaf(kind: Kind, phrase: Phrase) -> Form | None:
    """The skill as a leaf of a plan; None when a model cannot write the values of one of its fields."""
    fields: list[FormField] = []
    for field in (f for f in kind.fields if f.required and not f.writes):
        slot = phrase.slots[field.name]
        words = slot.fillers is not None and all(isinstance(v, str) for v in slot.fillers)
        if words:
            fields.append(FormField(field.name, tuple(str(v) for v in slot.fillers or ())))
        elif field.type in get_args(ValueType) and not slot.form:
            fields.append(FormField(field.name, field.type))  # type: ignore[arg-type]
        else:
            return None
    return Form(kind.name, "leaf", tuple(fields))


def _described(kind: Kind) -> str:
    about = kind.data["entry"]
    said = kind.about.strip()
    tail = f": {said}" if said and said != about.sentence else ""
    return f"- {_begun(kind)}{about.sentence}{' (true or false)' if test(kind) else ''}{tail}"


def _begun(kind: Kind) -> str:
    """Returns the fixed beginning of a sentence whose first slot is written by the model."""
    about = kind.data["entry"]
    phrase = phrase_of(kind.name, about.sentence, kind.fields, dict.fromkeys(about.agent_options.sources, ("one",)))
    begins = next(phrase.beginnings(), None) if phrase is not None and phrase.open and not phrase.chosen else None
    return begins[0] if begins is not None and begins[0] == f"{kind.name}: " else ""
