"use strict";
// A tidy tree. From left to right: children below one another, a parent beside the middle of them. From the top down:
// children side by side, but leaves below one another, so that twelve levels and many branches still fit.

const ROW = 27, BOX = 22, GAP = 30, WIDE = 270, NARROW = 165, KIND = 165;
const LEVEL = 46, BESIDE = 14, SHORT = 150, INDENT = 14; // from the top down
const FONT = '13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const KIND_SIGNS = {}; // of kinds: the registry's, as the server tells them

const measuring = document.createElement("canvas").getContext("2d");
const measured = new Map();
function widthOf(text) {
  let width = measured.get(text);
  if (width === undefined) {
    if (measured.size > 20000) measured.clear();
    measuring.font = FONT;
    measured.set(text, (width = measuring.measureText(text).width));
  }
  return width;
}

// Cut in the middle: what tells siblings apart is often at the end.
function fitted(text, most) {
  const line = shown(text).replace(/\s+/g, " ");
  if (widthOf(line) <= most) return line;
  const letters = Array.from(line.slice(0, 4000)), cut = (n) => `${letters.slice(0, Math.ceil(n * 0.55)).join("")}…${letters.slice(letters.length - Math.floor(n * 0.45)).join("")}`;
  let low = 0, high = Math.min(letters.length - 1, 120);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(cut(middle)) <= most) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}

// The words in a node's box: what it is, and what it is about.
/** @returns {[string, string]} */
function words(fold, node, widest) {
  const goal = fold.goals.get(node.id);
  const said = (node.family === "agent" && goal ? goal.goal : "") || (node.kind === "guard" && node.gist) || node.name || node.label || node.gist || (node.family === "skill" ? node.feedback : "");
  const about = [said, node.guard].filter(Boolean).join(" · "); // what has to hold for it never vanishes behind its name
  const kind = KIND_SIGNS[node.kind] ? `${KIND_SIGNS[node.kind]} ${node.kind}` : node.kind;
  const left = fitted(kind, KIND);
  const right = about ? fitted(about, Math.max(70, widest * (node.guard ? 1.7 : 1) - widthOf(left))) : "";
  return [left, right];
}

// The words in front of a branch: `catch`, `then`, the case of a switch.
function branch(node) { return node.facts?.place ? shown(node.facts.place) : ""; }

class Place {
  constructor(node, depth) {
    this.node = node;
    this.id = node.id;
    this.depth = depth;
    this.parent = null;
    this.x = this.y = this.w = 0;
    this.below = [];
    this.branch = "";
    this.hidden = 0; // how many nodes are folded away below
  }
}

// id → Place for every node that is not folded away, in the order of the tree. `top`: only what lies below this node.
function layout(fold, closed, widest, { top = null, down = false } = {}) {
  const places = new Map();
  const todo = (fold.nodes.has(top) ? [top] : fold.roots).map((id) => [id, null]).reverse();
  while (todo.length) {
    const [id, parent] = todo.pop();
    const node = fold.nodes.get(id);
    if (!node) continue;
    const place = new Place(node, parent ? parent.depth + 1 : 0);
    place.parent = parent;
    if (node.children.length && closed(node)) place.hidden = below(fold, node);
    place.branch = fitted(branch(node), 90);
    place.words = words(fold, node, down ? Math.min(SHORT, widest) : widest);
    const more = place.hidden ? widthOf(`+${place.hidden}`) + 10 : 0, label = place.branch ? widthOf(place.branch) * 1.1 + 8 : 0;
    place.w = Math.ceil(24 + label + widthOf(place.words[0]) + (place.words[1] ? 7 + widthOf(place.words[1]) : 0) + more + 8);
    if (parent) parent.below.push(place);
    places.set(id, place);
    if (!place.hidden) for (let i = node.children.length - 1; i >= 0; i--) todo.push([node.children[i], place]);
  }
  const size = (down ? downward : rightward)([...places.values()]);
  return { places, ...size };
}

function rightward(all) {
  let row = 0, right = 0;
  for (const place of all) {
    place.x = place.parent ? place.parent.x + place.parent.w + GAP : 0;
    right = Math.max(right, place.x + place.w);
    if (!place.below.length) place.y = row++ * ROW;
  }
  for (const place of all.reverse()) if (place.below.length) place.y = (place.below[0].y + place.below[place.below.length - 1].y) / 2;
  return { width: right, height: row * ROW };
}

function downward(all) {
  let bottom = 0, right = 0;
  for (const place of all.slice().reverse()) {
    place.stacked = place.below.length > 1 && place.below.every((child) => !child.below.length);
    const under = place.stacked ? INDENT + Math.max(...place.below.map((child) => child.w)) : place.below.reduce((sum, child) => sum + child.band + BESIDE, -BESIDE);
    place.band = Math.max(place.w, under); // how wide all of it is
    place.under = under;
  }
  for (const place of all) {
    const parent = place.parent;
    if (!parent) { place.from = right ? right + BESIDE : 0; place.y = BOX / 2; }
    place.x = parent?.stacked ? place.from : place.from + (place.stacked ? 0 : (place.band - place.w) / 2);
    let from = place.from + (place.stacked ? INDENT : Math.max(0, (place.band - place.under) / 2));
    place.below.forEach((child, i) => {
      child.from = from;
      child.y = place.stacked ? place.y + LEVEL - 8 + i * ROW : place.y + LEVEL;
      if (!place.stacked) from += child.band + BESIDE;
    });
    bottom = Math.max(bottom, place.y + BOX / 2);
    right = Math.max(right, place.x + place.w);
  }
  return { width: right, height: bottom };
}

// The line from a parent's box to this one.
function line(place, down) {
  const up = place.parent;
  if (!down) { const out = up.x + up.w, middle = out + GAP / 2; return `M${out} ${up.y}H${middle}V${place.y}H${place.x}`; }
  if (up.stacked) return `M${up.x + INDENT / 2} ${up.y + BOX / 2}V${place.y}H${place.x}`;
  const middle = place.y - LEVEL / 2;
  return `M${up.x + up.w / 2} ${up.y + BOX / 2}V${middle}H${place.x + place.w / 2}V${place.y - BOX / 2}`;
}

function below(fold, node) {
  let count = 0;
  const todo = [...node.children];
  while (todo.length) {
    const found = fold.nodes.get(todo.pop());
    if (!found) continue;
    count++;
    for (const child of found.children) todo.push(child);
  }
  return count;
}
