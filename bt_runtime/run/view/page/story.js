"use strict";
// What one agent was asked, thought, did and saw.

const VERBS = { think: "Thinks", act: "Acts", ask: "Asks", expand: "Expands", reasoning: "Reasons", trimmed: "Leaves out", refused: "Refused", retrieval: "Recalls", reflection: "Reflects", rewriting: "Rewrites", episode: "Begins", outcome: "Came to", end: "Ended", "retrieval failed": "Recall failed" };
const good = (end) => end.why === "done" || (end.why === "expanded" && end.detail !== "failed");

class Story {
  constructor(host) {
    this.host = host;
    this.id = null;
    this.fold = null;
    this.taken = 0;
    this.last = null;
    this.decision = null;
  }

  // Appends what is new; begins anew for another agent, another moment, or when steps were forgotten.
  show(fold, agent) {
    const told = fold.told.get(agent.id) ?? [];
    const prompt = fold.prompts.get(agent.id) ?? null;
    const same = this.id === agent.id && this.fold === fold && this.prompt === prompt && this.goal === fold.goals.get(agent.id);
    if (!same || told.length < this.taken || (this.taken && told[this.taken - 1] !== this.last)) {
      const open = this.id === agent.id ? [...this.host.querySelectorAll("details[open]")].map((d) => d.dataset.part) : [];
      this.begin(fold, agent, prompt, open);
    }
    for (; this.taken < told.length; this.taken++) { const step = this.step(told[this.taken]); if (step) this.steps.append(step); }
    this.last = told[told.length - 1] ?? null;
  }

  begin(fold, agent, prompt, open) {
    Object.assign(this, { id: agent.id, fold, taken: 0, last: null, decision: null, prompt, goal: fold.goals.get(agent.id) });
    this.steps = el("div");
    const goal = this.goal ? [el("h2", {}, "Goal"), el("p", { class: "said" }, this.goal.goal)] : [];
    const asked = prompt ? [["whole", "As it was put"], ["system", "Instructions"], ["examples", "Examples from memory"], ["task", "Task as it was put"]].filter(([part]) => prompt[part]).map(([part, title]) => el("details", { "data-part": part, ...(open.includes(part) ? { open: "" } : {}) }, el("summary", {}, `${title} (${prompt[part].length.toLocaleString("en")} characters)`), el("pre", {}, prompt[part]))) : [];
    this.host.replaceChildren(...goal, ...(asked.length ? [el("h2", {}, "Prompt"), ...asked] : []), el("h2", {}, "Steps"), this.steps);
  }

  step(event) {
    if (event.what === "decision") { this.decision = event; return null; }
    if (event.what === "act") return null; // its step follows, with what was seen
    const kind = event.what === "step" ? event.move : event.what;
    const decision = this.decision;
    if (event.what === "step" || event.what === "end") this.decision = null;
    if (event.what === "expand") { this.grafted = event.grafted; return null; }
    const sure = decision && typeof decision.margin === "number" ? `ahead of the next choice by ${decision.margin.toFixed(2)} (log probability)` : "";
    const made = el("div", { class: `step ${kind.replace(/\W/g, "")}${kind === "end" && good(event) ? " good" : ""}` }, el("span", { class: "aside", title: sure }, seconds(event.t)), el("span", { class: "verb" }, VERBS[kind] ?? kind));
    const text = this.text(event);
    if (kind === "expand" || kind === "refused" || kind === "rewriting") made.append(el("pre", {}, text));
    else if (kind === "reasoning") made.append(el("details", {}, el("summary", {}, `${text.length.toLocaleString("en")} characters, in no later prompt`), el("pre", {}, text)));
    else made.append(el("span", { class: "said" }, text));
    if (kind === "expand" && this.grafted) { made.append(el("details", {}, el("summary", {}, "As it was grafted"), el("pre", {}, this.grafted))); this.grafted = ""; }
    if (event.observation) made.append(el("span", { class: "said saw" }, event.observation));
    if (decision?.step && this.page?.token) made.append(this.scored(decision.step, decision.sentence));
    return made;
  }

  // How likely a model finds each option of this decision: asked for when it is opened.
  scored(step, chosen) {
    const body = el("div", { class: "dim" }, "The model is asked …");
    const made = el("details", { class: "scores" }, el("summary", {}, "Token by token"), body);
    made.addEventListener("toggle", async () => {
      if (!made.open || made.asked) return;
      made.asked = true;
      const told = await this.page.command("scores", { step }, (wrong) => { made.asked = false; body.replaceChildren(wrong); });
      if (told) body.replaceChildren(el("p", {}, `By ${told.model}; each token with its probability, then the end of the turn.`), ...told.places.flatMap((place) => this.place(place, chosen)));
    });
    return made;
  }

  place(place, chosen) {
    const share = (p) => (p >= 0.0995 ? p.toFixed(2) : p.toPrecision(1));
    const token = (text, p) => {
      const made = el("span", { class: "token" }, el("span", { class: "said" }, text), el("sub", {}, share(p)));
      made.style.setProperty("--p", p.toFixed(3));
      return made;
    };
    const noted = (row) => [row.merged ? `${row.merged} tokens of the prompt's end are others before it` : "", row.broken ? "a sign of the template in it was broken up" : ""].filter(Boolean).join("; ");
    const rows = place.options.map((row) => el("tr", { title: noted(row), ...(chosen && row.option.trim() === chosen ? { class: "chosen" } : {}) }, el("td", {}, row.score.toFixed(2)), el("td", {}, row.prior.toFixed(2)), el("td", {}, ...row.pieces.map((piece) => token(piece.text, piece.probability)), ...(row.end === null ? [] : [token("⏎", row.end)]), noted(row) ? " *" : "")));
    return [
      el("h3", {}, place.opening || "Moves"),
      el("table", {}, el("tr", {}, el("th", { title: "log-probability of the sentence" }, "sum"), el("th", { title: "the same behind a neutral prompt" }, "prior"), el("th", {}, "option")), ...rows),
      place.left_out ? el("p", { class: "dim" }, `and ${place.left_out} less likely ones`) : "",
    ];
  }

  text(event) {
    switch (event.what) {
      case "step": return event.text;
      case "end": return [event.why, event.detail].filter(Boolean).join(": ");
      case "refused": return `${(event.codes ?? []).join(", ")}\n${event.plan}`;
      case "retrieval": return typeof event.why === "string" ? event.why : JSON.stringify(event.why, null, 1);
      case "reflection": return ["lesson", "summary", "flaw", "revision"].filter((part) => event[part]).map((part) => (part === "lesson" ? event[part] : `${part}: ${event[part]}`)).join("\n");
      case "rewriting": return event.plan;
      case "reasoning": return event.text;
      case "trimmed": return `the ${event.omitted} oldest of ${event.steps} steps: the prompt had grown longer than the model's context`;
      case "episode": return event.goal;
      case "outcome": return `${event.met} of ${event.total}`;
      default: return Object.entries(event).filter(([k]) => !["k", "t", "id", "what"].includes(k)).map(([k, v]) => `${k}: ${value(v)}`).join("\n");
    }
  }
}
