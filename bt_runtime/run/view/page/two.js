"use strict";
// Two runs side by side: one time line moves both, and what differs at the moment is marked in both trees.

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const MOST_SHOWN = 40; // differences in the list
const AGAIN = 5000; // milliseconds between two comparisons of runs that go on
const STATUS = { R: "running", S: "success", F: "failure", I: "idle" };

// One of the two: its events, its tree, and the state that is shown.
class Side {
  constructor(page, run) {
    Object.assign(this, { page, run, history: new RunHistory(), closed: false, past: null, at: null, name: run });
    this.link = el("a"); this.pill = el("span", { class: "pill" }); this.when = el("span", { class: "dim" }); this.said = el("div", { class: "said" });
    const stage = svg("svg", { role: "tree", tabindex: 0 });
    stage.append(svg("g"));
    this.box = el("section", { class: "side" }, el("div", { class: "title" }, this.link, this.pill, this.when), this.said, stage);
    $("sides").append(this.box);
    this.tree = new TreeView(stage, (id) => page.choose(this, id));
    this.tree.asked = () => page.wake();
    this.tree.follow = (on) => page.follow(on);
    this.tree.everything = true; // both in the same places
    this.tree.toggle = (id) => page.toggle(this, id);
    for (const event of ["pointerdown", "wheel", "focus"]) stage.addEventListener(event, () => (page.leader = this));
  }

  connect() {
    this.source = new Stream(this.page.token, this.run, ({ events, anew, closed }) => {
      if (anew) { this.history.reset(); this.at = null; }
      for (const event of events) { if (event.k === "start") this.history.bounded = !event.recorded; this.history.take(event); }
      if (closed) this.closed = true;
      this.page.grew(this);
    }, (state, why) => this.page.notice({
      "": "", refused: `Run ${this.run} cannot be read: ${why}. Open the list again.`,
      lost: "The connection is lost. What was seen stays; trying again …",
    }[state], this.run));
  }

  get fold() { return this.past ?? this.history.head; }

  // What the time line counts, of one moment.
  stop(moment, by) {
    const at = this.history.moments[moment];
    return at === undefined ? 0 : by === "tick" ? this.history.events[at - 1].n : this.history.events[at - 1].t;
  }

  last(by) { return by === "tick" ? this.history.head.tick : this.history.head.time; }

  // The last moment that is not after this value; -1: none.
  momentAt(value, by) {
    let low = -1, high = this.history.moments.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (this.stop(middle, by) <= value) low = middle; else high = middle - 1; }
    return low;
  }

  seek(value, by) {
    const moment = value === null ? null : this.momentAt(value, by);
    if (moment === this.at && moment !== null) return;
    this.at = moment;
    this.past = moment === null ? null : moment < 0 ? this.before() : this.history.at(moment);
  }

  // The tree before its first tick.
  before() {
    const fold = new Fold(), first = this.history.moments[0] ?? 0;
    for (const event of this.history.events.slice(0, Math.max(0, first - 1))) fold.take(event);
    return Object.assign(fold, { time: 0, tick: 0 });
  }

  draw(now) {
    const { fold } = this, { start, over } = fold.latest, status = over?.status ?? fold.nodes.get(fold.roots[0])?.status ?? "I";
    this.name = start?.run ?? this.run;
    put(this.link, this.name); this.link.title = shown(`${start?.tree ?? ""}\n${start?.file ?? ""}`);
    this.link.href = `page.html?run=${encodeURIComponent(this.run)}${fold.tick ? `&tick=${fold.tick}` : ""}${location.hash}`;
    put(this.pill, over ? { S: "succeeded", F: "failed", I: "stopped", R: "stopped" }[status] : STATUS[status]); this.pill.className = `pill ${status}`;
    put(this.when, `tick ${fold.tick} · ${seconds(fold.time)}`);
    this.tree.svg.setAttribute("aria-label", shown(`The tree of ${this.name}`));
    const node = fold.nodes.get(this.tree.chosen) ?? fold.runs(this.tree.anchor);
    put(this.said, node ? [fold.path(node.id), STATUS[node.status], node.feedback].filter(Boolean).join(" · ") : "");
    this.tree.draw(fold, now, null);
  }

  // path → node, in the order of the tree
  paths() {
    if (this.pathsOf !== this.fold || this.pathsAt !== this.fold.version) {
      this.pathsOf = this.fold; this.pathsAt = this.fold.version; this.byPath = new Map();
      const todo = [...this.fold.roots].reverse().map((id) => [id, ""]);
      while (todo.length) {
        const [id, above] = todo.pop(), node = this.fold.nodes.get(id);
        if (!node) continue;
        const path = node.segment === "." ? above : `${above}/${node.segment}`;
        this.byPath.set(node.segment === "." ? `${path}/.` : path, node);
        for (let i = node.children.length - 1; i >= 0; i--) todo.push([node.children[i], path]);
      }
    }
    return this.byPath;
  }

  pathOf(id) { return [...this.paths()].find(([, node]) => node.id === id)?.[0] ?? null; }

  show(path) {
    const node = this.paths().get(path);
    this.tree.chosen = node?.id ?? null;
    for (const box of this.tree.drawn.values()) box.painted = "";
    this.tree.moved = true;
    return node;
  }
}

