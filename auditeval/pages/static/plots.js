// Distributions as SVG and predicted against rated on a canvas, of the rows that are left.

import { make } from "./columns.js";

const MOST_GROUPS = 24;
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const shownTick = (value) => String(Number(value.toPrecision(3)));

function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

// [[name, sorted values]], the largest groups, in the order of their names.
export function grouped(rows, values, words) {
  const counts = new Map();
  const keep = (key, value) => {
    if (!counts.has(key)) counts.set(key, []);
    counts.get(key).push(value);
  };
  for (const row of rows) {
    const value = values.of(row);
    if (!Number.isNaN(value)) keep(words ? words.of(row) : "all", value);
  }
  const largest = [...counts].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_GROUPS);
  return largest
    .map(([name, list]) => [name || "(none)", Float32Array.from(list).sort()])
    .sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }));
}

// Boxes of one scale, a line a group; `limits` are the ends of the axis.
export function boxes(title, groups, limits) {
  const [left, right, step, top] = [128, 44, 22, 8];
  const width = 420;
  const height = top + step * groups.length + 26;
  const [low, high] = limits;
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "boxes", role: "img" });
  const said = groups.map(([name, v]) => `${name}: median ${quantile(v, 0.5).toFixed(2)} of ${v.length}`);
  drawn.setAttribute("aria-label", `${title}. ${said.join("; ")}`);
  for (let tick = 0; tick <= 4; tick++) {
    const value = low + ((high - low) * tick) / 4;
    const at = x(value);
    drawn.append(svg("line", { x1: at, x2: at, y1: top, y2: height - 20, class: "grid" }));
    const label = svg("text", { x: at, y: height - 6, "text-anchor": "middle" });
    label.textContent = shownTick(value);
    drawn.append(label);
  }
  groups.forEach(([name, sorted], place) => {
    const y = top + step * place + step / 2;
    const [first, lower, median, upper, last] = [0.05, 0.25, 0.5, 0.75, 0.95].map((q) => x(quantile(sorted, q)));
    const mean = x(sorted.reduce((a, b) => a + b, 0) / sorted.length);
    const label = svg("text", { x: left - 6, y: y + 4, "text-anchor": "end", class: "name" });
    label.textContent = name.length > 18 ? `${name.slice(0, 5)}…${name.slice(-12)}` : name;
    label.append(svg("title", {}, name));
    const count = svg("text", { x: width - right + 6, y: y + 4, class: "count" });
    count.textContent = sorted.length.toLocaleString("en");
    drawn.append(
      label,
      svg("line", { x1: first, x2: last, y1: y, y2: y, class: "whisker" }),
      svg("rect", { x: lower, y: y - 6, width: Math.max(1, upper - lower), height: 12, class: "box" }),
      svg("line", { x1: median, x2: median, y1: y - 6, y2: y + 6, class: "median" }),
      svg("circle", { cx: mean, cy: y, r: 2.5, class: "mean" }),
      count,
    );
  });
  return make("figure", {}, make("figcaption", { textContent: title }), drawn);
}

