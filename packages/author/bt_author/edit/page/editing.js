"use strict";
// What is edited, as the canvas reads it; and the gestures, each with its key: the table of docs/editing.md is made of it.

const HOLDS = (kind) => kind && kind.several;

// Whether a decorator has room for a node: none is in it, or the one that a new decorator comes with.
const ROOM = (kind, node, fold) => {
  const only = node.children.length === 1 ? fold.nodes.get(node.children[0]) : null;
  return Boolean(kind?.holds.length && !HOLDS(kind) && (!node.children.length || (only?.kind === "succeed" && !only.name && !Object.keys(only.fields).length)));
};

// The nodes of a text in the shape that the canvas draws.
class EditFold {
  constructor(state, version) {
    this.version = version;
    this.still = true; // nothing runs
    this.goals = new Map();
    this.latest = {};
    this.roots = [];
    this.nodes = new Map();
    for (const node of state.nodes) {
      const place = node.place.startsWith("cases:") ? node.place.slice(6) : ["children", "child", "root"].includes(node.place) ? "" : node.place;
      this.nodes.set(node.id, { ...node, status: "I", since: 0, feedback: "", children: [], facts: { place } });
      if (node.parent === null) this.roots.push(node.id);
      else this.nodes.get(node.parent).children.push(node.id);
    }
  }
  runs() { return null; }
}

// name → [title, key, what it does, when it can be done]. `app` is the page.
/** @type {Record<string, [string, string, (app: App) => any, (app: App) => any, string]>} */
const GESTURES = {
  add: ["Add", "a", (app) => app.palette(), () => true, "a node from the palette, behind the chosen one or into it"],
  wrap: ["Wrap", "w", (app) => app.choose("Wrap in", app.around(), (kind) => app.wrap(kind)), (app) => app.node, "the chosen nodes in a control node or a decorator"],
  unwrap: ["Unwrap", "u", (app) => app.act("unwrap"), (app) => app.node?.children.length, "the nodes within take its place"],
  swap: ["Swap", "s", (app) => app.choose("Swap for", app.kinds.map((k) => k.name), (kind) => app.act("swap", { kind })), (app) => app.node, "the kind; nodes within and common fields stay"],
  up: ["Up", "Alt ↑", (app) => app.shift(-1), (app) => app.node?.list, "one place earlier among its siblings"],
  down: ["Down", "Alt ↓", (app) => app.shift(1), (app) => app.node?.list, "one place later among its siblings"],
  cut: ["Cut", "Ctrl X", (app) => app.copy(true), (app) => app.node && app.node.parent !== null, "to the clipboard, as YAML"],
  copy: ["Copy", "Ctrl C", (app) => app.copy(false), (app) => app.node, "to the clipboard, as YAML, for other files and windows"],
  paste: ["Paste", "Ctrl V", (app) => app.paste(), () => true, "the node of the clipboard, behind the chosen one or into it"],
  delete: ["Delete", "Del", (app) => app.remove(), (app) => app.node && app.node.parent !== null, "the chosen nodes, with all within"],
  extract: ["Extract", "x", (app) => app.ask("Name of the new tree", "part", (name) => app.act("extract", { name })), (app) => app.node && app.node.parent !== null, "a tree of its own, with ports for what it reads and writes"],
  inline: ["Inline", "i", (app) => app.act("inline"), (app) => app.node?.kind === "tree", "the nodes of the tree that stands here"],
  open: ["Open", "o", (app) => app.into(), (app) => app.node?.opens, "the tree that stands here, in a tab of its own; double-click does so, too"],
  back: ["Back", "b", (app) => app.back(), (app) => app.from, "to the tree from which this one was opened"],
  rename: ["Rename", "r", (app) => app.ask("Name of this node", app.node.name, (name) => app.act("set", { field: "name", value: yamlText(name) })), (app) => app.node, "the chosen node"],
  everywhere: ["Rename all", "Shift R", (app) => app.renameAll(), (app) => app.state?.nodes.length, "the skill of the node, the tree that it includes, or else this tree, in all files; entries below Tree"],
  skill: ["Make skill", "m", (app) => app.makeSkill(), (app) => app.node && !app.kindOf(app.node.kind), "the missing skill of this node: its manifest and a stub, shown first"],
  format: ["Format", "Shift F", (app) => app.act("format"), () => true, "the file in the layout of `btr fmt`"],
  picture: ["Picture", "p", (app) => app.pictures(), (app) => app.state?.nodes.length, "the tree or the chosen branch as SVG, PNG or PDF, folded or not"],
  wish: ["Ask", "Shift A", (app) => app.wish(), (app) => app.asks && app.state, "a change in a sentence, with `--model`: the model's proposal is shown as a diff, to take or to drop"],
  commands: ["Commands", "Ctrl K", (app) => app.commands(), (app) => app.state, "any command or node, by its name"],
  undo: ["Undo", "Ctrl Z", (app) => app.act("undo"), (app) => app.state?.undo, "the last gesture, over all files"],
  redo: ["Redo", "Ctrl Shift Z", (app) => app.act("redo"), (app) => app.state?.redo, "what was undone"],
  save: ["Save", "Ctrl S", (app) => app.save(), (app) => app.state?.unsaved, "the file; nothing is written before"],
  run: ["Run", "Ctrl Enter", (app) => app.run(), (app) => app.state?.nodes.length, "the saved tree, with the inputs of Try, watched on its page; a run that goes on is shown"],
  saveall: ["Save all", "Ctrl Shift S", (app) => app.act("save_all").then(() => app.files()), (app) => app.state?.unsaved || app.state?.others.length, "every changed file, such as those of a renaming"],
};

