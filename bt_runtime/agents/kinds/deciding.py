"""The kinds that decide with a model, from agent to verify; rollback and episode, for worlds."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind

_IMPL = "bt_runtime.agents"
_GOAL = Field("goal", "string", "What to achieve, as a person would say it.", required=True)
_MODEL = Field("model", "text", "Which of the run's models decides, by its role, such as `planner`.", default="")
_LEAF = Field(
    "leaf", "text", "The tree that every subgoal of an expansion becomes; it has an input `goal`.", default=""
)
_WITH = Field("with", "inputs", "More inputs of the leaf, computed when it expands.", default={})
_ACTIONS = Field(
    "actions", "list", "Skills of the tree that it may do, by name; `world` for all that the world offers. Without it: "
    "what the world offers, and in a run without a world all skills that the tree lists.",
)  # fmt: skip
RETRIEVAL = (  # fields of nodes that show experiences
    Field("example_tokens", "integer", "Tokens that they may take together.", default=2000, minimum=0),
    Field("level", "word", "Experiences of agents, or of whole tasks.", default="agent", choices=("agent", "task")),
    Field("select", "word", "How examples are found: by similarity, by kind of task, or at random.", default="semantic",
          choices=("semantic", "task", "random")),
    Field("similarity", "number", "How alike the goal of a shown experience must be, from 0 to 1.",
          default=0, minimum=0, maximum=1),
)  # fmt: skip
_EXAMPLES = (
    Field("examples", "integer", "How many worked examples to show at most: retrieved experiences, else the "
          "world's own, else those that a planner makes from what its skills need and bring. `planned`: three of "
          "the planner's, then experiences. `another`: experiences, else the world's own, else three of a made-up "
          "trade, whose acts cannot be taken for those to do.", default=5, minimum=0, extra=("planned", "another")),
    *RETRIEVAL,
)  # fmt: skip
_AS = Field("example_form", "word", "Shown in one text, or as turns of the conversation where the model's template has "
            "turns.", default="text", choices=("text", "turns"))  # fmt: skip
_BY = Field("by", "text", "Who makes its plans: the `model`, or an installed planner: `backchaining` from what skills "
            "`need` and `bring`, `repair` from that and what the model wrote.", default="model")  # fmt: skip
LONGEST = 14_400  # seconds: 200 steps with a large model on a slow processor take less
_BUDGETS = (
    Field("max_steps", "integer", "Actions in the world.", default=200, minimum=1),
    Field("max_decisions", "integer", "Choices and texts asked of the model.", default=400, minimum=1),
    Field("max_tokens", "integer", "Tokens written by the model.", default=20000, minimum=1),
    Field(
        "seconds",
        "number",
        "Time, by the run's clock, looked at before each step; 0 means no bound.",
        default=LONGEST,
        minimum=0,
    ),
)
_GROWTH = (
    Field("max_depth", "integer", "Agents above one another.", default=20, minimum=1),
    Field("max_width", "integer", "Parts of one expansion.", default=12, minimum=1),
    Field("max_levels", "integer", "Control nodes within one expansion.", default=4, minimum=1),
    Field("max_invalid", "integer", "Answers in a row that cannot be used.", default=3, minimum=1),
)
_NOTES = Field("notes", "list", "Lines from earlier attempts, shown before the first observation.", default=[])
_GUIDE = Field(
    "guide", "string", "A plan to follow: its text, or a file of guides/ such as `heat.md`; parts of it follow it too.",
    default="",
)  # fmt: skip
_TEMPERATURE = Field(
    "temperature", "number", "Of thoughts and plans; 0 takes the likeliest.", default=0, minimum=0, maximum=2
)
SAMPLER = (
    Field("top_p", "number", "Where it samples: from the likeliest tokens that have this share together. Left open, "
          "this and the next two are as the model's `sampler` says.", minimum=0, maximum=1),
    Field("min_p", "number", "… from tokens at least this likely beside the likeliest.", minimum=0, maximum=1),
    Field("top_k", "integer", "… from so many of the likeliest; 0 means all.", minimum=0),
)  # fmt: skip
_SAMPLING = (_TEMPERATURE, *SAMPLER)
SCORING = (
    Field("score", "word", "What sentences are compared by: their tokens' log-probabilities summed, their mean, or the "
          "sum less `weight` times the sentence's own prior (its score behind a neutral prompt).", default="sum",
          choices=("sum", "mean", "prior")),
    Field("weight", "number", "How much of the prior is taken off.", default=0.5, minimum=0, maximum=2),
)  # fmt: skip
_PROMPT = Field("prompt", "text", "The prompt file in trees/prompts/.", default="")

AGENT = Kind(
    "agent", "agent", "Reaches a goal step by step: thinks, acts, and may expand into a subtree.",
    (
        _GOAL,
        Field("moves", "list", "What it may do: `think`, `act`, `expand`, `ask`.", default=["think", "act"]),
        _ACTIONS, _LEAF, _WITH, _MODEL, _BY,
        Field("resume", "boolean", "After an expansion go on, with its result as the observation.", default=False),
        Field("recall", "boolean", "May ask working memory where things were seen.", default=True),
        Field("inform", "word", "What is told at the start besides the world's look.",
              default="none", choices=("none", "last_action")),
        Field("choose", "word", "How a sentence is chosen: exact, greedy, or by scoring all.", default="exact",
              choices=("exact", "greedy", "scores")),
        Field("form", "word", "How it speaks with its model: in sentences, or by calls of the model's own tools.",
              default="sentences", choices=("sentences", "tools")),
        *SCORING,
        Field("finish", "word", "How it ends: `done` and `failure` are chosen like acts (`choose`), or only when they "
              "are likely (`likely`); or whether the goal is reached is judged after each act (`judge`); then loops "
              "and budgets end what fails.",
              default="choose", choices=("choose", "likely", "judge")),
        Field("withhold", "list", "What is not offered: `early_done`: `done` while nothing was done and each fact "
              "that a part of the goal may mean is known to be false; `idle_acts`: an act that is known to have "
              "changed nothing, until one has changed something. Left open: both, of an agent whose skills say what "
              "they bring; nothing of a model of fixed prompts."),
        Field("sure", "number", "With `finish: likely`: how likely `done` or `failure` must be; else the likeliest act "
              "is done. With `finish: judge`: by which share the goal has to be less surprising as an account of what "
              "was done than before the first act.", default=0.4, minimum=0, maximum=1),
        Field("show", "word", "Which observations are shown.", default="all", choices=("all", "failures", "none")),
        Field("pictures", "boolean", "Whether `[picture PATH]` in an observation is shown as that picture, to a model "
              "with `mmproj`.", default=False),
        Field("think", "word", "Whether a model that can reason does so before each decision (`model`), within "
              "`think_tokens`.", default="move", choices=("move", "model")),
        Field("think_tokens", "integer", "Tokens of one thought.", default=200, minimum=1),
        Field("patience", "integer", "How often a cycle of actions may repeat.", default=3, minimum=2),
        _GUIDE, _NOTES, *_SAMPLING, _PROMPT, *_EXAMPLES, _AS, *_BUDGETS, *_GROWTH,
        Field("left", "key", "The entry that receives which share of the run's budget is left at its end: 1 where the "
              "run has none, 0 where it is spent.", writes=True),
    ),
    (
        "Each step chooses a move; `act` chooses one of the sentences executable now, `done` or `failure`.",
        "`done` is SUCCESS; `failure`, a spent budget, a loop or too many invalid answers is FAILURE.",
        "`expand` grafts a subtree below the agent; its result is the agent's, or with `resume` the next observation.",
        "The model, the world and memory work elsewhere; a tick only polls, and halting the agent cancels them.",
        "A `guide` stands in the prompt before everything that is of this task; without one of its own, an agent "
        "follows that of the agent or plan that it is a part of.",
        "What is `left` of the run's budget is written however the agent ends, unless it is halted: who tries again "
        "can see whether there is enough for it.",
        "With `by: backchaining` the agent writes the facts that it wants behind `Expand:`, and the planner makes the "
        "plan; with `by: repair` the planner mends the plan that the agent wrote.",
    ),
    "agent:\n  goal: bring a cup to the sink\n  moves: [think, act]\n",
    bare="goal", impl=f"{_IMPL}.agent:Agent", sign="✦", waits=True, asks=True,
    check=f"{_IMPL}.kinds.checks:check_agent",
)  # fmt: skip
_OWN = ("left", "resume", "recall", "think", "inform", "choose", "score", "weight", "finish", "sure", "patience",
        "moves", "withhold", "max_invalid", "form", "example_form", "by")  # fmt: skip
TREE_SEARCH = Kind(
    "tree_search", "agent", "Reaches a goal by trying several ways, and going on from the most promising state.",
    (
        AGENT.fields[0],
        Field("moves", "list", "`act`, or `think` and `act`.", default=["act"]),
        Field("width", "integer", "Actions tried from one state.", default=5, minimum=1),
        Field("rounds", "integer", "How often a state is chosen to go on from.", default=30, minimum=1),
        Field("follow", "integer", "Actions of the way that the best of them is followed.", default=50, minimum=0),
        Field("explore", "number", "How much what was tried seldom counts, against what looks good.", default=1.0,
              minimum=0),
        Field("judge", "word", "Who says what an end is worth: the world's verdict, or the model.", default="world",
              choices=("world", "model")),
        Field("recall", "boolean", "May ask working memory where things were seen, also in states that were undone.",
              default=False),
        Field("inform", "word", "What is told at the start besides the world's look.", default="none",
              choices=("none", "last_action")),
        Field("max_invalid", "integer", "Thoughts in a row that may be empty.", default=3, minimum=1),
        *(field for field in AGENT.fields[1:] if field.name not in _OWN),
    ),
    (
        "A round: the most promising state (UCT), `width` actions from it, each judged; the best one is followed to an "
        "end, and all states above learn what it was worth.",
        "The world is put back before each try, so it must be able to: a world that cannot is a fault.",
        "Before an end the model judges a state by how likely `yes` is to be its answer.",
        "SUCCESS as soon as an end is worth 1 (of the model: more than one half); with nothing left to try, or a "
        "budget spent, FAILURE, and the world is left in the best state.",
    ),
    "tree_search:\n  goal: bring a cup to the sink\n  width: 3\n  rounds: 10\n",
    bare="goal", impl=f"{_IMPL}.tree_search:TreeSearch", waits=True, asks=True,
    check=f"{_IMPL}.kinds.checks:check_actions",
)  # fmt: skip
PLAN = Kind(
    "plan", "agent", "Breaks a goal into parts, and becomes the subtree of them.",
    (
        _GOAL, _LEAF, _ACTIONS, _WITH, _MODEL, _BY,
        Field("form", "word", "What it writes: our dialect, ReAcTree's lists, or ADaPT's steps.", default="dialect",
              choices=("dialect", "lists", "steps")),
        _GUIDE, _NOTES, *_SAMPLING, _PROMPT, *_EXAMPLES, *_BUDGETS[1:], *_GROWTH,
    ),
    (
        "The plan is asked for once; one that cannot be used is asked for again with the reason, then it is FAILURE.",
        "The plan's result is the node's result.",
        "Its `guide` is followed by whoever carries its parts out, too.",
        "`by: backchaining` asks no model: `goal` names facts, joined by ` and `. Where they hold it is SUCCESS; else "
        "it grows a plan from what is so now, and after that plan another, up to `max_invalid` in all.",
        "`by: repair`: the model's plan is completed and mended so that it reaches the facts of `goal`.",
    ),
    "plan:\n  goal: bring a cup to the sink\n  leaf: react\n", impl=f"{_IMPL}.plan:Plan", waits=True, asks=True,
    sign="✎",
    check=f"{_IMPL}.kinds.checks:check_plan",
)  # fmt: skip
REFLECT = Kind(
    "reflect", "agent", "Reads how an attempt went, and writes down what it teaches.",
    (
        _GOAL,
        Field("into", "key", "The entry with the list of reflections.", writes=True),
        Field("keep", "integer", "How many of the latest are kept in it.", default=3, minimum=1),
        Field("reflection", "key", "The entry with this reflection alone.", writes=True),
        Field("parts", "list", "What is written: `lesson`, or some of `summary`, `flaw`, `revision`, in this order.",
              default=["lesson"]),
        Field("experience", "object", "What became of an episode; without one, the latest attempt at this goal.",
              default={}),
        Field("guide", "string", "The plan that was followed: its text, or a file of guides/.", default=""),
        Field("story_tokens", "integer", "Tokens of the story that are shown at most; 0 means all.", default=0,
              minimum=0),
        Field("story_line", "integer", "Characters of one answer in it that are shown at most; 0 means all.", default=0,
              minimum=0),
        Field("line_length", "integer", "Characters of a summary, flaw or revision.", default=400, minimum=1),
        _MODEL, *_SAMPLING, _PROMPT,
        Field("max_tokens", "integer", "Tokens of one part.", default=200, minimum=1),
    ),
    (
        "It reads how the latest attempt at this goal went, and adds one line to the list; it succeeds.",
        "With `experience` it reads that episode instead, whatever run or branch it was in.",
        "Several parts are asked for one after the other, each with those before it in view, and make one reflection: "
        "{goal, reached, summary, flaw, revision}.",
        "Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "reflect:\n  goal: bring a cup to the sink\n  into: lessons\n", impl=f"{_IMPL}.reflect:Reflect", waits=True,
    sign="✎", asks=True, one_of=("into", "reflection"),
)  # fmt: skip
REWRITE = Kind(
    "rewrite", "agent", "Writes a new plan from the one that was followed and what was learnt with it.",
    (
        Field("goal", "string", "What the plan is for: the kind of task, in words.", required=True),
        Field("reflections", "list", "What was learnt: reflections of a batch of attempts.", required=True),
        Field("into", "key", "The entry that receives the new plan.", required=True, writes=True),
        Field("guide", "string", "The plan that was followed: its text, or a file of guides/.", default=""),
        Field("max_lines", "integer", "Steps of the plan.", default=12, minimum=1, maximum=40),
        Field("line_length", "integer", "Characters of one step.", default=200, minimum=1),
        _MODEL, *_SAMPLING, _PROMPT,
        Field("max_tokens", "integer", "Tokens of the whole plan.", default=600, minimum=1),
    ),
    (
        "It asks once, for a numbered list of steps; the plan is written to `into`, and it succeeds.",
        "When there is nothing to learn from, or no step was written, it fails and writes nothing.",
        "A plan that was cut off loses the step that is not whole.",
        "Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "rewrite:\n  goal: heat something\n  reflections: [{goal: heat a cup, flaw: toasters do not}]\n  into: plan\n",
    impl=f"{_IMPL}.rewrite:Rewrite", waits=True, asks=True,
)  # fmt: skip
VERIFY = Kind(
    "verify", "agent", "Asks whether a goal is met.",
    (
        _GOAL, _MODEL, _PROMPT,
        Field("ask_model", "boolean", "Ask the model when the world cannot tell.", default=True),
        Field("think", "integer", "Tokens of a thought before the model's answer; 0 means none.", default=0, minimum=0),
        Field("into", "key", "The entry with a list that the thought is added to when the goal is not met: notes for "
              "the next attempt.", writes=True),
        Field("left", "key", "The entry that receives which share of the run's budget is left at its end.",
              writes=True),
    ),
    (
        "The world is asked first, then the postcondition of a skill that the goal names, then working memory; "
        "the model comes last.",
        "The model is told what agents have done for the task, what came of it, and what can be seen now.",
        "SUCCESS when the goal is met, else FAILURE; FAILURE as well when nobody can tell.",
        "Who reflects on the latest attempt at this goal is told that it is not met, and the thought.",
        "Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "verify: the cup is in the sink\n", bare="goal", impl=f"{_IMPL}.verify:Verify", sign="✓?", waits=True, asks=True,
)  # fmt: skip
ROLLBACK = Kind(
    "rollback", "decorator", "Puts the world back as it was when its child fails.",
    (Field("child", "node", "What may be undone.", required=True),),
    (
        "The world is remembered when the child starts, and restored when it fails; success and halting leave it. With "
        "it goes what was done and seen in it: working memory is as it was, too.",
        "A world that cannot be put back is left as it is.",
    ),
    "rollback:\n  check: battery > 0.2\n", bare="child", impl=f"{_IMPL}.rollback:Rollback",
)  # fmt: skip

EPISODE = Kind(
    "episode", "decorator", "A task in a world of its own, for the part of the tree below.",
    (
        Field("world", "string", "The world, as `--env` names it.", required=True),
        Field("task", "object", "The task: {id, kind, goal, data}, as `btr lab tasks --json` prints.", required=True),
        Field("options", "object", "Options of the world, such as {feedback: terse}.", default={}),
        Field("into", "key", "The entry with what became of it: {reached, met, total, steps, story, …}.", writes=True),
        Field("child", "node", "What is done in that world.", required=True),
    ),
    (
        "A fresh world is opened and set up for the task; whatever acts, decides or remembers below has that world, "
        "a working memory and budgets of its own.",
        "Once the child has ended, the world's verdict is the result: SUCCESS when the task's goal is reached; a world "
        "that gives no verdict leaves the child's.",
        "What became of it is written to `into`; then, or when it is halted, the world is closed.",
        "Opening goes on elsewhere; the tick does not wait for it.",
    ),
    "episode:\n  world: textcraft\n"
    "  task: {id: a, kind: depth 1, goal: craft stick, data: {goal: stick, commands: []}}\n"
    "  child:\n    agent: {goal: craft stick}\n",
    impl=f"{_IMPL}.episode:Episode", waits=True,
)  # fmt: skip
