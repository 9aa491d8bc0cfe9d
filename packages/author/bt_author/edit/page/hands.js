"use strict";
// Mouse, fingers and keys.

App.prototype.listen = function () {
  const app = this;
  for (const name of ["undo", "redo", "save", "saveall", "run"]) $(name).addEventListener("click", () => GESTURES[name][2](app));
  $("file").addEventListener("change", () => app.open($("file").value));
  $("new").addEventListener("click", () => app.ask("Name of the new tree", "", async (name) => { const made = await app.send("new", { name, path: "" }); if (made) { await app.files(); await app.open(made.path); } }));
  $("mine").addEventListener("click", () => app.act("settle", { take: "mine" }));
  $("theirs").addEventListener("click", () => app.act("settle", { take: "theirs" }));
  $("no").addEventListener("click", () => $("ask").close(""));
  $("help").addEventListener("click", () => $("keys").showModal());
  $("fit").addEventListener("click", () => app.view.fit());
  $("in").addEventListener("click", () => app.view.step(1.25));
  $("out").addEventListener("click", () => app.view.step(0.8));
  $("turn").addEventListener("click", () => { app.view.turn(!app.view.down); $("turn").setAttribute("aria-pressed", String(app.view.down)); app.view.fit(); });
  $("picturing").addEventListener("close", () => { $("tree").focus(); if ($("picturing").returnValue) app.picture($("picturing").returnValue); });
  app.listenToLine();
  for (const tab of document.querySelectorAll("[data-tab]")) tab.addEventListener("click", () => app.tab(tab.dataset.tab));
  $("find").addEventListener("input", () => app.list());
  $("find").addEventListener("keydown", (e) => {
    if (e.key === "Escape") { $("find").value = ""; app.list(); $("tree").focus(); }
    const rows = [...$("kinds").querySelectorAll("[data-kind]")], at = rows.findIndex((r) => r.getAttribute("aria-selected") === "true");
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      const next = rows[Math.max(0, Math.min(rows.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)))];
      rows[at]?.setAttribute("aria-selected", "false");
      next?.setAttribute("aria-selected", "true"); next?.scrollIntoView({ block: "nearest" });
    }
    if (e.key === "Enter" && rows.length) { app.add(rows[Math.max(0, at)].dataset.kind); $("find").value = ""; app.list(); $("tree").focus(); }
  });
  document.addEventListener("keydown", (e) => app.key(e));
  $("panel").addEventListener("focusin", (e) => (app.began = { at: e.target, value: e.target.value }));
  document.addEventListener("keydown", (e) => (app.adding = e.shiftKey));
  document.addEventListener("keyup", (e) => (app.adding = e.shiftKey));
  document.addEventListener("pointerdown", (e) => (app.adding = e.shiftKey || app.several), true);
  $("several").addEventListener("click", () => { app.several = !app.several; $("several").setAttribute("aria-pressed", String(app.several)); });
  $("tree").addEventListener("pointerdown", (e) => { app.press = e; app.grab(e); }, true);
  $("tree").addEventListener("click", (e) => { if (!e.target.closest("[data-id]") && Math.hypot(e.clientX - app.press?.clientX, e.clientY - app.press?.clientY) < 4) app.unpick(); });
  $("tree").addEventListener("dblclick", (e) => { if (e.target.closest("[data-id]") && app.node?.opens) app.into(); });
  $("kinds").addEventListener("pointerdown", (e) => app.grabKind(e));
  $("kinds").addEventListener("dblclick", (e) => { const row = e.target.closest("[data-kind]"); if (row) app.add(row.dataset.kind); });
};

