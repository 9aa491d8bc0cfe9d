"use strict";
// A fleet's page: the list of robots and tasks, with an inbox of questions, and halts.

const fleet = {
  list: globalThis.btrRuns,
  asked: new Map(), // id → its form in the inbox

  start() {
    const take = this.list.take.bind(this.list), drop = this.list.drop.bind(this.list), row = this.list.row.bind(this.list);
    this.list.names = ["Robot or task", "Why", ""];
    this.list.heads();
    this.list.row = (id) => { row(id); this.acts(this.list.runs.get(id), this.list.rows.get(id)); };
    this.list.take = (event) => { take(event); if (event.sort === "robot") this.inbox(event); };
    this.list.drop = (id) => { drop(id); this.inbox({ name: id.replace("robot ", ""), questions: [] }); };
    $("who").value = localStorage.getItem("btr-who") ?? "";
    $("who").addEventListener("change", (e) => localStorage.setItem("btr-who", e.target.value));
    twice($("halt"), "Halt all", () => this.tell({ do: "halt" }));
    twice($("release"), "Release all", () => this.tell({ do: "release" }));
  },

  // A robot's row halts it, or releases it.
  acts(told, row) {
    if (!row.acts) row.tr.append(row.acts = el("td", { class: "acts" }));
    const word = told.state === "halted" ? "Release" : "Halt";
    if (told.sort !== "robot" || row.word === word) return;
    const button = el("button", { "aria-label": shown(`${word} ${told.name}`) });
    twice(button, word, () => this.tell({ do: word.toLowerCase(), robot: told.name }));
    row.acts.replaceChildren(button);
    row.word = word;
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
    this.list.notice(said.error ?? (said.answered ? `${said.answered.length === 1 ? `${said.answered[0]} has` : `${said.answered.length} robots have`} answered${body.robot ? "" : "; the others do when they are reached"}` : ""));
    return answer.ok ? said : null;
  },
};

fleet.start();
