"use strict";
// The forks of the run, on its time line where they begin. Each leads to both runs side by side.

class Branches {
  constructor(box, page) { Object.assign(this, { box, page, links: [] }); }

  async ask() {
    const said = await this.page.command("branches", {}, () => {}); // a list from elsewhere has none
    if (!said) return;
    const rows = [...(said.of ? [{ ...said.of, from: true }] : []), ...said.forks];
    this.links = rows.map((row) => ({ tick: row.tick, link: this.link(row) }));
    this.box.replaceChildren(...this.links.map((each) => each.link));
    this.draw();
  }

  link(row) {
    const at = row.decision ? `decision ${row.decision}, in tick ${row.tick}` : `tick ${row.tick}`;
    const what = row.from ? `forked from ${row.name} at ${at}` : `fork ${row.name} at ${at}: ${row.state}`;
    const runs = row.from ? [row.run, this.page.run] : [this.page.run, row.run];
    const href = `two.html?runs=${runs.map(encodeURIComponent).join(",")}${location.hash}`;
    const text = shown(`${what}; side by side`);
    return el("a", { class: row.from ? "from" : "fork", href, title: text, "aria-label": text }, this.sign());
  }

  sign() { // drawn: few fonts have one
    const made = svg("svg", { viewBox: "0 0 12 12", width: 14, height: 14, "aria-hidden": "true" });
    made.append(svg("path", { d: "M3 11V1M3 8c0-3 6-2 6-7M7 3l2-2 2 2" }));
    return made;
  }

  // Forks of one moment stand beside each other.
  draw() {
    const history = this.page.history, used = new Map();
    for (const { tick, link } of this.links) {
      const moment = history.momentOf(tick), nth = used.get(moment) ?? 0;
      used.set(moment, nth + 1);
      link.style.left = `calc(${(100 * moment) / Math.max(1, history.last)}% + ${nth * 12}px)`;
    }
  }
}