class Two {
  constructor() {
    this.value = null; // where both stand; null: the latest
    this.by = "tick";
    this.marked = "";
    this.leader = null;
    this.following = true;
    this.notices = new Map();
    this.listen();
  }

  start() {
    this.token = decodeURIComponent(location.hash.slice(1));
    const query = new URLSearchParams(location.search), runs = (query.get("runs") ?? "").split(",").filter(Boolean);
    $("runs").href = `./${location.hash}`;
    if (!this.token || runs.length !== 2) { this.notice("Open the whole address that btr has printed, or choose two runs of the list."); return; }
    if (query.has("tick")) this.value = Number(query.get("tick"));
    this.sides = runs.map((run) => new Side(this, run));
    [this.leader] = this.sides;
    for (const side of this.sides) side.connect();
    this.compare();
    setInterval(() => { if (this.sides.some((side) => !side.closed)) this.wake(); }, 250);
  }

  // What each part of the page has to tell; "" takes its own back.
  notice(text, part = "") {
    this.notices.set(part, text);
    const told = [...this.notices.values()].filter(Boolean).join(" ");
    put($("notice"), told); $("notice").hidden = !told;
  }

  // What the runs were told to be, and the first tick in which they differ.
  async compare() {
    const [run, other] = this.sides.map((side) => side.run);
    try {
      const answer = await fetch("command", { method: "POST", headers: { "X-Token": this.token, "Content-Type": "application/json" }, body: JSON.stringify({ do: "compare", run, other }) });
      const said = await answer.json();
      if (!answer.ok) { this.notice(said.error); put($("parted"), "Not compared"); put($("lines"), said.error); return; }
      this.parting(said);
      if (said.live && this.first === undefined) setTimeout(() => this.compare(), AGAIN);
    } catch { this.notice("btr view does not answer."); }
  }

  parting({ lines, live }) {
    const told = [...lines].sort((a, b) => Number(a.tick === null) - Number(b.tick === null) || a.tick - b.tick);
    const first = told.find((line) => line.tick !== null);
    this.first = first?.tick ?? undefined;
    $("parted").disabled = !first;
    put($("parted"), first ? `They part at tick ${first.tick}` : live ? "No difference yet" : lines.length ? "They ran alike" : "They are the same");
    $("parted").classList.toggle("differ", Boolean(first));
    $("lines").className = "";
    $("lines").replaceChildren(...(told.length ? told : [{ text: live ? "Until now they are the same." : "The runs are the same.", tick: null }]).map((line) => el("div", { class: line === first ? "part first" : "part" },
      line.tick === null ? "" : el("button", { class: "link", on: { click: () => this.part(line.tick) } }, line === first ? `They part at tick ${line.tick}` : `Tick ${line.tick}`), el("div", { class: "said" }, line.text))));
    this.lineStale = true;
    this.begin();
    this.wake();
  }