App.prototype.key = function (e) {
  const typing = e.target.closest("input, textarea, select, dialog");
  if (["Enter", " "].includes(e.key) && e.target.closest("button, summary, a")) return; // presses what has the focus
  const gesture = gestureOf(e);
  if (typing && (e.target.closest("dialog") || !["save", "saveall", "run", "commands"].includes(gesture))) return;
  if (gesture && GESTURES[gesture][3](this)) { e.preventDefault(); GESTURES[gesture][2](this); return; }
  if (gesture) return;
  if (e.key === "?") { $("keys").showModal(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const tab = { 1: "node", 2: "head", 3: "text", 4: "faults", 5: "try" }[e.key];
  if (tab) { this.tab(tab); return; }
  if (e.key.startsWith("Arrow")) {
    e.preventDefault();
    const next = this.view.neighbour(e.key);
    if (next !== null) this.pick(next, true);
  } else if (e.key === "Enter") { this.tab("node"); $("panel").querySelector("input, select, textarea")?.focus(); e.preventDefault(); }
  else if (e.key === "[" || e.key === "]") this.seek(e.key === "[" ? -1 : 1);
  else if (e.key === "Escape") this.unpick();
  else if (e.key === "t") $("turn").click();
  else if (e.key === "z") this.view.fit();
  else if (e.key === "+") this.view.step(1.25);
  else if (e.key === "-") this.view.step(0.8);
};

// A box that is held goes where it is let go.
App.prototype.grab = function (e) {
  const box = e.target.closest("[data-id]");
  if (!box || e.button || box.querySelector(".more")?.contains(e.target)) return;
  const node = this.fold.nodes.get(Number(box.dataset.id));
  if (!node || node.parent === null) return;
  e.stopPropagation();
  this.drag(e, node.name || node.kind, node, (target, moved) => this.move(moved, target));
};

// The node as it now stands, though the file was changed since it was taken: the only one with the same lines; else null.
App.prototype.found = function (node, before) {
  if (!node || before === this.state) return node;
  const rows = (state, { line, last }) => state.text.split("\n").slice(line - 1, last).map((row) => row.trim()).join("\n"), wanted = rows(before, node);
  const same = this.state.nodes.filter((each) => each.kind === node.kind && rows(this.state, each) === wanted);
  return before.path === this.state.path && same.length === 1 ? this.fold.nodes.get(same[0].id) : null;
};

App.prototype.grabKind = function (e) {
  const row = e.target.closest("[data-kind]");
  if (!row || e.button) return;
  this.drag(e, row.dataset.kind, null, (target) => this.add(row.dataset.kind, { parent: target.parent.path, index: target.index }), () => { if (e.pointerType === "touch") this.add(row.dataset.kind); });
};

// `tapped`: what a press that did not move means.
App.prototype.drag = function (start, label, node, done, tapped = () => {}) {
  let target = null, far = false, moved = node, seen = this.state;
  const before = this.state;
  const kinds = new Map(this.kinds.map((k) => [k.name, k])), ghost = $("ghost"), mark = svg("path", { class: "drop" });
  const going = (e) => {
    if (!far && Math.hypot(e.clientX - start.clientX, e.clientY - start.clientY) < 6) return;
    if (!far) { far = this.dragging = true; this.placeBar(); ghost.hidden = false; ghost.textContent = label; this.view.drawing.append(mark); }
    ghost.style.left = `${e.clientX + 12}px`; ghost.style.top = `${e.clientY + 8}px`;
    if (seen !== this.state) { seen = this.state; moved = this.found(node, before); this.view.drawing.append(mark); }
    const frame = $("tree").getBoundingClientRect();
    const inside = e.clientX > frame.left && e.clientX < frame.right && e.clientY > frame.top && e.clientY < frame.bottom;
    target = inside && (moved || !node) ? dropAt(this.view, this.fold, kinds, e.clientX - frame.left, e.clientY - frame.top, moved) : null;
    if (!target) { mark.setAttribute("d", ""); return; }
    const { x, y, w } = target.place, top = y - BOX / 2 - 2, low = y + BOX / 2 + 2;
    mark.setAttribute("d", target.how === "into" ? `M${x - 3} ${top}H${x + w + 3}V${low}H${x - 3}Z` : target.how === "before" ? `M${x} ${top}H${x + w}` : `M${x} ${low}H${x + w}`);
  };
  const over = (e) => {
    document.removeEventListener("pointermove", going); document.removeEventListener("pointerup", over); document.removeEventListener("pointercancel", over);
    ghost.hidden = true; mark.remove();
    this.dragging = false; this.frame();
    if (e.type !== "pointerup") return;
    if (!far) { tapped(); return; }
    going(e); // where it is let go, of the text as it now stands
    ghost.hidden = true; mark.remove();
    if (node && !moved) this.notice("The file was changed meanwhile, in what was dragged: nothing was moved.");
    else if (target) done(target, moved);
  };
  document.addEventListener("pointermove", going); document.addEventListener("pointerup", over); document.addEventListener("pointercancel", over);
};

// What the picture shows is asked first.
App.prototype.pictures = function () {
  $("of-branch").disabled = !this.node?.path.length;
  if ($("of-branch").disabled) $("of-branch").checked = false;
  $("picturing").returnValue = "";
  $("picturing").showModal();
};

// The tree or the chosen branch as a file: SVG and PDF as the server draws them, PNG at twice its size.
App.prototype.picture = async function (form) {
  const folded = $("of-folds").checked ? [...this.view.folded].map((id) => this.fold.nodes.get(id)?.path).filter(Boolean) : [];
  const node = $("of-branch").checked ? this.node?.path ?? [] : [];
  const made = await this.send("picture", { path: this.state.path, form, node, folded, whole: $("of-trees").checked });
  if (!made) return;
  const name = `${this.state.head.tree || "tree"}.${form}`, kind = form === "pdf" ? "application/pdf" : "image/svg+xml";
  const data = `data:${kind};charset=utf-8,${encodeURIComponent(made.picture)}`;
  const give = (href) => { const link = el("a", { href, download: name }); link.click(); this.pictured = href; this.say(`${name} written`); };
  if (form !== "png") { give(data); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas"), wide = Math.min(2, 16000 / Math.max(image.width, image.height, 1));
    canvas.width = Math.ceil(image.width * wide); canvas.height = Math.ceil(image.height * wide);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    give(canvas.toDataURL("image/png"));
  };
  image.src = data;
};
