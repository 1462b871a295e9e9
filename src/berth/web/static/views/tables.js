/** The tables of the workspace: telemetry, plans of many problems, results of experiments, page by page. */

import {get, path} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {bytes, counted, moment} from "../lib/format.js";
import {failure, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {recordTable} from "../lib/table.js";
import {nameOf, page} from "./frame.js";

const ROWS = 100;

export async function tablesView({main, current}) {
  const body = page(main, {title: "Tables"});
  fill(body, waiting());
  try {
    const tables = await get("tables");
    if (!current()) return;
    fill(body, tables.length ? list(tables) : h("div", {class: "drop"},
      h("p", {}, "No tables in this workspace yet. Telemetry becomes tables, and a problem with measured values, by"),
      h("p", {}, h("code", {}, "berth ingest telemetry --problem problem.yaml --out measured"))));
  } catch (error) {
    if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
  }
}

function list(tables) {
  return h("div", {class: "scroll card"}, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Table"), ["Rows", "Size"].map((text) => h("th", {scope: "col", class: "figure"}, text)), ["Columns", "Changed"].map((text) => h("th", {scope: "col"}, text)))),
    h("tbody", {}, tables.map((table) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: address("tables", table.id)}, table.path)),
      h("td", {class: "figure"}, table.rows.toLocaleString("en")),
      h("td", {class: "figure"}, bytes(table.bytes)),
      h("td", {class: "quiet fine columns-of"}, columnText(table.columns)),
      h("td", {}, moment(table.modified)))))));
}

function columnText(columns) {
  const names = columns.map((column) => column.name);
  return names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ");
}

export async function tableView({main, table: id, current}) {
  const body = page(main, {title: nameOf(id), crumbs: [["Tables", "#/tables"]]});
  await showPage(0);

  async function showPage(offset) {
    fill(body, waiting());
    try {
      const answer = await get(`${path("tables", id)}?offset=${offset}&limit=${ROWS}`);
      if (!current()) return;
      const last = offset + answer.rows.length;
      const turn = (text, to) => h("button", {type: "button", disabled: to === null, onclick: () => showPage(to)}, text);
      fill(body,
        h("div", {class: "row apart"},
          h("p", {class: "quiet", role: "status"}, answer.total ? `Rows ${offset + 1} to ${last} of ${answer.total.toLocaleString("en")}` : counted(0, "row")),
          h("div", {class: "row"}, turn("Before", offset > 0 ? Math.max(0, offset - ROWS) : null), turn("Next", answer.next))),
        h("section", {class: "card"}, recordTable(nameOf(id), answer.columns.map((column) => column.name), answer.rows)));
    } catch (error) {
      if (current()) fill(body, failure(error, h("a", {class: "button", href: "#/tables"}, "All tables")));
    }
  }
}