  // To a tick in which they differ, with the first node that does in sight.
  part(tick) {
    this.stopped();
    this.seek(this.by === "tick" ? tick : Math.max(...this.sides.map((side) => side.stop(side.momentAt(tick, "tick"), "time"))));
    this.draw();
    const node = this.differing.find(({ path }) => !this.differing.some((each) => each.path.startsWith(`${path}/`))); // the first with nothing below it
    if (node) this.goTo(node.path);
    put($("heard"), node ? `Tick ${tick}: ${node.path}, ${node.a} and ${node.b}` : `Tick ${tick}`);
  }

  // Time ------------------------------------------------------------------------------------

  grew(side) {
    side.at = side.at === null ? null : undefined; // what it was a moment ago may hold more now
    this.lineStale = true;
    this.seek(this.value);
    this.begin();
  }

  // Two runs that are over open where they part.
  begin() {
    if (this.begun || this.first === undefined || !this.sides.every((side) => side.closed)) return;
    this.begun = true;
    if (this.value === null) this.part(this.first);
  }

  get last() { return Math.max(...this.sides.map((side) => side.last(this.by))); }

  seek(value) {
    this.value = value === null ? null : Math.max(0, value);
    for (const side of this.sides) side.seek(value, this.by);
    this.wake();
  }

  // To the next change of either run.
  move(by) {
    const from = this.value ?? this.last;
    let found = null;
    for (const side of this.sides) {
      const at = side.momentAt(from, this.by);
      let next = by > 0 ? at + 1 : at;
      while (by < 0 && next >= 0 && side.stop(next, this.by) >= from) next--;
      if (next < 0 || next >= side.history.moments.length) continue;
      const value = side.stop(next, this.by);
      if (found === null || (by > 0 ? value < found : value > found)) found = value;
    }
    if (found === null) return false;
    this.seek(found);
    return true;
  }

  play() {
    if (this.value === null || this.value >= this.last) this.seek(0);
    this.playing = true;
    const time = () => Math.max(...this.sides.map((side) => side.fold.time));
    const next = () => {
      if (!this.playing) return;
      const before = time();
      if (!this.move(1)) { this.stopped(); return; }
      this.timer = setTimeout(next, Math.min(1000, Math.max(15, (time() - before) * 1000)));
    };
    next();
  }

  stopped() { this.playing = false; clearTimeout(this.timer); this.wake(); }

  // Drawing ---------------------------------------------------------------------------------

