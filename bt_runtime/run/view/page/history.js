"use strict";
// All events that are kept, and the state at any of them: folded from the nearest state that was kept.

const EVERY = 1500; // events between two kept states
const MOST_EVENTS = 40000; // of a live run

class RunHistory {
  constructor() { this.reset(); }

  reset() {
    this.events = [];
    this.moments = []; // after which event something can be looked at: the ticks
    this.keys = [{ at: 0, fold: new Fold() }];
    this.head = new Fold();
    this.marks = [];
    this.forgotten = 0; // moments
    this.bounded = true;
  }

  take(event) {
    this.head.take(event);
    this.events.push(event);
    const kind = this.kind(event);
    if (event.k === "tick") this.moments.push(this.events.length);
    if (kind) this.marks.push({ moment: Math.max(0, this.moments.length - (event.k === "tick" ? 1 : 0)), kind });
    if (this.events.length - this.keys[this.keys.length - 1].at >= EVERY) this.keys.push({ at: this.events.length, fold: this.head.clone() });
    if (this.bounded && this.events.length > MOST_EVENTS) this.forget();
  }

  kind(event) {
    if (event.k === "shape" && (event.grafts ?? []).length) return "graft";
    if (event.k === "agent" && event.what === "step") return "step";
    if (event.k === "crash" || (event.k === "agent" && event.what === "refused") || (event.k === "tick" && event.status === "F")) return "bad";
    return null;
  }

  // The oldest part goes; the first kept state stands for it.
  forget() {
    const [, key] = this.keys.splice(0, 1).concat(this.keys[0]);
    const cut = key.at;
    this.events.splice(0, cut);
    for (const each of this.keys) each.at -= cut;
    const before = this.moments.length;
    this.moments = this.moments.map((at) => at - cut).filter((at) => at > 0);
    const lost = before - this.moments.length;
    this.forgotten += lost;
    this.marks = this.marks.map((m) => ({ ...m, moment: m.moment - lost })).filter((m) => m.moment >= 0);
  }

  get last() { return Math.max(0, this.moments.length - 1); }

  at(moment) {
    const end = moment >= this.last ? this.events.length : this.moments[moment];
    let key = this.keys[0];
    for (const each of this.keys) if (each.at <= end) key = each;
    const fold = key.fold.clone();
    for (let i = key.at; i < end; i++) fold.take(this.events[i]);
    return fold;
  }

  // The first moment of this tick, or of the next one that was told.
  momentOf(tick) {
    const found = this.moments.findIndex((at) => this.events[at - 1].n >= tick);
    return found < 0 ? this.last : found;
  }

  timeOf(moment) { const at = this.moments[moment]; return at ? this.events[at - 1].t : 0; }
}
