/** What `berth reproduce` left: the report in a frame that can do nothing, and the league table. */

import {get, path, url} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {moment, plain} from "../lib/format.js";
import {failure, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {nameOf, page} from "./frame.js";

export async function experimentsView({main, current}) {
  const body = page(main, {title: "Experiments"});
  fill(body, waiting());
  try {
    const experiments = await get("experiments");
    if (!current()) return;
    fill(body, experiments.length
      ? h("ul", {class: "cards"}, experiments.map((one) => h("li", {class: "card"},
        h("h2", {}, h("a", {href: address("experiments", one.id)}, one.path)),
        h("p", {class: "quiet fine"}, `${one.files.length} files, changed ${moment(one.modified)}`))))
      : h("div", {class: "drop"}, h("p", {}, "No experiments in this workspace yet. The papers' experiments are run by"), h("p", {}, h("code", {}, "berth reproduce --quick --out experiments"))));
  } catch (error) {
    if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
  }
}

export async function experimentView({main, experiment, current}) {
  const body = page(main, {title: nameOf(experiment), crumbs: [["Experiments", "#/experiments"]]});
  fill(body, waiting());
  try {
    const answer = await get(path("experiments", experiment));
    if (!current()) return;
    const route = path("experiments", experiment);
    const tables = Object.entries(answer.data ?? {}).map(([name, data]) => [name, rowsOf(data)]).filter(([, rows]) => rows.length);
    fill(body,
      tables.map(([name, rows]) => dataTable(name, rows)),
      answer.report ? h("section", {}, h("h2", {}, "Report"), h("iframe", {class: "report", sandbox: "", title: `Report of ${answer.path}`, src: url(`${route}/report`)})) : h("p", {class: "quiet"}, "No report was written."),
      h("section", {}, h("h2", {}, "Files"), h("ul", {}, answer.files.map((name) => h("li", {}, h("a", {href: url(`${route}/files/${encodeURIComponent(name)}`), download: name}, name))))));
  } catch (error) {
    if (current()) fill(body, failure(error, h("a", {class: "button", href: "#/experiments"}, "All experiments")));
  }
}

/** A list of records, or the first such list in a document; nothing else can be shown as a table. */
function rowsOf(data) {
  const records = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one && typeof one === "object" && !Array.isArray(one));
  if (records(data)) return data;
  return Object.values(data && typeof data === "object" ? data : {}).find(records) ?? [];
}

function dataTable(name, rows) {
  const columns = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))].filter((column) => rows.some((row) => typeof row[column] !== "object" || row[column] === null));
  const numeric = (column) => rows.some((row) => typeof row[column] === "number");
  const text = (value) => (value === null || value === undefined ? "–" : typeof value === "number" ? plain(value) : typeof value === "object" ? "" : String(value));
  return h("section", {class: "card"}, h("h2", {}, name === "league.json" ? "League table" : name.replace(/\.json$/, "")),
    h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": name}, h("table", {},
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col", class: numeric(column) ? "figure" : ""}, column.replaceAll("_", " "))))),
      h("tbody", {}, rows.slice(0, 200).map((row) => h("tr", {}, columns.map((column) => h("td", {class: numeric(column) ? "figure" : ""}, text(row[column])))))))));
}
