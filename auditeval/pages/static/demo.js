// Two files of a person and what was asked for: heard at once, scored by the server.

import { fill, make, shownScore } from "./columns.js";
import { Clips } from "./pair.js";

const find = (selector) => document.querySelector(selector);
const form = find("#edit");
const clips = new Clips();
const sides = ["original", "edited"];
let asked = 0;

const state = (text, isWrong = false) => {
  find("#state").textContent = text;
  find("#state").className = isWrong ? "warning" : "quiet";
};

function base64(bytes) {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}

async function score(event) {
  event.preventDefault();
  const number = ++asked;
  const files = Object.fromEntries(sides.map((side) => [side, form.elements[side].files[0]]));
  const bytes = Object.fromEntries(await Promise.all(sides.map(async (side) => [side, await files[side].arrayBuffer()])));
  const size = sides.reduce((sum, side) => sum + bytes[side].byteLength, 0);
  if (1.4 * size > Number(form.dataset.most)) return state("These files are too large together.", true);
  const body = { names: {}, clips: {}, captions: {}, instruction: form.elements.instruction.value };
  for (const side of sides) {
    body.names[side] = files[side].name;
    body.clips[side] = base64(new Uint8Array(bytes[side]));
    body.captions[side] = form.elements[`${side}_caption`].value;
  }
  clips.close();
  find("#result").hidden = false;
  find("#scores").replaceChildren();
  find("#captions").replaceChildren();
  state("Scoring…");
  await clips.ofBytes(bytes).catch(() => state("This browser cannot play one of the files; it is scored all the same.", true));
  let found;
  try {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${form.dataset.prefix}/score`, { method: "POST", headers, body: JSON.stringify(body) });
    found = await answer.json();
  } catch {
    return state("The server does not answer: start it again with auditeval demo.", true);
  }
  if (number !== asked) return; // another edit was sent meanwhile
  if (found.refused) return state(found.refused, true);
  state(found.without_curves);
  const heads = ["scale", "score", "interval"].map((textContent) => make("th", { textContent, scope: "col" }));
  const rows = found.scores.map(({ name, value, low, high }) => {
    const interval = low === null ? "" : `[${shownScore(low)} to ${shownScore(high)}]`;
    const cells = [shownScore(value), interval].map((textContent) => make("td", { textContent }));
    return make("tr", {}, make("th", { textContent: name, scope: "row" }), ...cells);
  });
  find("#scores").replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  for (const [side, kind] of [["original", "gone"], ["edited", "new"]]) {
    if (!found.captions[side]) continue;
    const shown = make("dd");
    fill(shown, found.captions[side], kind);
    find("#captions").append(make("div", {}, make("dt", { textContent: side }), shown));
  }
  if (body.instruction) {
    const shown = make("dd", { textContent: body.instruction });
    find("#captions").append(make("div", {}, make("dt", { textContent: "instruction" }), shown));
  }
  clips.curves(found.curves);
}

form.addEventListener("submit", score);
document.addEventListener("keydown", (event) => clips.key(event) && event.preventDefault());
document.documentElement.dataset.ready = "true";
