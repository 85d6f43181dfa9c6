// The page of one trial: loads both clips, plays and draws them, takes the grades and sends them.

import { draw, drawMarks, levels, loudest, peak } from "./picture.js";
import { Player } from "./player.js";

const SIDES = ["original", "edited"];
const COLUMNS = 500;
const about = JSON.parse(document.getElementById("trial").dataset.about);
const { texts } = about;
const find = (selector) => document.querySelector(selector);
const form = find("#grades");
const tints = Object.fromEntries(SIDES.map((side) => [side, side === "original" ? "#6db8f2" : "#f59a62"]));
const pictures = Object.fromEntries(
  SIDES.map((side) => [side, find(`.player[data-side=${side}] .picture`)]),
);
const reported = { ...about.heard };
let player = null;
let sending = false;

const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function load(context, url) {
  for (let pause = 1; ; pause = Math.min(2 * pause, 10)) {
    try {
      const answer = await fetch(url);
      if (answer.ok) return await context.decodeAudioData(await answer.arrayBuffer());
    } catch {
      // The connection is down; the server may be starting again.
    }
    find("#loading").textContent = texts.load_failed;
    await wait(pause);
  }
}

async function begin() {
  const context = new AudioContext();
  const clips = {};
  await Promise.all(SIDES.map(async (side) => (clips[side] = await load(context, about.clips[side]))));
  player = new Player(context, clips, about.heard, show);
  const made = {};
  for (const side of SIDES) {
    const samples = clips[side].getChannelData(0);
    made[side] = levels(samples, context.sampleRate, player.seconds, COLUMNS);
  }
  const top = Math.max(...SIDES.map((side) => peak(made[side])));
  const full = Math.max(...SIDES.map((side) => loudest(clips[side].getChannelData(0))));
  const paint = () => {
    for (const side of SIDES) {
      const canvas = pictures[side].querySelector(".sound-picture");
      const samples = clips[side].getChannelData(0);
      draw(canvas, samples, context.sampleRate, player.seconds, made[side], top, full, tints[side]);
    }
    show();
  };
  paint();
  window.addEventListener("resize", () => requestAnimationFrame(paint));
  find("#loading").textContent = "";
  find("#play").disabled = false;
  const position = find("#position");
  position.disabled = false;
  position.max = player.seconds.toFixed(2);
  show();
}

function show() {
  if (!player) return;
  const at = player.position;
  for (const side of SIDES) {
    const isHeard = player.side === side;
    find(`button.side[data-side=${side}]`).setAttribute("aria-pressed", String(isHeard));
    pictures[side].classList.toggle("playing", isHeard);
    drawMarks(pictures[side].querySelector(".marks"), player.seconds, at, player.loop, tints[side]);
    if (player.tracks[side].heard && !reported[side]) report(side);
  }
  find("#play").textContent = player.playing ? texts.pause : texts.play;
  const position = find("#position");
  if (document.activeElement !== position || player.playing) position.value = at.toFixed(2);
  position.setAttribute("aria-valuetext", `${at.toFixed(1)} s`);
  find("#time").textContent = `${at.toFixed(1)} / ${player.seconds.toFixed(1)} s`;
  find("#loop").disabled = find("#loop-clear").disabled = player.loop === null;
  find("#loop").setAttribute("aria-pressed", String(player.looping));
  check();
}

async function post(path, fields) {
  const body = new URLSearchParams(fields);
  return fetch(`${about.base}/${path}`, { method: "POST", body, redirect: "manual" });
}

// Tell the server that a clip was heard to its end, until it knows.
async function report(side) {
  reported[side] = "sent";
  for (let pause = 0.5; ; pause = Math.min(2 * pause, 10)) {
    try {
      const answer = await post("heard", { seal: about.seal, trial: about.trial, side });
      if (answer.ok) break;
    } catch {
      // Tried again below.
    }
    await wait(pause);
  }
  reported[side] = true;
  const badge = find(`.heard[data-side=${side}]`);
  badge.dataset.heard = "true";
  badge.textContent = texts.heard;
  check();
}

const cannot = find("#cannot-judge");

