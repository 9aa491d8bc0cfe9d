"use strict";
// The palette: kinds, the project's skills and its trees, with a search over all of them.

App.prototype.palette = function () { $("find").focus(); $("find").select(); };

App.prototype.list = function () {
  const word = $("find").value.trim().toLowerCase(), shown = this.kinds.filter((k) => !word || k.name.includes(word) || (word.length > 3 && k.about.toLowerCase().includes(word)));
  shown.sort((a, b) => Number(b.name.startsWith(word)) - Number(a.name.startsWith(word)));
  const rows = [];
  const groups = word ? { "": shown } : Object.groupBy ? Object.groupBy(shown, (k) => k.family) : { "": shown };
  const order = ["skill", "control", "decorator", "leaf", "agent"];
  for (const group of word ? [""] : order.filter((g) => groups[g])) {
    if (group) rows.push(el("li", { class: "group", role: "presentation" }, { skill: "Skills", control: "Control", decorator: "Decorators", leaf: "Leaves", agent: "Agents" }[group]));
    for (const kind of groups[group]) rows.push(el("li", { role: "option", title: kind.about, "data-kind": kind.name, "aria-selected": "false" }, `${kind.sign} ${kind.name}`));
  }
  const trees = this.trees.filter((name) => !word || name.toLowerCase().includes(word) || "tree".startsWith(word));
  if (trees.length) rows.push(el("li", { class: "group", role: "presentation" }, "Trees of this project"));
  for (const name of trees) rows.push(el("li", { role: "option", title: `The tree ${name}, as a part of this one`, "data-kind": `tree ${name}`, "aria-selected": "false" }, `${KIND_SIGNS.tree ?? ""} ${name}`));
  if (!rows.length) rows.push(el("li", { class: "group", role: "presentation" }, `Nothing is called ${word}: the tree panel lists the project's skills.`));
  $("kinds").replaceChildren(...rows);
  if (word) $("kinds").querySelector("[data-kind]")?.setAttribute("aria-selected", "true");
};
