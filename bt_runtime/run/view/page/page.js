"use strict";
// Puts it together: where events come from, what time is shown, buttons and keys.

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.history = new RunHistory();
    this.moment = null; // null: the latest
    this.past = null; // the state at `moment`
    this.chosen = null;
    this.playing = false;
    this.recorded = false;
    this.closed = false;
    this.waiting = false;
    this.fresh = []; // wall times of the changes that are not drawn yet
    this.latency = []; // milliseconds from a change of status to the frame that shows it
    this.matches = [];
    this.clock = { run: 0, wall: 0 };
    this.tree = new TreeView($("tree"), (id) => this.choose(id));
    this.panel = new Panel($("panel"), this);
    this.map = new TreeMap(this);
    this.debug = new DebugBar($("stage"), this);
    this.branches = new Branches($("branches"), this);
    this.tree.values = boxValues;
    this.tree.asked = this.panel.wake = () => this.wake();
    this.listen();
    setInterval(() => this.wake(), 250); // folding waits for time to pass
  }

  get fold() { return this.past ?? this.history.head; }

  // Where events come from ------------------------------------------------------------------

  start() {
    const data = $("recorded");
    if (data) { this.record(JSON.parse(data.textContent)); return; }
    this.token = decodeURIComponent(location.hash.slice(1));
    if (!this.token) { this.notice("Open the whole address that btr has printed: the part after # lets you in."); return; }
    const query = new URLSearchParams(location.search);
    this.run = query.get("run"); // in the list of runs from which this page was opened
    this.wanted = query.has("tick") ? Number(query.get("tick")) : null; // the tick to begin with
    if (this.run !== null) { $("runs").hidden = false; $("runs").href = `./${location.hash}`; this.branches.ask(); }
    this.connect();
  }

  record(events) {
    this.recorded = this.closed = true;
    this.history.bounded = false;
    this.receive(events);
    this.seek(this.history.last); // how it ended; Play begins at the beginning
    this.wake();
  }

  connect() {
    this.source = new Stream(this.token, this.run, ({ events, anew, closed }) => {
      if (anew) { this.history.reset(); this.past = this.moment = null; this.recorded = false; }
      this.receive(events);
      if (closed) { this.closed = true; if (this.recorded) this.seek(this.history.last); }
      if (this.wanted !== null && (closed || this.history.head.tick > this.wanted)) { this.seek(this.history.momentOf(this.wanted)); this.wanted = null; }
      this.wake();
    }, (state, why) => this.notice({
      "": "", refused: `The run cannot be read: ${why}. Is the address the one that btr printed last?`,
      lost: "The connection is lost: the run's process has ended, or is busy. What was seen stays; trying again …",
    }[state]));
  }

  receive(events) {
    const wall = this.history.head.latest.start?.wall ?? events.find((e) => e.k === "start")?.wall;
    for (const event of events) {
      if (event.k === "start" && event.is === "coverage") wearCoverage(this, event);
      if (event.k === "start" && event.recorded) { this.recorded = true; this.history.bounded = false; }
      this.history.take(event);
      if (event.k === "tick" && !this.recorded && wall) this.fresh.push((wall + event.t) * 1000);
    }
    this.clock = { run: this.history.head.time, wall: performance.now() };
    this.lineStale = true;
  }

  // The answer, or null: then `told` has been told what went wrong, as a rule at the top of the page.
  async command(what, given = {}, told = (wrong) => this.notice(wrong)) {
    try {
      const answer = await fetch("command", { method: "POST", headers: { "X-Token": this.token, "Content-Type": "application/json" }, body: JSON.stringify({ ...given, ...(this.run === null ? {} : { run: this.run }), do: what }) });
      const said = await answer.json();
      if (answer.ok) return said;
      told(said.error);
    } catch { told("The run's process does not answer."); }
    return null;
  }

  // Where a node is written, for an editor: file, line, column, and its line as the run read it.
  place(path) {
    const node = [...this.fold.nodes.values()].filter((n) => n.facts && this.fold.path(n.id) === path).pop();
    const source = node && this.fold.sources.get(node.facts.source);
    if (!source) return {};
    const [line, column] = node.facts.at;
    return { file: source.file, line, column, row: source.text.split("\n")[line - 1] ?? "" };
  }

  // Asks for the editor, and opens its page; the link stays for a browser that opens none by itself.
  async edited(what, given) {
    const made = await this.command(what, given);
    if (!made) return;
    if (this.editor) { location.href = made.url; return; } // the run was started there: the same tab leads back
    const link = el("a", { href: made.url, target: "btr-edit" }, "Open the editor");
    window.open(made.url, "btr-edit");
    $("notice").hidden = false;
    $("notice").replaceChildren(what === "edit" ? (made.same ? "" : "The file has changed since this run. ") : "It stands in the editor, and is written when you save it there. ", link, " ", el("button", { class: "link", on: { click: () => this.notice("") } }, "Close"));
  }

  // The person's own editor at a node: a program that the server starts, or VS Code by its link.
  async own(path) {
    const made = await this.command("own", this.place(path));
    if (made?.link) location.href = made.link;
    else if (made) this.notice(`${made.started} was started.`);
  }

  // The address of the editor that started this run, if one did.
  get editor() { return this.history.head.latest.editor?.url ?? ""; }

  // Can this run be commanded, at the moment that is shown?
  get commands() { return !$("controls").hidden && this.past === null; }

  get settled() { return this.past !== null || this.closed || this.over(this.history.head); }

  notice(text) { $("notice").textContent = text; $("notice").hidden = !text; }

  // Drawing ---------------------------------------------------------------------------------

  wake() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const fold = this.fold, news = fold.news;
    const running = this.past === null && !this.closed;
    const now = running && !this.over(fold) ? this.clock.run + (performance.now() - this.clock.wall) / 1000 : fold.time + (this.over(fold) ? SETTLED + 1 : 0);
    this.tree.draw(fold, now, news.nodes);
    this.now = Math.max(fold.time, running ? now : 0);
    this.map.draw(fold, this.chosen);
    if (this.panel.draw(fold, this.chosen, news)) setTimeout(() => this.wake(), 60);
    fold.news = { nodes: new Set(), told: new Set(), board: false, world: false, lines: false };
    this.header(fold);
    this.asks();
    this.timeline(fold);
    this.debug.draw(fold, this.chosen);
    if (this.fresh.length) this.measure();
  }

  over(fold) { return fold.latest.over !== undefined; }

  // The frame that is being drawn is on the screen when the next task runs.
  measure() {
    const fresh = this.fresh;
    this.fresh = [];
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { const now = performance.timeOrigin + performance.now(); for (const wall of fresh) this.latency.push(now - wall); this.latency.splice(0, this.latency.length - 2000); channel.port1.close(); };
    channel.port2.postMessage(0);
  }

  header(fold) {
    const { start, over, spent, hold } = fold.latest;
    if (this.coverage) { coverageHeader(this.coverage); return; }
    const root = fold.nodes.get(fold.roots[0]);
    const status = over ? over.status : root?.status ?? "I";
    const paused = Boolean(hold?.on) && !over;
    if (this.editor && $("runs").hidden) { $("runs").hidden = false; $("runs").href = this.editor; put($("runs"), "‹ Editor"); $("runs").title = "Back to the editor that started this run"; }
    const name = start ? `${start.tree}` : "bt_runtime";
    put($("name"), name); $("name").title = start ? shown(`${start.run}\n${start.file ?? ""}`) : "";
    if (document.title !== shown(name)) document.title = shown(name);
    const word = over ? { S: "succeeded", F: "failed", I: "stopped", R: "stopped" }[over.status] : paused ? "paused" : status === "R" && this.past !== null ? "was running" : WORDS[status];
    const judged = over?.verdict ? ` · ${over.verdict[0]}/${over.verdict[1]} met` : "";
    put($("status"), word + judged); $("status").className = `pill ${status}`; $("status").title = shown(over?.why ?? "");
    const figures = [`tick ${fold.tick}`, seconds(fold.time)];
    if (spent) figures.push(`${amount(spent.decisions)} decisions`, `${amount(spent.tokens)} tokens`, `${amount(spent.steps)} actions`);
    figures.push(`${amount(fold.nodes.size)} nodes`);
    put($("figures"), figures.join(" · ")); $("figures").title = $("figures").textContent;
    const ended = this.over(this.history.head);
    const failed = over && over.status === "F" && over.path;
    $("blame").hidden = !failed;
    if (failed) { put($("blame"), `Failed at ${over.path}${over.why ? `: ${over.why}` : ""}`); $("blame").dataset.path = over.path; }
    $("controls").hidden = this.recorded || !start || ended || this.closed;
    put($("pause"), this.history.head.latest.hold?.on ? "Go on" : "Pause");
  }

  // What a person is asked: yes or no, or in words. Nothing is drawn anew while somebody is writing.
  asks() {
    const { asks, over } = this.history.head.latest;
    const open = this.recorded || this.closed || (over && !asks?.after) ? [] : asks?.open ?? [];
    const key = open.map((each) => each.id).join();
    if (key === this.asked) return;
    this.asked = key;
    $("asks").hidden = !open.length;
    $("asks").replaceChildren(...open.map(({ id, text }) => {
      const answer = (said) => this.command("answer", { id, text: said });
      const form = el("form", { on: { submit: (e) => { e.preventDefault(); answer(form.elements.said?.value ?? ""); } } }, el("span", { class: "said" }, text));
      const button = (said) => el("button", { type: "button", on: { click: () => answer(said.toLowerCase()) } }, said);
      if (text.endsWith("(yes or no)")) form.append(button("Yes"), button("No"));
      else form.append(el("input", { name: "said", "aria-label": "Answer", autocomplete: "off", maxlength: 1000 }), el("button", {}, "Answer"));
      return form;
    }));
  }

  timeline(fold) {
    const history = this.history, slider = $("time");
    if (Number(slider.max) !== history.last) slider.max = String(history.last);
    const at = this.moment ?? history.last;
    if (slider.value !== String(at)) slider.value = String(at);
    put($("when"), `tick ${fold.tick} · ${seconds(fold.time)}`);
    $("live").setAttribute("aria-pressed", String(this.moment === null));
    put($("live"), this.closed || this.recorded || this.over(history.head) ? "End" : "Live");
    $("play").hidden = !this.closed && !this.recorded && !this.over(history.head);
    put($("play"), this.playing ? "Stop" : "Play");
    if (this.lineStale && performance.now() - (this.lineDrawn ?? -1000) > 200) { this.lineStale = false; this.lineDrawn = performance.now(); this.drawMarks(); }
  }

  drawMarks() {
    this.branches.draw();
    const canvas = $("marks"), w = (canvas.width = canvas.clientWidth * devicePixelRatio), h = (canvas.height = canvas.clientHeight * devicePixelRatio);
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const colours = { step: style.getPropertyValue("--accent"), graft: style.getPropertyValue("--graft"), bad: style.getPropertyValue("--failure") };
    for (const kind of ["step", "graft", "bad"]) {
      context.fillStyle = colours[kind];
      for (const mark of this.history.marks) if (mark.kind === kind) context.fillRect(Math.round((mark.moment / Math.max(1, this.history.last)) * (w - 2)), 0, Math.max(2, devicePixelRatio), h);
    }
  }

  // Time ------------------------------------------------------------------------------------

  seek(moment) {
    const last = this.history.last;
    this.moment = Math.min(last, Math.max(0, moment));
    this.past = this.history.at(this.moment);
    if (this.chosen !== null && !this.past.nodes.has(this.chosen)) this.tree.chosen = null;
    else this.tree.chosen = this.chosen;
    this.wake();
  }

  latest() { this.moment = this.past = null; this.stop(); this.tree.chosen = this.chosen; this.wake(); }

  move(by) { this.stop(); this.seek((this.moment ?? this.history.last) + by); }

  play() {
    if (this.moment === null || this.moment >= this.history.last) this.seek(0);
    this.playing = true;
    const next = () => {
      if (!this.playing) return;
      if (this.moment >= this.history.last) { this.stop(); return; }
      const wait = this.history.timeOf(this.moment + 1) - this.history.timeOf(this.moment);
      this.timer = setTimeout(() => { this.seek(this.moment + 1); next(); }, Math.min(1000, Math.max(15, wait * 1000)));
    };
    next();
  }

  stop() { this.playing = false; clearTimeout(this.timer); this.wake(); }

  // Choosing --------------------------------------------------------------------------------

  choose(id) {
    this.chosen = this.tree.chosen = id;
    for (const box of this.tree.drawn.values()) box.painted = "";
    this.tree.moved = true;
    if (this.panel.tab !== "node") this.panel.open("node");
    $("panel").scrollTop = 0;
    this.wake();
  }

  search(text) {
    const wanted = text.trim().toLowerCase();
    const fold = this.fold;
    this.matches = wanted ? [...fold.nodes.values()].filter((n) => `${n.kind} ${n.name} ${n.gist} ${n.feedback} ${fold.goals.get(n.id)?.goal ?? ""} ${n.segment}`.toLowerCase().includes(wanted)).map((n) => n.id) : [];
    this.tree.hits = new Set(this.matches);
    this.found = -1;
    put($("hits"), wanted ? String(this.matches.length) : "");
    for (const box of this.tree.drawn.values()) box.painted = "";
    this.tree.moved = true;
    this.wake();
  }

  nextHit(by) {
    if (!this.matches.length) return;
    this.found = (this.found + by + this.matches.length) % this.matches.length;
    const id = this.matches[this.found];
    put($("hits"), `${this.found + 1}/${this.matches.length}`);
    this.goTo(id);
  }

  // Chooses a node, wherever it is, and brings it into the middle.
  goTo(id) {
    const fold = this.fold;
    if (!fold.nodes.has(id)) return;
    this.tree.follow(false);
    if (this.tree.top !== null && !fold.above(id).some((n) => n.id === this.tree.top)) this.tree.within(null);
    this.tree.reveal(fold, id);
    this.choose(id);
    this.draw();
    this.tree.centre(id);
  }

  // Buttons and keys ------------------------------------------------------------------------

  listen() {
    const press = (id, act) => $(id).addEventListener("click", act);
    press("pause", () => this.command(this.history.head.latest.hold?.on ? "resume" : "pause"));
    press("step", () => this.command("step"));
    twice($("halt"), "Halt", () => this.command("halt"));
    press("follow", () => { this.tree.follow(!this.tree.following); this.wake(); });
    press("unfold", () => this.unfold());
    press("turn", () => this.turn());
    press("blame", () => { const { fold } = this, at = [...fold.nodes.values()].filter((n) => fold.path(n.id) === $("blame").dataset.path).pop(); if (at) this.goTo(at.id); });
    press("fit", () => { this.tree.fit(); $("unfold").setAttribute("aria-pressed", String(this.tree.everything)); });
    press("in", () => this.tree.step(1.25));
    press("out", () => this.tree.step(0.8));
    press("back", () => this.move(-1));
    press("forward", () => this.move(1));
    press("live", () => this.latest());
    press("play", () => (this.playing ? this.stop() : this.play()));
    press("help", () => $("keys").showModal());
    $("time").addEventListener("input", (e) => { this.stop(); this.seek(Number(e.target.value)); });
    $("search").addEventListener("input", (e) => this.search(e.target.value));
    $("search").addEventListener("keydown", (e) => { if (e.key === "Enter") this.nextHit(e.shiftKey ? -1 : 1); if (e.key === "Escape") { e.target.value = ""; this.search(""); e.target.blur(); } });
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("resize", () => { this.lineStale = true; this.wake(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.lineStale = true; this.wake(); });
  }

  unfold() {
    const on = !this.tree.everything;
    $("unfold").setAttribute("aria-pressed", String(on));
    this.tree.all(on);
  }

  turn() {
    const down = !this.tree.down;
    $("turn").setAttribute("aria-pressed", String(down));
    this.tree.turn(down);
    if (!this.tree.following) { this.draw(); if (this.tree.chosen !== null) this.tree.centre(this.tree.chosen); else this.tree.fit(); }
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
    if (e.target.matches("input:not([type=range]), textarea") || (e.target.matches("button, summary, input") && [" ", "Enter"].includes(e.key))) return;
    if (e.target.matches("#time, #panel") && e.key.startsWith("Arrow")) return;
    const act = {
      "/": () => $("search").focus(), f: () => $("follow").click(), e: () => this.unfold(), t: () => this.turn(), z: () => $("fit").click(), "+": () => this.tree.step(1.25), "-": () => this.tree.step(0.8),
      1: () => this.panel.open("node"), 2: () => this.panel.open("board"), 3: () => this.panel.open("world"), 4: () => this.panel.open("log"),
      "[": () => this.move(-1), "]": () => this.move(1), l: () => this.latest(), "?": () => $("keys").showModal(), Escape: () => this.choose(null),
      " ": () => ($("controls").hidden ? $("play").click() : $("pause").click()), ".": () => { if (!$("controls").hidden) $("step").click(); },
      b: () => this.debug.press("break"), i: () => this.debug.press("into"), o: () => this.debug.press("over"), h: () => this.debug.press("to"), w: () => this.debug.press("why"), E: () => this.debug.press("file"), u: () => this.debug.press("undo"),
      Enter: () => { if (this.chosen !== null) this.tree.toggle(this.chosen); },
      ArrowUp: null, ArrowDown: null, ArrowLeft: null, ArrowRight: null,
    }[e.key];
    if (act === undefined) return;
    e.preventDefault();
    if (act) { act(); return; }
    const id = this.tree.neighbour(e.key);
    if (id !== null) { this.tree.follow(false); this.choose(id); this.tree.show(id); }
  }
}

function put(element, text) {
  const said = shown(text);
  if (element.textContent !== said) element.textContent = said;
}

globalThis.btr = new Page();
globalThis.btr.start();
