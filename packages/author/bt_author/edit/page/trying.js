"use strict";
// A tree tried without a robot: each running skill waits for a click.

function tryForm(app) {
  const told = app.told, row = (...buttons) => el("div", { class: "chips" }, buttons);
  const move = (title, what, given = {}) => el("button", { id: `do-${[what, ...Object.values(given)].join("-")}`, on: { click: () => app.tried(what, given) } }, title);
  const story = app.story ? [el("div", { class: "box-note" }, el("p", { class: "said" }, app.story), move("Play this story", "begin", { story: true }))] : [];
  if (app.asking) return [el("p", {}, "This tree imports Python of this folder. Playing it runs that code:"), el("ul", {}, app.asking.names.map((name) => el("li", { class: "code" }, name))), row(el("button", { id: "run-it", on: { click: () => app.tried("begin", { ...app.asking.given, run: true }) } }, "Run it"), el("button", { on: { click: () => { app.asking = null; app.panel(); } } }, "No"))];
  if (!told) return [el("p", {}, "The tree is played on a clock of its own. No skill's code runs: each skill that starts waits for your click."), row(move("Begin", "begin")), ...story, ...checkForm(app, move)];
  const made = [el("p", {}, el("span", { class: `pill ${{ success: "S", failure: "F", running: "R" }[told.status] ?? "I"}` }, told.status === "invalid" ? "not begun" : told.status), ` ${told.seconds} s`)];
  if (told.story) made.push(...storyForm(told.story, row, move));
  else made.push(row(move("Tick", "tick"), move("To the next change", "on"), el("button", { id: "do-play", title: "Ticks as they are due, until a skill waits", on: { click: () => app.play() } }, app.playing ? "Stop" : "Play"), el("button", { id: "do-chance", on: { click: () => app.tried("chance", { seed: (app.seed = (app.seed ?? 0) + 1) }) } }, "At random"), move("Halt", "halt"), move("Again", "again"), move("Keep as a test", "keep")));
  if (told.kept) made.push(el("p", { class: "made" }, `Written: ${told.kept}`));
  for (const [line, column, , , asks, path] of told.nodes) {
    if (!asks) continue;
    const node = app.state.nodes.find((n) => n.line === line && n.column === column);
    made.push(el("div", { class: "box-note" }, el("b", {}, node ? node.name || node.kind : path), " runs: ", move("Success", "answer", { node: path, result: "success" }), " ", move("Failure", "answer", { node: path, result: "failure" }), givesForm(app, told, node)));
  }
  const never = told.nodes.filter((n) => !n[3]).length;
  made.push(el("p", { class: "dim" }, never ? `${never} of ${told.nodes.length} nodes were never reached.` : "Every node was reached."));
  made.push(...boardForm(app, told));
  if (told.line) made.push(...nextForm(app), ...besideForm(app));
  made.push(...checkForm(app, move));
  if (told.lines.length) made.push(el("h2", {}, "Log"), ...told.lines.map((line) => el("p", { class: "said" }, line)));
  return made;
}

// What must never hold, in any run: proved, or broken with a story to play. Empty: the tree's own properties.
function checkForm(app, move) {
  const never = el("input", { id: "never", placeholder: "low and drive is running", autocomplete: "off", spellcheck: "false", value: app.never ?? "", on: { keydown: (e) => { if (e.key === "Enter") check(); } } });
  const check = async () => {
    Object.assign(app, { never: never.value, checking: true, checked: null });
    app.panel();
    const made = await app.send("try", { path: app.state.path, move: "check", never: app.never });
    Object.assign(app, { checking: false, checked: made && { text: made.text, rows: made.checked } });
    if (made?.story) app.story = made.story;
    app.panel();
    if (made) app.say(made.checked.map((row) => `${row.property}: ${row.words}`).join("; "));
  };
  const note = (title, lines) => lines.map((line) => el("p", { class: "dim said" }, `${title}${line}`));
  const rows = (app.checked?.rows ?? []).map((row) => el("div", { class: `box-note checked ${row.outcome}` }, el("b", {}, row.property), `: ${row.words} (${row.states} states)`, note("not covered: ", row.doubts), note("", row.remarks), note("", row.story), row.help ? note("help: ", [row.help]) : "", row.played ? move("Play this story", "begin", { story: true }) : ""));
  const old = app.checked && app.checked.text !== app.state.text ? [el("p", { class: "dim" }, "This was checked before the last change.")] : [];
  return [el("h2", {}, el("label", { for: "never" }, "Must never hold")), el("div", { class: "rows one" }, never, el("button", { id: "do-check", ...(app.checking ? { disabled: "" } : {}), title: "Looks at every run, with skills that may end in any way", on: { click: check } }, app.checking ? "Checking…" : "Check")), ...old, ...rows];
}

