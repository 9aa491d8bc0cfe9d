"use strict";
// The list of runs: rows as they change, alarms, filters, search, and two of them to be compared.

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const STATES = { running: ["running", "R"], SUCCESS: ["succeeded", "S"], FAILURE: ["failed", "F"], crashed: ["crashed", "F"], broken: ["broken", "F"], damaged: ["damaged", "F"], stopped: ["stopped", "I"], "not begun": ["not begun", "I"] };
const BADGES = { asks: "asks", stuck: "stuck" }; // the other alarms are states
const FILTERS = {
  all: ["All", () => true], alarm: ["Alarms", (run) => run.alarm !== ""], running: ["Running", (run) => run.state === "running"],
  succeeded: ["Succeeded", (run) => run.state === "SUCCESS"], failed: ["Failed", (run) => STATES[run.state]?.[1] === "F"], stopped: ["Stopped", (run) => STATES[run.state]?.[1] === "I"],
};

class List {
  constructor() {
    this.runs = new Map(); // id → what the server told last
    this.rows = new Map(); // id → its row
    this.dirty = new Set();
    this.alarms = new Map(); // id → the alarm that was announced
    this.chosen = []; // at most two
    this.filter = "all";
    this.names = ["Run", "Last fault"]; // the second column, and the last ones
    this.about = { panel: [], places: [], stuck: 0, left_out: 0 };
    this.ahead = 0; // seconds by which the server's clock is ahead of ours
    this.waiting = this.told = false;
    this.filters();
    this.heads();
    $("search").addEventListener("input", () => this.arrange());
    $("search").addEventListener("keydown", (e) => { if (e.key === "Escape") { e.target.value = ""; this.arrange(); e.target.blur(); } });
    $("compare")?.addEventListener("click", () => this.compare());
    addEventListener("keydown", (e) => { if (e.key === "/" && !e.target.matches("input") && !e.ctrlKey && !e.metaKey) { e.preventDefault(); $("search").focus(); } });
    setInterval(() => this.ages(), 1000);
  }

  // Where rows come from --------------------------------------------------------------------

  start() {
    this.token = decodeURIComponent(location.hash.slice(1));
    if (!this.token) { this.notice("Open the whole address that btr has printed: the part after # lets you in."); return; }
    this.connect();
  }

  connect() {
    this.source = new Stream(this.token, null, ({ events, anew, closed }) => {
      if (anew) for (const id of [...this.runs.keys()]) if (!events.some((event) => event.id === id)) this.drop(id);
      for (const event of events) this.take(event);
      this.told = true;
      if (closed) this.notice("btr view has ended. What was seen stays.");
      this.wake();
    }, (state, why) => this.notice({
      "": "", refused: `The runs cannot be read: ${why}. Is the address the one that btr printed last?`,
      lost: "The connection is lost: btr view has ended, or is busy. What was seen stays; trying again …",
    }[state]));
  }

  take(event) {
    if (event.k === "now") this.ahead = event.wall - Date.now() / 1000;
    else if (event.k === "gone") this.drop(event.id);
    else if (event.id === "") { this.about = event; this.heads(); for (const id of this.runs.keys()) this.dirty.add(id); }
    else { this.runs.set(event.id, event); this.dirty.add(event.id); }
  }

  drop(id) {
    this.runs.delete(id); this.alarms.delete(id); this.dirty.delete(id);
    this.rows.get(id)?.tr.remove(); this.rows.delete(id);
    this.chosen = this.chosen.filter((one) => one !== id);
    this.gone = true;
  }

  notice(text) { $("notice").textContent = text; $("notice").hidden = !text; }

  // Drawing ---------------------------------------------------------------------------------

