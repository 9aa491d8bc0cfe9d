"use strict";
// A field for YAML: colours, line numbers, marks of faults, completion and the browser's own undo.
// The text is that of a textarea; its coloured twin lies behind it and holds only the lines in sight.

const YAML_ROW = 18, YAML_STEP = 2, YAML_NEAR = 20; // YAML_NEAR: lines that are drawn above and below those in sight
const YAML_PART = /(#.*$)|("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|([\w./-]+(?=:(?:\s|$)))|(\b(?:true|false|null)\b|(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.]))|([{}[\],|>&*]|^\s*-(?=\s))/g;
const YAML_NAMES = ["comment", "string", "key", "value", "sign"];

class YamlField {
  static count = 0;

  // `complete({row, column})` returns what may stand there; `changed()` and `moved()` are told of typing and of the caret.
  constructor({ label, complete, changed = () => {}, moved = () => {}, rows = 0 }) {
    this.complete = complete; this.changed = changed;
    this.marks = new Map(); this.items = []; this.asked = 0; this.leaving = false;
    this.gutter = el("div", { class: "gutter", "aria-hidden": "true" });
    this.back = el("pre", { class: "back", "aria-hidden": "true" });
    this.list = el("ul", { class: "offered", role: "listbox", id: `offered-${YamlField.count += 1}`, hidden: "" });
    this.area = el("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": label, "aria-autocomplete": "list", "aria-controls": this.list.id, on: {
      input: (e) => this.typed(e), scroll: () => { this.list.hidden = true; this.draw(); }, keydown: (e) => this.key(e), click: () => { this.close(); moved(); }, blur: () => this.close(),
      keyup: (e) => { if (/^(Arrow|Page|Home|End)/.test(e.key)) moved(); },
    } });
    this.box = el("div", { class: "yamlfield" }, this.gutter, this.back, this.area, this.list);
    if (rows) this.box.style.height = `${rows * YAML_ROW + 8}px`;
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  get value() { return this.area.value; }
  set value(text) {
    if (text !== this.area.value) {
      const at = Math.min(this.area.selectionStart, text.length);
      this.area.value = text;
      this.area.setSelectionRange(at, at);
      this.close();
    }
    this.draw();
  }
  get caret() { const rows = this.area.value.slice(0, this.area.selectionStart).split("\n"); return { row: rows.length - 1, column: rows.at(-1).length }; }
  focus() { this.area.focus(); }

  // Marks lines with faults: { row, text, type }.
  annotate(faults) {
    this.marks = new Map();
    for (const f of faults) { const known = this.marks.get(f.row); this.marks.set(f.row, { text: known ? `${known.text}\n${f.text}` : f.text, type: known?.type === "error" ? "error" : f.type }); }
    this.draw();
  }

  // Puts the caret at a place, both counted from 0, and its line in sight.
  go(row, column) {
    const rows = this.area.value.split("\n"), at = rows.slice(0, row).reduce((sum, r) => sum + r.length + 1, 0) + Math.min(column, rows[row]?.length ?? 0);
    this.area.setSelectionRange(at, at);
    const top = row * YAML_ROW, high = this.area.clientHeight;
    if (top < this.area.scrollTop || top > this.area.scrollTop + high - 2 * YAML_ROW) this.area.scrollTop = Math.max(0, top - high / 2);
    this.draw();
  }

  draw() {
    const rows = this.area.value.split("\n"), top = this.area.scrollTop;
    const first = Math.max(0, Math.floor(top / YAML_ROW) - YAML_NEAR), last = Math.min(rows.length, Math.ceil((top + this.area.clientHeight) / YAML_ROW) + YAML_NEAR);
    const shift = `${first * YAML_ROW - top}px`;
    this.gutter.replaceChildren(el("div", {}, ...rows.slice(first, last).map((_, i) => this.number(first + i))));
    this.back.replaceChildren(el("div", {}, ...rows.slice(first, last).map((row) => el("div", {}, ...YamlField.coloured(row)))));
    this.gutter.firstChild.style.transform = `translateY(${shift})`;
    this.back.firstChild.style.transform = `translate(${-this.area.scrollLeft}px, ${shift})`;
  }

  number(row) {
    const mark = this.marks.get(row);
    return el("div", mark ? { class: mark.type, title: mark.text } : {}, String(row + 1));
  }

  static coloured(row) {
    const parts = []; let at = 0;
    for (const found of row.matchAll(YAML_PART)) {
      const name = YAML_NAMES[found.slice(1).findIndex((group) => group !== undefined)];
      if (name === "comment" && found.index && !/\s/.test(row[found.index - 1])) continue;
      parts.push(row.slice(at, found.index), el("span", { class: name }, found[0]));
      at = found.index + found[0].length;
    }
    return [...parts, row.slice(at)];
  }

  // Replaces what is chosen, so that the browser's undo knows of it.
  insert(text) { if (!document.execCommand("insertText", false, text)) { this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end"); this.typed({}); } }

  typed(event) {
    this.draw(); this.changed();
    if (event.data && /^[\w-]$/.test(event.data)) this.offer(); else this.close();
  }

  key(event) {
    const key = event.key, open = !this.list.hidden;
    if (key === " " && event.ctrlKey) { event.preventDefault(); this.offer(true); return; }
    if (open && ["ArrowDown", "ArrowUp"].includes(key)) { event.preventDefault(); this.choose(this.chosen + (key === "ArrowDown" ? 1 : -1)); return; }
    if (open && (key === "Enter" || key === "Tab")) { event.preventDefault(); this.take(this.items[this.chosen]); return; }
    if (key === "Escape") { if (open) { event.stopPropagation(); this.close(); } this.leaving = true; return; } // the next Tab leaves the field
    if (key === "Tab" && !event.shiftKey && !this.leaving) { event.preventDefault(); this.insert(" ".repeat(YAML_STEP - this.caret.column % YAML_STEP)); }
    if (key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const row = this.area.value.slice(0, this.area.selectionStart).split("\n").at(-1);
      this.insert(`\n${/^\s*/.exec(row)[0]}${/:\s*(#.*)?$/.test(row) ? " ".repeat(YAML_STEP) : ""}`);
    }
    this.leaving = false;
  }

  // What may stand at the caret, by what is written before it.
  async offer(always = false) {
    const asked = ++this.asked, at = this.caret;
    const found = await this.complete(at), now = this.caret;
    if (asked !== this.asked || document.activeElement !== this.area || now.row !== at.row) return;
    const word = /[\w-]*$/.exec(this.area.value.slice(0, this.area.selectionStart))[0].toLowerCase();
    const fits = (found?.items ?? []).filter((i) => i.label.toLowerCase().includes(word));
    this.items = [...fits.filter((i) => i.label.toLowerCase().startsWith(word)), ...fits.filter((i) => !i.label.toLowerCase().startsWith(word))].slice(0, 50);
    if (!this.items.length || (!always && this.items.length === 1 && this.items[0].label === word)) { this.close(); return; }
    this.list.replaceChildren(...this.items.map((item, n) => el("li", { role: "option", id: `${this.list.id}-${n}`, on: { mousedown: (e) => { e.preventDefault(); this.take(item); } } }, el("b", {}, item.label), el("span", {}, item.detail ?? ""))));
    this.list.hidden = false;
    const left = this.area.offsetLeft + (now.column - word.length) * this.wide() - this.area.scrollLeft, below = (now.row + 1) * YAML_ROW - this.area.scrollTop + 4;
    const up = below + this.list.offsetHeight > this.box.clientHeight && below > this.list.offsetHeight + YAML_ROW;
    this.list.style.left = `${Math.max(0, Math.min(left, this.box.clientWidth - this.list.offsetWidth))}px`;
    this.list.style.top = `${up ? below - YAML_ROW - this.list.offsetHeight - 4 : below}px`;
    this.choose(0);
  }

  wide() { const pen = document.createElement("canvas").getContext("2d"); pen.font = getComputedStyle(this.area).font; return pen.measureText("x".repeat(100)).width / 100; }

  choose(number) {
    this.chosen = (number + this.items.length) % this.items.length;
    [...this.list.children].forEach((line, n) => line.setAttribute("aria-selected", String(n === this.chosen)));
    this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
    this.area.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
  }

  // Writes what was chosen in the place of the word; the caret goes to the first place that is left open.
  take(item) {
    const end = this.area.selectionStart, before = this.area.value.slice(0, end), start = end - /[\w-]*$/.exec(before)[0].length;
    const indent = /^\s*/.exec(before.split("\n").at(-1))[0].length;
    const text = (item.insert || item.label).replaceAll("\n", `\n${" ".repeat(indent)}`);
    const open = /\$\{?\d/.exec(text), plain = YamlField.plain(text);
    this.close();
    this.area.setSelectionRange(start, end);
    this.insert(plain);
    if (open) { const at = start + YamlField.plain(text.slice(0, open.index)).length, length = /^\$\{\d+:([^}]*)\}/.exec(text.slice(open.index))?.[1].length ?? 0; this.area.setSelectionRange(at, at + length); }
    this.area.focus();
  }

  static plain(snippet) { return snippet.replace(/\$\{\d+:([^}]*)\}|\$\{?\d+\}?|\\([$}\\])/g, (_, given, escaped) => given ?? escaped ?? ""); }

  close() { this.asked++; this.list.hidden = true; this.area?.removeAttribute("aria-activedescendant"); }
}