function check() {
  if (sending) return;
  const allHeard = SIDES.every((side) => reported[side] === true);
  const graded = cannot.checked || about.axes.every((axis) => form.elements[axis].value !== "");
  const ready = graded && (allHeard || cannot.checked);
  find("#send").disabled = !ready;
  say(ready ? texts.ready : !allHeard && !cannot.checked ? texts.listen_first : texts.grade_first);
}

function say(text, wrong = false) {
  const state = find("#state");
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("wrong", wrong);
}

async function send(event) {
  event.preventDefault();
  if (sending || find("#send").disabled) return;
  sending = true;
  find("#send").disabled = true;
  if (player) player.pause();
  say(texts.sending);
  const fields = [...new FormData(form)];
  for (let pause = 1; ; pause = Math.min(2 * pause, 10)) {
    try {
      const answer = await post("vote", fields);
      if (answer.type === "opaqueredirect") {
        location.replace(location.pathname);
        return;
      }
      if (answer.status < 500) break;
    } catch {
      // The connection is down: the vote waits here.
    }
    say(texts.retrying, true);
    await wait(pause);
  }
  say(texts.refused, true);
}

function mark(end) {
  if (!player) return;
  const loop = player.loop ?? [0, player.seconds];
  const at = player.position;
  const made = end === "start" ? [at, loop[1]] : [loop[0], at];
  if (made[1] - made[0] < 0.05) made[end === "start" ? 1 : 0] = end === "start" ? player.seconds : 0;
  if (made[1] - made[0] >= 0.05) player.repeat(made, true);
}

for (const side of SIDES) {
  find(`button.side[data-side=${side}]`).addEventListener("click", () => player?.listenTo(side));
  const picture = pictures[side];
  const time = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * player.seconds;
  };
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (!player || event.button !== 0) return;
    from = time(event);
    if (event.pointerType === "mouse") picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const to = time(event);
    if (Math.abs(to - from) > player.seconds / 50) player.repeat([from, to].sort((a, b) => a - b), true);
    else {
      player.listenTo(side);
      player.seek(to);
    }
    from = null;
  });
  picture.addEventListener("pointercancel", () => (from = null));
}

const toggle = () => player && (player.playing ? player.pause() : player.play());
find("#play").addEventListener("click", toggle);
find("#position").addEventListener("input", (event) => player?.seek(Number(event.target.value)));
find("#loop-start").addEventListener("click", () => mark("start"));
find("#loop-end").addEventListener("click", () => mark("end"));
find("#loop").addEventListener("click", () => player.repeat(player.loop, !player.looping));
find("#loop-clear").addEventListener("click", () => player.repeat(null, false));
form.addEventListener("change", check);
form.addEventListener("submit", send);
cannot.addEventListener("change", () => {
  find("#why").hidden = !cannot.checked;
  form.elements.cannot.disabled = !cannot.checked;
  check();
});

let open = about.axes[0];
form.addEventListener("focusin", (event) => {
  const scale = event.target.closest(".scale");
  if (scale) open = scale.dataset.axis;
});

function goTo(axis) {
  open = axis;
  const radios = [...form.elements[axis]];
  (radios.find((radio) => radio.checked) ?? radios[0]).focus();
}

function grade(value) {
  const radio = [...form.elements[open]].find((one) => one.value === value);
  radio.checked = true;
  radio.focus();
  check();
  const next = about.axes.find((axis) => form.elements[axis].value === "");
  if (next) goTo(next);
}

const KEYS = {
  " ": toggle,
  a: () => player?.listenTo("original"),
  b: () => player?.listenTo("edited"),
  x: () => player?.listenTo(player.side === "original" ? "edited" : "original"),
  "[": () => mark("start"),
  "]": () => mark("end"),
  l: () => player?.loop && player.repeat(player.loop, !player.looping),
  ...Object.fromEntries(about.axes.map((axis) => [axis[0], () => goTo(axis)])),
  ...Object.fromEntries(["1", "2", "3", "4", "5"].map((value) => [value, () => grade(value)])),
};

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey && key === "Enter") {
    form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("textarea, select")) return;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    if (target.matches("input")) return; // radios and the position have these keys themselves
    player?.seek(player.position + (key === "ArrowLeft" ? -1 : 1));
  } else if (key === " " && target.matches("button, summary, #cannot-judge")) {
    return;
  } else if (KEYS[key.toLowerCase()]) KEYS[key.toLowerCase()]();
  else return;
  event.preventDefault();
});

begin();
