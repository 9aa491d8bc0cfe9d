"use strict";
// The tree on the screen: only what is in sight is drawn, and only what changed is touched.

const SIGNS = { R: "●", S: "✓", F: "✗", I: "·" };
const LARGE = 30, HUGE = 150; // nodes from which on done, and untouched, parts fold away by themselves
const SETTLED = 1.2; // seconds for which a part has to be done before it folds
const MARGIN = 200;
const SEEABLE = 0.34; // the least scale at which boxes are told apart
const NEAR = 1.5; // the scale from which on boxes say values
const READABLE = 0.72; // the least scale at which boxes are read without effort

class TreeView {
  constructor(stage, choose) {
    this.svg = stage;
    this.drawing = stage.querySelector("g");
    this.drawing.setAttribute("role", "none");
    this.edges = this.drawing.appendChild(svg("g"));
    this.boxes = this.drawing.appendChild(svg("g", { role: "none" })); // else a screen reader meets groups, and no items of a tree
    this.choose = choose;
    this.drawn = new Map();
    this.byHand = new Map(); // id → open or not, as somebody wanted it
    this.folded = new Set();
    this.places = new Map();
    this.size = { width: 0, height: 0 };
    this.at = { x: -20, y: -20, scale: 1 };
    this.following = true;
    this.everything = false;
    this.chosen = null;
    this.hits = new Set();
    this.stale = true; // the layout
    this.widest = this.fitting();
    this.moved = true;
    this.version = -1;
    this.judged = -Infinity;
    this.top = null; // only what lies below this node
    this.down = false; // from the top down
    this.anchor = null; // what runs, and is followed
    this.values = null; // (fold, node) → what a box says below its words when it is zoomed in
    this.marks = new Map(); // id → a class of its box, and a title: for what others have to say of a node
    this.listen();
  }

