"use strict";
// A world seen from above: `{"is": "map", size, walls, marks, cell, things, places, path, target, robot, stuck, text}`, in metres, y upwards.

function ground(seen) {
  const [wide, high] = numbers(seen.size, 2) ?? [1, 1], up = (y) => high - y;
  const drawn = svg("svg", { class: "ground", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `the robot from above: ${seen.text ?? ""}` });
  const put = (tag, kind, options) => drawn.append(svg(tag, { class: kind, ...options }));
  for (const [x, y, w, h] of all(seen.walls, 4)) put("rect", "halo", { x: x - 0.3, y: up(y + h) - 0.3, width: w + 0.6, height: h + 0.6, rx: 0.3 });
  for (const [x, y, w, h] of all(seen.walls, 4)) put("rect", "wall", { x, y: up(y + h), width: w, height: h });
  const cell = Number(seen.cell) || 0.25;
  for (const [x, y] of all(seen.marks, 2)) put("circle", "halo", { cx: x, cy: up(y), r: 0.3 });
  for (const [x, y] of all(seen.marks, 2)) put("rect", "mark", { x: x - cell / 2, y: up(y) - cell / 2, width: cell, height: cell });
  for (const place of seen.places ?? []) {
    const [x, y] = numbers([place.x, place.y], 2) ?? [0, 0];
    put("circle", place.seen ? "place seen" : "place", { cx: x, cy: up(y), r: 0.16 });
    drawn.append(svg("text", { x: Math.min(x + 0.25, wide - 2), y: up(y) - 0.25 }, `${place.name}${place.seen ? " ✓" : ""}`));
  }
  const things = all(seen.things, 3), known = { box: "a box", walker: "somebody walks", snag: "the wheels slip" };
  for (const [x, y, r, what] of things) put("circle", Object.hasOwn(known, what) ? what : "box", { cx: x, cy: up(y), r });
  const path = all(seen.path, 2);
  if (path.length > 1) put("polyline", "way", { points: path.map(([x, y]) => `${x},${up(y)}`).join(" ") });
  const target = numbers(seen.target, 2);
  if (target) put("circle", "target", { cx: target[0], cy: up(target[1]), r: 0.25 });
  const robot = numbers(seen.robot, 4);
  if (robot) {
    const [x, y, yaw, r] = robot, size = Math.max(r, 0.28);
    put("circle", seen.stuck ? "robot stuck" : "robot", { cx: x, cy: up(y), r: size });
    put("line", "nose", { x1: x, y1: up(y), x2: x + 1.6 * size * Math.cos(yaw), y2: up(y + 1.6 * size * Math.sin(yaw)) });
  }
  const legend = Object.keys(known).filter((what) => things.some((each) => each[3] === what));
  const key = legend.map((what) => { const small = svg("svg", { class: "ground key", viewBox: "-.5 -.5 1 1" }); small.append(svg("circle", { class: what, r: 0.4 })); return el("span", {}, small, ` ${known[what]} `); });
  return [drawn, el("p", { class: "said" }, `${seen.text ?? ""}${seen.stuck ? " · stuck" : ""}`), el("p", { class: "dim" }, key)];
}

function numbers(list, count) { return Array.isArray(list) && list.length >= count && list.slice(0, count).every(Number.isFinite) ? list : null; }

function all(lists, count) { return Array.isArray(lists) ? lists.filter((each) => numbers(each, count)) : []; }
