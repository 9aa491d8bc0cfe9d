"use strict";
// The Node panel: everything that is known of one node.

const MOST_LINES_SHOWN = 14; // of a node's YAML, before the rest is folded away

class NodePanel {
  constructor(host) {
    this.host = host;
    this.head = el("div");
    this.body = el("div");
    this.story = new Story(this.body);
    this.extras = []; // (fold, node) → elements: what others add to a node's panel
  }

  fresh(news, chosen) { return news.nodes.size > 0 || news.told.size > 0 || news.board || chosen !== this.shown; }

  forget() { this.story.id = null; this.said = ""; }

  draw(fold, chosen, page) {
    this.shown = chosen;
    const picked = fold.nodes.get(chosen), running = picked ?? fold.runs(page.tree.anchor);
    const agent = (running && fold.agentAt(running.id)) ?? (picked ? null : fold.nodes.get(fold.mind));
    const at = picked ?? agent ?? running ?? fold.nodes.get(fold.roots[0]);
    if (!at) { this.host.replaceChildren(el("p", { class: "dim" }, "Nothing has run yet. Choose a node to see what it is.")); this.forget(); return; }
    this.fold = fold; this.page = page;
    const told = agent && agent.id === at.id;
    const facts = this.facts(at);
    const made = el("div", {}, this.top(at), ...this.extras.flatMap((add) => add(fold, at) ?? []), told ? [el("details", { "data-part": "facts" }, el("summary", {}, "What it is"), ...facts)] : facts);
    const open = new Map([...this.head.querySelectorAll("details")].map((d) => [d.dataset.part, d.open]));
    for (const each of made.querySelectorAll("details")) if (this.of === at.id && open.has(each.dataset.part)) each.open = open.get(each.dataset.part);
    const said = made.innerHTML;
    if (said !== this.said || this.of !== at.id) { this.head.replaceChildren(...made.childNodes); this.said = said; this.of = at.id; }
    if (this.head.parentNode !== this.host) this.host.replaceChildren(this.head, this.body);
    this.story.page = page;
    if (told) { this.story.show(fold, agent); return; }
    this.story.id = null;
    if (!agent) this.body.replaceChildren();
    else this.body.replaceChildren(el("p", { class: "dim" }, "Below the agent ", this.go(agent.id, fold.path(agent.id)), "."));
  }

  // A button that leads to a node.
  go(id, text) { return el("button", { class: "link said", "data-go": id }, text); }

  top(node) {
    const { fold } = this, place = branch(node), about = fold.goals.has(node.id) ? null : node.gist;
    return [
      el("div", { class: "path said" }, fold.path(node.id)),
      el("p", {}, el("span", { class: `pill ${node.status}` }, `${SIGNS[node.status]} ${WORDS[node.status]}`), " ", place ? el("span", { class: "chip" }, place) : null, " ", el("b", {}, node.kind), " ", node.name && node.name !== node.gist ? el("span", { class: "said" }, node.name, " ") : null, about ? el("span", { class: "said" }, about) : null),
      node.feedback && !(node.crash && node.crash.t >= node.began && node.crash.message.startsWith(node.feedback)) ? el("p", { class: "said feedback" }, node.feedback) : "",
      this.crashed(node), this.halted(node), this.times(node),
    ].flat().filter(Boolean);
  }

  crashed({ crash, began }) {
    if (!crash || crash.t < began) return "";
    const trace = crash.traceback ? el("details", { "data-part": "trace" }, el("summary", {}, "Traceback"), el("pre", {}, crash.traceback)) : "";
    return el("div", { class: "box-note bad" }, el("div", { class: "said" }, el("b", {}, "Broke: "), crash.message), trace);
  }

  halted({ halted, began, status }) {
    if (!halted || halted.t < began || status === "R") return "";
    const by = [...this.fold.nodes.values()].find((n) => halted.by.startsWith("/") && this.fold.path(n.id) === halted.by);
    return el("p", { class: "box-note said" }, el("b", {}, "Halted"), ` at ${seconds(halted.t)} by `, by ? this.go(by.id, halted.by) : halted.by, `: ${halted.why}`);
  }

