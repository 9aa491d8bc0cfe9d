"use strict";
// The run of the saved tree: started after a yes, watched on its own page, which leads back to this one.

App.prototype.run = async function () {
  const look = await this.send("run", { path: this.state.path, move: "look" });
  if (!look) return;
  if (look.state === "starting" || look.state === "going") { await this.watch(look); return; }
  this.sure(`Run ${this.state.path}`, [`${look.words}\n\n`, "The skills of this tree act. Halt stands on the page of the run, which opens now."], "Run", false);
};

// What is about to be run is shown first; `trusted`: its folder is trusted for this run.
App.prototype.sure = function (title, lines, yes, trusted) {
  $("changes-title").textContent = title;
  $("diff").replaceChildren(...lines);
  $("write").textContent = yes;
  $("changes").returnValue = "";
  $("changes").onclose = async () => {
    $("write").textContent = "Write";
    $("tree").focus();
    if ($("changes").returnValue === "yes") await this.watch(await this.send("run", { path: this.state.path, move: "begin", run: trusted }));
  };
  $("changes").showModal();
};

// Waits for the page of a run, and goes there.
App.prototype.watch = async function (made) {
  while (made?.state === "starting") {
    this.notice(`Starting ${made.tree}. ${made.lines.at(-1) ?? ""}`);
    made = await this.send("run", { path: this.state.path, move: "look", wait: true });
  }
  if (!made) return;
  $("notice").hidden = true;
  if (made.state !== "ended") { location.href = made.url; return; }
  if (made.untrusted) this.sure("This folder is not trusted yet", [made.lines.join("\n")], "Trust it for this run", true);
  else this.notice(`The run could not begin. ${made.lines.slice(-4).join(" ")}`);
};

// The person's own editor at the chosen node.
App.prototype.own = async function () {
  const made = await this.send("own", { path: this.state.path, line: this.node.line, column: this.node.column });
  if (made?.link) location.href = made.link;
  else if (made) this.notice(`${made.started} was started.`);
};
