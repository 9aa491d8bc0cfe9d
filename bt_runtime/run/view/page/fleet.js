"use strict";
// A fleet's page: the list of robots and tasks, with an inbox of questions, and halts.

const fleet = {
  list: globalThis.btrRuns,
  asked: new Map(), // id → its form in the inbox

  start() {
    const take = this.list.take.bind(this.list), drop = this.list.drop.bind(this.list);
    this.list.take = (event) => { take(event); if (event.sort === "robot") this.inbox(event); };
    this.list.drop = (id) => { drop(id); this.inbox({ name: id.replace("robot ", ""), questions: [] }); };
    $("who").value = localStorage.getItem("btr-who") ?? "";
    $("who").addEventListener("change", (e) => localStorage.setItem("btr-who", e.target.value));
    $("halt").addEventListener("click", () => this.tell({ do: "halt" }));
    $("release").addEventListener("click", () => this.tell({ do: "release" }));
  },

  // The questions of one robot's runs; those that are not open any more leave the inbox.
  inbox(robot) {
    const open = new Set(robot.questions.map((question) => question.id));
    for (const [id, form] of this.asked) if (form.dataset.robot === robot.name && !open.has(id)) { form.remove(); this.asked.delete(id); }
    for (const question of robot.questions) if (!this.asked.has(question.id)) this.ask(question);
    $("inbox").hidden = !this.asked.size;
  },

  ask({ id, robot, text }) {
    const other = el("input", { placeholder: "another answer", "aria-label": `Answer ${robot}` });
    const answer = (said) => this.tell({ do: "answer", id, text: said, robot }).then((done) => { if (done) form.replaceChildren(el("b", {}, robot), el("span", {}, shown(`${text} ${done.by}: ${said}`))); });
    const button = (said) => el("button", { type: "button", on: { click: () => answer(said.toLowerCase()) } }, said);
    const form = el("form", { "data-robot": robot, on: { submit: (e) => { e.preventDefault(); if (other.value.trim()) answer(other.value.trim()); } } }, el("b", {}, robot), el("span", {}, shown(text)), button("Yes"), button("No"), other);
    this.asked.set(id, form);
    $("inbox").append(form);
  },

  async tell(body) {
    const by = $("who").value.trim();
    if (!by) { this.list.notice("Write your name first: it goes with what you do."); $("who").focus(); return null; }
    const answer = await fetch("command", { method: "POST", headers: { "X-Token": this.list.token, "Content-Type": "application/json" }, body: JSON.stringify({ ...body, by }) });
    const said = await answer.json();
    this.list.notice(said.error ?? (said.answered ? `${said.answered.length} robots have answered; the others do when they are reached` : ""));
    return answer.ok ? said : null;
  },
};

fleet.start();
