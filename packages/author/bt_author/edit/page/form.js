"use strict";
// The forms: a node's fields from its kind, and the head of a tree.

const TEXTS = new Set(["string", "text", "word", "expression", "key"]);

function fieldRow(app, node, field) {
  if (["assignments", "inputs"].includes(field.type)) return mapRow(app, node, field);
  const options = { actions: () => ["world", ...app.kinds.filter((kind) => kind.family === "skill").map((kind) => kind.name)], moves: () => ["think", "act", "expand", "ask"] }[field.name];
  if (options && field.type === "list" && /^(\[[\w\s,]*\])?$/.test(node.fields[field.name] ?? "")) return checksRow(app, node, field, options());
  const given = node.fields[field.name], text = node.texts[field.name];
  const id = `field-${field.name}`;
  let input;
  const set = (value) => app.act("set", { field: field.name, value });
  if (field.choices.length) {
    const list = el("datalist", { id: `${id}-choices` }, field.choices.map((c) => el("option", { value: c })), app.state.entries.map((e) => el("option", { value: `{${e.name}}` }, e.type)));
    input = el("input", { id, list: `${id}-choices`, autocomplete: "off", spellcheck: "false", placeholder: field.default ? `${field.default} (default)` : field.choices.slice(0, 4).join(", "), on: { change: (e) => set(e.target.value.trim() ? yamlValue(e.target.value) : ""), keydown: (e) => { if (e.key === "Enter") e.target.blur(); } } });
    input.value = text ?? "";
    input = el("div", {}, input, list);
  } else if (field.type === "boolean") {
    input = el("select", { id, on: { change: (e) => set(e.target.value) } }, el("option", { value: "" }, field.default ? `${field.default} (default)` : "–"), el("option", { value: "true" }, "true"), el("option", { value: "false" }, "false"));
    input.value = text ?? "";
  } else {
    const plain = (TEXTS.has(field.type) || (text !== undefined && given !== undefined && !/^[[{|>]/.test(given)));
    const shownText = plain ? text ?? "" : given ?? "";
    const options = { id, spellcheck: "false", autocomplete: "off", placeholder: field.default ? `${field.default} (default)` : field.required ? "must be given" : "", list: "entries" };
    const long = shownText.includes("\n");
    const yaml = (value) => (!value.trim() ? "" : field.type === "list" && !/^[[{"']/.test(value.trim()) ? `[${value.split(",").map((each) => yamlValue(each)).join(", ")}]` : field.type === "any" ? yamlValue(value) : TEXTS.has(field.type) ? (long ? value : yamlText(value)) : field.type === "any" && !/^[\d[{"'-]|^(true|false|null)$/.test(value) ? yamlText(value) : value.includes("{") && !/^[[{"']/.test(value) ? yamlText(value) : /^\{\s*[\w.]+\s*\}$/.test(value) ? JSON.stringify(value) : value);
    const on = { change: (e) => set(yaml(e.target.value)), keydown: (e) => { if (e.key === "Enter" && !long) e.target.blur(); if (e.key === "Escape") { e.target.value = shownText; e.target.blur(); } } };
    input = long ? el("textarea", { ...options, rows: "5", on }, shownText) : el("input", { ...options, on });
    if (long) input.value = shownText; else input.value = shownText;
    if (["integer", "number"].includes(field.type)) input.inputMode = "decimal";
  }
  const bounds = field.minimum !== null || field.maximum !== null ? ` (${field.minimum ?? "…"} to ${field.maximum ?? "…"})` : "";
  const row = el("div", { class: "field" }, el("label", { for: id }, field.name + (field.required ? " *" : "")), input, el("div", { class: "about" }, field.about + bounds));
  return row;
}

// A list of names as check boxes; none: the field's default.
function checksRow(app, node, field, names) {
  const held = (node.fields[field.name] ?? "").replace(/[[\]\s]/g, "").split(",").filter(Boolean);
  const boxes = [...new Set([...names, ...held])].map((name) => {
    const box = el("input", { type: "checkbox", id: `field-${field.name}-${name}`, on: { change: () => { const made = box.checked ? [...held, name] : held.filter((each) => each !== name); app.act("set", { field: field.name, value: made.length ? `[${made.join(", ")}]` : "" }); } } });
    box.checked = held.includes(name);
    return el("label", { class: "check" }, box, ` ${name}`);
  });
  return el("div", { class: "field", role: "group", "aria-label": field.name }, el("b", {}, field.name), el("div", { class: "chips" }, boxes), el("div", { class: "about" }, field.about + (field.default ? ` Without a choice: ${field.default.replace(/[[\]']/g, "")}.` : "")));
}

// A value as somebody says it, as YAML: numbers, truth and brackets as they are, all else as text.
function yamlValue(text) {
  const said = text.trim();
  if (/^-?\d+(\.\d+)?$|^(true|false|null)$/.test(said) || /^\[.*\]$|^"(.*)"$|^'(.*)'$/.test(said) || /^\{\s*\w+\s*:/.test(said)) return said;
  return said.startsWith("{") ? JSON.stringify(said) : yamlText(said);
}

function unquoted(text) { return /^"[^"\\]*"$|^'[^']*'$/.test(text) ? text.slice(1, -1) : text; }

// Entries and what is written to them, a row each.
function mapRow(app, node, field) {
  const held = { ...(node.maps[field.name] ?? {}) };
  const send = (map) => app.act("set", { field: field.name, value: Object.keys(map).length ? `{${Object.entries(map).map(([k, v]) => `${k}: ${v}`).join(", ")}}` : "" });
  const rows = Object.entries(held).map(([name, value]) => {
    const said = el("input", { "aria-label": `${field.name}: ${name}`, autocomplete: "off", list: "entries", on: { change: (e) => send({ ...held, [name]: yamlValue(e.target.value) }) } });
    said.value = unquoted(value);
    return el("div", { class: "rows" }, el("span", {}, name), said, el("button", { class: "small", "aria-label": `Remove ${name}`, on: { click: () => { const { [name]: _, ...rest } = held; send(rest); } } }, "×"));
  });
  const name = el("input", { placeholder: "entry", "aria-label": `${field.name}: an entry`, autocomplete: "off", list: "names-of-entries", id: `field-${field.name}` });
  const value = el("input", { placeholder: "value", "aria-label": `${field.name}: its value`, autocomplete: "off", list: "entries", id: `field-${field.name}-value` });
  const add = () => { if (name.value.trim()) send({ ...held, [name.value.trim()]: yamlValue(value.value) }); };
  for (const each of [name, value]) each.addEventListener("keydown", (e) => { if (e.key === "Enter") add(); });
  return el("div", { class: "field" }, el("label", { for: `field-${field.name}` }, field.name + (field.required ? " *" : "")), el("div", {}, rows, el("div", { class: "rows" }, name, value, el("button", { class: "small", "aria-label": `Add to ${field.name}`, on: { click: add } }, "+"))), el("div", { class: "about" }, field.about));
}

function nodeForm(app) {
  const node = app.node;
  if (!node) return wholeForm(app);
  const kind = app.kindOf(node.kind);
  const head = [el("h2", {}, node.name ? `${node.name} ` : "", el("span", { class: "dim" }, node.kind)), el("p", { class: "dim" }, kind ? kind.about : "There is no kind of this name. ", kind ? "" : el("button", { id: "make-skill", on: { click: () => app.makeSkill() } }, "Make this skill"))];
  const faults = app.state.faults.filter((f) => f.node === node.id).map((f) => faultBox(app, f));
  const own = (kind?.fields ?? []).map((field) => fieldRow(app, node, field));
  const ids = new Set((kind?.fields ?? []).map((f) => f.name));
  const common = app.common.filter((f) => !ids.has(f.name));
  const open = common.some((f) => node.fields[f.name] !== undefined && f.name !== "name");
  const fold = el("details", {}, el("summary", { id: "common" }, "Name, guards, what is written after"), common.map((field) => fieldRow(app, node, field)));
  fold.open = open || app.folds;
  fold.addEventListener("toggle", () => (app.folds = fold.open));
  const list = el("datalist", { id: "entries" }, app.state.entries.flatMap((e) => [el("option", { value: `{${e.name}}` }, e.type), el("option", { value: e.name }, e.type)]));
  const names = el("datalist", { id: "names-of-entries" }, app.state.entries.map((e) => el("option", { value: e.name }, e.type)));
  return [...head, ...faults, ...own, fold, list, names, el("p", { class: "path" }, el("button", { class: "link", on: { click: () => app.tab("text") } }, `line ${node.line} of ${app.state.path}`), " · ", el("button", { class: "link", id: "own", title: "In your own editor", on: { click: () => app.own() } }, "My editor"))];
}

function faultBox(app, fault) {
  const fixes = fault.fixes.map((title, n) => el("button", { class: "small", on: { click: () => app.act("fix", { n: fault.n, fix: n }) } }, title));
  return el("div", { class: `fault ${fault.severity}` }, el("div", {}, el("b", {}, `${fault.code} `), `line ${fault.line}: ${fault.message}`), fault.help ? el("div", { class: "dim" }, fault.help) : "", fixes);
}

function faultList(app) {
  if (!app.state.faults.length) return [el("p", { class: "dim" }, "Nothing is wrong in this file.")];
  return app.state.faults.map((f) => el("div", {}, faultBox(app, f), f.node !== null ? el("button", { class: "link", on: { click: () => app.pick(f.node, true) } }, "show the node") : ""));
}

const PORT_TYPES = ["any", "string", "integer", "number", "boolean", "list", "object"];
const WRITERS = { "": "who writes it: nodes if some do, else outside", true: "written from outside, a sensor", false: "written by this tree alone" };

// An input, an output or an entry: name, type and default in a row; bounds, choices, purpose and writer folded below it.
function portForm(app, section, name, port) {
  const id = (part) => `port-${section}-${name}-${part}`;
  const set = (part, value) => {
    const { [part]: _, ...rest } = port, made = Object.entries(value === "" ? rest : { ...port, [part]: value });
    const text = made.length === 1 && made[0][0] === "type" ? made[0][1] : `{${made.map((pair) => pair.join(": ")).join(", ")}}`;
    return app.act("port", { section, name, value: made.length ? text : "any" });
  };
  const field = (part, yaml = (text) => text) => {
    const input = el("input", { id: id(part), "aria-label": `${name}: ${part}`, title: part, placeholder: part, autocomplete: "off", spellcheck: "false", on: { change: (e) => set(part, e.target.value.trim() && yaml(e.target.value)), keydown: (e) => { if (e.key === "Enter") e.target.blur(); } } });
    input.value = unquoted(port[part] ?? "");
    return input;
  };
  const list = (part, options, value) => {
    const input = el("select", { id: id(part), "aria-label": `${name}: ${part}`, on: { change: (e) => set(part, e.target.value) } }, options.map(([each, title]) => el("option", { value: each }, title)));
    input.value = value;
    return input;
  };
  const named = el("input", { id: id("name"), "aria-label": `${name}: its name, in all files`, autocomplete: "off", spellcheck: "false", on: { change: (e) => app.act("rename_entry", { section, entry: name, name: e.target.value.trim() }).then((made) => { if (!made) e.target.value = name; }) } });
  named.value = name;
  const type = port.type ?? "any", bounds = ["number", "integer"].includes(type) ? [field("minimum"), field("maximum")] : [];
  const choices = ["string", "integer", "number", "any"].includes(type) ? [field("choices", (text) => (/^\[/.test(text.trim()) ? text : `[${text.split(",").map(yamlValue).join(", ")}]`))] : [];
  const writer = section === "blackboard" ? [list("outside", Object.entries(WRITERS), port.outside ?? "")] : [];
  const said = [port.minimum || port.maximum ? `${port.minimum ?? "…"} to ${port.maximum ?? "…"}` : "", port.choices ?? "", port.outside ? WRITERS[port.outside] ?? "" : "", unquoted(port.about ?? "")].filter(Boolean).join(" · ");
  const more = el("details", { class: "about" }, el("summary", { id: id("more") }, said || "Bounds, choices, purpose, writer"), el("div", { class: "rows" }, bounds), choices, field("about", yamlText), writer);
  app.ports ??= new Set();
  more.open = app.ports.has(id("more"));
  more.addEventListener("toggle", () => app.ports[more.open ? "add" : "delete"](id("more")));
  const types = [...new Set([...PORT_TYPES, type])].map((each) => [each, each]);
  return el("div", { class: "port" }, el("div", { class: "rows four" }, named, list("type", types, type), field("default", type === "string" ? yamlText : yamlValue), el("button", { class: "small", "aria-label": `Remove ${name}`, on: { click: () => app.act("port", { section, name, value: "" }) } }, "×")), more);
}

function headForm(app) {
  const head = app.state.head, rows = [];
  for (const name of ["tree", "about"]) {
    const input = el("input", { id: `head-${name}`, autocomplete: "off", on: { change: (e) => app.act("head", { name, value: yamlText(e.target.value) }) } });
    input.value = head[name];
    rows.push(el("div", { class: "field" }, el("label", { for: `head-${name}` }, name), input));
  }
  rows.push(el("h2", {}, "Skills"), el("p", { class: "dim" }, "Manifests whose skills this tree may use."));
  for (const name of head.manifests) {
    const box = el("input", { type: "checkbox", id: `skill-${name}`, on: { change: () => app.act("skills", { names: box.checked ? [...head.skills, name] : head.skills.filter((s) => s !== name) }) } });
    box.checked = head.skills.includes(name);
    rows.push(el("div", {}, box, " ", el("label", { for: `skill-${name}` }, name)));
  }
  const titles = { inputs: "Inputs", outputs: "Outputs", blackboard: "Entries" };
  for (const [section, title] of Object.entries(titles)) {
    rows.push(el("h2", {}, title));
    for (const [name, port] of Object.entries(head[section])) rows.push(portForm(app, section, name, port));
    const name = el("input", { placeholder: "name", "aria-label": `${title}: a new name`, autocomplete: "off" });
    const type = el("select", { "aria-label": `${title}: its type` }, PORT_TYPES.map((t) => el("option", {}, t)));
    const first = el("input", { placeholder: "default", "aria-label": `${title}: its default`, autocomplete: "off", id: `new-${section}-default` });
    name.id = `new-${section}`; type.id = `new-${section}-type`;
    const add = async () => name.value.trim() && (await app.act("port", { section, name: name.value.trim(), value: first.value.trim() ? `{type: ${type.value}, default: ${yamlValue(first.value)}}` : type.value })) && $(name.id).focus(); // ready for the next one
    for (const each of [name, first]) each.addEventListener("keydown", (e) => { if (e.key === "Enter") add(); });
    rows.push(el("div", { class: "rows four" }, name, type, first, el("button", { class: "small", "aria-label": `Add to ${title}`, on: { click: add } }, "+")));
  }
  return rows;
}
