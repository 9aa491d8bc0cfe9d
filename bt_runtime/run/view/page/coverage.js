"use strict";
// Coverage of tests as a page: its own words and signs, what they mean, a table of the files; no time and no world.

const SEEN = [["S", "every result that it can end with was seen"], ["R", "reached, but some result was never seen"], ["F", "never reached, or always skipped"]];

class CoveragePanel {
  constructor(host, start) { Object.assign(this, { host, files: start.files ?? [], percent: start.percent }); }

  fresh() { return false; }

  draw() {
    const number = (text) => el("td", { class: "number" }, text);
    const rows = this.files.map((file) => el("tr", {}, el("td", {}, el("button", { class: "link said", "data-go": file.id }, file.name)), number(`${file.reached} of ${file.nodes}`), number(`${file.found} of ${file.possible}`), number(`${Math.floor(file.percent)} %`)));
    this.host.replaceChildren(
      el("h2", {}, "What the colours mean"), ...SEEN.map(([letter, text]) => el("p", {}, el("span", { class: `pill ${letter}` }, `${SIGNS[letter]} ${WORDS[letter]}`), ` ${text}`)),
      el("h2", {}, "Files"), el("table", { class: "files" }, el("tr", {}, ["Tree", "Nodes reached", "Results seen", ""].map((name, i) => el("th", { scope: "col", class: i ? "number" : "" }, name))), rows),
    );
  }
}

// Once, when the first event says what this is.
function wearCoverage(page, start) {
  if (page.coverage) return;
  page.coverage = start;
  document.body.classList.add("coverage");
  Object.assign(WORDS, { S: "covered", R: "in part", F: "never", I: "not counted" });
  Object.assign(SIGNS, { R: "◐" });
  page.tree.follow(false);
  put(document.querySelector('[data-tab="log"]'), "Missing");
  const tab = el("button", { role: "tab", "data-tab": "files", "aria-selected": "false", title: "Files, and what the colours mean" }, "Files");
  document.querySelector("aside nav").prepend(tab);
  page.panel.add("files", new CoveragePanel(page.panel.host, start));
  page.panel.open("files");
}

function coverageHeader({ percent, files, tree }) {
  put($("name"), `Coverage of ${tree}`); document.title = shown(`Coverage of ${tree}`);
  put($("status"), `${Math.floor(percent)} % of the results`); $("status").className = `pill ${percent === 100 ? "S" : "R"}`;
  put($("figures"), `${files.length} ${files.length === 1 ? "tree" : "trees"}`);
}
