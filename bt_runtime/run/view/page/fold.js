"use strict";
// What a stream of events adds up to; `bt_runtime/run/view/picture.py` folds the same events in the same way.

const MOST_TOLD = 400, MOST_LINES = 500, MOST_PAST = 240;

// As `patch.py` has it: rows that changed, laid over those that were there.
function patched(before, change) {
  const after = { ...before, ...change };
  for (const table of ["things", "facts"]) {
    const rows = new Map();
    for (const row of [...before[table], ...change[table]]) rows.set(`${row[0]}\u0000${row[1]}`, row);
    after[table] = [...rows.values()];
  }
  return after;
}

// What a node keeps when it says something else of itself.
function kept({ since, label, feedback, children, facts, halted, crash, begun, ended, total, last, began, tick, acted, place }) {
  return { since, label, feedback, children, facts, halted, crash, begun, ended, total, last, began, tick, acted, place };
}

class Fold {
  constructor() {
    this.nodes = new Map();
    this.roots = [];
    this.told = new Map();
    this.prompts = new Map();
    this.goals = new Map();
    this.board = new Map();
    this.past = new Map(); // of each entry: [time, tick, value], the short ones
    this.sources = new Map();
    this.lines = [];
    this.latest = {};
    this.tick = 0;
    this.time = 0;
    this.before = this.ticked = 0; // when the last two ticks were
    this.mind = null; // the agent that told something last
    this.version = 0; // of the shape
    this.news = { nodes: new Set(), told: new Set(), board: false, world: false, lines: false };
  }

  clone() {
    const to = new Fold();
    for (const [id, node] of this.nodes) to.nodes.set(id, { ...node });
    for (const [id, told] of this.told) to.told.set(id, told.slice());
    for (const [key, past] of this.past) to.past.set(key, past.slice());
    for (const name of ["prompts", "goals", "board", "sources"]) to[name] = new Map(this[name]);
    Object.assign(to, { roots: this.roots.slice(), lines: this.lines.slice(), latest: { ...this.latest }, tick: this.tick, time: this.time, mind: this.mind, before: this.before, ticked: this.ticked, version: this.version });
    return to;
  }

  take(event) {
    if (event.t > this.time) this.time = event.t;
    const act = this[`on_${event.k}`];
    if (act) act.call(this, event);
    else this.latest[event.k] = event;
    if (event.k === "world") this.news.world = true;
  }

  on_start(event) {
    this.latest.start = event;
    Object.assign(KIND_SIGNS, event.signs);
  }

  on_tick(event) {
    this.tick = event.n;
    [this.before, this.ticked] = [this.ticked, event.t];
    for (const [place, change] of event.s.entries()) {
      const node = this.nodes.get(change[0]);
      if (!node) continue;
      const way = event.w?.[change[0]];
      if (way || node.status !== change[1]) for (const letter of way ?? change[1]) this.go(node, letter, event, place);
      if (change.length > 2) node.feedback = change[2];
      this.news.nodes.add(node.id);
    }
    for (const [id, counts] of Object.entries(event.c ?? {})) {
      const node = this.nodes.get(Number(id));
      if (node) [node.begun, node.ended, node.total, node.last, node.began, node.since, node.tick, node.acted] = counts;
    }
  }

  // One change of status.
  go(node, letter, event, place) {
    if (letter !== "I" && node.status !== "R") { node.begun++; node.began = event.t; node.label = this.label(node); }
    if (letter === "S" || letter === "F") { node.ended++; node.last = event.t - node.began; node.total += node.last; }
    Object.assign(node, { status: letter, since: event.t, tick: event.n, ...(letter === "I" ? {} : { acted: event.n, place }) });
  }

  on_facts(event) {
    if (event.text !== undefined) this.sources.set(event.source, { file: event.file, text: event.text });
    for (const row of event.nodes) {
      const node = this.nodes.get(row.id);
      if (node) { node.facts = { ...row, source: event.source }; this.news.nodes.add(node.id); }
    }
    this.version++; // boxes may say more
  }

