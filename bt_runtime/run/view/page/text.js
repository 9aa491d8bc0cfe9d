"use strict";
// Everything that a person, a model or a file wrote becomes text here, and only text.

const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

// Characters that nobody sees, or that turn others around, are named instead.
function shown(text) {
  return String(text ?? "").replace(/\r\n?/g, "\n").replace(ODD, (c) => `‹U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** @param {string} tag @param {Record<string, any>} [options] @param {...any} children @returns {any} */
function el(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") made.className = value;
    else if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else made.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    made.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return made;
}

/** @param {string} tag @param {Record<string, any>} [options] @param {string | null} [text] @returns {any} */
function svg(tag, options = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(options)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

function seconds(t) {
  if (t < 60) return `${t.toFixed(t < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(t / 60);
  return minutes < 60 ? `${minutes}:${String(Math.floor(t % 60)).padStart(2, "0")}` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function amount(n) {
  return n < 10000 ? String(n) : n < 1e6 ? `${(n / 1000).toFixed(1)} k` : `${(n / 1e6).toFixed(2)} M`;
}

function value(json) {
  return typeof json === "string" ? json : JSON.stringify(json);
}

// A text with holes, each of which is only a name, as it came out; null when that cannot be said.
function filled(text, value) {
  let sound = /\{/.test(text);
  const made = text.replace(/\{\{|\}\}|\{\s*([A-Za-z_]\w*)\s*\}|[{}]/g, (found, name) => {
    if (found === "{{" || found === "}}") return found[0];
    const of = name === undefined ? undefined : value(name);
    if (of === undefined) sound = false;
    return typeof of === "string" ? of : JSON.stringify(of);
  });
  return sound ? made : null;
}

// What acts at once on a robot asks once more: the second press within three seconds does it.
function twice(button, word, act) {
  const say = (sure) => { button.classList.toggle("sure", sure); button.textContent = sure ? `${word}: sure?` : word; };
  button.addEventListener("click", () => {
    const sure = button.classList.contains("sure");
    say(!sure);
    if (sure) act(); else setTimeout(() => say(false), 3000);
  });
  say(false);
}
