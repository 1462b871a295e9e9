/** Records as a table: numbers to the right, what nobody can read in a cell as its JSON. */

import {h} from "./dom.js";
import {plain} from "./format.js";

export function recordTable(label, columns, rows) {
  const numeric = (column) => rows.some((row) => typeof row[column] === "number") && !rows.some((row) => typeof row[column] === "string");
  const figure = new Set(columns.filter(numeric));
  return h("div", {class: "scroll records", tabindex: "0", role: "region", "aria-label": label}, h("table", {},
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col", class: figure.has(column) ? "figure" : ""}, column.replaceAll("_", " "))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => h("td", {class: figure.has(column) ? "figure" : ""}, cell(row[column]))))))));
}

function cell(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return plain(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > 200 ? h("span", {title: text.slice(0, 2000)}, `${text.slice(0, 200)}…`) : text;
}
