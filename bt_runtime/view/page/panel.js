"use strict";
// Beside the tree: the chosen node, memory, the world, the log.

const WORDS = { R: "running", S: "success", F: "failure", I: "idle" };

class Panel {
  constructor(host) {
    this.host = host;
    this.tab = "node";
    this.drawn = 0;
    this.stale = true;
    this.tabs = [...document.querySelectorAll("[data-tab]")];
    for (const tab of this.tabs) tab.addEventListener("click", () => this.open(tab.dataset.tab));
    this.head = el("div");
    this.body = el("div");
    this.story = new Story(this.body);
  }

  open(name) {
    this.tab = name;
    for (const tab of this.tabs) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
    this.host.replaceChildren();
    this.story.id = null;
    this.stale = true;
    this.host.scrollTop = 0;
    if (this.wake) this.wake();
  }

  // At most ten times a second, and only what is open.
  draw(fold, chosen, news) {
    if (fold !== this.fold) this.stale = true;
    this.stale ||= this.tab === "node" ? news.nodes.size > 0 || news.told.size > 0 || chosen !== this.shownId : { board: news.board, world: news.world, log: news.lines }[this.tab];
    if (!this.stale) return false;
    const now = performance.now();
    if (now - this.drawn < 100) return true; // comes soon
    Object.assign(this, { stale: false, drawn: now, fold, shownId: chosen });
    const atEnd = this.host.scrollHeight - this.host.scrollTop - this.host.clientHeight < 40;
    this[this.tab](fold, chosen);
    if (atEnd && (this.tab === "log" || this.tab === "node")) this.host.scrollTop = this.host.scrollHeight;
    return false;
  }

  node(fold, chosen) {
    const picked = fold.nodes.get(chosen), running = picked ?? fold.runs();
    const agent = (running && fold.agentAt(running.id)) ?? (picked ? null : fold.nodes.get(fold.mind));
    const at = picked ?? agent ?? running ?? fold.nodes.get(fold.roots[0]);
    if (!at) { this.host.replaceChildren(el("p", { class: "dim" }, "Nothing has run yet. Choose a node to see what it is.")); this.story.id = null; return; }
    const about = fold.goals.has(at.id) ? null : el("span", { class: "said" }, at.gist);
    this.head.replaceChildren(
      el("div", { class: "path said" }, fold.path(at.id)),
      el("p", {}, el("span", { class: `pill ${at.status}` }, `${SIGNS[at.status]} ${WORDS[at.status]}`), " ", el("b", {}, at.kind), " ", at.name && at.name !== at.gist ? el("span", { class: "said" }, at.name, " ") : null, about),
      at.feedback ? el("p", { class: "said dim" }, at.feedback) : "",
    );
    if (this.head.parentNode !== this.host) this.host.replaceChildren(this.head, this.body);
    if (agent && (agent.id === at.id)) this.story.show(fold, agent);
    else if (agent) { this.story.id = null; this.body.replaceChildren(el("p", { class: "dim" }, "Below the agent ", el("span", { class: "said" }, fold.path(agent.id)), " (← goes there).")); }
    else { this.story.id = null; this.body.replaceChildren(); }
  }

  board(fold) {
    const rows = [], below = [], parts = [];
    for (const event of [...fold.board.values()].reverse()) {
      if (event.name === "working_memory" && event.value && event.value.things) { parts.push(...this.memory(event.value)); continue; }
      const where = event.scope;
      (where ? below : rows).push(el("tr", { class: event.t > fold.before && event.t > 0 && !fold.latest.over ? "fresh" : "" }, el("td", {}, el("b", {}, event.name), where ? el("div", { class: "path" }, where) : ""), el("td", {}, el("span", { class: "code" }, value(event.value)))));
    }
    const table = rows.length ? el("table", {}, rows) : el("p", { class: "dim" }, "Nothing is written there yet.");
    const others = below.length ? [el("h2", {}, "Blackboards of subtrees"), el("table", {}, below)] : [];
    this.host.replaceChildren(el("h2", {}, "Blackboard"), table, ...parts, ...others);
  }

