// The view of one row: captions, both players, curves, scores, and whatever else is known of it.

import { breakable, fill, make, shownNumber, shownScore } from "./columns.js";
import { draw, drawMarks, levels, loudest, peak } from "./picture.js";
import { Player } from "./player.js";
import { MediaPlayer } from "./media_player.js";
import { curvesOf } from "./plots.js";

const SIDES = ["original", "edited"];
const SPECTRA = 500;
const tints = { original: "#6db8f2", edited: "#f59a62" };
const find = (selector) => document.querySelector(selector);

// Both clips of one pair in the elements of pair.html.
export class Clips {
  constructor() {
    this.player = null;
    this.turn = 0; // of what is open: what is decoded later is of none
    this.move = () => {};
    this.picture = (side) => find(`.player[data-side=${side}] .picture`);
    find("#play").addEventListener("click", () => this.toggle());
    find("#position").addEventListener("input", (event) => this.player?.seek(Number(event.target.value)));
    for (const side of SIDES) {
      find(`button.side[data-side=${side}]`).addEventListener("click", () => this.player?.listenTo(side));
      this.picture(side).addEventListener("click", (event) => {
        if (!this.player) return;
        this.player.listenTo(side);
        const box = this.picture(side).getBoundingClientRect();
        this.player.seek(((event.clientX - box.left) / box.width) * this.player.seconds);
      });
    }
    window.addEventListener("resize", () => requestAnimationFrame(() => this.paint()));
  }

  toggle() {
    if (this.player) this.player.playing ? this.player.pause() : this.player.play();
  }

  close() {
    this.turn += 1;
    this.player?.pause();
    this.player = null;
    this.paint = () => {};
    this.move = () => {};
    find("#play").disabled = find("#position").disabled = true;
    find("#curves").hidden = true;
    find("#curves").replaceChildren();
    for (const side of SIDES) {
      for (const canvas of this.picture(side).querySelectorAll("canvas")) canvas.width = canvas.height = 0;
    }
  }

  paint() {}

  // buffers: {original, edited} of bytes whose samples can be read.
  async ofBytes(buffers) {
    const context = (this.context ??= new AudioContext());
    const { turn } = this;
    const clips = {};
    for (const side of SIDES) clips[side] = await context.decodeAudioData(buffers[side]);
    if (turn !== this.turn) return;
    this.ready(new Player(context, clips, { original: true, edited: true }, () => this.show()));
    const samples = Object.fromEntries(SIDES.map((side) => [side, clips[side].getChannelData(0)]));
    const { seconds } = this.player;
    const made = Object.fromEntries(
      SIDES.map((side) => [side, levels(samples[side], context.sampleRate, seconds, SPECTRA)]),
    );
    const top = Math.max(...SIDES.map((side) => peak(made[side])));
    const full = Math.max(...SIDES.map((side) => loudest(samples[side])));
    this.paint = () => {
      for (const side of SIDES) {
        const canvas = this.picture(side).querySelector(".sound-picture");
        if (canvas.clientWidth) draw(canvas, samples[side], context.sampleRate, seconds, made[side], top, full, tints[side]);
      }
      this.show();
    };
    this.paint();
  }

  // urls: {original, edited} that can be played, not read; pictures: two data URLs, or none.
  ofUrls(urls, pictures) {
    const failed = (side) => say(`The ${side} clip cannot be played: ${decodeURIComponent(urls[side])}`);
    this.ready(new MediaPlayer(urls, () => this.show(), failed));
    if (!pictures) return say("No spectrograms: the page can play a linked clip, but not read its samples.");
    const images = pictures.map((url) => Object.assign(new Image(), { src: url }));
    this.paint = () =>
      SIDES.forEach((side, place) => {
        const canvas = this.picture(side).querySelector(".sound-picture");
        [canvas.width, canvas.height] = [canvas.clientWidth, canvas.clientHeight];
        canvas.getContext("2d").drawImage(images[place], 0, 0, canvas.width, canvas.height);
      });
    for (const image of images) image.decode().then(() => this.paint(), () => {});
  }

  ready(player) {
    this.player = player;
    find("#play").disabled = find("#position").disabled = false;
    say("");
    this.show();
  }

  curves(found) {
    const place = find("#curves");
    place.hidden = !found;
    if (!found) return;
    const { elements, move } = curvesOf(found, this.player?.seconds || found.seconds[found.seconds.length - 1]);
    place.replaceChildren(...elements);
    this.move = move;
  }

  show() {
    const { player } = this;
    if (!player) return;
    const at = player.position;
    for (const side of SIDES) {
      const isHeard = player.side === side;
      find(`button.side[data-side=${side}]`).setAttribute("aria-pressed", String(isHeard));
      this.picture(side).classList.toggle("playing", isHeard);
      drawMarks(this.picture(side).querySelector(".marks"), player.seconds || 1, at, null, tints[side]);
    }
    find("#play").textContent = player.playing ? "Pause" : "Play";
    const position = find("#position");
    position.max = player.seconds.toFixed(2);
    if (document.activeElement !== position || player.playing) position.value = at.toFixed(2);
    position.setAttribute("aria-valuetext", `${at.toFixed(1)} s`);
    find("#time").textContent = `${at.toFixed(1)} / ${player.seconds.toFixed(1)} s`;
    this.move(at);
  }

