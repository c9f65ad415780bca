// SPDX-License-Identifier: BSD-3-Clause
// What the page does: chooses a plan, moves its clock, and draws what is there at that time.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const kNumbers = 5; // from, to, bytes, sent, taken
const kMostArrows = 400; // of one moment

function showTime(us) {
  const short = (value) => Number(value.toPrecision(3)).toString();
  if (us < 1000) return short(us) + " us";
  return us < 1e6 ? short(us / 1e3) + " ms" : short(us / 1e6) + " s";
}
function node(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}
function hint(to, text) { to.append(node("title", {}, text)); return to; }
const place = []; // of each host in the order of the pictures
data.order.forEach((host, row) => { place[host] = row; });
const isBetween = (a, b) => data.subnet[a] !== data.subnet[b];
const isFirstOfSubnet = (row) => row > 0 && isBetween(data.order[row], data.order[row - 1]);

// Plans

let shown = null; // the plan with its messages as objects
let now = 0;
let playing = null;
// A link may say what to show: #operation=scatter&pattern=star&root=HOST&size=64 KiB&time=0.5
let asked = new URLSearchParams(location.hash.slice(1));

function messagesOf(plan) {
  const out = [];
  for (let i = 0; i < plan.messages.length; i += kNumbers) {
    const [from, to, bytes, sent, taken] = plan.messages.slice(i, i + kNumbers);
    out.push({from, to, bytes, sent, taken});
  }
  return out;
}
const keys = ["operation", "size", "root", "pattern"];
function fits(plan, count) {
  return keys.slice(0, count).every((key) => String(plan[key] ?? "") === at(key).value);
}
/** Offers for each key what is there with the choices before it, keeping what was chosen. */
function offer() {
  keys.forEach((key, count) => {
    const select = at(key);
    const wanted = key === "root" && asked.has(key) ? String(data.hosts.indexOf(asked.get(key))) : asked.get(key) ?? select.value;
    const values = [...new Set(data.plans.filter((plan) => fits(plan, count)).map((plan) => String(plan[key] ?? "")))];
    select.replaceChildren(...values.map((value) =>
      new Option(key === "root" && value !== "" ? data.hosts[value] : value.replaceAll("_", " ") || "none", value)));
    if (values.includes(wanted)) select.value = wanted;
    else if (key === "size" && values.includes("64 KiB")) select.value = "64 KiB";
    select.disabled = values.length < 2;
  });
  choose(data.plans.find((plan) => fits(plan, keys.length)));
}
function choose(plan) {
  stop();
  shown = {plan, messages: messagesOf(plan), end: plan.total};
  document.querySelectorAll(".host").forEach((host) =>
    host.classList.toggle("root", Number(host.dataset.host) === plan.root));
  drawCourse();
  listPatterns();
  moveTo(shown.end);
}
function moveTo(time) {
  now = Math.min(Math.max(time, 0), shown.end);
  at("time").value = shown.end > 0 ? now / shown.end * 1000 : 1000;
  drawMoment();
}

// A moment of the network

function arrow(message) {
  const [x1, y1] = data.spots[message.from], [x2, y2] = data.spots[message.to];
  const bend = [(x1 + x2) / 2 - (y2 - y1) * 0.14, (y1 + y2) / 2 + (x2 - x1) * 0.14];
  const towards = (x, y, distance) => {
    const whole = Math.max(1, Math.hypot(bend[0] - x, bend[1] - y));
    return [x + (bend[0] - x) / whole * distance, y + (bend[1] - y) / whole * distance];
  };
  const start = towards(x1, y1, 9), end = towards(x2, y2, 11);
  const far = isBetween(message.from, message.to);
  const path = node("path", {class: far ? "way far" : "way", "marker-end": far ? "url(#far-tip)" : "url(#near-tip)",
    d: `M${start.map((v) => v.toFixed(1))}Q${bend.map((v) => v.toFixed(1))} ${end.map((v) => v.toFixed(1))}`});
  return hint(path, tell(message));
}
function tell(message) {
  return `${data.hosts[message.from]} to ${data.hosts[message.to]}, ${message.bytes} bytes, ` +
    `${showTime(message.sent)} to ${showTime(message.taken)}`;
}
function drawMoment() {
  const atEnd = now >= shown.end;
  const state = data.hosts.map(() => "");
  const flying = [];
  let sent = 0, taken = 0, between = 0;
  for (const message of shown.messages) {
    if (message.sent > now) continue;
    ++sent;
    if (isBetween(message.from, message.to)) ++between;
    if (message.taken <= now) {
      ++taken;
      state[message.to] = state[message.to] || "done";
      state[message.from] = state[message.from] || "done";
    } else {
      flying.push(message);
      state[message.from] = state[message.to] = "busy";
    }
  }
  document.querySelectorAll(".host").forEach((host) => {
    const mine = state[Number(host.dataset.host)];
    host.classList.toggle("busy", mine === "busy");
    host.classList.toggle("done", mine === "done");
  });
  // At the end the whole plan is shown, one arrow for all messages from one host to another.
  const seen = new Set();
  const drawn = (atEnd ? shown.messages : flying).filter((message) => {
    const key = message.from * data.hosts.length + message.to;
    return !seen.has(key) && seen.add(key);
  });
  at("ways").replaceChildren(...drawn.slice(0, kMostArrows).map(arrow));
  at("now").textContent = `${showTime(now)} of ${showTime(shown.end)}; ${sent} of ${shown.messages.length} sent, ` +
    `${taken} taken, ${between} between subnets`;
  const x = course.x(now);
  course.cursor.setAttribute("x1", x);
  course.cursor.setAttribute("x2", x);
}