// Losses over epochs, falling on a logarithmic axis: a line for each {model, fold, part, course}, a
// colour a model; of validation it is dashed.
export function falling(title, lines) {
  const [left, right, top, bottom, width, height] = [40, 12, 8, 40, 420, 240];
  const values = lines.flatMap(({ course }) => course.map(([, value]) => value)).filter((value) => value > 0);
  const [low, high] = [Math.min(...values) / 1.1, Math.max(...values) * 1.1];
  const last = Math.max(...lines.flatMap(({ course }) => course.map(([epoch]) => epoch)), 2);
  const x = (epoch) => left + ((epoch - 1) / (last - 1)) * (width - left - right);
  const y = (value) => height - bottom - (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (height - top - bottom);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "losses", role: "img" });
  const write = (text, at) => {
    const label = svg("text", at);
    label.textContent = text;
    drawn.append(label);
  };
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const digit of high / low > 100 ? [1] : [1, 2, 5]) {
      const value = digit * 10 ** power;
      if (value < low || value > high) continue;
      drawn.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }));
      write(String(Number(value.toPrecision(1))), { x: left - 6, y: y(value) + 4, "text-anchor": "end" });
    }
  }
  for (let tick = 0; tick <= 4; tick++) {
    const epoch = 1 + Math.round(((last - 1) * tick) / 4);
    write(String(epoch), { x: x(epoch), y: height - bottom + 16, "text-anchor": "middle" });
  }
  write("epoch", { x: width - right, y: height - 6, "text-anchor": "end" });
  const models = [...new Set(lines.map(({ model }) => model))];
  const style = ({ model, part }) => `colour${models.indexOf(model) % 4} ${part}`;
  const legend = make("p", { className: "legend quiet" });
  const said = [];
  for (const line of lines) {
    const { model, fold, part, course } = line;
    const points = course.map(([epoch, value]) => `${x(epoch).toFixed(1)},${y(value).toFixed(1)}`);
    const name = `${model}, ${part}`;
    const drew = svg("polyline", { points: points.join(" "), class: `curve ${style(line)}` });
    drew.append(svg("title", {}, `${name}, ${fold}`));
    drawn.append(drew);
    if (![...legend.children].some((key) => key.textContent === name)) {
      legend.append(make("span", { className: `key ${style(line)}`, textContent: name }));
    }
    const [from, to] = [course[0][1], course[course.length - 1][1]];
    said.push(`${name}, ${fold}: ${from} to ${to} in ${course.length} epochs`);
  }
  drawn.setAttribute("aria-label", `${title}. ${said.join("; ")}`);
  return make("figure", {}, make("figcaption", { textContent: title }), drawn, legend);
}