// The gesture of a pressed key.
function gestureOf(event) {
  const name = { ArrowUp: "↑", ArrowDown: "↓", Delete: "Del", Backspace: "Del" }[event.key] ?? event.key;
  const letter = name.length === 1 && (event.ctrlKey || event.metaKey || event.shiftKey) ? name.toUpperCase() : name;
  const key = `${event.ctrlKey || event.metaKey ? "Ctrl " : ""}${event.altKey ? "Alt " : ""}${event.shiftKey && letter.length === 1 && /[A-Z]/.test(letter) ? "Shift " : ""}${letter}`;
  return Object.keys(GESTURES).find((gesture) => GESTURES[gesture][1] === key) ?? null;
}

// A text as YAML: bare where that means the same, else in quotes.
function yamlText(text) {
  const bare = /^[A-Za-z_/][\w ./()'-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|~)$/i.test(text) && text === text.trim();
  return bare ? text : JSON.stringify(text);
}

// Where a dragged node would go: before, after or into the box below the pointer.
function dropAt(view, fold, kinds, x, y, moved) {
  const ours = { x: x / view.at.scale + view.at.x, y: y / view.at.scale + view.at.y };
  let best = null, far = 60;
  for (const place of view.places.values()) {
    const dx = Math.max(place.x - ours.x, 0, ours.x - place.x - place.w), dy = Math.abs(ours.y - place.y);
    if (dx + dy < far) { far = dx + dy; best = place; }
  }
  if (!best) return null;
  const node = fold.nodes.get(best.id), into = HOLDS(kinds.get(node.kind)) || ROOM(kinds.get(node.kind), node, fold);
  const offset = (view.down ? (ours.x - best.x) / best.w - 0.5 : (ours.y - best.y) / BOX);
  for (let at = node; at; at = fold.nodes.get(at.parent)) if (moved && at.id === moved.id) return null;
  if (into && (node.parent === null || Math.abs(offset) < 0.28 || ours.x > best.x + best.w)) return { place: best, how: "into", parent: node, index: node.children.length };
  if (node.parent === null || !node.list) return into ? { place: best, how: "into", parent: node, index: node.children.length } : null;
  const parent = fold.nodes.get(node.parent), index = node.path[node.path.length - 1] + (offset > 0 ? 1 : 0);
  return { place: best, how: offset > 0 ? "after" : "before", parent, index };
}
