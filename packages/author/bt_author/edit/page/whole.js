"use strict";
// What matters of the whole tree, while no node is chosen: its ports and entries, properties and tests.

function wholeForm(app) {
  const { head } = app.state, change = (text, tab) => el("button", { class: "link", on: { click: () => app.tab(tab) } }, text);
  const section = (title, rows, none) => [el("h2", {}, title), ...(rows.length ? rows : [el("p", { class: "dim" }, none)])];
  const ports = (held) => Object.entries(held).map(([name, port]) => el("p", {}, el("b", {}, name), ` ${port.type ?? "any"}${port.default === undefined ? "" : ` = ${port.default}`}`, port.about ? el("span", { class: "dim" }, ` ${unquoted(port.about)}`) : ""));
  return [
    el("h2", {}, head.tree || app.state.path), el("p", { class: "dim" }, unquoted(head.about) || `${app.state.nodes.length} nodes in ${app.state.path}`),
    ...section("Inputs", ports(head.inputs), "none"), ...section("Outputs", ports(head.outputs), "none"), ...section("Entries", ports(head.blackboard), "none"),
    el("p", {}, change("Change name, skills, ports and entries", "head")),
    ...section("Properties", Object.entries(head.properties).map(([name, text]) => el("p", {}, el("b", {}, name), el("span", { class: "code" }, ` ${text}`))), "none: Try checks what must never hold"),
    ...section("Tests", head.tests.map((name) => el("p", { class: "code" }, name)), "none: Keep as a test, in Try, writes one"),
  ];
}
