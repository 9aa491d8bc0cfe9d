"use strict";
// The page of `btr edit`: what is chosen, what is asked of the server, and what stands on the screen.

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const SMALL = matchMedia("(max-width: 560px)"); // a phone: it looks, tries and runs
const DRAFT = "btr-edit-draft:", UNSAVED = "btr-edit-unsaved:", UNSENT = "btr-edit-unsent:"; // kept in the browser

class App {
  constructor() {
    this.token = location.hash.slice(1);
    this.state = null;
    this.kinds = this.common = this.trees = [];
    this.picked = new Set();
    this.story = ""; // the counterexample of this tree, in words
    this.version = 0;
    this.shownTab = "node";
    this.folds = false;
    this.view = new TreeView($("tree"), (id) => this.pick(id));
    this.view.asked = () => this.frame();
    this.view.following = false;
    this.view.everything = true;
    this.view.values = (fold, node) => this.valuesOf(node);
    this.typing = new Typing(this);
    this.toolbar();
    this.listen();
    this.begin();
  }

  // The server --------------------------------------------------------------------------------

  async send(what, given = {}) {
    try {
      const answer = await fetch("command", { method: "POST", headers: { "X-Token": this.token, "Content-Type": "application/json" }, body: JSON.stringify({ ...given, do: what }) });
      const said = await answer.json();
      $("notice").hidden = answer.ok;
      if (answer.ok) return said;
      this.notice(said.error);
    } catch {
      this.unsent = true;
      this.notice("btr edit does not answer: what you typed is kept here, and offered when it is back.");
    }
    return null;
  }

  notice(text) { $("notice").textContent = text; $("notice").hidden = false; this.say(text); }

  say(text) { $("said").textContent = text; }

  async begin() {
    const files = await this.files();
    if (!files) return;
    const wanted = new URLSearchParams(location.search).get("tree");
    const first = files.trees.find((t) => t.path === wanted) ?? files.trees[0];
    const query = new URLSearchParams(location.search);
    if (first) await this.open(first.path);
    if (first && query.has("at")) this.pickAt(...query.get("at").split(":").map(Number));
    if (query.has("story") && this.story) { this.tab("try"); await this.tried("begin", { story: true }); }
    if (!first) this.notice("There is no tree yet: press New.");
    this.events();
  }

  async files() {
    const files = await this.send("files");
    if (!files) return null;
    document.title = `${files.folder} – btr edit`;
    this.asks = files.asks;
    $("file").replaceChildren(...files.trees.map((t) => el("option", { value: t.path }, `${t.path}${t.unsaved ? " *" : ""}`)));
    if (this.state) $("file").value = this.state.path;
    return files;
  }

  events() {
    new Stream(this.token, null, async ({ events }) => {
      for (const event of events) if (event.k === "edited" && this.state && event.path === this.state.path && event.version !== this.state.version) this.news(event);
    }, () => {}); // a gesture tells when the server is gone
  }

  // One's own gesture answers by itself, and is waited for.
  news(event) {
    if (this.acting) { setTimeout(() => this.news(event), 60); return; }
    if (this.state.path === event.path && event.version > this.state.version) this.open(event.path, true);
  }

  async learn(path) {
    const told = await this.send("kinds", { path });
    if (!told) return false;
    Object.assign(this, { kinds: told.kinds, common: told.common, trees: told.trees });
    for (const kind of told.kinds) KIND_SIGNS[kind.name] = kind.sign;
    this.list();
    return true;
  }

  async open(path, quiet = false) {
    const state = await this.send("open", { path });
    if (!state) return;
    if (!quiet || !this.kinds.length || path !== this.state?.path) {
      await this.learn(path);
    }
    const other = path !== this.state?.path;
    this.story = state.story;
    this.show(state, other ? [] : undefined, !other);
    if (other) { this.offer(state); requestAnimationFrame(() => this.view.open(this.fold, this.view.chosen)); }
    $("file").value = path;
  }

