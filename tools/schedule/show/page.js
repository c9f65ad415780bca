// SPDX-License-Identifier: BSD-3-Clause
// What the page does: chooses a round and a sender, and draws the ways of the transfers.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const last = data.rounds.length - 1;
let now = 0; // a round, from 0
let playing = null;

const countOf = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
function node(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}
function way([src, dst, msg, path]) {
  const d = path.map((link, i) => (i === 0 ? "M" : "L") + data.links[link][0] + data.links[link][1]).join("");
  const made = node("path", {class: "way", style: `stroke:var(--w${data.colours[src]})`, "data-src": src, d,
    "marker-end": `url(#tip${data.colours[src]})`});
  made.append(node("title", {}, `${src} to ${dst}` + (msg === src ? "" : `, message of ${msg}`)));
  return made;
}
/** What each terminal has received by the end of the rounds before each round and of it; made when first asked for. */
const received = [];
function receivedBy(round) {
  while (received.length <= round) {
    const counts = received.length > 0 ? received.at(-1).slice() : data.expected.map(() => 0);
    for (const [, dst] of data.rounds[received.length]) ++counts[dst];
    received.push(counts);
  }
  return received[round];
}
function moveTo(round) {
  now = Math.min(Math.max(round, 0), last);
  const transfers = data.rounds[now], links = transfers.reduce((sum, transfer) => sum + transfer[3].length, 0);
  at("round").value = now + 1;
  at("round").setAttribute("aria-valuetext", `round ${now + 1} of ${last + 1}`);
  at("back").disabled = now === 0;
  at("step").disabled = now === last;
  at("now").textContent = `round ${now + 1} of ${last + 1}: ${countOf(transfers.length, "transfer")} on ${links} of ` +
    countOf(data.links.length, "link");
  at("ways").replaceChildren(...transfers.map(way));
  const counts = receivedBy(now);
  document.querySelectorAll(".has").forEach((circle) => {
    const terminal = Number(circle.parentNode.dataset.terminal), all = data.expected[terminal];
    circle.setAttribute("fill-opacity", all === 0 ? 0 : (counts[terminal] / all).toFixed(2));
  });
  document.querySelectorAll("col").forEach((column, i) => column.classList.toggle("current", i === now + 1));
  document.querySelectorAll("thead a").forEach((link, i) => {
    if (i === now) link.setAttribute("aria-current", "step"); else link.removeAttribute("aria-current");
  });
  pick(at("sender").value);
}
/** Brings out the transfers of one sender; "": of all. */
function pick(sender) {
  at("sender").value = sender;
  document.querySelectorAll(".way").forEach((each) =>
    each.classList.toggle("other", sender !== "" && each.dataset.src !== sender));
  document.querySelectorAll(".terminal").forEach((each) =>
    each.classList.toggle("sender", each.dataset.terminal === sender));
  document.querySelectorAll("tbody tr").forEach((row, i) => row.classList.toggle("sender", String(i) === sender));
}
function stop() {
  clearInterval(playing);
  playing = null;
  at("play").textContent = "play";
  at("network").classList.remove("playing");
  at("now").setAttribute("aria-live", "polite");
}
function play() {
  if (playing !== null) return stop();
  if (now === last) moveTo(0);
  at("play").textContent = "pause";
  at("network").classList.add("playing");
  at("now").setAttribute("aria-live", "off");
  const pause = Math.min(Math.max(30000 / (last + 1), 150), 1500); // milliseconds
  playing = setInterval(() => { if (now === last) stop(); else moveTo(now + 1); }, pause);
}
function go(round) { stop(); moveTo(round); }
/** A link may say what to show: #round=3&sender=5 */
function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("round")) go((parseInt(asked.get("round"), 10) || 1) - 1);
  if (asked.has("sender") && Number(asked.get("sender")) in data.expected) pick(String(Number(asked.get("sender"))));
}
at("play").addEventListener("click", play);
at("step").addEventListener("click", () => go(now + 1));
at("back").addEventListener("click", () => go(now - 1));
at("round").addEventListener("input", () => go(at("round").value - 1));
at("sender").addEventListener("change", () => pick(at("sender").value));
at("network").addEventListener("click", (event) => {
  const terminal = event.target.closest(".terminal");
  if (terminal !== null) pick(at("sender").value === terminal.dataset.terminal ? "" : terminal.dataset.terminal);
});
at("table").addEventListener("click", (event) => {
  const cell = event.target.closest("td");
  if (cell === null) return;
  go(cell.cellIndex - 1);
  pick(String(cell.parentNode.sectionRowIndex));
});
document.addEventListener("keydown", (event) => {
  if (/^(SELECT|INPUT)$/.test(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches(".scroll") && event.target.scrollWidth > event.target.clientWidth) return; // it scrolls
  if (event.key === "ArrowRight") go(now + 1);
  else if (event.key === "ArrowLeft") go(now - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(last);
  else if (event.key === " " && !/^(BUTTON|A)$/.test(event.target.tagName)) play();
  else return;
  event.preventDefault();
});
window.addEventListener("hashchange", follow);
at("clock").hidden = false;
moveTo(0);
follow();
})();
