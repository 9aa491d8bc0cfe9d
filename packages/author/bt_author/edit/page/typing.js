"use strict";
// The text of the file: Ace, where the package that brings it is installed, else a plain field.

class Typing {
  constructor(app) {
    this.app = app;
    this.box = el("div", { id: "typing" });
    this.ace = null;
    this.timer = 0;
    this.quiet = false;
    this.field = el("textarea", { spellcheck: "false", "aria-label": "The text", on: { input: () => this.typed(), click: () => this.moved(), keyup: () => this.moved() } });
    this.box.append(this.field);
  }

  async load() {
    if (!await loadAce()) return;
    const holder = el("div");
    this.box.replaceChildren(holder);
    this.ace = yamlEditor(holder, (at, done) => this.completed(at, done));
    this.ace.on("change", () => this.typed());
    this.ace.selection.on("changeCursor", () => this.moved());
    this.show(this.app.state);
  }

  get text() { return this.ace ? this.ace.getValue() : this.field.value; }

  // The text as it is now; what is being typed is not disturbed.
  show(state) {
    if (!state || this.timer) return; // what is being typed comes first
    if (this.text !== state.text) {
      this.quiet = true;
      if (this.ace) { const at = this.ace.getCursorPosition(); this.ace.setValue(state.text, -1); this.ace.moveCursorToPosition(at); this.ace.clearSelection(); } else this.field.value = state.text;
      this.quiet = false;
    }
    if (this.ace) this.ace.session.setAnnotations(state.faults.map((f) => ({ row: f.line - 1, column: f.column - 1, text: `${f.code}: ${f.message}`, type: f.severity === "error" ? "error" : "warning" })));
  }

  // What the language server offers at this place, for the text as it is now.
  async completed(at, done) {
    if (this.timer) { clearTimeout(this.timer); this.timer = 0; await this.app.typed(this.text); }
    const found = await this.app.send("complete", { path: this.app.state.path, line: at.row, character: at.column });
    done(null, aceItems(found));
  }

  typed() {
    if (this.quiet) return;
    this.app.keep(this.text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.timer = 0; this.app.typed(this.text); }, 250);
  }

  moved() {
    const line = this.ace ? this.ace.getCursorPosition().row + 1 : this.field.value.slice(0, this.field.selectionStart).split("\n").length;
    const inner = this.app.state?.nodes.filter((n) => n.line <= line && line <= n.last).sort((a, b) => a.last - a.line - (b.last - b.line))[0];
    if (inner && !this.quiet) this.app.pick(inner.id, false, true);
  }

  // The line of the chosen node in sight.
  reveal(node) {
    if (this.ace) { this.quiet = true; this.ace.gotoLine(node.line, node.column - 1, false); this.ace.scrollToLine(node.line - 1, true, true); this.quiet = false; } else {
      const rows = this.field.value.split("\n");
      this.field.scrollTop = (node.line - 6) * (this.field.scrollHeight / Math.max(1, rows.length));
    }
  }
}
