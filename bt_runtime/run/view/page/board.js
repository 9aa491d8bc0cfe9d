"use strict";
// The Blackboard panel: all scopes, how old each value is, who wrote and who read it; of a live run, written from here.

const MOST_ROWS = 8; // of a value, before the rest is folded away

class BoardPanel {
  constructor(host) {
    this.host = host;
    this.writing = null; // the entry that somebody is writing
    this.drawn = 0;
    this.opened = new Set(); // the entries of which all lines are shown
  }

  fresh(news, chosen, page) { return news.board || (!page.settled && performance.now() - this.drawn > 1000); }

  forget() { this.writing = null; }

  draw(fold, chosen, page) {
    if (this.writing && this.host.contains(document.activeElement)) return; // nothing moves under one's hands
    this.drawn = performance.now();
    Object.assign(this, { fold, page, writing: null });
    this.index(fold);
    const scopes = new Map(), memories = [];
    for (const [key, event] of [...fold.board].reverse()) {
      if (event.name === "working_memory" && event.value && event.value.things) { memories.push(...memory(event.value)); continue; }
      if (!scopes.has(event.scope)) scopes.set(event.scope, []);
      scopes.get(event.scope).push(this.row(key, event));
    }
    const order = [...scopes.keys()].sort((a, b) => (a < b ? -1 : 1));
    const parts = order.map((scope) => el("section", {}, el("h2", {}, scope ? el("span", { class: "said path" }, scope) : "The run's own"), el("div", { class: "entries" }, scopes.get(scope))));
    this.host.replaceChildren(...(parts.length ? parts : [el("p", { class: "dim" }, "Nothing is written on the blackboard yet.")]), ...memories);
  }

  // Which nodes read an entry, from what their text says: keeping who did costs a tick nothing.
  index(fold) {
    if (this.indexed === fold.version && this.of === fold) return;
    Object.assign(this, { indexed: fold.version, of: fold, readers: new Map() });
    for (const node of fold.nodes.values())
      for (const way of Object.values(node.facts?.names ?? {})) {
        const key = fold.entry(way);
        if (!this.readers.has(key)) this.readers.set(key, []);
        this.readers.get(key).push(node.id);
      }
  }

  row(key, event) {
    const { fold } = this, age = Math.max(0, this.page.now - event.t);
    const fresh = event.t > fold.before && event.t > 0 && !fold.latest.over;
    const long = event.value !== null && typeof event.value === "object";
    const read = (this.readers.get(key) ?? []).map((id) => fold.nodes.get(id)).filter((n) => n && n.begun).sort((a, b) => Number(b.status === "R") - Number(a.status === "R") || b.tick - a.tick)[0];
    return el("div", { class: `slot${fresh ? " fresh" : ""}` },
      el("div", { class: "slot-head" }, el("b", { class: "said" }, event.name), this.plot(key), el("span", { class: "spring" }), el("span", { class: "dim", title: "for how long it has had this value" }, ago(age)), this.page.commands ? el("button", { class: "small", "data-write": key, title: "Write this entry" }, "Write") : ""),
      long ? this.long(key, pretty(event.value)) : el("div", { class: "slot-value code" }, short(event.value)),
      el("div", { class: "dim who" }, "written by ", this.who(event.by), read ? [" · read by ", this.go(read)] : ""),
    );
  }

  // The first lines of a long value, and how many more there are.
  long(key, text) {
    const rows = text.split("\n"), first = el("pre", { class: "slot-value" }, rows.slice(0, MOST_ROWS).join("\n"));
    if (rows.length <= MOST_ROWS) return first;
    const rest = el("details", { on: { toggle: () => (rest.open ? this.opened.add(key) : this.opened.delete(key)) } }, el("summary", {}, `${rows.length - MOST_ROWS} lines more`), el("pre", {}, rows.slice(MOST_ROWS).join("\n")));
    rest.open = this.opened.has(key);
    return [first, rest];
  }

  who(by) {
    const node = typeof by === "number" ? this.fold.nodes.get(by) : null;
    if (node) return this.go(node);
    return typeof by === "number" ? "a node that has gone" : { start: "the start of the run", outside: "the program around it", page: "a person, on this page", "": "a node that cannot be told" }[by ?? ""] ?? by;
  }