  times(node) {
    if (!node.begun) return el("p", { class: "dim" }, "It has not begun yet.");
    // one that answers at once and gives the same again is not told of: such are at least so many
    const parts = [`begun ${node.ended && !node.total ? "at least " : ""}${times(node.begun)}`];
    if (node.ended) parts.push(`ended ${times(node.ended)}`, `took ${brief(node.last)} last`, `${brief(node.total / node.ended)} on average`);
    parts.push(`${node.status === "R" ? "running" : "as it is"} since ${seconds(node.since)} (tick ${node.tick})`);
    return el("p", { class: "dim times" }, parts.join(" · "));
  }

  facts(node) {
    if (!node.facts) return [];
    const guard = this.fold.nodes.get(node.parent), guarded = node.segment === "." && guard?.facts;
    return [
      ...(guarded ? this.fields(guard, "Guards") : []), ...this.fields(node, "Fields"), ...this.ports(node), ...this.writes(node), ...this.source(node),
    ];
  }

  fields(node, title) {
    const { fields = [], names = {}, asks = [] } = node.facts;
    if (!fields.length) return [];
    const rows = fields.map(([name, text, read]) => {
      const test = asks.includes(name), made = test ? null : filled(text, (of) => this.read(node, of).then);
      return el("tr", {}, el("td", {}, name), el("td", {}, el("span", { class: "code" }, text), made !== null && made !== text ? el("div", { class: "said made" }, `→ ${made}`) : "", read.map((of) => this.value(node, of))));
    });
    for (const of of Object.keys(names)) if (!fields.some(([, , read]) => read.includes(of))) rows.push(el("tr", {}, el("td", { class: "dim" }, "looks at"), el("td", {}, this.value(node, of))));
    return [el("h2", {}, title), el("table", { class: "known" }, rows)];
  }

  value(node, of) {
    const { now, then, sure, key } = this.read(node, of);
    const said = then === undefined ? "was never written" : `= ${short(then)}`;
    const later = now !== undefined && JSON.stringify(now) !== JSON.stringify(then) ? `, now ${short(now)}` : "";
    return el("div", { class: "read said", title: shown(where(key)) }, el("b", {}, of), ` ${said}${later}`, sure ? "" : " (written in that very tick)");
  }

  // What an entry was when the node's status changed last, as far as the short values that are kept tell it.
  read(node, of) {
    const key = this.fold.entry(node.facts.names?.[of]), event = this.fold.board.get(key), now = event?.value;
    if (!event || !node.begun || node.status === "R") return { key, now, then: now, sure: true };
    const after = ([, tick]) => tick > node.acted || (tick === node.acted && typeof event.by === "string" && event.by !== "start" && event.n === tick);
    const past = this.fold.past.get(key) ?? [], before = past.filter((each) => !after(each));
    if (!past.length || !after([event.t, event.n ?? 0])) {
      if (event.n !== node.acted || past.length < 2 || event.by === node.id) return { key, now, then: now, sure: true };
      const earlier = this.earlier(event.by, node); // both in that tick: who came first?
      return { key, now, then: earlier === false ? past[past.length - 2][2] : now, sure: earlier !== null };
    }
    return { key, now, then: before.length ? before[before.length - 1][2] : undefined, sure: true };
  }

  // Did a node write before another one read, in the tick in which both did; null: that cannot be said.
  earlier(by, node) {
    const writer = this.fold.nodes.get(by);
    if (!writer || writer.kind === "guard") return null;
    if (this.fold.above(node.id).includes(writer)) return true; // such as the item of a `for_each`
    return writer.acted === node.acted && writer.place >= 0 && node.place >= 0 ? writer.place < node.place : null;
  }

  ports(node) {
    const { ports = [] } = node.facts;
    if (!ports.length) return [];
    const rows = ports.map(([name, type, way, about]) => {
      const { event, from } = portOf(this.fold, node, name);
      return el("tr", {}, el("td", { title: shown(about) }, el("b", {}, name), el("div", { class: "dim" }, `${{ in: "input", out: "output", kept: "entry" }[way]}, ${type}`)), el("td", {}, el("span", { class: "code" }, event ? short(event.value) : "—"), from !== undefined ? el("div", { class: "dim said" }, `from ${from}`) : ""));
    });
    return [el("h2", {}, "Ports"), el("table", { class: "known" }, rows)];
  }

