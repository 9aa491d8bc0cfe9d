"use strict";
// A tidy tree from left to right: children below one another, a parent beside the middle of them.

const ROW = 27, BOX = 22, GAP = 30, WIDE = 270, NARROW = 165, KIND = 165;
const FONT = '13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const GLYPHS = { sequence: "→", fallback: "?", reactive_sequence: "→↻", reactive_fallback: "?↻", sequence_with_memory: "→·", parallel: "⇉", pipeline: "→→", recovery: "⚑↺", round_robin: "?⟳", if: "◇", switch: "◇", while: "↻", try: "⚑", invert: "¬", retry: "↺", repeat: "↻", timeout: "⏱", tree: "▤", agent: "✦", plan: "✎", reflect: "✎", verify: "✓?" };

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
function words(fold, node, widest) {
  const goal = fold.goals.get(node.id);
  const about = (node.family === "agent" && goal ? goal.goal : "") || node.name || node.gist || (node.family === "skill" ? node.feedback : "");
  const kind = GLYPHS[node.kind] ? `${GLYPHS[node.kind]} ${node.kind}` : node.kind;
  const left = fitted(kind, KIND);
  const right = about ? fitted(about, Math.max(70, widest - widthOf(left))) : "";
  return [left, right];
}

class Place {
  constructor(node, depth) {
    this.node = node;
    this.id = node.id;
    this.depth = depth;
    this.parent = null;
    this.x = this.y = this.w = 0;
    this.hidden = 0; // how many nodes are folded away below
  }
}

// id → Place for every node that is not folded away, in the order of the rows.
function layout(fold, closed, widest) {
  const places = new Map();
  let row = 0, right = 0;
  const finish = (place) => {
    const shownChildren = place.hidden ? [] : place.node.children.map((id) => places.get(id)).filter(Boolean);
    if (shownChildren.length) place.y = (shownChildren[0].y + shownChildren[shownChildren.length - 1].y) / 2;
    else place.y = row++ * ROW;
  };
  const todo = fold.roots.map((id) => [id, null, false]).reverse();
  while (todo.length) {
    const [id, parent, done] = todo.pop();
    if (done) { finish(places.get(id)); continue; }
    const node = fold.nodes.get(id);
    if (!node) continue;
    const place = new Place(node, parent ? parent.depth + 1 : 0);
    place.parent = parent;
    if (node.children.length && closed(node)) place.hidden = below(fold, node);
    place.words = words(fold, node, widest);
    const more = place.hidden ? widthOf(`+${place.hidden}`) + 10 : 0;
    place.w = Math.ceil(24 + widthOf(place.words[0]) + (place.words[1] ? 7 + widthOf(place.words[1]) : 0) + more + 8);
    place.x = parent ? parent.x + parent.w + GAP : 0;
    right = Math.max(right, place.x + place.w);
    places.set(id, place);
    todo.push([id, parent, true]);
    if (!place.hidden) for (let i = node.children.length - 1; i >= 0; i--) todo.push([node.children[i], place, false]);
  }
  return { places, width: right, height: row * ROW };
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