// The course: hosts down, time across

const course = {cursor: null, x: () => 0};
function labelWidth() { return Math.min(130, 12 + 6 * data.hosts.reduce((most, name) => Math.max(most, name.length), 0)); }
function shortened(name, letters) { return name.length <= letters ? name : name.slice(0, letters - 1) + "\u2026"; }
/** Four to eight round numbers up to `end`. */
function ticks(end) {
  const rough = end / 6, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const out = [];
  for (let value = 0; value <= end * 1.0001; value += step) out.push(value);
  return out;
}
function drawCourse() {
  const svg = at("course"), rows = data.hosts.length;
  const row = Math.max(9, Math.min(22, 700 / rows));
  const left = labelWidth(), width = 1000, top = 8, height = top + rows * row + 24;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  course.x = (us) => left + (shown.end > 0 ? us / shown.end : 0) * (width - left - 40);
  const y = (host) => top + (place[host] + 0.5) * row;
  const parts = [];
  data.order.forEach((host, at) => {
    parts.push(node("line", {class: "row", x1: left, x2: width - 40, y1: y(host), y2: y(host)}));
    if (isFirstOfSubnet(at)) parts.push(node("line", {class: "edge", x1: 0, x2: width, y1: top + at * row, y2: top + at * row}));
    parts.push(hint(node("text", {x: left - 6, y: y(host) + 3, "text-anchor": "end",
      style: `font-size:${Math.min(10, row)}px`}, shortened(data.hosts[host], 20)), data.hosts[host]));
  });
  for (const time of shown.end > 0 ? ticks(shown.end) : [0]) {
    parts.push(node("line", {class: "edge", x1: course.x(time), x2: course.x(time), y1: height - 24, y2: height - 19}));
    parts.push(node("text", {x: course.x(time), y: height - 8, "text-anchor": "middle"}, showTime(time)));
  }
  for (const message of shown.messages)
    parts.push(hint(node("line", {class: isBetween(message.from, message.to) ? "far" : "", x1: course.x(message.sent),
      x2: course.x(message.taken), y1: y(message.from), y2: y(message.to)}), tell(message)));
  course.cursor = node("line", {class: "cursor", y1: 0, y2: height - 20});
  svg.replaceChildren(...parts, course.cursor);
}

function listPatterns() {
  const rivals = data.plans.filter((plan) => fits(plan, keys.length - 1)).sort((a, b) => a.total - b.total);
  const most = rivals.reduce((so_far, plan) => Math.max(so_far, plan.total), 1e-9);
  at("patterns").tBodies[0].replaceChildren(...rivals.map((plan) => {
    const line = document.createElement("tr");
    const messages = messagesOf(plan);
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.style.width = `${plan.total / most * 14}rem`;
    for (const content of [plan.pattern, showTime(plan.total), bar, messages.length,
      messages.filter((message) => isBetween(message.from, message.to)).length]) {
      const cell = document.createElement("td");
      cell.append(content);
      line.append(cell);
    }
    line.classList.toggle("chosen", plan === shown.plan);
    line.addEventListener("click", () => { at("pattern").value = plan.pattern; offer(); });
    return line;
  }));
}

// The clock

