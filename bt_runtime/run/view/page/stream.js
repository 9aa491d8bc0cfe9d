"use strict";
// A stream of the server's, which comes back by itself. It is a WebSocket: of Server-Sent Events a browser lets through
// six a server, and then no command of any page.

class Stream {
  // `run`: in the list of runs, or null. `told` gets each message; `state` gets "" while it is open, "lost", or "refused" with why.
  constructor(token, run, told, state) {
    Object.assign(this, { token, run, told, state, cursor: null, over: false });
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (e) => { if (e.persisted && this.over === "left") { this.over = false; this.connect(); } });
    this.connect();
  }

  connect() {
    const query = new URLSearchParams({ token: this.token, ...(this.run === null ? {} : { run: this.run }), ...(this.cursor === null ? {} : { after: String(this.cursor) }) });
    const socket = (this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/events?${query}`));
    socket.onopen = () => this.state("");
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      this.cursor = message.id;
      if (message.closed) this.over = true;
      this.told(message);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.over) return;
      if (code >= 4400 && code < 4500) { this.over = true; this.state("refused", reason); return; }
      this.state("lost");
      setTimeout(() => { if (!this.over) this.connect(); }, 1000);
    };
  }

  // Left for now: a page that the browser keeps, and shows again, goes on.
  close() {
    if (!this.over) this.over = "left";
    this.socket.close();
  }
}