// Points of rows, y over x; `open(row)` is called for the one that is clicked, or entered by keys.
// An axis is {name, column, limits}; `diagonal` where both are on one scale.
export class Scatter {
  constructor(title, x, y, diagonal, open) {
    Object.assign(this, { across: x, up: y, diagonal, open, rows: [], at: -1 });
    this.canvas = make("canvas", { tabIndex: 0, className: "scatter" });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `${title}: ${y.name} over ${x.name}, a point a row`);
    this.said = make("p", { className: "quiet point", textContent: " " });
    this.said.setAttribute("role", "status");
    this.figure = make("figure", {}, make("figcaption", { textContent: title }), this.canvas, this.said);
    this.canvas.addEventListener("click", (event) => {
      const found = this.nearest(event.offsetX, event.offsetY);
      if (found >= 0) open(this.rows[found]);
    });
    this.canvas.addEventListener("pointermove", (event) => this.point(this.nearest(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step && this.rows.length) this.point((Math.max(this.at, 0) + step + this.rows.length) % this.rows.length);
      else if (event.key === "Enter" && this.at >= 0) open(this.rows[this.at]);
      else return;
      event.preventDefault();
    });
  }

  x(value) {
    const [low, high] = this.across.limits;
    return 42 + ((value - low) / (high - low)) * (this.size - 56);
  }

  y(value) {
    const [low, high] = this.up.limits;
    return this.size - 30 - ((value - low) / (high - low)) * (this.size - 42);
  }

  place(row) {
    return [this.x(this.across.column.of(row)), this.y(this.up.column.of(row))];
  }

  // The row that is pointed at stays so if it is among these.
  show(rows) {
    const pointed = this.rows[this.at];
    this.rows = Int32Array.from(rows.filter((row) => !Number.isNaN(this.across.column.of(row) + this.up.column.of(row))));
    this.at = pointed === undefined ? -1 : this.rows.indexOf(pointed);
    if (this.at < 0) this.said.textContent = " ";
    this.draw();
  }

  point(place) {
    if (place === this.at) return;
    this.at = place;
    this.canvas.style.cursor = place >= 0 ? "pointer" : "default";
    const row = this.rows[place];
    this.said.textContent =
      place < 0
        ? " "
        : `${this.name(row)}: ${[this.up, this.across].map(({ name, column }) => `${name} ${column.of(row).toFixed(2)}`).join(", ")}`;
    this.draw();
  }

  nearest(px, py) {
    let [best, least] = [-1, 12 ** 2];
    for (let i = 0; i < this.rows.length; i++) {
      const [x, y] = this.place(this.rows[i]);
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  draw() {
    this.size = this.canvas.clientWidth || 300;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = this.canvas.height = Math.round(this.size * scale);
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    context.strokeStyle = colour("--line");
    context.fillStyle = colour("--quiet");
    const [left, right] = this.across.limits.map((value) => this.x(value));
    const [bottom, top] = this.up.limits.map((value) => this.y(value));
    const label = ([low, high], tick) => shownTick(low + ((high - low) * tick) / 4);
    for (let tick = 0; tick <= 4; tick++) {
      const [x, y] = [left + ((right - left) * tick) / 4, bottom + ((top - bottom) * tick) / 4];
      context.strokeRect(x, top, 0, bottom - top);
      context.strokeRect(left, y, right - left, 0);
      context.textAlign = "center";
      context.fillText(label(this.across.limits, tick), x, bottom + 14);
      context.textAlign = "right";
      context.fillText(label(this.up.limits, tick), left - 5, y + 4);
    }
    context.fillText(this.across.name, right, bottom + 27);
    if (this.diagonal) {
      context.beginPath();
      context.moveTo(left, bottom);
      context.lineTo(right, top);
      context.stroke();
    }
    context.fillStyle = colour("--accent");
    const radius = this.rows.length > 5000 ? 1 : 2.5;
    context.globalAlpha = Math.max(0.15, Math.min(0.6, 1500 / (this.rows.length || 1)));
    for (const row of this.rows) {
      const [x, y] = this.place(row);
      context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
    if (this.at >= 0) {
      context.globalAlpha = 1;
      context.fillStyle = colour("--edited");
      context.beginPath();
      context.arc(...this.place(this.rows[this.at]), 5, 0, 7);
      context.fill();
    }
  }
}

// Curves of a pair over its time, in 1 to 5, and the share of change in 0 to 1, with gaps where there
// is no value (null); a cursor moves along.
export function curvesOf(found, seconds) {
  const [width, height] = [500, 120];
  const x = (time) => (time / seconds) * width;
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "curves" });
  for (let value = 1; value <= 5; value++) {
    const y = height - ((value - 1) / 4) * (height - 8) - 4;
    drawn.append(svg("line", { x1: 0, x2: width, y1: y, y2: y, class: "grid" }));
  }
  const line = (values, share, name) => {
    const steps = values.map((v, i) => {
      const begins = i === 0 || values[i - 1] === null;
      return v === null ? "" : `${begins ? "M" : "L"}${x(found.seconds[i]).toFixed(1)},${(height - share(v) * (height - 8) - 4).toFixed(1)}`;
    });
    drawn.append(svg("path", { d: steps.join(""), class: `curve ${name}` }));
  };
  line(found.change, (value) => value, "change");
  for (const [axis, values] of Object.entries(found.curves)) line(values, (value) => (value - 1) / 4, axis);
  const cursor = svg("line", { x1: 0, x2: 0, y1: 0, y2: height, class: "cursor" });
  drawn.append(cursor);
  const legend = make("p", { className: "legend quiet" });
  for (const name of [...Object.keys(found.curves), "change"]) {
    legend.append(make("span", { className: `key ${name}`, textContent: name }));
  }
  legend.append("scores 1 to 5, change 0 to 1, over the time of the edited clip");
  const move = (at) => {
    cursor.setAttribute("x1", x(at));
    cursor.setAttribute("x2", x(at));
  };
  return { elements: [drawn, legend], move };
}