  go(node) { return el("button", { class: "link said", "data-go": node.id }, this.fold.path(node.id)); }

  plot(key) {
    const past = (this.fold.past.get(key) ?? []).filter(([, , value]) => typeof value === "number");
    if (past.length < 2) return "";
    const values = past.map((each) => each[2]), low = Math.min(...values), high = Math.max(...values), w = 90, h = 18;
    const from = past[0][0], to = Math.max(this.page.now, past[past.length - 1][0]), x = (t) => (to > from ? ((t - from) / (to - from)) * (w - 4) : w - 4) + 2, y = (v) => (high > low ? h - 3 - ((v - low) / (high - low)) * (h - 6) : h / 2);
    const steps = past.map(([t, , v], i) => `${i ? `H${x(t).toFixed(1)}V` : `M${x(t).toFixed(1)} `}${y(v).toFixed(1)}`).join("");
    const drawn = svg("svg", { class: "plot", width: w, height: h, role: "img", "aria-label": `from ${low} to ${high}` });
    drawn.append(svg("title", {}, `${past.length} values from ${low} to ${high}, since ${seconds(from)}`), svg("path", { d: `${steps}H${x(to).toFixed(1)}` }), svg("circle", { cx: x(to).toFixed(1), cy: y(values[values.length - 1]).toFixed(1), r: 2 }));
    return drawn;
  }

  // Writing ---------------------------------------------------------------------------------

  ask(key, button) {
    const event = this.fold.board.get(key), slot = button.closest(".slot");
    if (!event || slot.querySelector("form")) return;
    this.writing = key;
    const text = typeof event.value === "string";
    const field = el("input", { class: "code", value: text ? event.value : JSON.stringify(event.value), "aria-label": `A new value for ${shown(event.name)}`, spellcheck: "false", autocomplete: "off" });
    const said = el("div", { class: "said wrong", role: "alert" });
    const done = () => { this.writing = null; field.blur(); this.page.panel.stale = true; this.page.wake(); };
    const form = el("form", { class: "writing" }, field, el("button", { class: "small" }, "Write"), el("button", { class: "small", type: "button" }, "Leave"), said);
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      let value = field.value;
      try { if (!text || /^".*"$/.test(value)) value = JSON.parse(value); } catch { put(said, "Write it as JSON: 3, true, \"text\", [1, 2] or {\"a\": 1}."); return; }
      if (await this.page.command("write", { scope: event.scope, name: event.name, value }, (wrong) => put(said, wrong))) done();
    });
    form.lastElementChild.previousElementSibling.addEventListener("click", done);
    field.addEventListener("keydown", (e) => { e.stopPropagation(); if (e.key === "Escape") done(); });
    slot.append(form);
    field.focus(); field.select();
  }
}

function memory(known) {
  const here = (known.here ?? []).filter(Boolean).join(", ");
  const things = known.things.filter(Array.isArray).map(([kind, number, room, near, how, , , stale]) => el("tr", { class: stale ? "stale" : "" }, el("td", {}, `${kind} ${number}`), el("td", {}, how === "held" ? "in hand" : [near, room].filter(Boolean).join(", "))));
  const facts = (known.facts ?? []).filter(Array.isArray).map(([subject, attribute, said]) => el("tr", {}, el("td", {}, `${subject}: ${attribute}`), el("td", {}, value(said))));
  return [el("h2", {}, "Working memory"), here ? el("p", { class: "dim" }, `here: ${here}`) : "", things.length ? el("table", {}, things) : el("p", { class: "dim" }, "Nothing was seen yet."), facts.length ? el("table", {}, facts) : ""].filter(Boolean);
}

function pretty(json) {
  const flat = JSON.stringify(json);
  return flat.length <= 60 ? flat : JSON.stringify(json, null, 1);
}

function ago(t) { return t < 1 ? "just now" : t < 60 ? `${Math.floor(t)} s ago` : t < 3600 ? `${Math.floor(t / 60)} min ago` : `${Math.floor(t / 3600)} h ago`; }
