"use strict";
// A tree tried without a robot: each running skill waits for a click.

function tryForm(app) {
  const told = app.told, row = (...buttons) => el("div", { class: "chips" }, buttons);
  const move = (title, what, given = {}) => el("button", { on: { click: () => app.tried(what, given) } }, title);
  const story = app.story ? [el("div", { class: "box-note" }, el("p", { class: "said" }, app.story), move("Play this story", "begin", { story: true }))] : [];
  if (app.asking) return [el("p", {}, "This tree imports Python of this folder. Playing it runs that code:"), el("ul", {}, app.asking.names.map((name) => el("li", { class: "code" }, name))), row(el("button", { id: "run-it", on: { click: () => app.tried("begin", { ...app.asking.given, run: true }) } }, "Run it"), el("button", { on: { click: () => { app.asking = null; app.panel(); } } }, "No"))];
  if (!told) return [el("p", {}, "The tree is played on a clock of its own. No skill's code runs: each skill that starts waits for your click."), row(move("Begin", "begin")), ...story];
  const made = [el("p", {}, el("span", { class: `pill ${{ success: "S", failure: "F", running: "R" }[told.status] ?? "I"}` }, told.status), ` ${told.seconds} s, ${told.moves} move${told.moves === 1 ? "" : "s"}`)];
  if (told.story) made.push(...storyForm(told.story, row, move));
  else made.push(row(move("Tick", "tick"), move("10 ticks", "tick", { times: 10 }), move("At random", "chance", { seed: app.seed = (app.seed ?? 0) + 1 }), move("Back", "back"), move("Again", "again"), move("Keep as a test", "keep")));
  if (told.kept) made.push(el("p", { class: "made" }, `Written: ${told.kept}`));
  for (const [line, column, , , asks, path] of told.nodes) {
    if (!asks) continue;
    const node = app.state.nodes.find((n) => n.line === line && n.column === column);
    made.push(el("div", { class: "box-note" }, el("b", {}, node ? node.name || node.kind : path), " runs: ", move("Success", "answer", { node: path, result: "success" }), " ", move("Failure", "answer", { node: path, result: "failure" })));
  }
  const never = told.nodes.filter((n) => !n[3]).length;
  made.push(el("p", { class: "dim" }, never ? `${never} of ${told.nodes.length} nodes were never reached.` : "Every node was reached."));
  const entries = Object.entries(told.board);
  if (entries.length) made.push(el("h2", {}, "Entries"), el("table", {}, entries.map(([name, value]) => el("tr", {}, el("td", {}, name), el("td", { class: "code" }, value)))));
  if (told.lines.length) made.push(el("h2", {}, "Log"), ...told.lines.map((line) => el("p", { class: "said" }, line)));
  return made;
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
  if (!found.size) this.marked();
  this.view.moved = true;
  this.frame();
};