  listen() {
    let grip = null;
    this.svg.addEventListener("pointerdown", (e) => {
      if (e.button) return;
      grip = { x: e.clientX, y: e.clientY, far: false };
    });
    this.svg.addEventListener("pointermove", (e) => {
      if (!grip) return;
      if (!e.buttons) { grip = null; return; }
      const dx = e.clientX - grip.x, dy = e.clientY - grip.y;
      if (!grip.far && Math.abs(dx) + Math.abs(dy) < 4) return;
      if (!grip.far) { grip.far = true; this.svg.setPointerCapture(e.pointerId); this.svg.classList.add("held"); }
      this.follow(false);
      this.pan(-dx, -dy);
      grip.x = e.clientX; grip.y = e.clientY;
    });
    this.svg.addEventListener("pointerup", () => { this.svg.classList.remove("held"); setTimeout(() => (grip = null)); });
    this.svg.addEventListener("click", (e) => {
      if (grip && grip.far) return;
      const box = e.target.closest("[data-id]");
      if (!box) return;
      const id = Number(box.dataset.id);
      if (e.target.closest(".more") || e.detail === 2) this.toggle(id);
      this.choose(id);
    });
    this.svg.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.follow(false);
      const unit = e.deltaMode === 1 ? 20 : 1;
      if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(-e.deltaY * unit * 0.004), e.offsetX, e.offsetY);
      else this.pan(e.shiftKey ? e.deltaY * unit : e.deltaX * unit, e.shiftKey ? 0 : e.deltaY * unit);
    }, { passive: false });
    new ResizeObserver(() => { this.moved = true; if (this.widest !== this.fitting()) this.stale = true; this.widest = this.fitting(); this.wake(); }).observe(this.svg);
  }

  // In a narrow window a box says less, so that more of them are seen.
  fitting() { return this.svg.clientWidth < 520 ? NARROW : WIDE; }

  wake() { if (this.asked) this.asked(); }

  follow(on) {
    this.following = on;
    document.getElementById("follow").setAttribute("aria-pressed", String(on));
  }

  pan(dx, dy) {
    this.at.x += dx / this.at.scale; this.at.y += dy / this.at.scale;
    this.moved = true; this.wake();
  }

  zoom(by, x = this.svg.clientWidth / 2, y = this.svg.clientHeight / 2) {
    const scale = Math.min(2.5, Math.max(0.02, this.at.scale * by));
    this.at.x += x / this.at.scale - x / scale; this.at.y += y / this.at.scale - y / scale;
    this.at.scale = scale;
    this.moved = true; this.wake();
  }

  step(by) { this.follow(false); this.zoom(by); }

  // A tree that is too large for its boxes to be seen is folded to its upper levels.
  fit() {
    this.follow(false);
    if (this.stale && this.fold) this.arrange(this.fold);
    if (this.embrace() || !this.fold) return;
    this.level();
    this.judge(this.fold, 0);
    this.arrange(this.fold);
    this.embrace();
  }

  // The whole tree where it can be read, else its root or this node.
  open(fold, id) {
    this.draw(fold, 0, null);
    this.fit();
    if (id !== null && !this.places.has(id)) { this.reveal(fold, id); this.judge(fold, 0); this.arrange(fold); }
    if (this.at.scale < READABLE) this.begin(id !== null && this.places.has(id) ? id : fold.roots[0], fold.roots[0]);
  }

  // A tree that does not fit whole begins at its root, which stands at the edge where the tree grows from.
  begin(id, root) {
    this.centre(id);
    const place = this.places.get(root), edge = 20;
    if (id !== root || !place) return;
    if (this.down) this.at.y = place.y - edge;
    else this.at.x = place.x - edge;
  }

  // Opens as many levels as there is room for, and folds all below.
  level() {
    const room = (this.down ? this.svg.clientWidth / (SHORT * SEEABLE * 0.5) : this.svg.clientHeight / (ROW * SEEABLE)) - 2;
    this.everything = false;
    this.byHand.clear();
    let level = this.fold.nodes.has(this.top) ? [this.top] : [...this.fold.roots], ended = 0;
    while (level.length) {
      const parents = level.map((id) => this.fold.nodes.get(id)).filter((node) => node?.children.length), below = parents.flatMap((node) => node.children);
      ended += level.length - parents.length;
      const open = level === this.fold.roots || this.byHand.size === 0 || ended + below.length <= room;
      for (const node of parents) this.byHand.set(node.id, open);
      level = open ? below : [];
    }
  }

  // The whole layout in the window, but no smaller than it can be seen; false: then a part is outside.
  embrace() {
    const { clientWidth: w, clientHeight: h } = this.svg;
    const room = Math.min((w - 40) / (this.size.width + 1), (h - 90) / (this.size.height + 1)), scale = Math.min(1.2, Math.max(SEEABLE, room));
    this.at = { x: this.down ? -(w / scale - this.size.width) / 2 : Math.max(-20 / scale, -(w / scale - this.size.width) / 2), y: -(h / scale - this.size.height) / 2 + 20 / scale, scale }; // from the left edge, where there is room to grow, and above the buttons
    this.moved = true; this.wake();
    return room >= SEEABLE;
  }

  // Folding ---------------------------------------------------------------------------------

  closed(fold, node, now, depth) {
    const wish = this.byHand.get(node.id);
    if (wish !== undefined) return !wish;
    if (this.everything || node.status === "R" || fold.nodes.size <= LARGE) return false;
    if (fold.latest.over) return fold.nodes.size > HUGE && depth > 2; // now all of it is done: folding says nothing
    if (node.status === "I") return fold.nodes.size > HUGE && depth > 2;
    return depth > 0 && now - node.since > SETTLED;
  }

  judge(fold, now) {
    const folded = new Set();
    const todo = (fold.nodes.has(this.top) ? [this.top] : fold.roots).map((id) => [id, 0]);
    while (todo.length) {
      const [id, depth] = todo.pop();
      const node = fold.nodes.get(id);
      if (!node || !node.children.length) continue;
      if (this.closed(fold, node, now, depth)) folded.add(id);
      else for (const child of node.children) todo.push([child, depth + 1]);
    }
    const same = folded.size === this.folded.size && [...folded].every((id) => this.folded.has(id));
    this.folded = folded;
    return !same;
  }

  toggle(id) {
    this.byHand.set(id, this.folded.has(id));
    this.judged = -Infinity; this.wake();
  }

  reveal(fold, id) {
    for (let node = fold.nodes.get(fold.nodes.get(id)?.parent); node; node = fold.nodes.get(node.parent))
      if (this.folded.has(node.id) || !this.places.has(node.id)) this.byHand.set(node.id, true); // below a fold there may be more
    this.judged = -Infinity; this.wake();
  }

  all(on) {
    this.everything = on;
    this.byHand.clear();
    this.judged = -Infinity; this.wake();
  }

  // Drawing ---------------------------------------------------------------------------------

  // Called once a frame; `now` is the time of the run.
  draw(fold, now, news) {
    const clock = performance.now();
    if (fold.version !== this.version || fold !== this.fold || clock - this.judged > 250) {
      if (fold !== this.fold) news = null;
      this.judged = clock;
      if (this.judge(fold, now) || fold.version !== this.version || fold !== this.fold) this.stale = true;
      this.version = fold.version; this.fold = fold;
    }
    if (news) for (const id of news) { const place = this.places.get(id); if (place && this.renamed(fold, place)) this.stale = true; }
    if (this.stale) { this.arrange(fold); news = null; }
    if (this.following) this.keepInSight(fold);
    if (this.moved) { this.moved = false; this.cull(fold); news = null; }
    if (news) for (const id of news) this.paint(fold, id);
    else for (const id of this.drawn.keys()) this.paint(fold, id);
    if (this.near) for (const id of this.drawn.keys()) this.detail(fold, id);
  }

  arrange(fold) {
    Object.assign(this, { stale: false, moved: true, relaid: true });
    const { places, width, height } = layout(fold, (node) => this.folded.has(node.id), this.widest, this);
    this.places = places; this.size = { width, height };
    for (const [id, box] of this.drawn) if (!places.has(id)) this.drop(id, box);
    for (const box of this.drawn.values()) box.laid = false;
  }

  renamed(fold, place) {
    const node = fold.nodes.get(place.id);
    if (!node || (node.family !== "agent" && node.family !== "skill")) return false;
    return words(fold, node, this.widest)[1] !== place.words[1];
  }

  keepInSight(fold) {
    const running = fold.runs(this.anchor);
    this.anchor = running?.id ?? null;
    if (this.whole()) return;
    let place = running && this.places.get(running.id);
    for (let at = running; at && !place; at = fold.nodes.get(at.parent)) place = this.places.get(at.id);
    if (!place) place = this.places.values().next().value;
    if (!place) return;
    const w = this.svg.clientWidth / this.at.scale, h = this.svg.clientHeight / this.at.scale;
    const inside = running && place.x >= this.at.x + 10 && place.x + Math.min(place.w, w * 0.6) <= this.at.x + w - 10 && place.y >= this.at.y + 20 && place.y <= this.at.y + h - 60;
    if (inside && this.started) return;
    this.started = true;
    const wantX = this.size.width < w - 40 ? -20 : this.down ? Math.max(-20, Math.min(place.x + place.w / 2 - w / 2, this.size.width - w + 40)) : Math.max(-20, Math.min(place.x + place.w - w * 0.75, this.size.width - w + 40));
    const wantY = this.size.height < h - 40 ? -(h - this.size.height) / 2 : Math.max(-20, Math.min(place.y - h / 2, this.size.height - h + 70));
    if (wantX === this.at.x && wantY === this.at.y) return;
    this.at.x = wantX; this.at.y = wantY;
    this.moved = true;
  }

  // A tree that can be read as a whole is shown as a whole.
  whole() {
    const w = this.svg.clientWidth, h = this.svg.clientHeight;
    const scale = Math.min(1, (w - 40) / (this.size.width + 1), (h - 90) / (this.size.height + 1));
    if (scale < READABLE || !this.places.size) { if (this.wasWhole) { this.wasWhole = false; this.at.scale = 1; this.moved = true; } return false; }
    this.wasWhole = true;
    const x = Math.min(-20, -(w / scale - this.size.width) / 2), y = -(h / scale - this.size.height) / 2 + 10 / scale;
    if (this.at.x !== x || this.at.y !== y || this.at.scale !== scale) { this.at = { x, y, scale }; this.moved = true; }
    return true;
  }

  cull(fold) {
    const { x, y, scale } = this.at;
    this.drawing.setAttribute("transform", `scale(${scale}) translate(${-x} ${-y})`);
    this.svg.classList.toggle("far", scale < 0.33);
    this.near = Boolean(this.values) && scale >= NEAR;
    this.svg.classList.toggle("near", this.near);
    const left = x - MARGIN, right = x + this.svg.clientWidth / scale + MARGIN, top = y - MARGIN, bottom = y + this.svg.clientHeight / scale + MARGIN;
    let seen = 0;
    for (const place of this.places.values()) {
      const up = place.parent;
      const near = place.x + place.w > left && place.x < right && place.y > top && place.y < bottom;
      const edge = up && Math.min(up.x, place.x) < right && Math.max(up.x + up.w, place.x + place.w) > left && Math.min(place.y, up.y) < bottom && Math.max(place.y, up.y) > top;
      if (place.x + place.w > x && place.x < right - MARGIN && place.y > y && place.y < bottom - MARGIN) seen++;
      let box = this.drawn.get(place.id);
      if (!near && !edge) { if (box) this.drop(place.id, box); continue; }
      if (!box) this.drawn.set(place.id, (box = this.make(place)));
      if (!box.laid) this.lay(box, place);
    }
    if (!seen && this.relaid) this.back(fold);
    this.relaid = false;
  }

  // The tree was laid out anew, and nothing of it is in sight: back to the chosen node, or what is left of its way.
  back(fold) {
    for (let node = fold.nodes.get(this.chosen) ?? fold.nodes.get(fold.roots[0]); node; node = fold.nodes.get(node.parent))
      if (this.places.has(node.id)) { this.relaid = false; this.centre(node.id); return; }
  }

  make(place) {
    const group = svg("g", { class: "box", id: `${this.svg.id}-${place.id}`, "data-id": place.id, role: "treeitem" });
    const box = { group, rect: svg("rect", { height: BOX, rx: 5, y: -BOX / 2 }), sign: svg("text", { class: "sign", x: 13, y: 4.5 }), label: svg("text", { class: "label", x: 24, y: 4.5 }), kind: svg("text", { class: "kind", y: 4.5 }), about: svg("text", { y: 4.5 }), more: svg("text", { class: "more", y: 4.5 }), dot: svg("circle", { class: "dot", r: 4.5, cy: -BOX / 2 }), edge: svg("path", { class: "edge" }), laid: false, painted: "" };
    group.append(box.rect, box.sign, box.label, box.kind, box.about, box.more, box.dot);
    this.boxes.append(group);
    return box;
  }

  lay(box, place) {
    box.laid = true; box.painted = "";
    const [kind, about] = place.words, { children } = place.node, around = place.parent?.node.children ?? [place.id];
    const told = { "aria-level": place.depth + 1, "aria-posinset": around.indexOf(place.id) + 1, "aria-setsize": around.length, ...(children.length ? { "aria-expanded": !place.hidden } : {}) };
    box.group.removeAttribute("aria-expanded");
    for (const [name, value] of Object.entries(told)) box.group.setAttribute(name, value);
    box.group.setAttribute("transform", `translate(${place.x} ${place.y})`);
    box.rect.setAttribute("width", place.w);
    box.kind.textContent = kind;
    box.about.textContent = about;
    const from = 24 + (place.branch ? widthOf(place.branch) * 1.1 + 8 : 0);
    box.label.textContent = place.branch;
    box.kind.setAttribute("x", from);
    box.about.setAttribute("x", from + 7 + widthOf(kind));
    box.more.textContent = place.hidden ? `+${place.hidden}` : "";
    box.more.setAttribute("x", place.w - 8 - widthOf(`+${place.hidden}`));
    if (!place.parent) { box.edge.remove(); return; }
    if (!box.edge.parentNode) this.edges.append(box.edge);
    box.edge.setAttribute("d", line(place, this.down));
  }

  paint(fold, id) {
    const box = this.drawn.get(id), node = fold.nodes.get(id);
    if (!box || !node) return;
    const look = `${node.status} f-${node.kind === "tree" ? "tree" : node.family}${this.chosen === id ? " chosen" : ""}${this.hits.has(id) ? " hit" : ""}${node.grown ? " grown" : ""}${this.marks.has(id) ? ` ${this.marks.get(id)}` : ""}`;
    if (box.painted === look) return;
    box.painted = look;
    box.group.setAttribute("class", `box ${look}`);
    const state = fold.still && node.status === "I" ? (look.includes(" bad") ? "at fault" : "") : { R: "running", S: "success", F: "failure", I: "idle" }[node.status];
    box.group.setAttribute("aria-label", `${node.kind} ${shown(node.name || node.gist)}${node.guard ? `, ${node.guard}` : ""}${state ? `: ${state}` : ""}`);
    box.group.setAttribute("aria-selected", String(this.chosen === id));
    if (this.chosen === id) this.svg.setAttribute("aria-activedescendant", box.group.id);
    box.sign.textContent = SIGNS[node.status];
    box.edge.setAttribute("class", node.status === "R" ? "edge R" : "edge");
  }

  // The values of a node: beside a box with nothing on its right, else in small letters below its words.
  detail(fold, id) {
    const box = this.drawn.get(id), node = fold.nodes.get(id), place = this.places.get(id);
    if (!node || !place) return;
    const beside = !this.down && !place.below.length, text = fitted(this.values(fold, node), beside ? 360 : (place.w - 28) * 1.8);
    if (box.said === text && box.beside === beside && box.wide === place.w) return;
    Object.assign(box, { said: text, beside, wide: place.w });
    if (!box.values) box.group.append((box.values = svg("text", { class: "values" })));
    box.values.textContent = text;
    box.values.setAttribute("x", beside ? place.w + 6 : 24);
    box.values.setAttribute("y", beside ? 3.5 : 8.5);
    box.group.toggleAttribute("data-beside", beside);
    box.group.toggleAttribute("data-told", Boolean(text) && !beside);
  }

  drop(id, box) {
    box.group.remove(); box.edge.remove();
    this.drawn.delete(id);
  }

  // Moving ----------------------------------------------------------------------------------

  show(id) {
    const place = this.places.get(id);
    if (!place) return;
    const w = this.svg.clientWidth / this.at.scale, h = this.svg.clientHeight / this.at.scale, whole = (this.svg.clientWidth - 40) / this.size.width >= READABLE && (this.svg.clientHeight - 90) / this.size.height >= READABLE;
    if (whole && (place.x < this.at.x || place.x + place.w > this.at.x + w || place.y < this.at.y + 20 || place.y > this.at.y + h - 50)) { this.embrace(); return; } // so that its root stays in sight
    if (place.x < this.at.x + 10 || place.x + place.w > this.at.x + w - 10) this.at.x = Math.max(-20, place.x + place.w / 2 - w / 2);
    if (place.y < this.at.y + 20 || place.y > this.at.y + h - 50) this.at.y = place.y - h / 2;
    this.moved = true; this.wake();
  }

  // In the middle, and large enough to be read.
  centre(id) {
    const place = this.places.get(id);
    if (!place) return;
    if (this.at.scale < READABLE) this.at.scale = 1;
    this.at.x = place.x + place.w / 2 - this.svg.clientWidth / this.at.scale / 2;
    this.at.y = place.y - this.svg.clientHeight / this.at.scale / 2;
    this.moved = true; this.wake();
  }

  // Shows only what lies below a node; null: all of it.
  within(id) {
    if (this.top === id) return;
    this.top = id;
    Object.assign(this, { stale: true, started: false });
    this.wake();
  }

  turn(down) {
    Object.assign(this, { down, stale: true, started: false });
    this.wake();
  }

  neighbour(key) {
    const place = this.places.get(this.chosen);
    if (!place) return this.places.keys().next().value ?? null;
    if (this.down) key = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" }[key];
    if (key === "ArrowLeft") return place.parent ? place.parent.id : null;
    const open = place.hidden ? [] : place.node.children.filter((id) => this.places.has(id));
    if (key === "ArrowRight") { if (place.hidden) this.toggle(place.id); return open[0] ?? null; }
    const level = [...this.places.values()].filter((p) => p.depth === place.depth).sort((a, b) => (this.down ? a.x - b.x || a.y - b.y : a.y - b.y));
    return level[level.indexOf(place) + (key === "ArrowDown" ? 1 : -1)]?.id ?? null;
  }
}
