/** Records as a table: numbers to the right, what nobody can read in a cell as its JSON. */

import {h} from "./dom.js";

export function recordTable(label, columns, rows) {
  const numeric = (column) => rows.some((row) => typeof row[column] === "number") && !rows.some((row) => typeof row[column] === "string");
  const figures = new Set(columns.filter(numeric));
  return h("div", {class: "scroll records", tabindex: "0", role: "region", "aria-label": label}, h("table", {},
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col", class: figures.has(column) ? "figure" : ""}, column.replaceAll("_", " "))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => h("td", {class: figures.has(column) ? "figure" : ""}, cell(row[column]))))))));
}

function cell(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return figure(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > 200 ? h("span", {title: text.slice(0, 2000)}, `${text.slice(0, 200)}…`) : text;
}

/** A number of a record, whose unit nobody knows: up to six digits that matter. */
function figure(value) {
  if (!Number.isFinite(value)) return "unknown";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toPrecision(3);
  return value.toLocaleString("en", {maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : 4});
}