  on_shape(event) {
    for (const id of event.gone ?? []) {
      this.nodes.delete(id);
      for (const kept of [this.told, this.prompts, this.goals]) kept.delete(id);
    }
    for (const [id, parent, segment, kind, family, name, gist] of event.add ?? []) {
      const old = this.nodes.get(id);
      const status = old ? old.status : "I", grown = old ? old.grown : this.tick > 0 && event.grafts !== undefined;
      this.nodes.set(id, { id, parent, segment, kind, family, name, gist, grown, status, since: event.t, feedback: "", children: [], facts: null, halted: null, crash: null, begun: 0, ended: 0, total: 0, last: 0, began: 0, tick: 0, acted: 0, place: -1, ...(old ? kept(old) : {}) });
    }
    for (const [id, children] of Object.entries(event.order ?? {})) {
      const node = this.nodes.get(Number(id));
      if (node) node.children = children;
    }
    this.roots = [];
    for (const node of this.nodes.values()) if (!this.nodes.has(node.parent)) this.roots.push(node.id);
    for (const graft of event.grafts ?? []) this.on_line({ k: "line", t: event.t, level: "graft", ...graft });
    this.version++;
  }

  on_agent(event) {
    if (event.what === "prompt") this.prompts.set(event.id, event);
    else if (event.what === "goal") this.goals.set(event.id, event);
    else {
      const told = this.told.get(event.id) ?? [];
      told.push(event);
      if (told.length > MOST_TOLD) told.shift();
      this.told.set(event.id, told);
    }
    if (event.what !== "goal") this.mind = event.id;
    this.news.told.add(event.id);
    this.news.nodes.add(event.id);
  }

  on_write(event) {
    const key = `${event.scope}\u0000${event.name}`;
    if (event.patch && this.board.has(key)) event = { ...event, value: patched(this.board.get(key).value, event.patch) };
    this.board.delete(key); // the latest comes last
    this.board.set(key, event);
    const past = this.past.get(key) ?? [], short = typeof event.value === "number" || typeof event.value === "boolean" || (typeof event.value === "string" && event.value.length <= 200);
    if (event.past) past.push(...event.past);
    else if (short) {
      if (past.length && past[past.length - 1][1] === event.n) past.pop(); // of each tick the last
      past.push([event.t, event.n, event.value]);
    }
    if (past.length > MOST_PAST) past.splice(0, past.length - MOST_PAST);
    this.past.set(key, past);
    this.news.board = true;
  }

  on_unset(event) {
    this.board.delete(`${event.scope}\u0000${event.name}`);
    this.news.board = true;
  }

  on_line(event) {
    this.lines.push(event);
    if (this.lines.length > MOST_LINES) this.lines.splice(0, this.lines.length - MOST_LINES);
    this.news.lines = true;
  }

  on_halt(event) {
    this.on_line(event);
    for (const id of event.ids ?? []) { const node = this.nodes.get(id); if (node) { node.halted = event; this.news.nodes.add(id); } }
  }

  on_crash(event) {
    this.on_line(event);
    const node = this.nodes.get(event.id);
    if (node) { node.crash = event; this.news.nodes.add(node.id); }
  }

  path(id) {
    const segments = [];
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) if (node.segment !== ".") segments.unshift(node.segment);
    return `/${segments.join("/")}`;
  }

  // The leaf that is at work. Of several beside one another a skill or an agent, before what only waits or looks; then
  // the one that was looked at before, so that the eye may rest; then the one that began last.
  runs(before = null) {
    let best = null, weight = null;
    const todo = [...this.roots];
    while (todo.length) {
      const node = this.nodes.get(todo.pop());
      if (!node || node.status !== "R") continue;
      const below = node.children.filter((id) => this.nodes.get(id)?.status === "R");
      todo.push(...below);
      if (below.length) continue;
      const own = [["skill", "agent", "foreign"].includes(node.family) ? 1 : 0, node.id === before ? 1 : 0, node.began, -node.id];
      if (!best || own.some((n, i) => n > weight[i] && own.slice(0, i).every((m, k) => m === weight[k]))) [best, weight] = [node, own];
    }
    return best;
  }

  // What a skill was started with: `drive_to b1`, of `drive_to {place}`. "": that cannot be said.
  label(node) {
    if (node.family !== "skill" || !node.gist.includes("{")) return "";
    return filled(node.gist, (name) => this.board.get(this.entry(node.facts?.names?.[name]))?.value) ?? "";
  }

  // The entry that a node means by a name: `way` is where it may live, as its facts say.
  entry(way) {
    const keys = (way ?? []).map(([scope, name]) => `${scope}\u0000${name}`);
    return keys.find((key) => this.board.has(key)) ?? keys[0] ?? "";
  }

  above(id) {
    const found = [];
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) found.unshift(node);
    return found;
  }

  agentAt(id) {
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) if (this.told.has(node.id) || this.goals.has(node.id)) return node;
    return null;
  }
}