  // A draft that the browser kept when the server died.
  offer(state) {
    const kept = localStorage.getItem(DRAFT + state.path), unsaved = localStorage.getItem(UNSAVED + state.path);
    const unsent = JSON.parse(localStorage.getItem(UNSENT + state.path) ?? "null");
    const drop = () => { for (const key of [DRAFT, UNSAVED, UNSENT]) localStorage.removeItem(key + state.path); $("notice").hidden = true; };
    const text = kept && kept !== state.text ? kept : !state.unsaved && unsaved && unsaved !== state.text ? unsaved : null;
    const take = async () => { drop(); if (text) await this.act("text", { text }); if (unsent) await this.act(unsent.what, unsent.given); };
    if (!text && !unsent) { if (kept === state.text) localStorage.removeItem(DRAFT + state.path); return; }
    this.notice(text === kept && text ? "There is a draft of this tree that was never sent." : text ? "There is a draft of this tree that was never saved." : `A change of this tree was never sent: ${unsent.what} ${unsent.given.field ?? ""} ${unsent.given.value ?? ""}`);
    $("notice").append(" ", el("button", { on: { click: take } }, "Take it"), " ", el("button", { on: { click: drop } }, "Drop it"));
  }

  // What is not on the disk is in the browser, too: a server that was killed has lost it.
  hold(state) {
    if (state.unsaved) localStorage.setItem(UNSAVED + state.path, state.text); else localStorage.removeItem(UNSAVED + state.path);
  }

  keep(text) { if (this.state) localStorage.setItem(DRAFT + this.state.path, text); }

  // A gesture: the answer is the file as it is afterwards.
  async act(what, given = {}) {
    if (!this.state) return null;
    if (SMALL.matches) { this.notice("Editing is not for phones: nothing was changed."); return null; }
    const node = this.node ? { node: this.node.path } : {};
    const before = this.state;
    this.unsent = false;
    this.acting = (this.acting ?? 0) + 1;
    const state = await this.send(what, { path: before.path, version: before.version, ...node, ...given });
    this.acting -= 1;
    if (!state) {
      if (this.unsent && what !== "text") localStorage.setItem(UNSENT + before.path, JSON.stringify({ what, given: { ...node, ...given } }));
      return null;
    }
    for (const key of [DRAFT, UNSENT]) localStorage.removeItem(key + before.path);
    this.hold(state);
    this.show(state);
    const undone = what === "undo" || what === "redo";
    this.say(undone ? `${what}: done` : `${GESTURES[what]?.[0] ?? what}: ${state.nodes.length} nodes, ${state.faults.length} faults`);
    if (["skills", "text", "undo", "redo", "extract", "inline", "skill", "rename_tree", "rename_skill"].includes(what)) {
      if (await this.learn(state.path)) { this.panel(); this.head(); }
      this.files();
    }
    return state;
  }

  async typed(text) { await this.act("text", { text }); }

  // What is shown ------------------------------------------------------------------------------

  // `foreign`: somebody else changed it; the chosen node is looked for, and what is being typed stays.
  show(state, path, foreign = false) {
    if (path === undefined && this.state && state.path === this.state.path && state.version === this.state.version && state.text === this.state.text) {
      this.state = state; // told twice: nothing that somebody types meanwhile is drawn anew
      this.head();
      return;
    }
    const chosen = path ?? this.node?.path ?? [], before = this.state?.text, old = this.state, node = this.node;
    const folded = [...this.view.byHand].map(([id, open]) => [this.fold?.nodes.get(id)?.path.join(), open]);
    this.state = state;
    this.view.byHand.clear(); // what was folded stays so, wherever its number went
    for (const [at, open] of folded) { const same = state.nodes.find((n) => n.path.join() === at); if (same) this.view.byHand.set(same.id, open); }
    this.fold = new EditFold(state, ++this.version);
    const none = this.view.chosen === null && old?.path === state.path && path === undefined;
    const found = none ? null : (foreign && old && this.found(node, old)) || (state.nodes.find((n) => n.path.join() === chosen.join()) ?? state.nodes[0]);
    if (this.told && before !== state.text) this.told = null; // another text: the story begins anew
    this.marked();
    this.picked.clear();
    this.view.chosen = found ? found.id : null;
    this.tabs();
    this.head();
    this.panel(foreign && node?.kind === found?.kind);
    this.typing.show(state);
    this.frame();
  }