  memory(known) {
    const here = (known.here ?? []).filter(Boolean).join(", ");
    const things = known.things.filter(Array.isArray).map(([kind, number, room, near, how, , , stale]) => el("tr", { class: stale ? "stale" : "" }, el("td", {}, `${kind} ${number}`), el("td", {}, how === "held" ? "in hand" : [near, room].filter(Boolean).join(", "))));
    const facts = (known.facts ?? []).filter(Array.isArray).map(([subject, attribute, said]) => el("tr", {}, el("td", {}, `${subject}: ${attribute}`), el("td", {}, value(said))));
    return [el("h2", {}, "Working memory"), here ? el("p", { class: "dim" }, `here: ${here}`) : "", things.length ? el("table", {}, things) : el("p", { class: "dim" }, "Nothing was seen yet."), facts.length ? el("table", {}, facts) : ""].filter(Boolean);
  }

  world(fold) {
    const event = fold.latest.world;
    if (!event) { this.host.replaceChildren(el("p", { class: "dim" }, "This run has no world.")); return; }
    const seen = event.picture;
    const draw = { house: rooms, bag, image: frame, text: (p) => [el("pre", {}, p.text)] }[seen && seen.is] ?? ((p) => [el("pre", {}, JSON.stringify(p, null, 1))]);
    this.host.replaceChildren(...draw(seen));
  }

  log(fold) {
    const few = fold.lines.slice(-300);
    this.host.replaceChildren(...few.map((line) => {
      const kind = line.k === "line" ? line.level : line.k;
      const said = line.k === "halt" ? `halted by ${line.by}: ${line.why}` : line.text ?? line.message;
      const text = kind === "graft" ? el("details", {}, el("summary", {}, said.split("\n")[0]), el("pre", {}, said.split("\n").slice(1).join("\n"))) : el("div", { class: "code" }, said);
      return el("div", { class: `entry ${String(kind).replace(/\W/g, "")}` }, el("span", { class: "at" }, seconds(line.t)), el("div", {}, el("span", { class: "path said" }, `${kind} ${line.path ?? ""}`), text));
    }), few.length ? "" : el("p", { class: "dim" }, "Nothing was logged yet."));
  }
}

function rooms(house) {
  const hands = (house.hands ?? []).length ? house.hands.map((thing) => el("span", { class: "chip" }, thing)) : [el("span", { class: "dim" }, "nothing")];
  return [
    el("h2", {}, "In hand"), el("div", { class: "chips" }, hands), el("h2", {}, "Rooms"),
    el("div", { class: "rooms" }, house.rooms.map((room) => el("div", { class: room.here ? "room here" : "room" },
      el("h3", {}, room.name, room.here ? " · here" : ""),
      el("ul", {}, room.places.map((place) => {
        const states = [place.open === true ? "open" : place.open === false ? "closed" : "", place.on ? "on" : ""].filter(Boolean).join(", ");
        const things = place.things.flatMap((thing, i) => [i ? ", " : ": ", el("span", { class: thing.hidden ? "hidden" : "" }, thing.name)]);
        return el("li", { class: place.here ? "here" : place.things.length ? "" : "bare" }, place.name, states ? ` (${states})` : "", ...things);
      })),
    ))),
  ];
}

function bag(found) {
  const held = Object.entries(found.bag ?? {});
  return [
    el("h2", {}, "Goal"), el("div", { class: "chips" }, el("span", { class: (found.crafted ?? []).includes(found.goal) ? "chip done" : "chip" }, found.goal)),
    el("h2", {}, "Inventory"), held.length ? el("div", { class: "chips" }, held.map(([item, n]) => el("span", { class: (found.crafted ?? []).includes(item) ? "chip done" : "chip" }, `${n} × ${item}`))) : el("p", { class: "dim" }, "empty"),
    el("h2", {}, "Recipes"), ...(found.recipes ?? []).map((line) => el("p", { class: "said" }, line)),
  ];
}

function frame(seen) {
  const sound = typeof seen.png === "string" && /^[A-Za-z0-9+/=]+$/.test(seen.png);
  return [sound ? el("img", { src: `data:image/png;base64,${seen.png}`, alt: "the world from the robot" }) : "", el("pre", {}, seen.text)].filter(Boolean);
}
