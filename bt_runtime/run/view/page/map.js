"use strict";
// Where one is: the trees of the run as tabs, the way to the chosen node, and all of it in small.

const MOST_TABS = 60;
const WIDE_MAP = 190, HIGH_MAP = 120, LEAST_MAP = 64;

function crumb(fold, node) {
  const segment = fold.nodes.get(node.parent) && node.segment === "." ? fold.nodes.get(node.parent).segment : node.segment;
  return /^\d+$/.test(segment) ? `${segment} ${node.kind}` : segment;
}

class TreeMap {
  constructor(page) {
    this.page = page;
    this.tabs = document.getElementById("trees");
    this.crumbs = document.getElementById("crumbs");
    this.canvas = document.getElementById("minimap");
    this.tabs.addEventListener("click", (e) => { const tab = e.target.closest("[data-top]"); if (tab) this.open(tab.dataset.top === "" ? null : Number(tab.dataset.top)); });
    this.crumbs.addEventListener("click", (e) => { const crumb = e.target.closest("[data-go]"); if (crumb) page.goTo(Number(crumb.dataset.go)); });
    const drag = (e) => { if (e.buttons) this.lead(e.offsetX, e.offsetY); };
    this.canvas.addEventListener("pointerdown", (e) => { this.canvas.setPointerCapture(e.pointerId); drag(e); });
    this.canvas.addEventListener("pointermove", drag);
  }

  open(top) {
    const { tree } = this.page;
    tree.within(top);
    this.page.wake();
  }

  draw(fold, chosen) {
    const { tree } = this.page;
    if (tree.top !== null && !fold.nodes.has(tree.top)) tree.within(null);
    if (this.version !== fold.version || this.fold !== fold) { this.version = fold.version; this.fold = fold; this.subtrees = [...fold.nodes.values()].filter((n) => n.kind === "tree" && n.children.length); }
    this.drawTabs(fold, tree.top);
    this.drawCrumbs(fold, fold.nodes.has(chosen) ? chosen : (fold.runs(tree.anchor)?.id ?? fold.roots[0]));
    const now = performance.now();
    if (now - (this.drawnAt ?? -1000) > 150) { this.drawnAt = now; this.drawMap(fold, tree); }
  }

  drawTabs(fold, top) {
    const shownTabs = this.subtrees.slice(0, MOST_TABS);
    const said = JSON.stringify([top, shownTabs.map((n) => [n.id, n.status, n.gist]), this.subtrees.length]);
    if (said === this.saidTabs) return;
    this.saidTabs = said;
    this.tabs.hidden = !this.subtrees.length;
    const tab = (id, text, title, status) => el("button", { role: "tab", "data-top": id ?? "", "aria-selected": String(top === id), title: shown(title), class: status }, text);
    const named = shownTabs.map((n) => fold.nodes.get(n.children[0])?.segment ?? n.segment);
    const called = (n, i) => (named.filter((name) => name === named[i]).length > 1 ? fitted(n.name || n.gist || fold.path(n.id), 130) : named[i]); // of several alike, what each is about
    const whole = fold.nodes.get(fold.roots[0]);
    this.tabs.replaceChildren(tab(null, whole?.segment ?? "all", "The whole tree", whole?.status ?? "I"), ...shownTabs.map((n, i) => tab(n.id, `${SIGNS[n.status]} ${called(n, i)}`, fold.path(n.id), n.status)), this.subtrees.length > MOST_TABS ? el("span", { class: "dim" }, `… ${this.subtrees.length - MOST_TABS} more`) : "");
  }

  drawCrumbs(fold, id) {
    const way = fold.above(id).filter((n, i, all) => all[i + 1]?.segment !== "."), said = JSON.stringify(way.map((n) => [n.id, n.status]));
    if (said === this.saidCrumbs) return;
    this.saidCrumbs = said;
    this.crumbs.replaceChildren(...way.flatMap((n, i) => [i ? el("span", { class: "dim" }, "›") : "", el("button", { class: `link ${n.status}`, "data-go": n.id, title: shown(`${n.kind} ${n.gist}`) }, crumb(fold, n))]).filter(Boolean));
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
  }

  drawMap(fold, tree) {
    const { width, height } = tree.size, svg = tree.svg, far = width * tree.at.scale > svg.clientWidth + 40 || height * tree.at.scale > svg.clientHeight + 40;
    this.canvas.hidden = !far || svg.clientWidth < 520 || !tree.places.size;
    if (this.canvas.hidden) return;
    const even = Math.min(WIDE_MAP / (width + 1), HIGH_MAP / (height + 1)); // stretched, where it were but a line
    const sx = Math.max(even, LEAST_MAP / (width + 1)), sy = Math.max(even, LEAST_MAP / (height + 1));
    Object.assign(this, { sx, sy });
    const w = Math.round(width * sx) + 6, h = Math.round(height * sy) + 6, dots = devicePixelRatio;
    if (this.canvas.width !== w * dots || this.canvas.height !== h * dots) { this.canvas.width = w * dots; this.canvas.height = h * dots; this.canvas.style.width = `${w}px`; this.canvas.style.height = `${h}px`; }
    const brush = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name);
    const tones = { R: colour("--running"), S: colour("--success"), F: colour("--failure"), I: colour("--line") };
    brush.setTransform(dots, 0, 0, dots, 0, 0);
    brush.clearRect(0, 0, w, h);
    for (const status of ["I", "S", "F", "R"]) {
      brush.fillStyle = tones[status];
      for (const place of tree.places.values()) {
        const node = fold.nodes.get(place.id);
        if ((node?.status ?? "I") === status) brush.fillRect(3 + place.x * sx, 3 + (place.y - BOX / 2) * sy, Math.max(1.5, place.w * sx), Math.max(1, BOX * sy * 0.8));
      }
    }
    brush.fillStyle = colour("--graft");
    for (const id of tree.hits) { const place = tree.places.get(id); if (place) brush.fillRect(2 + place.x * sx, 2 + (place.y - BOX / 2) * sy, Math.max(4, place.w * sx), Math.max(2, BOX * sy * 0.8)); }
    brush.strokeStyle = colour("--accent"); brush.lineWidth = 1.5;
    const x = Math.max(0, 3 + tree.at.x * sx), y = Math.max(0, 3 + tree.at.y * sy);
    brush.strokeRect(x + 0.5, y + 0.5, Math.min(w - x - 1, (svg.clientWidth / tree.at.scale) * sx), Math.min(h - y - 1, Math.max(3, (svg.clientHeight / tree.at.scale) * sy)));
  }

  lead(x, y) {
    const { tree } = this.page, at = tree.at;
    tree.follow(false);
    at.x = (x - 3) / this.sx - tree.svg.clientWidth / at.scale / 2;
    at.y = (y - 3) / this.sy - tree.svg.clientHeight / at.scale / 2;
    tree.moved = true; tree.wake();
  }
}
