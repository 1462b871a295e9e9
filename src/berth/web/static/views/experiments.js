/** What `berth reproduce` left: the report in a frame that can do nothing, and the league table. */

import {get, path, url} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {counted, duration, moment} from "../lib/format.js";
import {failure, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {recordTable} from "../lib/table.js";
import {nameOf, page} from "./frame.js";

const SHOWN = 200;
const TITLES = {claims: "The papers' claims, and what came out", failures: "What failed", runs: "All runs"};

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
    const records = await recordSections(answer.tables ?? [], answer.path);
    if (!current()) return;
    const tables = Object.entries(answer.data ?? {}).map(([name, data]) => [name, rowsOf(data)]).filter(([, rows]) => rows.length);
    fill(body,
      answer.league ? leagueTable(answer.league) : null,
      tables.map(([name, rows]) => dataTable(name, rows)),
      answer.report ? h("section", {}, h("h2", {}, "Report"), h("iframe", {class: "report", sandbox: "", title: `Report of ${answer.path}`, src: url(`${route}/report`)})) : h("p", {class: "quiet"}, "No report was written."),
      records,
      h("section", {}, h("h2", {}, "Files"), h("ul", {}, answer.files.map((name) => h("li", {}, h("a", {href: url(`${route}/files/${encodeURIComponent(name)}`), download: name}, name))))));
  } catch (error) {
    if (current()) fill(body, failure(error, h("a", {class: "button", href: "#/experiments"}, "All experiments")));
  }
}

/** Who did best at which kind of problem. */
function leagueTable(groups) {
  const figure = (text) => h("td", {class: "figure"}, text);
  const heads = ["Objective, over the best known", "Within 1 % of it", "Plans", "Plans that break something", "No plan", "Median time"];
  return h("section", {class: "card"}, h("h2", {}, "League table"),
    h("p", {class: "quiet fine"}, "1.00 is the best that any policy found; the best policy comes first. † It minimises something of its own, whatever the problem asks for."),
    groups.map(({group, problems, standings}, index) => h("details", {open: index === 0}, h("summary", {}, `${group} (${counted(problems, "problem")})`),
      h("div", {class: "scroll records", tabindex: "0", role: "region", "aria-label": `League table: ${group}`}, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Policy"), heads.map((text) => h("th", {scope: "col", class: "figure"}, text)))),
        h("tbody", {}, standings.map((item) => h("tr", {}, h("th", {scope: "row"}, item.policy, item.own_goal ? " †" : ""),
          figure(item.objective_over_best === null ? "–" : item.objective_over_best.toFixed(2)), figure(`${item.within_one_percent} of ${item.asked}`), figure(item.plans),
          figure(item.breaks || "–"), figure(item.no_plan || "–"), figure(item.seconds === null ? "–" : item.seconds < 0.005 ? "< 0.01 s" : duration(item.seconds))))))))));
}

/** The tables that `berth reproduce` wrote; each folded. */
async function recordSections(tables, folder) {
  const known = tables.filter((one) => one.rows > 0 && one.id);
  return Promise.all(known.map(async (one) => {
    const name = one.path.slice(folder.length + 1);
    const answer = await get(`${path("tables", one.id)}?limit=${SHOWN}`);
    const title = TITLES[name] ?? name.replace(/\/results$/, ": results").replaceAll("/", ": ");
    return h("details", {class: "card"}, h("summary", {}, `${title} (${counted(one.rows, "row")})`),
      recordTable(title, answer.columns.map((column) => column.name).filter((column) => answer.rows.some((row) => row[column] !== null)), answer.rows),
      answer.next ? h("p", {}, h("a", {href: address("tables", one.id)}, "All rows")) : null);
  }));
}

/** A list of records, or the first such list in a document; nothing else can be shown as a table. */
function rowsOf(data) {
  const records = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => one && typeof one === "object" && !Array.isArray(one));
  if (records(data)) return data;
  return Object.values(data && typeof data === "object" ? data : {}).find(records) ?? [];
}

function dataTable(name, rows) {
  const columns = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))];
  const title = name === "league.json" ? "League table" : name.replace(/\.json$/, "");
  return h("section", {class: "card"}, h("h2", {}, title), recordTable(title, columns, rows.slice(0, SHOWN)));
}