function stop() {
  if (playing !== null) cancelAnimationFrame(playing);
  playing = null;
  at("play").textContent = "play";
}
function play() {
  if (playing !== null) return stop();
  if (now >= shown.end) now = 0;
  at("play").textContent = "pause";
  const from = now, seconds = Math.min(12, 3 + shown.messages.length / 20);
  let start = null;
  const turn = (time) => {
    start = start ?? time;
    moveTo(from + (time - start) / 1000 / seconds * shown.end);
    if (now >= shown.end) stop(); else playing = requestAnimationFrame(turn);
  };
  playing = requestAnimationFrame(turn);
}
/** To the next moment, or the one before, at which a message is sent or taken. */
function step(forward) {
  stop();
  const times = [0, shown.end, ...shown.messages.flatMap((message) => [message.sent, message.taken])];
  const next = times.filter((time) => forward ? time > now : time < now);
  if (next.length > 0) moveTo(next.reduce((one, other) => (forward ? other < one : other > one) ? other : one));
}
keys.forEach((key) => at(key).addEventListener("change", offer));
at("play").addEventListener("click", play);
at("step").addEventListener("click", () => step(true));
at("back").addEventListener("click", () => step(false));
at("time").addEventListener("input", () => { stop(); moveTo(at("time").value / 1000 * shown.end); });
document.addEventListener("keydown", (event) => {
  if (/^(SELECT|INPUT|BUTTON)$/.test(event.target.tagName)) return;
  if (event.key === "ArrowRight") step(true);
  else if (event.key === "ArrowLeft") step(false);
  else if (event.key === " ") play();
  else return;
  event.preventDefault();
});

// Costs: cividis, which looks the same to colour-blind eyes, on a logarithmic scale

