"use strict";
// The debugger's bar: breakpoints, steps, forced results, hot replacement, and why. What it shows is what the run says.

const TYPED = 250; // milliseconds after the last key before edited YAML is checked

class DebugBar {
  constructor(host, page) {
    this.page = page;
    const press = (what, text, title) => { const made = el("button", { title, "data-do": what }, text); made.addEventListener("click", () => this.press(what)); return made; };
    this.live = [
      press("break", "Break", "Breakpoint at the chosen node, or none any more (b)"), press("into", "Into", "To the next node that starts (i)"),
      press("over", "Over", "Until the node and all below it have ended (o)"), press("to", "To here", "Until the chosen node is about to start (h)"),
      press("force success", "✓", "The chosen node succeeds from now on"), press("force failure", "✗", "The chosen node fails from now on"),
      press("edit", "Edit", "Put edited YAML in the place of the chosen node"),
    ];
    this.back = press("undo", "Take back", "Take back all that was forced and replaced (u)");
    this.fork = press("fork", "Go on from here", "A fork: the run as it was at the tick that is shown goes on from there, with a page of its own; this one waits");
    this.file = press("file", "File", "The file of the chosen node in the editor, at its line (E)");
    this.why = press("why", "Why?", "Why the chosen node is as it is (w)");
    this.of = el("p", { class: "about path said", title: "The buttons are for this node", hidden: "" });
    this.state = el("p", { class: "about", role: "status" });
    this.list = el("div", { class: "list" });
    this.told = el("div", { class: "about", "aria-live": "polite" });
    // First what stays when the run has ended: it keeps its place under the hand.
    this.box = el("section", { id: "debug", "aria-label": "Debugger", hidden: "" }, el("div", { class: "row" }, this.why, this.file, this.live, this.back, this.fork), this.of, this.state, this.list, this.told);
    host.append(this.box);
  }

  draw(fold, chosen) {
    const page = this.page, head = page.history.head, live = !$("controls").hidden;
    const served = Boolean(page.token) && Boolean(head.latest.start);
    this.box.hidden = !served || (!live && !page.recorded && !page.editor);
    if (this.box.hidden) return;
    const hold = head.latest.hold ?? {}, path = this.path(fold, chosen);
    put(this.of, path); this.of.hidden = !path;
    for (const button of this.live) { button.hidden = !live; button.disabled = !path && !["into", "over"].includes(button.dataset.do); }
    for (const step of this.live.filter((each) => ["into", "over"].includes(each.dataset.do))) step.disabled = !hold.on;
    this.why.disabled = this.file.disabled = !path;
    this.file.hidden = !head.latest.editor && page.run === null;
    if (page.editor) put(this.file, "Edit from here");
    this.why.hidden = !live && !page.recorded;
    this.back.hidden = !live || !(hold.changes ?? []).length;
    this.fork.hidden = !live || page.past === null || page.fold.tick === head.tick;
    const point = (hold.points ?? []).find((each) => each.path === path);
    put(this.live[0], point ? "Unbreak" : "Break");
    this.box.classList.toggle("paused", Boolean(hold.on));
    if (hold.on && hold.why) this.said = hold.why;
    put(this.state, hold.on ? `paused: ${this.said ?? "it was asked for"}${this.left(hold)}` : ""); this.state.hidden = !hold.on;
    this.marks(fold, hold);
    const written = head.latest.written?.rows ?? [], key = JSON.stringify([hold.points, hold.changes, written, live]);
    if (key !== this.listed) { this.listed = key; this.entries(hold, written, live); }
  }

  // The chosen node, or the one that the panel shows.
  path(fold, chosen) {
    const id = fold.nodes.has(chosen) ? chosen : this.page.panel.tab === "node" ? this.page.panel.parts.node.of : null;
    return fold.nodes.has(id) ? fold.path(id) : "";
  }

  // How long the pause lasts yet, where the author gave it a limit.
  left(hold) {
    if (hold !== this.held) { this.held = hold; this.since = performance.now(); }
    if (hold.limit === undefined || this.page.past !== null) return "";
    setTimeout(() => this.page.wake(), 500);
    return ` · ${hold.then === "halt" ? "halts" : "goes on"} in ${Math.max(0, Math.ceil(hold.limit - (performance.now() - this.since) / 1000))} s`;
  }

  // A dot at each breakpoint, and the held node.
  marks(fold, hold) {
    const key = JSON.stringify([hold.points, hold.on && hold.at, fold.version]), tree = this.page.tree;
    if (key === this.marked) return;
    this.marked = key;
    for (const id of this.own ?? []) tree.marks.delete(id);
    this.own = [];
    const points = new Set((hold.points ?? []).map((each) => each.path)), at = hold.on ? hold.at : null;
    if (points.size || at) for (const id of fold.nodes.keys()) {
      const path = fold.path(id), look = `${points.has(path) ? "point" : ""}${path === at ? " held" : ""}`.trim();
      if (look) { tree.marks.set(id, look); this.own.push(id); }
    }
    tree.moved = true; this.page.wake();
  }

