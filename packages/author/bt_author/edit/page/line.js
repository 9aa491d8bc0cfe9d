"use strict";
// The time line of a trial: back to any step and on again, and the branches that a change in the past begins.

const STEP_COLOURS = { tick: "--dim", halt: "--failure", set: "--graft", answer: "--accent" };

// What a step was, by its words: an answer names a skill by its path.
function stepKind(words) {
  return words === "tick" || words === "halt" ? words : words.startsWith("/") ? "answer" : "set";
}

App.prototype.listenToLine = function () {
  $("back").addEventListener("click", () => this.seek(-1));
  $("forward").addEventListener("click", () => this.seek(1));
  $("time").addEventListener("change", (e) => this.tried("go", { at: Number(e.target.value) }));
  $("branch").addEventListener("change", (e) => this.tried("go", { at: this.told.line.at, branch: Number(e.target.value) }));
  $("beside").addEventListener("change", (e) => this.tried("beside", e.target.value === "" ? {} : { branch: Number(e.target.value) }));
};

// Keys that are pressed faster than the server answers add up.
App.prototype.seek = async function (by) {
  const line = this.told?.line, waiting = this.seeking !== undefined;
  if (!line) return;
  this.seeking = Math.max(0, Math.min(line.steps.length, (this.seeking ?? line.at) + by));
  if (waiting) return;
  for (let at = line.at; this.told?.line && at !== this.seeking;) await this.tried("go", { at: (at = this.seeking) });
  this.seeking = undefined;
};

// The line below the tree, while a trial goes on.
App.prototype.timeLine = function () {
  const line = this.shownTab === "try" ? this.told?.line : null;
  $("moves").hidden = !line;
  if (!line) return;
  const { steps, at, branch, branches } = line, step = steps[at - 1];
  $("time").max = String(steps.length);
  $("time").value = String(at);
  $("time").setAttribute("aria-valuetext", step ? step[0] : "the beginning");
  $("back").disabled = !at;
  $("forward").disabled = at >= steps.length;
  $("when").textContent = step ? `${at} of ${steps.length} · tick ${step[1]} · ${step[2]} s · ${this.stepWords(step[0])}` : `0 of ${steps.length}`;
  const option = (each, text) => el("option", { value: String(each) }, text);
  $("branch").replaceChildren(...branches.map((length, each) => option(each, `Branch ${each + 1}, ${length} steps`)));
  $("branch").value = String(branch);
  $("beside").replaceChildren(option("", "None beside"), ...branches.map((_, each) => each).filter((each) => each !== branch).map((each) => option(each, `Branch ${each + 1} beside`)));
  $("beside").value = String(this.told.beside?.branch ?? "");
  $("branch").hidden = $("beside").hidden = branches.length < 2;
  const canvas = $("marks"), style = getComputedStyle(document.documentElement);
  canvas.width = canvas.clientWidth * devicePixelRatio; canvas.height = canvas.clientHeight * devicePixelRatio;
  const context = canvas.getContext("2d");
  steps.forEach(([words], n) => {
    context.fillStyle = style.getPropertyValue(STEP_COLOURS[stepKind(words)]);
    context.fillRect(Math.round(((n + 1) / steps.length) * (canvas.width - 3)), 0, Math.max(2, devicePixelRatio * 2), canvas.height);
  });
};

// The node at a path of the trial, as it is named in the tree.
App.prototype.nameAt = function (path) {
  const row = this.told.nodes.find((n) => n[5] === path), node = row && this.state.nodes.find((n) => n.line === row[0] && n.column === row[1]);
  return node ? `${node.kind} ${node.name || node.gist}`.trim() : path;
};

App.prototype.stepWords = function (words) {
  const [path, said] = words.split(": ");
  return stepKind(words) === "answer" ? `${this.nameAt(path)}: ${said}` : words;
};

// What stands otherwise in the branch beside: marked on the boxes, and listed.
function besideForm(app) {
  const other = app.told.beside, word = { S: "success", F: "failure", R: "running", I: "idle" };
  if (!other) return [];
  const rows = other.nodes.map(([line, column, here, there]) => {
    const node = app.state.nodes.find((n) => n.line === line && n.column === column);
    return el("p", {}, el("button", { class: "link", on: { click: () => app.pick(node.id, true) } }, `${node.kind} ${node.name || node.gist}`), `: ${word[here]}, there ${word[there]}`);
  });
  const entries = other.board.map(([name, here, there]) => el("p", {}, el("b", {}, name), `: ${here}, there ${there}`));
  return [el("h2", {}, `Beside branch ${other.branch + 1}, after step ${other.at}`), ...(rows.length + entries.length ? [...rows, ...entries] : [el("p", { class: "dim" }, "Both stand alike.")])];
}

// What skills answer when they start next: by themselves, after so many ticks.
function nextForm(app) {
  const rows = app.told.stands.slice(0, 40).map(([path, result, ticks, outputs], n) => {
    const values = new Map(outputs.filter((port) => port[7] !== "").map((port) => [port[0], port[7]]));
    const yaml = () => `{${[...values].map(([name, text]) => `${name}: ${text}`).join(", ")}}`;
    const send = () => list.value && app.tried("ahead", { node: path, result: list.value, times: Math.max(0, Math.round(Number(many.value)) || 0), ...(values.size && list.value === "success" ? { value: yaml() } : {}) });
    const list = el("select", { id: `next-${n}`, "aria-label": `${app.nameAt(path)}: its next answer`, on: { change: send } }, [["", "waits for you"], ["success", "succeeds"], ["failure", "fails"]].map(([value, text]) => el("option", { value }, text)));
    const many = el("input", { id: `next-${n}-ticks`, inputmode: "numeric", size: "4", "aria-label": `${app.nameAt(path)}: ticks that it runs before`, title: "ticks that it runs before", value: String(ticks), on: { change: send } });
    list.value = result;
    return el("tr", {}, el("td", {}, app.nameAt(path)), el("td", {}, list, " after ", many, " ticks", result === "success" ? outputs.map((port) => el("div", {}, `gives ${port[0]}: `, entryControl(app, port[0], port[7], port, `next-${n}`, (text) => { text === "" ? values.delete(port[0]) : values.set(port[0], text); send(); }))) : ""));
  });
  const fold = el("details", {}, el("summary", { id: "next" }, "Next answers"), el("table", {}, rows));
  fold.open = app.nextOpen ?? false;
  fold.addEventListener("toggle", () => (app.nextOpen = fold.open));
  return rows.length ? [fold] : [];
}

// Ticks as they are due, until a skill waits or the tree has ended.
App.prototype.play = async function () {
  this.playing = !this.playing;
  const before = new Set(this.told.nodes.filter((n) => n[4]).map((n) => n[5]));
  while (this.playing) {
    const { seconds, moves } = this.told;
    await this.tried("tick");
    const fresh = this.told?.nodes.some((n) => n[4] && !before.has(n[5]));
    if (!this.told || this.told.moves === moves || this.told.status !== "running" || fresh || this.shownTab !== "try") break;
    await new Promise((done) => setTimeout(done, Math.min(1000, Math.max(60, (this.told.seconds - seconds) * 1000))));
  }
  this.playing = false;
  this.panel();
};