const kRamp = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120],
  [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
function colour(share) {
  const where = Math.min(Math.max(share, 0), 1) * (kRamp.length - 1), low = Math.min(Math.floor(where), kRamp.length - 2);
  return `rgb(${kRamp[low].map((value, i) => Math.round(value + (where - low) * (kRamp[low + 1][i] - value)))})`;
}
function drawCosts() {
  const costs = data.costs[at("cost-size").selectedIndex], count = data.hosts.length;
  const known = costs.filter((cost, i) => cost !== null && cost > 0 && i % (count + 1) !== 0);
  const least = known.reduce((a, b) => Math.min(a, b), Infinity), most = known.reduce((a, b) => Math.max(a, b), 0);
  const share = (cost) => most > least ? Math.log(Math.max(cost, least) / least) / Math.log(most / least) : 0;
  const cell = Math.max(8, Math.min(34, 760 / count)), left = labelWidth(), top = labelWidth() * 0.8;
  const side = cell * count, parts = [];
  const everyLabel = cell >= 8;
  data.order.forEach((from, row) => {
    data.order.forEach((to, column) => {
      const cost = costs[from * count + to], box = {x: left + column * cell, y: top + row * cell, width: cell, height: cell};
      if (from === to || cost === null) parts.push(node("rect", {...box, class: "none"}));
      else parts.push(node("rect", {...box, fill: colour(share(cost))}));
    });
    if (!everyLabel) return;
    const size = `font-size:${Math.min(10, cell)}px`, name = shortened(data.hosts[from], 20);
    parts.push(node("text", {x: left - 5, y: top + (row + 0.5) * cell + 3, "text-anchor": "end", style: size}, name));
    const x = left + (row + 0.5) * cell + 3;
    parts.push(node("text", {x, y: top - 5, transform: `rotate(${cell < 14 ? -90 : -60} ${x} ${top - 5})`, style: size}, name));
  });
  data.order.forEach((host, row) => {
    if (!isFirstOfSubnet(row)) return;
    const line = row * cell;
    parts.push(node("line", {class: "edge", x1: left, x2: left + side, y1: top + line, y2: top + line}));
    parts.push(node("line", {class: "edge", x1: left + line, x2: left + line, y1: top, y2: top + side}));
  });
  const svg = at("costs");
  svg.setAttribute("viewBox", `0 0 ${left + side + 60} ${top + side + 4}`);
  svg.style.maxWidth = `${left + side + 60}px`;
  svg.replaceChildren(...parts);
  svg.onmousemove = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const from = data.order[Math.floor((point.y - top) / cell)], to = data.order[Math.floor((point.x - left) / cell)];
    if (from === undefined || to === undefined) return;
    const cost = costs[from * count + to];
    at("cost").textContent = `${data.hosts[from]} to ${data.hosts[to]}: ` +
      (from === to ? "itself" : cost === null ? "not measured" : showTime(cost));
  };
  drawScale(least, most);
}
function drawScale(least, most) {
  const svg = at("scale"), width = 420, parts = [];
  svg.setAttribute("viewBox", `0 0 ${width + 190} 44`);
  svg.style.maxWidth = `${width + 190}px`;
  for (let i = 0; i < 60; ++i)
    parts.push(node("rect", {x: 10 + i * width / 60, y: 8, width: width / 60 + 0.5, height: 12, fill: colour(i / 59)}));
  for (const share of most > least ? [0, 0.25, 0.5, 0.75, 1] : [0])
    parts.push(node("text", {x: 10 + share * width, y: 34, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle"},
      isFinite(least) ? showTime(least * (most / least) ** share) : "nothing measured"));
  parts.push(node("rect", {x: width + 30, y: 8, width: 12, height: 12, class: "none"}), node("text", {x: width + 47, y: 18}, "itself, or not measured"));
  svg.replaceChildren(...parts);
}

// Models: one small chart for each, all of a way with the same scales

const kChart = {side: 190, left: 42, bottom: 20, top: 8, right: 10};
function tellPoint(way, model, i) {
  const share = (model.predicted[i] / way.measured[i] - 1) * 100;
  return `${way.sizes[i]}: measured ${showTime(way.measured[i])}, predicted ${showTime(model.predicted[i])} ` +
    `(${share >= 0 ? "+" : ""}${share.toFixed(1)} %)`;
}
function modelChart(way, model, least, most) {
  const {side, left, bottom, top, right} = kChart, width = left + side + right, height = top + side + bottom;
  const share = (us) => Math.log(Math.max(us, least) / least) / Math.log(most / least);
  const x = (us) => left + share(us) * side, y = (us) => top + (1 - share(us)) * side;
  const svg = node("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${model.name}: predicted against measured`});
  svg.append(node("rect", {class: "frame", x: left, y: top, width: side, height: side}),
    node("line", {class: "same", x1: left, y1: top + side, x2: left + side, y2: top}));
  for (const time of [least, Math.sqrt(least * most), most]) {
    const anchor = time === least ? "start" : time === most ? "end" : "middle";
    svg.append(node("text", {x: x(time), y: height - 6, "text-anchor": anchor}, showTime(time)));
    svg.append(node("text", {x: left - 4, y: Math.max(y(time) + 3, top + 7), "text-anchor": "end"}, showTime(time)));
  }
  const points = model.predicted.map((us, i) => [x(way.measured[i]), y(us)]);
  svg.append(node("polyline", {class: "path", points: points.map((point) => point.map((v) => v.toFixed(1))).join(" ")}));
  points.forEach(([px, py], i) => svg.append(hint(node("circle", {class: "spot", cx: px, cy: py, r: 3.5}), tellPoint(way, model, i))));
  const figure = document.createElement("figure"), caption = document.createElement("figcaption"), name = document.createElement("strong");
  name.textContent = model.name + (model.chosen ? ", chosen" : "");
  caption.append(name, document.createElement("br"), model.about);
  figure.classList.toggle("chosen", model.chosen);
  figure.append(caption, svg);
  return figure;
}
function drawModels() {
  const way = data.ways[at("way").selectedIndex];
  const known = way.models.filter((model) => model.predicted.length > 0);
  const all = [...way.measured, ...known.flatMap((model) => model.predicted)].filter((us) => us > 0);
  const least = Math.min(...all) / 1.2, most = Math.max(...all) * 1.2;
  at("charts").replaceChildren(...known.map((model) => modelChart(way, model, least, most)));
  at("without").replaceChildren(...way.models.filter((model) => model.predicted.length === 0).map((model) => {
    const line = document.createElement("li");
    line.textContent = `${model.name}: ${model.about}`;
    return line;
  }));
}
at("models").hidden = data.ways.length === 0;
if (data.ways.length > 0) {
  at("way").replaceChildren(...data.ways.map((way) => new Option(way.name)));
  at("way").addEventListener("change", drawModels);
  drawModels();
}

at("cost-size").replaceChildren(...data.sizes.map((size) => new Option(size)));
at("cost-size").addEventListener("change", drawCosts);
drawCosts();
offer();
if (asked.has("time")) moveTo(Number(asked.get("time")) * shown.end);
asked = new URLSearchParams();
})();