  // What a box says when it is zoomed in: its fields, and in a trial the entries that they name.
  valuesOf(node) {
    const bare = this.kindOf(node.kind)?.bare, told = ([name, text]) => name !== "name" && name !== bare && !node.gist.includes(`${name}: ${text}`);
    const rows = Object.entries(node.fields).filter(told).map(([name, text]) => `${name}: ${text.replace(/\s*\n\s*/g, ", ")}`);
    const said = JSON.stringify([node.fields, node.texts]), board = this.shownTab === "try" && this.told ? this.told.board : {};
    return [...rows, ...Object.entries(board).filter(([name]) => new RegExp(`\\b${name}\\b`).test(said)).map(([name, value]) => `${name} = ${value}`)].join(" · ");
  }

  // Faults on their boxes.
  marked() {
    this.view.marks.clear();
    for (const fault of this.state.faults) if (fault.node !== null) this.view.marks.set(fault.node, fault.severity === "error" ? "bad" : "warned");
  }

  head() {
    const { state } = this;
    $("unsaved").textContent = state.unsaved ? "unsaved" : "saved";
    $("unsaved").className = `pill ${state.unsaved ? "R" : "S"}`;
    $("conflict").hidden = state.theirs === null;
    $("undo").title = state.undo ? `Undo ${state.undo} (Ctrl Z)` : "Nothing to undo";
    $("saveall").hidden = !state.others.length;
    $("saveall").title = `Save every changed file (Ctrl Shift S): ${[...(state.unsaved ? [state.path] : []), ...state.others].join(", ")}`;
    for (const name of ["undo", "redo", "save"]) $(name).disabled = name === "save" ? !state.unsaved : !state[name];
    for (const button of document.querySelectorAll("[data-gesture]")) button.disabled = !GESTURES[button.dataset.gesture][3](this);
  }

  // `typing`: an input in which somebody types keeps what was typed.
  panel(typing = false) {
    for (const tab of document.querySelectorAll("[data-tab]")) tab.setAttribute("aria-selected", String(tab.dataset.tab === this.shownTab));
    document.querySelector('[data-tab="faults"]').textContent = this.state?.faults.length ? `Faults ${this.state.faults.length}` : "Faults";
    if (!this.state) return;
    if (this.shownTab === "text") { $("panel").inert = SMALL.matches; if (!$("panel").contains(this.typing.box)) $("panel").replaceChildren(this.typing.box); return; }
    const active = document.activeElement, focused = active?.id, held = $("panel").contains(active), top = $("panel").scrollTop, { at, value } = this.began ?? {};
    const half = typing && at === active && held && active.value !== value ? { text: active.value, where: active.selectionStart, name: active.getAttribute("aria-label") } : null;
    const made = { node: nodeForm, head: headForm, faults: faultList, try: tryForm }[this.shownTab](this);
    $("panel").replaceChildren(...made);
    $("panel").inert = SMALL.matches && ["node", "head"].includes(this.shownTab);
    $("panel").scrollTop = top;
    if (held && focused) $(focused)?.focus(); // what has the focus keeps it, so that the next key goes there, too
    const same = half && (focused ? $(focused) : [...$("panel").querySelectorAll("input")].find((each) => each.getAttribute("aria-label") === half.name));
    if (same) { same.focus(); same.value = half.text; same.setSelectionRange?.(half.where, half.where); }
  }

  tab(name) {
    const tried = this.shownTab === "try" || name === "try";
    this.shownTab = name;
    this.panel();
    if (tried && this.fold) this.painted();
    if (name === "text" && this.node) { this.typing.show(this.state); this.typing.reveal(this.node); }
  }

