"use strict";
// What a stream of events adds up to; `bt_runtime/view/picture.py` folds the same events in the same way.

const MOST_TOLD = 400, MOST_LINES = 500;

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

class Fold {
  constructor() {
    this.nodes = new Map();
    this.roots = [];
    this.told = new Map();
    this.prompts = new Map();
    this.goals = new Map();
    this.board = new Map();
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
    for (const name of ["prompts", "goals", "board"]) to[name] = new Map(this[name]);
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

  on_tick(event) {
    this.tick = event.n;
    [this.before, this.ticked] = [this.ticked, event.t];
    for (const change of event.s) {
      const node = this.nodes.get(change[0]);
      if (!node) continue;
      if (node.status !== change[1]) node.since = event.t;
      node.status = change[1];
      if (change.length > 2) node.feedback = change[2];
      this.news.nodes.add(node.id);
    }
  }

  on_shape(event) {
    for (const id of event.gone ?? []) {
      this.nodes.delete(id);
      for (const kept of [this.told, this.prompts, this.goals]) kept.delete(id);
    }
    for (const [id, parent, segment, kind, family, name, gist] of event.add ?? []) {
      const old = this.nodes.get(id);
      const status = old ? old.status : "I", grown = old ? old.grown : this.tick > 0 && event.grafts !== undefined;
      this.nodes.set(id, { id, parent, segment, kind, family, name, gist, grown, status, since: old ? old.since : event.t, feedback: old ? old.feedback : "", children: old ? old.children : [] });
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

  on_halt(event) { this.on_line(event); }
  on_crash(event) { this.on_line(event); }

  path(id) {
    const segments = [];
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) if (node.segment !== ".") segments.unshift(node.segment);
    return `/${segments.join("/")}`;
  }

  // The deepest node that runs, the last of those that do.
  runs() {
    let at = null;
    for (let ids = this.roots; ; ) {
      const next = ids.map((id) => this.nodes.get(id)).filter((n) => n && n.status === "R").pop();
      if (!next) return at;
      at = next;
      ids = next.children;
    }
  }

  agentAt(id) {
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) if (this.told.has(node.id) || this.goals.has(node.id)) return node;
    return null;
  }
}