  wake() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    this.differences();
    for (const side of this.sides) side.draw(side.fold.time + SETTLED + 1);
    this.together();
    this.timeline();
    const title = this.sides.map((side) => side.name).join(" and ");
    if (document.title !== shown(title)) document.title = shown(title);
  }

  // The other tree stands as the one that was moved last, where both have the same shape.
  together() {
    const leader = this.leader.tree, other = this.sides.find((side) => side !== this.leader).tree;
    if (this.following || leader.size.width !== other.size.width || leader.size.height !== other.size.height) return;
    if (other.at.x === leader.at.x && other.at.y === leader.at.y && other.at.scale === leader.at.scale) return;
    other.at = { ...leader.at };
    other.moved = true;
    this.wake();
  }

  // Nodes of the same path with another status, and entries of the same name with another value.
  differences() {
    const [a, b] = this.sides.map((side) => side.paths()), differing = [], entries = [];
    for (const path of new Set([...a.keys(), ...b.keys()])) {
      const one = a.get(path), other = b.get(path);
      if (one?.status !== other?.status) differing.push({ path, a: one ? STATUS[one.status] : "not there", b: other ? STATUS[other.status] : "not there", nodes: [one, other] });
    }
    const boards = this.sides.map((side) => side.fold.board);
    for (const key of new Set(boards.flatMap((board) => [...board.keys()]))) {
      const [one, other] = boards.map((board) => board.get(key));
      const said = [one, other].map((event) => (event === undefined ? "not written" : cut(value(event.value))));
      if (JSON.stringify(one?.value) !== JSON.stringify(other?.value)) entries.push({ name: (one ?? other).name, scope: (one ?? other).scope, said });
    }
    this.differing = differing;
    this.sides.forEach((side, i) => {
      side.tree.marks.clear();
      for (const each of differing) if (each.nodes[i]) side.tree.marks.set(each.nodes[i].id, "parts");
    });
    const key = JSON.stringify([differing.map(({ path, a, b }) => [path, a, b]), entries]);
    if (key === this.marked) return;
    this.marked = key;
    const told = (letter, word) => el("span", { class: letter ?? "dim" }, word), left = differing.length + entries.length - 2 * MOST_SHOWN;
    $("now").replaceChildren(
      ...differing.slice(0, MOST_SHOWN).map(({ path, a, b, nodes }) => el("button", { class: "pair", "data-path": path, on: { click: () => this.goTo(path) } }, el("span", { class: "path said" }, path), el("br"), told(nodes[0]?.status, a), " / ", told(nodes[1]?.status, b))),
      ...entries.slice(0, MOST_SHOWN).map(({ name, scope, said }) => el("div", { class: "part" }, el("b", {}, name), scope ? el("span", { class: "path said" }, ` of ${scope}`) : "", el("div", { class: "code" }, `${said[0]} / ${said[1]}`))),
      differing.length + entries.length ? (left > 0 ? el("p", { class: "dim" }, `… and ${left} more`) : "") : el("p", { class: "dim" }, "Every node and every entry is the same."),
    );
  }

  goTo(path) {
    this.follow(false);
    for (const side of this.sides) {
      const node = side.show(path);
      if (node) side.tree.reveal(side.fold, node.id);
    }
    this.draw();
    for (const side of this.sides) if (side.tree.chosen !== null && !side.tree.whole()) side.tree.centre(side.tree.chosen);
  }

  choose(side, id) {
    this.leader = side;
    const path = id === null ? null : side.pathOf(id);
    for (const each of this.sides) each.show(path);
    if (path) put($("heard"), this.sides.map((each) => `${each.name}: ${STATUS[each.paths().get(path)?.status] ?? "not there"}`).join("; "));
    this.wake();
  }

  toggle(side, id) {
    const path = side.pathOf(id), open = side.tree.folded.has(id);
    for (const each of this.sides) {
      const node = each.paths().get(path);
      if (node) { each.tree.byHand.set(node.id, open); each.tree.judged = -Infinity; }
    }
    this.wake();
  }

  follow(on) {
    this.following = on;
    for (const side of this.sides ?? []) side.tree.following = on;
    $("follow").setAttribute("aria-pressed", String(on));
    this.wake();
  }

  timeline() {
    const slider = $("time"), most = String(this.last), at = Math.min(this.value ?? this.last, this.last);
    if (slider.max !== most) { slider.max = most; this.lineStale = true; }
    if (Number(slider.value) !== at) slider.value = String(at);
    put($("when"), this.by === "tick" ? `tick ${Math.floor(at)}` : seconds(at));
    slider.setAttribute("aria-valuetext", $("when").textContent);
    $("live").setAttribute("aria-pressed", String(this.value === null));
    put($("live"), this.sides.every((side) => side.closed) ? "End" : "Live");
    put($("play"), this.playing ? "Stop" : "Play");
    if (!this.lineStale) return;
    if (performance.now() - (this.lineDrawn ?? -1000) < 200) { setTimeout(() => this.wake(), 250); return; }
    Object.assign(this, { lineStale: false, lineDrawn: performance.now() });
    this.marks();
  }

  // The first run's failures above, the second one's below; where they part in the colour of differences.
  marks() {
    const canvas = $("marks"), w = (canvas.width = canvas.clientWidth * devicePixelRatio), h = (canvas.height = canvas.clientHeight * devicePixelRatio);
    const brush = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), last = Math.max(this.last, 1e-9);
    const put = (value, top, high, colour) => { brush.fillStyle = style.getPropertyValue(colour); brush.fillRect(Math.round((value / last) * (w - 2)), top, Math.max(2, devicePixelRatio), high); };
    this.sides.forEach((side, i) => { for (const mark of side.history.marks) if (mark.kind !== "graft") put(side.stop(mark.moment, this.by), (i * h) / 2, h / 2, mark.kind === "bad" ? "--failure" : "--accent"); });
    if (this.first !== undefined) put(this.by === "tick" ? this.first : this.sides[0].stop(this.sides[0].momentAt(this.first, "tick"), "time"), 0, h, "--graft");
  }

  // Buttons and keys ------------------------------------------------------------------------

  listen() {
    const press = (id, act) => $(id).addEventListener("click", act), each = (act) => { for (const side of this.sides) act(side.tree); };
    press("parted", () => this.part(this.first));
    press("follow", () => this.follow(!this.following));
    press("turn", () => { const down = $("turn").getAttribute("aria-pressed") !== "true"; $("turn").setAttribute("aria-pressed", String(down)); each((tree) => tree.turn(down)); });
    press("fit", () => each((tree) => tree.fit()));
    press("in", () => each((tree) => tree.step(1.25)));
    press("out", () => each((tree) => tree.step(0.8)));
    press("back", () => { this.stopped(); this.move(-1); });
    press("forward", () => { this.stopped(); this.move(1); });
    press("live", () => { this.stopped(); this.seek(null); });
    press("play", () => (this.playing ? this.stopped() : this.play()));
    $("time").addEventListener("input", (e) => { this.stopped(); this.seek(Number(e.target.value)); });
    $("by").addEventListener("change", (e) => { const tick = Math.max(...this.sides.map((side) => side.fold.tick)), time = Math.max(...this.sides.map((side) => side.fold.time)); this.by = e.target.value; this.lineStale = true; for (const side of this.sides) side.at = undefined; this.seek(this.value === null ? null : this.by === "tick" ? tick : time); });
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("resize", () => { this.lineStale = true; this.wake(); });
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.sides || e.target.matches("select") || (e.target.matches("button, a, input") && [" ", "Enter"].includes(e.key)) || (e.target.matches("#time, #panel") && e.key.startsWith("Arrow"))) return;
    const tree = this.leader.tree, act = {
      p: () => $("parted").click(), f: () => $("follow").click(), t: () => $("turn").click(), z: () => $("fit").click(), "+": () => $("in").click(), "-": () => $("out").click(),
      "[": () => $("back").click(), "]": () => $("forward").click(), l: () => $("live").click(), " ": () => $("play").click(), Escape: () => this.choose(this.leader, null),
      Enter: () => { if (tree.chosen !== null) tree.toggle(tree.chosen); },
      ArrowUp: null, ArrowDown: null, ArrowLeft: null, ArrowRight: null,
    }[e.key];
    if (act === undefined) return;
    e.preventDefault();
    if (act) { act(); return; }
    const id = tree.neighbour(e.key);
    if (id !== null) { this.follow(false); this.choose(this.leader, id); tree.show(id); }
  }
}

function put(element, text) {
  const said = shown(text);
  if (element.textContent !== said) element.textContent = said;
}

function cut(text) { return text.length > 120 ? `${text.slice(0, 119)}…` : text; }

globalThis.btrTwo = new Two();
globalThis.btrTwo.start();