  key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input[type=search], textarea, input[type=text]")) return false;
    const keys = {
      " ": () => !target.matches("button, input:not([type=range])") && (this.toggle(), true),
      a: () => (this.player?.listenTo("original"), true),
      b: () => (this.player?.listenTo("edited"), true),
      x: () => (this.player?.listenTo(this.player.side === "original" ? "edited" : "original"), true),
      arrowleft: () => !target.matches("input") && (this.player?.seek(this.player.position - 1), true),
      arrowright: () => !target.matches("input") && (this.player?.seek(this.player.position + 1), true),
    };
    return Boolean(keys[key.toLowerCase()]?.());
  }
}

export const say = (text) => (find("#loading").textContent = text);

const bytesOfClip = (name) => {
  const binary = atob(document.getElementById(`clip-${name}`).textContent);
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0)).buffer;
};

export class PairView {
  constructor(about, columns, links) {
    Object.assign(this, { about, columns, links, rows: [], place: 0, clips: new Clips() });
    this.dialog = find("#pair");
    find("#pair-close").addEventListener("click", () => this.dialog.close());
    find("#pair-before").addEventListener("click", () => this.go(this.place - 1));
    find("#pair-next").addEventListener("click", () => this.go(this.place + 1));
    this.dialog.addEventListener("close", () => this.clips.close());
    this.dialog.addEventListener("keydown", (event) => this.clips.key(event) && event.preventDefault());
  }

  open(rows, place) {
    this.rows = rows;
    if (!this.dialog.open) this.dialog.showModal();
    this.go(place);
    find("#pair-id").focus();
  }

  async go(place) {
    if (place < 0 || place >= this.rows.length) return;
    this.place = place;
    const row = this.rows[place];
    find("#pair-before").disabled = place === 0;
    find("#pair-next").disabled = place === this.rows.length - 1;
    find("#pair-place").textContent = `${(place + 1).toLocaleString("en")} of ${this.rows.length.toLocaleString("en")}`;
    this.clips.close();
    this.words(row);
    await this.sound(row);
    if (this.rows[this.place] === row && this.dialog.open) this.clips.curves(this.about.curves[row]);
  }

  words(row) {
    find("#pair-id").replaceChildren(...breakable(this.columns.get("id").of(row)));
    const used = new Set(["id"]);
    const captions = find("#pair-captions");
    captions.replaceChildren();
    const facts = find("#pair-facts");
    facts.replaceChildren();
    const scores = find("#pair-scores");
    scores.replaceChildren();
    const { scales } = this.about;
    const others = [...new Set(scales.flatMap((scale) => Object.keys(scale.others)))];
    // Heads, and what stands below each of them of a scale; those of no scale are left out.
    const kinds = [
      ["score", (scale, number) => shownScore(number(scale.value))],
      scales.some((scale) => scale.low) && [
        "interval",
        (scale, number) => {
          const [low, high] = [number(scale.low), number(scale.high)];
          return Number.isNaN(low) ? "" : `[${shownScore(low)} to ${shownScore(high)}]`;
        },
      ],
      scales.some((scale) => scale.rated) && ["rated", (scale, number) => shownScore(number(scale.rated))],
      ...others.map((name) => [name, (scale, number) => shownScore(number(scale.others[name]))]),
    ].filter(Boolean);
    const number = (name) => (used.add(name), name ? this.columns.get(name).of(row) : NaN);
    if (scales.length) {
      const heads = ["scale", ...kinds.map(([name]) => name)].map((textContent) => make("th", { textContent, scope: "col" }));
      const lines = scales.map((scale) => {
        const cells = kinds.map(([, shown]) => make("td", { textContent: shown(scale, number) }));
        return make("tr", {}, make("th", { textContent: scale.name, scope: "row" }), ...cells);
      });
      scores.append(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
    }
    for (const column of this.columns.values()) {
      const value = column.of(row);
      if (used.has(column.name) || value === "" || Number.isNaN(value)) continue;
      const place = column.kind === "gone" || column.kind === "new" ? captions : facts;
      const shown = make("dd");
      if (column.kind === "number") shown.textContent = shownNumber(value);
      else fill(shown, value, column.kind);
      place.append(make("div", {}, make("dt", { textContent: column.name }), shown));
    }
  }

  async sound(row) {
    const known = this.about.clips[row];
    const link = this.links?.[row];
    const urls = known?.original?.href
      ? { original: known.original.href, edited: known.edited.href }
      : link && link[0] && link[1] && { original: link[0], edited: link[1] };
    find("#players").hidden = this.about.audio === "none" && !known;
    if (known?.missing) return say(`No sound: ${known.missing}`);
    if (known?.original?.within) {
      say("Decoding…");
      const buffers = Object.fromEntries(SIDES.map((side) => [side, bytesOfClip(known[side].within)]));
      return this.clips.ofBytes(buffers).catch((error) => say(`No sound: ${error.message}`));
    }
    if (!urls) {
      return say(
        this.about.audio === "link"
          ? "No sound: this row has no file that a browser can play; --audio embed or copy has."
          : "The sound of this row is not in the report; it has that of the pairs to hear, and --audio link that of all rows.",
      );
    }
    if (location.protocol.startsWith("http")) {
      try {
        const answers = await Promise.all(SIDES.map((side) => fetch(urls[side])));
        const bytes = await Promise.all(answers.map((answer) => answer.arrayBuffer()));
        if (this.rows[this.place] !== row) return;
        return await this.clips.ofBytes({ original: bytes[0], edited: bytes[1] });
      } catch {
        // What cannot be read may still be played.
        if (this.rows[this.place] !== row) return;
      }
    }
    return this.clips.ofUrls(urls, known?.pictures);
  }
}

