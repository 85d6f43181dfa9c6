// Puts the page together: tables that sort, plots, pairs to hear, all rows.

import { breakable, json, make, readColumns, shownScore } from "./columns.js";
import { List } from "./list.js";
import { PairView } from "./pair.js";
import { Scatter, boxes, falling, grouped } from "./plots.js";

const RATINGS = [1, 5]; // the ends of the scale on which people rate

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
    if (!button.textContent) button.ariaLabel = "Sort by name";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      const key = (row) => row.cells[place].dataset.value;
      const sign = falling ? -1 : 1;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === ""); // undefined ones stay last
        const numbers = Number(x) - Number(y);
        return sign * (Number.isNaN(numbers) ? x.localeCompare(y, undefined, { numeric: true }) : numbers);
      });
      table.tBodies[0].replaceChildren(...rows);
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    });
  });
}

// On paper everything is open, and dark on light.
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
  document.documentElement.dataset.printing = "true";
});
window.addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
  delete document.documentElement.dataset.printing;
});

const aboutElement = document.getElementById("about");
const about = aboutElement && JSON.parse(aboutElement.textContent);
for (const [axis, lines] of Object.entries(about?.losses ?? {})) document.getElementById("losses").append(falling(axis, lines));
if (about?.rows) await begin();
document.documentElement.dataset.ready = "true";

async function begin() {
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); // the tables are seen first
  const columns = await readColumns(about);
  const view = new PairView(about, columns, about.links && (await json(about.links.data)));
  const limits = ({ value, ends }) => {
    if (ends) return ends;
    let [low, high] = [Infinity, -Infinity];
    for (let row = 0; row < about.rows; row++) {
      const found = columns.get(value).of(row);
      if (found < low) low = found;
      if (found > high) high = found;
    }
    return low < high ? [low, high] : [low - 1, low + 1];
  };
  const scatters = [];
  const scales = about.scales.map((scale) => ({ ...scale, limits: limits(scale) }));
  const plot = (title, x, y, diagonal) => {
    const scatter = new Scatter(title, x, y, diagonal, (row) => view.open(scatter.rows, scatter.rows.indexOf(row)));
    scatter.name = (row) => columns.get("id").of(row);
    scatters.push(scatter);
  };
  for (const { name, value, rated, ends, limits: own } of scales.filter((scale) => scale.rated)) {
    const [predicted, people] = [columns.get(value), columns.get(rated)];
    plot(name, { name: "rated", column: people, limits: ends ?? RATINGS }, { name: "predicted", column: predicted, limits: own }, ends !== null);
  }
  if (!scatters.length) {
    // Nobody has rated these rows: one scale against the next one.
    for (const [place, scale] of scales.slice(1).entries()) {
      const [x, y] = [scales[place], scale].map(({ name, value, limits: ends }) => ({ name, column: columns.get(value), limits: ends }));
      plot(`${y.name} over ${x.name}`, x, y, false);
    }
  }
  const groups = [...columns.values()].filter(
    (column) => column.groups && column.name !== "id",
  );
  const select = document.getElementById("group");
  select.append(make("option", { value: "", textContent: "nothing" }));
  for (const { name } of groups) select.append(make("option", { value: name, textContent: name }));
  select.value = groups.length ? groups[0].name : "";
  let left = [];
  const distributions = () => {
    const by = columns.get(select.value);
    const shown = scales.map((scale) => boxes(scale.name, grouped(left, columns.get(scale.value), by), scale.limits));
    document.getElementById("distributions").replaceChildren(...shown);
  };
  select.addEventListener("change", distributions);
  document.getElementById("plots").hidden = scales.length === 0;
  document.getElementById("against").hidden = scatters.length === 0;
  document.getElementById("scatter").append(...scatters.map((scatter) => scatter.figure));
  const changed = (rows) => {
    left = rows;
    distributions();
    for (const scatter of scatters) scatter.show(rows);
  };
  const list = new List(about, columns, (rows, place) => view.open(rows, place), changed);
  const redraw = () => scatters.forEach((scatter) => scatter.draw());
  window.addEventListener("resize", () => requestAnimationFrame(redraw));
  for (const media of ["print", "(prefers-color-scheme: dark)"]) matchMedia(media).addEventListener("change", redraw);
  for (const event of ["beforeprint", "afterprint"]) window.addEventListener(event, redraw);
  choices(columns, view);
  (window.requestIdleCallback ?? setTimeout)(() => list.texts());
}

function choices(columns, view) {
  for (const { name, why, rows } of about.choices) {
    const items = rows.map((row, place) => {
      const system = columns.get("system")?.of(row);
      const values = about.scales
        .map((scale) => [scale.name, columns.get(scale.value).of(row)])
        .filter(([, value]) => !Number.isNaN(value))
        .map(([scale, value]) => `${scale} ${shownScore(value)}`);
      const button = make("button", { type: "button", className: "choice" });
      button.append(make("strong", {}, ...breakable(columns.get("id").of(row))), make("span", { className: "quiet", textContent: [system, ...values].filter(Boolean).join(", ") }));
      button.addEventListener("click", () => view.open(rows, place));
      return make("li", {}, button);
    });
    const part = make("section", {}, make("h3", { textContent: name }), make("p", { className: "quiet", textContent: why }), make("ol", {}, ...items));
    document.getElementById("choice-list").append(part);
  }
}
