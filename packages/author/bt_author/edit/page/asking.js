"use strict";
// A change in a sentence: what is asked of the model of `btr edit --model`, and its proposal as a diff.

App.prototype.wish = function () {
  this.ask("What is to change, in a sentence", "", (wish) => this.wished(wish));
};

App.prototype.wished = async function (wish) {
  const path = this.state.path;
  let made = await this.send("ask", { path, move: "begin", wish });
  while (made?.state === "writing") {
    this.notice(`The model is writing: ${wish}${made.told.length ? ` (${made.told[made.told.length - 1]})` : ""}`);
    made = await this.send("ask", { path, move: "look", wait: true });
  }
  if (!made) return;
  if (made.state === "refused") { this.notice(made.why); return; }
  $("notice").hidden = true;
  $("changes-title").textContent = `Proposed: ${wish}`;
  const notes = made.notes.map((note) => el("span", { class: "dim" }, `${note}\n`));
  const rows = (made.diff || "nothing changes").split("\n").map((row) => el("span", { class: row.startsWith("+") ? "new" : row.startsWith("-") ? "old" : "" }, `${row}\n`));
  const loosens = made.loosens ?? [];
  const lost = loosens.map((each) => el("span", { class: "old" }, `takes away: ${each}\n`));
  $("diff").replaceChildren(...lost, ...notes, ...rows);
  $("write").textContent = loosens.length ? "Take, and take that away" : "Take";
  $("changes").returnValue = "";
  $("changes").onclose = async () => {
    $("write").textContent = "Write";
    const taken = $("changes").returnValue === "yes";
    await this.send("ask", { path, move: taken ? "take" : "drop", loosens });
    if (taken) await this.open(path, true);
    this.say(taken ? "the proposal was taken; nothing is saved yet" : "the proposal was dropped");
    $("tree").focus();
  };
  $("changes").showModal();
};

// The files of a missing skill, as a diff; they are written after a yes.
App.prototype.makeSkill = async function () {
  const { node } = this, at = { path: this.state.path, version: this.state.version, node: node.path };
  const made = await this.send("skill", at);
  if (!made) return;
  $("changes-title").textContent = `New skill ${node.kind}: two files, and the tree lists it`;
  $("diff").replaceChildren(...made.diff.split("\n").map((row) => el("span", { class: row.startsWith("+") ? "new" : row.startsWith("-") ? "old" : "" }, `${row}\n`)));
  $("changes").returnValue = "";
  $("changes").onclose = () => { if ($("changes").returnValue === "yes") this.act("skill", { node: at.node, write: true }); $("tree").focus(); };
  $("changes").showModal();
};