  // Breakpoints and what was tried: each can be taken back, and edited YAML and written values can be kept in the file.
  entries(hold, written, live) {
    const row = (each, what, given, keep) => el("div", {},
      el("button", { title: what === "clear" ? "Remove it" : "Take it back", on: { click: () => this.page.command(what, given) } }, "×"),
      keep && this.page.history.head.latest.editor ? el("button", { title: "Keep it in the file, in the editor", on: { click: () => this.page.edited(keep, given) } }, "Keep") : "",
      el("span", {}, each.text));
    this.list.replaceChildren(...(!live ? [] : [
      ...(hold.points ?? []).map((each) => row(each, "clear", { which: each.number })),
      ...(hold.changes ?? []).map((each) => row(each, "undo", { which: each.number }, each.edited ? "keep" : "")),
      ...written.map((each) => row(each, "unwrite", { scope: each.scope, name: each.name }, "keep_value")),
    ]));
  }

  async press(what) {
    const page = this.page, path = this.path(page.fold, page.chosen);
    const hold = page.history.head.latest.hold ?? {};
    const needs = !["into", "over", "undo", "fork"].includes(what);
    if (this.box.hidden || (needs && !path) || ($("controls").hidden && !["why", "file"].includes(what))) return;
    if (what === "edit") { await this.edit(path); return; }
    if (what === "file") { await page.edited("edit", page.place(path)); return; }
    if (what === "why") { await this.ask(path); return; }
    if (what === "fork") { await this.forked(page.fold.tick); return; }
    if (what === "break") {
      const point = (hold.points ?? []).find((each) => each.path === path);
      await page.command(point ? "clear" : "break", point ? { which: point.number } : { path });
    } else if (what.startsWith("force")) await page.command("force", { path, acts: [what.slice(6)] });
    else await page.command(what, what === "to" ? { path } : {});
  }

  // Goes on from a tick: what may not be repeated outside is told first.
  async forked(tick, anyway = false) {
    const refused = (wrong) => this.show([el("p", {}, wrong), el("button", { on: { click: () => this.forked(tick, true) } }, "The outside is as it was then: go on")]);
    const made = await this.page.command("fork", { tick, anyway }, refused);
    if (!made) return;
    window.open(made.url, "_blank");
    this.show([el("p", {}, `${made.said} `, el("a", { href: made.url, target: "_blank" }, "Its page"))]);
  }

  // At the moment that is shown: of a recording, or of what a run has just done.
  async ask(path) {
    const given = this.page.recorded || this.page.past !== null ? { path, at: this.page.fold.tick || null } : { path };
    const answer = await this.page.command("why", given);
    if (answer) this.show(answer.sentences.map((sentence) => el("p", {}, sentence)));
  }

  show(parts) {
    this.told.replaceChildren(...parts, el("button", { on: { click: () => this.told.replaceChildren() } }, "Close"));
  }

  async edit(path) {
    const answer = await this.page.command("source", { path });
    if (!answer) return;
    const faults = el("div", { class: "faults", role: "status" });
    const apply = el("button", { title: "Between two ticks; the running nodes that stand there are halted" }, "Replace");
    const typed = () => { apply.disabled = true; put(faults, "…"); clearTimeout(this.timer); this.timer = setTimeout(() => this.check(path, text, faults, apply), TYPED); };
    const text = this.text = new YamlField({ label: `YAML in place of ${path}`, rows: Math.min(22, Math.max(5, answer.text.split("\n").length)), changed: typed, complete: (at) => this.page.history.head.latest.editor && this.page.command("complete", { path, text: text.value, line: at.row, character: at.column }) });
    this.show([el("p", { class: "path said" }, path), text.box, faults, apply]);
    text.value = answer.text;
    text.box.addEventListener("keydown", (e) => { if (e.key === "Escape") this.told.replaceChildren(); e.stopPropagation(); });
    apply.addEventListener("click", async () => { if (await this.page.command("replace", { path, text: text.value })) this.told.replaceChildren(); });
    text.focus();
    await this.check(path, text, faults, apply);
  }

  async check(path, text, faults, apply) {
    const wanted = text.value, answer = await this.page.command("check", { path, text: wanted });
    if (!answer || text.value !== wanted) return; // what was typed since is checked next
    apply.disabled = answer.faults.length > 0;
    text.annotate(answer.faults.map((f) => ({ row: Math.max(0, f.line - 1), text: `${f.code}: ${f.message}`, type: "error" })));
    faults.classList.toggle("sound", !answer.faults.length);
    put(faults, answer.faults.length ? answer.faults.map((f) => `line ${f.line}: ${f.code} ${f.message}${f.hint ? ` (${f.hint})` : ""}`).join("\n") : "no fault");
  }
}
