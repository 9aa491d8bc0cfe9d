"use strict";
// The text of the file, beside its tree.

class Typing {
  constructor(app) {
    this.app = app;
    this.timer = 0;
    this.sending = Promise.resolve(); // one text at a time: each is about the version that the last one made
    this.unsent = 0;
    this.quiet = false;
    this.field = new YamlField({ label: "The text", complete: (at) => this.completed(at), changed: () => this.typed(), moved: () => this.moved() });
    this.box = el("div", { id: "typing" }, this.field.box);
  }

  get text() { return this.field.value; }

  // The text as it is now; what is being typed is not disturbed.
  show(state) {
    if (!state || this.timer || (this.unsent && state.text !== this.text)) return; // what is being typed comes first
    this.field.value = state.text;
    this.field.annotate(state.faults.map((f) => ({ row: f.line - 1, text: `${f.code}: ${f.message}`, type: f.severity === "error" ? "error" : "warning" })));
  }

  // What the language server offers at this place, for the text as it is now.
  async completed(at) {
    if (this.timer) this.send();
    await this.sending;
    return this.app.send("complete", { path: this.app.state.path, line: at.row, character: at.column });
  }

  typed() {
    this.app.keep(this.text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), 250);
  }

  send() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.unsent++;
    this.sending = this.sending.then(() => this.app.typed(this.text)).finally(() => { this.unsent--; this.show(this.app.state); });
  }

  moved() {
    const line = this.field.caret.row + 1;
    const inner = this.app.state?.nodes.filter((n) => n.line <= line && line <= n.last).sort((a, b) => a.last - a.line - (b.last - b.line))[0];
    if (inner && !this.quiet) this.app.pick(inner.id, false, true);
  }

  // The line of the chosen node in sight.
  reveal(node) { this.quiet = true; this.field.go(node.line - 1, node.column - 1); this.quiet = false; }
}