// What a running skill gives: the entries that its node names for it.
function givesForm(app, told, node) {
  const given = (node ? app.kindOf(node.kind)?.fields ?? [] : []).filter((f) => f.writes).map((f) => node.texts[f.name]).filter((name) => name in told.board);
  return given.map((name) => el("div", {}, `gives ${name}: `, entryControl(app, name, told.board[name], told.ports.find((port) => port[0] === name), "gives")));
}

// The entries, those from outside first: each is set by a control of its type, and the tree is ticked to see it.
function boardForm(app, told) {
  const known = new Map(told.ports.map((port) => [port[0], port])), names = Object.keys(told.board);
  const rank = (name) => { const at = told.ports.findIndex((port) => port[0] === name); return at < 0 ? 1e6 : at - (known.get(name)[5] ? 1e5 : 0); };
  names.sort((a, b) => rank(a) - rank(b));
  if (!names.length) return [];
  return [el("h2", {}, "Entries"), el("table", {}, names.map((name) => el("tr", {}, el("td", { title: known.get(name)?.[6] ?? "" }, name), el("td", {}, told.story ? el("span", { class: "code" }, told.board[name]) : entryControl(app, name, told.board[name], known.get(name))))))];
}

function entryControl(app, name, value, [, type, least, most, choices] = [name, "any", null, null, []], lead = "try", set = (text) => app.tried("set", { entry: name, value: text })) {
  const given = { id: `${lead}-${name}`, "aria-label": name };
  if (choices.length) {
    const list = el("select", { ...given, on: { change: (e) => set(e.target.value) } }, choices.map((choice) => el("option", { value: choice }, choice)));
    list.value = value;
    return list;
  }
  if (type === "boolean") {
    const box = el("input", { ...given, type: "checkbox", role: "switch", on: { change: (e) => set(String(e.target.checked)) } });
    box.checked = value === "true";
    return box;
  }
  if (["number", "integer"].includes(type) && least !== null && most !== null) {
    const step = type === "integer" ? 1 : (most - least) / 100, shown = el("output", {}, value);
    const slider = el("input", { ...given, type: "range", min: least, max: most, step, on: { input: (e) => { shown.textContent = e.target.value; }, change: (e) => set(e.target.value) } });
    slider.value = value;
    return el("span", { class: "slide" }, slider, shown);
  }
  const field = el("input", { ...given, spellcheck: "false", autocomplete: "off", on: { change: (e) => set(type === "string" ? JSON.stringify(e.target.value) : e.target.value), keydown: (e) => { if (e.key === "Enter") e.target.blur(); } } });
  field.value = type === "string" ? unquoted(value) : value;
  return field;
}

// A counterexample, move by move; a mended tree goes through the same story.
function storyForm(story, row, move) {
  const state = { broken: "The promise is broken here.", kept: "The story is over, and the promise was kept.", "": "" }[story.state];
  return [
    el("p", { class: "dim said" }, `Found by ${story.found_by}`), el("p", { class: `box-note said${story.state === "broken" ? " bad" : ""}` }, story.broken || story.why),
    row(move("Next", "next"), move("Back", "back"), move("To the end", "end"), move("From the beginning", "again"), move("With the text as it is", "begin", { story: true }), move("Keep as a test", "keep"), move("By clicks", "begin")),
    el("p", {}, `Tick ${story.at} of ${story.of}. ${state}`), story.words ? el("p", { class: "said" }, story.words) : "",
  ];
}

App.prototype.tried = async function (move, given = {}) {
  const told = await this.send("try", { path: this.state.path, move, ...given });
  if (!told) return;
  this.asking = told.asks ? { names: told.asks, given } : null;
  if (told.asks) { this.panel(); this.say("This tree imports Python: it is asked first"); return; }
  this.told = told;
  this.painted();
  this.panel();
  this.say(`${told.status}, ${told.nodes.filter((n) => n[4]).length} skills wait`);
};

// The statuses of the rehearsal on the boxes; dashed: never reached.
App.prototype.painted = function () {
  const found = new Map((this.shownTab === "try" && this.told ? this.told.nodes : []).map((n) => [`${n[0]}:${n[1]}`, n]));
  for (const node of this.fold.nodes.values()) {
    const told = found.get(`${node.line}:${node.column}`);
    node.status = told ? told[2] : "I";
    this.view.marks.delete(node.id);
    if (told) this.view.marks.set(node.id, told[4] ? "asking" : told[3] ? "" : "never");
  }
  const others = found.size ? this.told.beside?.nodes ?? [] : [];
  for (const [line, column] of others) { const node = this.state.nodes.find((n) => n.line === line && n.column === column); if (node) this.view.marks.set(node.id, "differs"); }
  this.timeLine();
  if (!found.size) this.marked();
  this.view.moved = true;
  this.frame();
};