  wake() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const dirty = [...this.dirty];
    this.dirty.clear();
    if (!dirty.length && !this.gone && this.drawn) return;
    this.gone = false; this.drawn = true;
    for (const id of dirty) this.row(id);
    this.announce(dirty);
    this.arrange();
  }

  heads() {
    const names = ["", this.names[0], "State", "Where it is", "Tick", "Decisions", ...this.about.panel, ...this.names.slice(1)];
    const key = JSON.stringify(names);
    if (key === this.headed) return;
    this.headed = key;
    $("heads").replaceChildren(...names.map((name, i) => el("th", { scope: "col", class: i === 4 || i === 5 ? "number" : "" }, name)));
    for (const { tr } of this.rows.values()) tr.remove();
    this.rows.clear();
    for (const id of this.runs.keys()) this.dirty.add(id);
  }

  make(id) {
    const cell = (name, label = null) => el("td", label === null ? { class: name } : { class: name, "data-label": label });
    const box = el("input", { type: "checkbox", on: { change: () => this.choose(id) } });
    const link = el("a"), tree = el("span", { class: "under" }), pill = el("span", { class: "pill" }), alarm = el("span"), met = el("span", { class: "under" }), bar = el("span", { class: "bar" }, el("i"));
    const at = el("span", { class: "lines" }), ago = el("span", { class: "under" }), fault = el("a", { class: "lines" }), when = el("span", { class: "under" });
    const row = {
      box, link, tree, pill, alarm, met, bar, at, ago, fault, when, choose: cell("choose"), run: cell("run"), state: cell("state"), where: cell("where"), tick: cell("number", "tick"),
      decisions: cell("number", "decisions"), entries: this.about.panel.map((name) => cell("value", name)), failed: cell("fault", `${this.names[1]}:`),
    };
    row.choose.append(box); row.run.append(link, tree); row.state.append(pill, el("br"), alarm, met, bar); row.where.append(at, ago); row.failed.append(fault, when);
    row.tr = el("tr", {}, row.choose, row.run, row.state, row.where, row.tick, row.decisions, ...row.entries, row.failed);
    this.rows.set(id, row);
    return row;
  }

  row(id) {
    const run = this.runs.get(id), row = this.rows.get(id) ?? this.make(id);
    const [word, letter] = STATES[run.state] ?? [run.state, "I"];
    put(row.link, run.name); row.link.title = shown(run.file); this.lead(row.link, id); row.box.hidden = !run.page; row.box.setAttribute("aria-label", shown(`Compare ${run.name}`));
    put(row.tree, run.tree === run.name ? "" : run.tree);
    put(row.pill, word); row.pill.className = `pill ${letter}`; row.pill.title = shown(run.why);
    const alarm = BADGES[run.alarm] ?? "";
    put(row.alarm, alarm); row.alarm.className = alarm ? `badge ${run.alarm}` : "";
    row.tr.className = run.alarm ? `alarm ${BADGES[run.alarm] ?? ""}` : "";
    const [met, total] = run.met.split("/").map(Number);
    put(row.met, run.met ? `${run.met} met` : ""); row.bar.hidden = !run.met;
    row.bar.firstChild.style.width = `${total ? Math.min(100, (100 * met) / total) : 0}%`;
    const asks = run.asks.length > 0;
    put(row.at, asks ? run.asks.join(" · ") : [run.at, run.said].filter(Boolean).join(": ")); row.at.classList.toggle("ask", asks);
    fill(row.tick, run.tick ? String(run.tick) : ""); fill(row.decisions, run.decisions ? amount(run.decisions) : "");
    this.about.panel.forEach((name, i) => fill(row.entries[i], run.entries[name] ?? ""));
    const fault = run.fault ?? (run.why ? { tick: null, path: "", text: run.why } : null);
    const text = fault ? [fault.path, fault.text].filter(Boolean).join(": ") || "failed" : "";
    put(row.fault, text); row.fault.title = shown(text);
    this.lead(row.fault, id, fault?.tick); put(row.when, fault?.tick ? ` tick ${fault.tick}` : "");
    row.failed.classList.toggle("blank", !fault);
    row.words = [run.name, run.tree, word, run.alarm, run.at, run.said, run.why, text, ...run.asks, ...Object.values(run.entries)].join("\n").toLowerCase();
    this.age(id);
  }

  // A run of another source may have no page.
  lead(link, id, tick = null) { if (this.runs.get(id).page) link.href = this.address(id, tick); else link.removeAttribute("href"); }

  address(id, tick = null) { return `page.html?run=${encodeURIComponent(id)}${tick ? `&tick=${tick}` : ""}${location.hash}`; }

  ages() { for (const [id, { tr }] of this.rows) if (!tr.hidden) this.age(id); }

  age(id) {
    const run = this.runs.get(id), row = this.rows.get(id), past = Date.now() / 1000 + this.ahead - run.progress;
    put(row.ago, !run.progress ? "" : run.state === "running" && past < 10 ? " now" : ` ${ago(past)} ago`);
    row.ago.title = run.progress ? new Date(run.progress * 1000).toLocaleString() : "";
  }

  // Who is new among the alarms is said once.
  announce(ids) {
    const fresh = [];
    for (const id of ids) {
      const run = this.runs.get(id);
      if (run.alarm && this.alarms.get(id) !== run.alarm) fresh.push(`${run.name}: ${BADGES[run.alarm] ?? STATES[run.state]?.[0]}`);
      if (run.alarm) this.alarms.set(id, run.alarm); else this.alarms.delete(id);
    }
    if (fresh.length) put($("heard"), fresh.slice(0, 5).join("; "));
    const name = document.querySelector("h1").textContent, title = this.alarms.size ? `(${this.alarms.size}) ${name}` : name;
    if (document.title !== title) document.title = title;
  }

  // Filter, search, order -------------------------------------------------------------------

  filters() {
    $("filters").replaceChildren(...Object.keys(FILTERS).map((name) => el("button", { "data-filter": name, on: { click: () => { this.filter = name; this.arrange(); } } })));
  }

  arrange() {
    const wanted = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean), runs = [...this.runs.values()];
    for (const button of $("filters").children) {
      const [name, holds] = FILTERS[button.dataset.filter], count = runs.filter(holds).length;
      put(button, `${name} ${count}`); button.setAttribute("aria-pressed", String(this.filter === button.dataset.filter));
      button.classList.toggle("bad", button.dataset.filter === "alarm" && count > 0);
    }
    const order = runs.sort((a, b) => Number(b.alarm !== "") - Number(a.alarm !== "") || b.started - a.started || Number(b.id) - Number(a.id));
    const key = order.map((run) => run.id).join();
    if (key !== this.ordered || [...this.rows.values()].some(({ tr }) => !tr.isConnected)) { this.ordered = key; this.place(order); }
    let shownNow = 0;
    for (const { id } of order) {
      const { tr, words } = this.rows.get(id), hidden = !FILTERS[this.filter][1](this.runs.get(id)) || !wanted.every((word) => words.includes(word));
      if (tr.hidden !== hidden) tr.hidden = hidden;
      shownNow += Number(!hidden);
    }
    const more = this.about.left_out ? ` · ${amount(this.about.left_out)} older ones are left out` : "";
    put($("figures"), `${shownNow === runs.length ? runs.length : `${shownNow} of ${runs.length}`}${more}`);
    put($("none"), shownNow ? "" : runs.length ? "No run fits the filter and the search." : this.told ? `There are no runs in ${this.about.places.join(", ")} yet.` : "Reading …");
    this.offer();
  }

  // Only rows out of place are moved: one that has the focus keeps it.
  place(order) {
    const body = $("rows");
    let next = body.firstElementChild;
    for (const { id } of order) {
      const { tr } = this.rows.get(id);
      if (tr === next) next = next.nextElementSibling;
      else body.insertBefore(tr, next);
    }
  }

  // Two runs --------------------------------------------------------------------------------

  choose(id) {
    this.chosen = this.rows.get(id).box.checked ? [...this.chosen, id] : this.chosen.filter((one) => one !== id);
    while (this.chosen.length > 2) this.rows.get(this.chosen.shift()).box.checked = false;
    this.offer();
  }

  // The fleet's page lists what cannot be compared, and has no button.
  offer() { if ($("compare")) $("compare").disabled = this.chosen.length !== 2; }

  compare() { location.href = `two.html?runs=${this.chosen.map(encodeURIComponent).join(",")}${location.hash}`; }
}

function put(element, text) {
  const said = shown(text);
  if (element.textContent !== said) element.textContent = said;
}

function fill(cell, text) { put(cell, text); cell.classList.toggle("blank", !text); }

function ago(t) {
  const past = Math.max(0, t);
  if (past < 60) return `${Math.floor(past)} s`;
  if (past < 3600) return `${Math.floor(past / 60)} min`;
  return past < 172800 ? `${Math.floor(past / 3600)} h` : `${Math.floor(past / 86400)} days`;
}

globalThis.btrRuns = new List();
globalThis.btrRuns.start();
