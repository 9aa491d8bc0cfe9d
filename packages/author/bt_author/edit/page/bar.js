"use strict";
// What can be done, where it stands: to the chosen node at its box, to the file in the header, and all of it by name (Ctrl K).

const AT_FILE = new Set(["format", "picture", "wish", "everywhere", "commands"]); // the rest of the gestures without a button of their own is done to the chosen node
const FIRST = new Set(["add", "wrap", "swap", "rename", "delete", "open"]); // of the bar; the others unfold

App.prototype.toolbar = function () {
  for (const [name, [title, key, act, , about]] of Object.entries(GESTURES)) {
    const button = () => el("button", { "data-gesture": name, title: `${about} (${key})`, ...(FIRST.has(name) || AT_FILE.has(name) ? {} : { class: "rest" }), on: { click: () => act(this) } }, title, AT_FILE.has(name) ? "" : el("kbd", {}, key));
    if (!$(name)?.matches("header button")) $(AT_FILE.has(name) ? "toolbar" : "bar").append(button());
    $("all-keys").append(el("dt", {}, key), el("dd", {}, `${title}: ${about}`));
  }
  $("bar").append(el("button", { id: "more", "aria-expanded": "false", title: "All that can be done to this node", on: { click: () => { const all = $("bar").classList.toggle("all"); $("more").setAttribute("aria-expanded", String(all)); this.placeBar(); } } }, "⋯"));
  $("all-keys").append(el("dt", {}, "↑ ↓ ← →"), el("dd", {}, "move in the tree; with Shift: choose several; Escape: none"), el("dt", {}, "1 2 3 4 5"), el("dd", {}, "node, tree, text, faults, try"), el("dt", {}, "[ ]"), el("dd", {}, "in Try: one step back, one on"));
};

// Beside the chosen box, where it covers the fewest others.
App.prototype.placeBar = function () {
  const bar = $("bar"), { view } = this, place = view.places.get(view.chosen), frame = $("tree").getBoundingClientRect();
  const on = (p) => ({ left: (p.x - view.at.x) * view.at.scale, top: (p.y - BOX / 2 - view.at.y) * view.at.scale, wide: p.w * view.at.scale, high: BOX * view.at.scale });
  const box = place && on(place);
  bar.hidden = !box || this.dragging || box.left + box.wide < 0 || box.left > frame.width || box.top < 0 || box.top > frame.height;
  if (bar.hidden) return;
  const wide = bar.offsetWidth, high = bar.offsetHeight, others = [...view.drawn.keys()].map((id) => view.places.get(id)).filter(Boolean).map(on);
  const row = ROW * view.at.scale, spots = [[box.left + box.wide + 8, box.top + box.high / 2 - high / 2]];
  for (let n = 0; n < 6; n++) spots.push([box.left, box.top - high - 5 - n * row], [box.left, box.top + box.high + 5 + n * row]);
  let best = null;
  for (const [x, y] of spots) {
    const left = Math.max(4, Math.min(x, frame.width - wide - 4)), top = Math.max(4, Math.min(y, frame.height - high - 40));
    const covered = others.filter((o) => o.left < left + wide && o.left + o.wide > left && o.top < top + high && o.top + o.high > top).length;
    const cost = covered * 200 + Math.hypot(left - box.left, top - box.top);
    if (!best || cost < best.cost) best = { left, top, cost };
  }
  bar.style.left = `${best.left}px`;
  bar.style.top = `${best.top + frame.top - $("stage").getBoundingClientRect().top}px`;
};

// Nothing is chosen: the panel tells of the whole tree.
App.prototype.unpick = function () {
  for (const each of this.picked) this.view.marks.delete(each);
  this.picked.clear();
  this.view.chosen = null;
  this.head(); this.panel(); this.frame();
  this.say("nothing is chosen");
};

// Commands by name ----------------------------------------------------------------------------

App.prototype.allCommands = function () {
  const gestures = Object.values(GESTURES).filter(([, , , can]) => can(this)).map(([title, key, act]) => [title, key, () => act(this)]);
  const tabs = [...document.querySelectorAll("[data-tab]")].map((tab) => [`Show ${tab.textContent}`, "", () => this.tab(tab.dataset.tab)]);
  const buttons = ["fit", "turn", "new", "help"].map((id) => [{ fit: "Fit", turn: "Turn", new: "New tree", help: "Keys" }[id], "", () => $(id).click()]);
  const nodes = this.state.nodes.map((node) => [`${node.kind} ${node.name || node.gist}`.trim(), `line ${node.line}`, () => { this.pick(node.id, true); $("tree").focus(); }]);
  const files = [...$("file").options].map((file) => [`Open ${file.value}`, "", () => this.open(file.value)]);
  const kinds = this.kinds.map((kind) => [`Add ${kind.name}`, "", () => this.add(kind.name)]);
  return [...gestures, ...tabs, ...buttons, ...nodes, ...files, ...kinds];
};

App.prototype.commands = function () {
  const all = this.allCommands();
  let shown = [], at = 0;
  const list = () => {
    const words = $("command").value.toLowerCase().split(/\s+/);
    shown = all.filter(([title]) => words.every((word) => title.toLowerCase().includes(word))).slice(0, 50);
    at = Math.max(0, Math.min(at, shown.length - 1));
    $("found").replaceChildren(...shown.map(([title, key], n) => el("li", { role: "option", id: `found-${n}`, "aria-selected": String(n === at), on: { click: () => act(n) } }, el("span", {}, title), el("kbd", {}, key))));
    $("command").setAttribute("aria-activedescendant", shown.length ? `found-${at}` : "");
    $(`found-${at}`)?.scrollIntoView({ block: "nearest" });
  };
  const act = (n) => { $("commands").close(); $("tree").focus(); shown[n]?.[2](); };
  $("command").value = "";
  $("command").oninput = () => { at = 0; list(); };
  $("command").onkeydown = (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); at += e.key === "ArrowDown" ? 1 : -1; list(); }
    if (e.key === "Enter") { e.preventDefault(); act(at); }
  };
  list();
  $("commands").showModal();
};

// Trees in tabs -------------------------------------------------------------------------------

// The files that were opened here, each with the node that was chosen in it.
App.prototype.tabs = function () {
  const { path } = this.state;
  this.opened ??= new Map();
  if (!this.opened.has(path)) this.opened.set(path, []);
  $("trees").hidden = this.opened.size < 2;
  $("trees").replaceChildren(...[...this.opened.keys()].map((each) => el("button", { role: "tab", "aria-selected": String(each === path), title: each, on: { click: () => this.toTab(each) } }, each.split("/").pop().replace(/\.ya?ml$/, ""))));
};

App.prototype.toTab = async function (path) {
  const chosen = this.opened?.get(path);
  await this.open(path);
  if (chosen) this.pickPath(chosen);
};

// The tree that stands at the chosen node, in a tab; and the way back.
App.prototype.into = function () { const from = this.state.path; this.toTab(this.node.opens).then(() => (this.from = from)); };

App.prototype.back = function () { const { from } = this; this.from = null; this.toTab(from); };