  writes(node) {
    const own = Object.entries(node.facts.writes ?? {});
    if (!own.length) return [];
    const rows = own.map(([name, way]) => {
      const key = this.fold.entry(way), event = this.fold.board.get(key);
      const who = event ? (event.by === node.id ? `by this node at ${seconds(event.t)}` : `not by this node, at ${seconds(event.t)}`) : "not written yet";
      return el("tr", {}, el("td", {}, el("b", {}, name)), el("td", {}, event ? el("span", { class: "code" }, short(event.value)) : "", el("div", { class: "dim" }, who)));
    });
    return [el("h2", {}, "Writes"), el("table", { class: "known" }, rows)];
  }

  // Links to the two editors, where the server has them.
  opens(node) {
    const page = this.page;
    if (!page.token || (!page.history.head.latest.editor && page.run === null)) return "";
    return el("span", {}, el("button", { class: "link", "data-open": this.fold.path(node.id) }, "Edit"), " · ", el("button", { class: "link", "data-own": this.fold.path(node.id), title: "In your own editor" }, "My editor"));
  }

  source(node) {
    const source = this.fold.sources.get(node.facts.source);
    if (!source || !source.text) return [];
    const [line, column] = node.facts.at, cut = excerpt(source.text, line, column);
    const rows = (lines, from) => lines.map((text, i) => el("span", { class: "source-line" }, el("span", { class: "number" }, String(from + i)), `${text}\n`));
    const first = cut.slice(0, MOST_LINES_SHOWN), rest = cut.slice(MOST_LINES_SHOWN);
    return [
      el("h2", {}, "Written"), el("div", { class: "path said" }, `${source.file}:${line} `, this.opens(node)), el("pre", { class: "source" }, ...rows(first, line)),
      rest.length ? el("details", { "data-part": "source" }, el("summary", {}, `${rest.length} lines more`), el("pre", { class: "source" }, ...rows(rest, line + first.length))) : "",
    ].filter(Boolean);
  }
}

// The value of a port, and the text that gives it: of its own entry, or of the one that it stands for.
function portOf(fold, node, name) {
  const from = (node.facts.fields ?? []).find(([field]) => field === `with.${name}`)?.[1];
  const whole = /^\{\s*(\w+)\s*\}$/.exec(from ?? "")?.[1] ?? from;
  const key = whole !== undefined ? fold.entry(node.facts.names?.[whole]) : "";
  return { event: fold.board.get(`${fold.path(node.id)}\u0000${name}`) ?? fold.board.get(key), from };
}

// What a box says when it is zoomed in: ports, entries that the node reads, and → those that it writes.
function boxValues(fold, node) {
  const facts = node.facts ?? {}, writes = facts.writes ?? {}, ports = facts.ports ?? [];
  const said = (event) => (event ? short(event.value) : "–"), now = (key) => said(fold.board.get(key));
  if (ports.length) return ports.map(([name, , way]) => `${way === "out" ? "→ " : ""}${name} ${said(portOf(fold, node, name).event).replace(/^"([^"]*)"$/, "$1")}`).join(", "); // a box has little room
  const reads = Object.entries(facts.names ?? {}).filter(([name]) => !(name in writes)).map(([name, way]) => `${name} = ${now(fold.entry(way))}`);
  return [...reads, ...Object.entries(writes).map(([name, way]) => `→ ${name} = ${now(fold.entry(way))}`)].join(", ");
}

// The lines of a node: its own, and those that follow and stand deeper.
function excerpt(text, line, column) {
  const lines = text.split("\n"), out = [lines[line - 1] ?? ""];
  const dash = /^\s*-\s/.test(out[0].slice(0, column - 1));
  for (const next of lines.slice(line)) {
    const deep = next.search(/\S/);
    if (deep < 0) { out.push(next); continue; }
    if (deep < column - 1 || (deep === column - 1 && (dash || !next.slice(deep).startsWith("- ")))) break;
    out.push(next);
  }
  while (out.length > 1 && !out[out.length - 1].trim()) out.pop();
  const least = Math.min(...out.filter((each) => each.trim()).map((each) => each.search(/\S/)));
  return out.map((each) => each.slice(least));
}

function short(json) {
  const text = typeof json === "string" ? JSON.stringify(json) : JSON.stringify(json) ?? "";
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

function where(key) { const [scope, name] = key.split("\u0000"); return scope ? `${name} of ${scope}` : `${name} of the run`; }
function times(n) { return n === 1 ? "once" : n === 2 ? "twice" : `${amount(n)} times`; }
function brief(t) { return t < 1 ? `${(t * 1000).toFixed(t < 0.01 ? 1 : 0)} ms` : seconds(t); }
