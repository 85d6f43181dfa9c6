// All rows: searched, filtered, sorted, a page at a time.

import { breakable, make, plain, shownNumber, shownScore } from "./columns.js";

const ROWS_A_PAGE = 50;
const LETTERS = 90; // of a text in the table; all of it is in the view of the row

export class List {
  // open(rows, place) shows a row; changed(rows) is told of those that are left.
  constructor(about, columns, open, changed) {
    this.scores = new Set(about.scales.flatMap((scale) => [scale.value, scale.rated]));
    Object.assign(this, { about, columns, open, changed, page: 0, by: null, falling: false });
    this.find = (selector) => document.querySelector(selector);
    this.rows = Int32Array.from({ length: about.rows }, (_, row) => row);
    this.selects = [];
    for (const column of columns.values()) {
      if (!column.groups || column.name === "id") continue;
      const select = make("select", {}, make("option", { value: "", textContent: "any" }));
      const order = column.words.map((word, code) => [word, code]).sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }));
      for (const [word, code] of order) select.append(make("option", { value: String(code), textContent: word || "(none)" }));
      this.find("#selects").append(make("label", {}, `${column.name} `, select));
      this.selects.push([column, select]);
      select.addEventListener("change", () => this.filter());
    }
    const form = this.find("#filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => this.filter()));
    this.find("#search").addEventListener("input", () => this.filter());
    this.find("#page-before").addEventListener("click", () => this.turn(-1));
    this.find("#page-next").addEventListener("click", () => this.turn(1));
    this.head();
    this.filter();
  }

  // All words of a row in lower case, made when somebody first searches, or in a quiet moment.
  texts() {
    if (!this.searched) {
      const words = [...this.columns.values()].filter((column) => column.kind !== "number");
      const lower = words.map((column) => column.words.map((word) => plain(word).toLowerCase()));
      this.searched = Array.from({ length: this.about.rows }, (_, row) =>
        words.map((column, place) => lower[place][column.codes[row]]).join("\n"),
      );
    }
    return this.searched;
  }

  filter() {
    const wanted = this.find("#search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = wanted.length ? this.texts() : null;
    const chosen = this.selects.filter(([, select]) => select.value !== "").map(([column, select]) => [column.codes, Number(select.value)]);
    const left = [];
    for (let row = 0; row < this.about.rows; row++) {
      if (chosen.every(([codes, code]) => codes[row] === code) && wanted.every((word) => texts[row].includes(word))) left.push(row);
    }
    this.rows = Int32Array.from(left);
    this.order();
    const [count, all] = [this.rows.length, this.about.rows].map((x) => x.toLocaleString("en"));
    const counted = this.about.rows === 1 ? "row" : "rows";
    this.find("#count").textContent = this.rows.length === this.about.rows ? `${all} ${counted}` : `${count} of ${all} ${counted}`;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.changed(this.rows), 60); // behind the next key, not before it
  }

  order() {
    const column = this.columns.get(this.by);
    const sign = this.falling ? -1 : 1;
    if (!column) this.rows.sort();
    else if (column.kind === "number") {
      const value = (row) => (Number.isNaN(column.of(row)) ? Infinity : sign * column.of(row));
      const keys = new Map();
      for (const row of this.rows) keys.set(row, value(row));
      this.rows.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
    } else {
      const places = new Uint32Array(column.words.length);
      const compare = new Intl.Collator(undefined, { numeric: true }).compare;
      column.words.map((word, code) => [plain(word), code]).sort((a, b) => compare(a[0], b[0])).forEach(([, code], place) => (places[code] = place));
      this.rows.sort((a, b) => sign * (places[column.codes[a]] - places[column.codes[b]]) || a - b);
    }
    this.page = 0;
    this.show();
  }

  sort(name) {
    this.falling = this.by === name && !this.falling;
    this.by = name;
    this.order();
    for (const head of this.find("#list thead tr").children) {
      const is = head.dataset.column === name;
      head.setAttribute("aria-sort", is ? (this.falling ? "descending" : "ascending") : "none");
    }
  }

  head() {
    const heads = this.about.listed.map((name) => {
      const button = make("button", { type: "button", className: "sort" }, ...breakable(name));
      button.addEventListener("click", () => this.sort(name));
      const head = make("th", { scope: "col" }, button);
      head.dataset.column = name;
      if (this.columns.get(name).kind === "number") head.className = "amount";
      return head;
    });
    this.find("#list thead").replaceChildren(make("tr", {}, ...heads));
  }

  show() {
    const pages = Math.max(1, Math.ceil(this.rows.length / ROWS_A_PAGE));
    const first = this.page * ROWS_A_PAGE;
    const lines = [...this.rows.subarray(first, first + ROWS_A_PAGE)].map((row, at) => {
      const cells = this.about.listed.map((name) => this.cell(name, row));
      const button = make("button", { type: "button", className: "open" }, ...breakable(this.columns.get("id").of(row)));
      button.addEventListener("click", () => this.open(this.rows, first + at));
      cells[0].replaceChildren(button);
      return make("tr", {}, ...cells);
    });
    this.find("#list tbody").replaceChildren(...lines);
    this.find("#page-place").textContent = `page ${(this.page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    this.find("#page-before").disabled = this.page === 0;
    this.find("#page-next").disabled = this.page === pages - 1;
  }

  cell(name, row) {
    const column = this.columns.get(name);
    const value = column.of(row);
    if (column.kind === "number") return make("td", { className: "amount", textContent: (this.scores.has(name) ? shownScore : shownNumber)(value) });
    const text = plain(value);
    const cell = make("td", { textContent: text.length > LETTERS ? `${text.slice(0, LETTERS)}…` : text });
    if (text === "error" || text === "failed") cell.className = "warning";
    else if (text.length > 24) cell.className = "long";
    return cell;
  }

  turn(by) {
    this.page += by;
    this.show();
  }
}