  frame() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.fold) return;
      for (const id of this.picked) this.view.marks.set(id, "picked");
      this.view.draw(this.fold, 0, null);
      this.placeBar();
      if (this.view.moved || this.view.stale) this.frame();
    });
  }

  // Choosing -----------------------------------------------------------------------------------

  get node() { return this.fold?.nodes.get(this.view.chosen) ?? null; }

  kindOf(name) { return this.kinds.find((k) => k.name === name) ?? null; }

  pick(id, far = false, fromText = false) {
    if (id === null || id === undefined) return;
    for (const each of this.picked) this.view.marks.delete(each);
    this.picked.clear();
    if (this.adding && this.node && this.fold.nodes.get(id)?.parent === this.node.parent && id !== this.view.chosen) {
      const all = this.fold.nodes.get(this.node.parent)?.children ?? [], one = all.indexOf(this.view.chosen), other = all.indexOf(id);
      for (const each of all.slice(Math.min(one, other), Math.max(one, other) + 1)) this.picked.add(each);
    }
    this.view.chosen = id;
    this.opened.set(this.state.path, this.node.path);
    if (!this.view.places.has(id) && this.view.places.size) { this.view.reveal(this.fold, id); this.view.draw(this.fold, 0, null); }
    if (far) this.view.show(id);
    this.head();
    if (!fromText) { this.panel(); if (this.shownTab === "text") this.typing.reveal(this.node); }
    this.say(`${this.node.kind} ${this.node.name || this.node.gist}`);
    this.frame();
  }

  // The chosen nodes, in the order of the text: the picked ones, or the one.
  get nodes() { return (this.picked.size ? [...this.picked] : [this.view.chosen]).map((id) => this.fold.nodes.get(id)).filter(Boolean); }

  around() { return this.kinds.filter((k) => k.holds.length && (k.family === "control" || k.family === "decorator")).map((k) => k.name); }

  // Gestures -----------------------------------------------------------------------------------

  // Where a new node goes: into a chosen node that holds several, else behind it.
  target(inside = true) {
    const node = this.node ?? this.fold.nodes.get(this.fold.roots[0]);
    if (!node) return null;
    const kind = this.kindOf(node.kind), several = HOLDS(kind);
    if ((inside && (several || ROOM(kind, node, this.fold))) || node.parent === null) return { parent: node.path, index: node.children.length };
    const up = this.fold.nodes.get(node.parent);
    return { parent: up.path, index: node.path[node.path.length - 1] + 1 };
  }

  async add(kind, at = null) {
    const target = at ?? this.target();
    if (!target) return;
    const what = kind.startsWith("tree ") ? { yaml: `tree: {file: ${kind.slice(5)}}` } : { kind };
    const state = await this.act("add", { ...what, parent: target.parent, index: target.index, ...(target.place ? { place: target.place } : {}) });
    if (state) this.pickPath([...target.parent, Math.min(target.index, this.childrenOf(target.parent) - 1)]);
    if (state) this.lacking();
  }

  // What a new node still needs: its first empty field, ready to be typed into.
  lacking() {
    const node = this.node, field = this.kindOf(node?.kind)?.fields.find((f) => f.required && !(node.texts[f.name] || node.maps[f.name] || (node.fields[f.name] ?? "").trim()));
    if (!field) return;
    this.tab("node");
    $(`field-${field.name}`)?.focus();
  }

  childrenOf(path) { return this.state.nodes.filter((n) => n.path.length === path.length + 1 && path.every((s, i) => n.path[i] === s)).length; }

  pickPath(path) {
    const found = this.state.nodes.find((n) => n.path.join() === path.join());
    if (found) this.pick(found.id, true);
  }

  // The node that begins there, or the innermost one around the line.
  pickAt(line, column) {
    const around = this.state.nodes.filter((n) => n.line <= line && line <= n.last).sort((a, b) => a.last - a.line - (b.last - b.line));
    const found = this.state.nodes.find((n) => n.line === line && n.column === column) ?? around[0];
    if (found) requestAnimationFrame(() => this.pick(found.id, true));
  }

  async move(node, target) {
    const state = await this.act("move", { node: node.path, parent: target.parent.path, index: target.index });
    if (state) this.pickPath(target.parent.path.length <= node.path.length ? [...target.parent.path, Math.max(0, target.index - (target.parent.id === node.parent && node.path[node.path.length - 1] < target.index ? 1 : 0))] : target.parent.path);
  }

  shift(by) {
    const node = this.node, at = node.path[node.path.length - 1];
    const up = this.fold.nodes.get(node.parent), index = by < 0 ? at - 1 : at + 2;
    if (index < 0 || index > up.children.length) return;
    this.move(node, { parent: up, index });
  }

  async wrap(kind) { await this.act("wrap", { node: this.nodes[0].path, kind, count: this.nodes.length }); }

  async remove() { await this.act("delete", { nodes: this.nodes.map((n) => n.path) }); }

  async copy(cut) {
    const made = await this.send("copy", { path: this.state.path, node: this.node.path });
    if (!made) return;
    this.clip = made.yaml;
    navigator.clipboard?.writeText(made.yaml).catch(() => {});
    localStorage.setItem("btr-edit-clip", made.yaml);
    this.say(`${this.node.kind} copied`);
    if (cut) await this.act("delete", { nodes: [this.node.path] });
  }

  async paste(text = localStorage.getItem("btr-edit-clip") ?? this.clip) {
    const target = this.target();
    if (!text || !target) { this.notice("The clipboard holds no node."); return; }
    const state = await this.act("add", { yaml: text, ...target });
    if (state) this.pickPath([...target.parent, target.index]);
  }

  // A skill, an included tree, or this tree, by its name in all files.
  renameAll() {
    const { node, state } = this, kind = this.kindOf(node?.kind);
    const renamed = async (what, given) => {
      const made = await this.act(what, given);
      if (made?.mentions.length) this.notice(`The old name stands in other files, too: ${made.mentions.join(", ")}`);
    };
    if (kind?.family === "skill") this.ask("Name of this skill, in all files", node.kind, (name) => renamed("rename_skill", { name }));
    else if (node?.kind === "tree") this.ask("Name of the tree that stands here, in all files", (node.texts.file ?? "").split("/").pop(), (name) => renamed("rename_tree", { name, included: true }));
    else this.ask("Name of this tree, and of its file", state.path.split("/").pop().replace(/\.ya?ml$/, ""), (name) => renamed("rename_tree", { name }));
  }

  async save() { if (await this.act("save")) this.files(); }

  // Asking -------------------------------------------------------------------------------------

  ask(question, value, then) {
    $("question").textContent = question;
    $("answer").value = value;
    $("answer").removeAttribute("list");
    $("ask").returnValue = "";
    const before = this.state, node = this.node;
    $("ask").onclose = () => {
      $("tree").focus();
      if ($("ask").returnValue !== "yes" || !$("answer").value.trim()) return;
      const now = this.state === before ? node : this.found(node, before); // of the text as it now stands
      if (node && !now) { this.notice("The file was changed meanwhile, in the chosen node: nothing was done."); return; }
      if (now !== node) this.pick(now.id);
      then($("answer").value.trim());
    };
    $("ask").showModal();
    $("answer").select();
  }

  choose(question, names, then) {
    this.ask(question, "", (name) => {
      const found = names.find((n) => n === name) ?? names.find((n) => n.startsWith(name)) ?? names.find((n) => n.includes(name));
      if (found) then(found); else this.notice(`There is no kind like ${name}.`);
    });
    let list = $("names");
    if (!list) { list = el("datalist", { id: "names" }); $("ask").append(list); }
    list.replaceChildren(...names.map((n) => el("option", { value: n })));
    $("answer").setAttribute("list", "names");
  }
}

window.addEventListener("DOMContentLoaded", () => { window.app = new App(); });
