"use strict";
// Beside the tree: the chosen node, the blackboard, the world, the log. A panel of one's own: `btr.panel.add(name, part)`.

const WORDS = { R: "running", S: "success", F: "failure", I: "idle" };

class Panel {
  constructor(host, page) {
    this.host = host;
    this.page = page;
    this.tab = "node";
    this.drawn = 0;
    this.stale = true;
    this.parts = {}; // by the name of a tab: fresh(news, chosen, page), draw(fold, chosen, page), and maybe forget()
    this.tabs = [];
    this.add("node", new NodePanel(host));
    this.add("board", new BoardPanel(host));
    this.add("world", { fresh: (news) => news.world, draw: (fold) => this.world(fold) });
    this.add("log", { fresh: (news) => news.lines, draw: (fold) => this.log(fold) });
    host.addEventListener("click", (e) => {
      const go = e.target.closest("[data-go]"), write = e.target.closest("[data-write]");
      const open = e.target.closest("[data-open]"), own = e.target.closest("[data-own]");
      if (open) page.edited("edit", page.place(open.dataset.open));
      else if (own) page.own(own.dataset.own);
      if (go) page.goTo(Number(go.dataset.go));
      else if (write) this.parts.board.ask(write.dataset.write, write);
    });
  }

  // The tab's button is the one in the page that has its name as `data-tab`.
  add(name, part) {
    this.parts[name] = part;
    const tab = document.querySelector(`[data-tab="${name}"]`);
    this.tabs.push(tab);
    tab.addEventListener("click", () => this.open(name));
  }

  open(name) {
    this.tab = name;
    for (const tab of this.tabs) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
    this.host.replaceChildren();
    this.parts[name].forget?.();
    this.stale = true;
    this.host.scrollTop = 0;
    if (this.wake) this.wake();
  }

  // At most ten times a second, and only what is open.
  draw(fold, chosen, news) {
    const part = this.parts[this.tab];
    this.stale ||= fold !== this.fold || part.fresh(news, chosen, this.page);
    if (!this.stale) return false;
    const now = performance.now();
    if (now - this.drawn < 100) return true; // comes soon
    const story = this.tab === "log" || (this.tab === "node" && this.parts.node.story.id !== null);
    const atEnd = story && this.host.scrollHeight - this.host.scrollTop - this.host.clientHeight < 40;
    Object.assign(this, { stale: false, drawn: now, fold });
    part.draw(fold, chosen, this.page);
    if (atEnd) this.host.scrollTop = this.host.scrollHeight;
    return false;
  }

  world(fold) {
    const event = fold.latest.world;
    if (!event) { this.host.replaceChildren(el("p", { class: "dim" }, "This run has no world.")); return; }
    const seen = event.picture;
    const draw = { house: rooms, bag, map: ground, image: frame, text: (p) => [el("pre", {}, p.text)] }[seen && seen.is] ?? ((p) => [el("pre", {}, JSON.stringify(p, null, 1))]);
    this.host.replaceChildren(...draw(seen));
  }

  log(fold) {
    const rank = { debug: 0, info: 1, warning: 2, error: 3 }, least = rank[this.least ?? "debug"];
    const few = fold.lines.filter((line) => (line.k === "line" ? rank[line.level] ?? 1 : 2) >= least).slice(-300);
    const levels = el("select", { "aria-label": "Least level", on: { change: (e) => { this.least = e.target.value; this.log(fold); } } }, Object.keys(rank).map((name) => el("option", { value: name }, name === "debug" ? "all levels" : `${name} and worse`)));
    levels.value = this.least ?? "debug";
    this.host.replaceChildren(levels, ...few.map((line) => {
      const kind = line.k === "line" ? line.level : line.k;
      const said = line.k === "halt" ? `halted by ${line.by}: ${line.why}` : line.text ?? line.message;
      const text = kind === "graft" ? el("details", {}, el("summary", {}, said.split("\n")[0]), el("pre", {}, said.split("\n").slice(1).join("\n"))) : el("div", { class: "code" }, said);
      const trace = line.traceback ? el("details", {}, el("summary", {}, "Traceback"), el("pre", {}, line.traceback)) : "";
      return el("div", { class: `entry ${String(kind).replace(/\W/g, "")}` }, el("span", { class: "at" }, seconds(line.t)), el("div", {}, el("span", { class: "path said" }, `${kind} ${line.path ?? ""}`), text, trace));
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
