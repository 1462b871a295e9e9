/** All runs of the workspace; those that run are listed first. */

import {get} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {counted, moment} from "../lib/format.js";
import {failure, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {tag} from "../lib/tag.js";
import {page} from "./frame.js";

const PAUSE = 3000;
const STATES = {starting: ["busy", "▶", "starting"], running: ["busy", "▶", "running"], ended: ["good", "✓", "ended"], unknown: ["warn", "?", "ended without saying so"]};

export function runState(state) {
  const [kind, sign, text] = STATES[state] ?? ["", "", state];
  return {kind, sign, text};
}

export async function runsView({main, current}) {
  const body = page(main, {title: "Runs"});
  fill(body, waiting());
  let timer = 0;
  let before = "";
  async function refresh() {
    try {
      const runs = await get("runs");
      if (!current()) return;
      runs.sort((one, other) => (other.state === "running") - (one.state === "running") || String(other.updated).localeCompare(String(one.updated)));
      const now = JSON.stringify(runs);
      if (now !== before) fill(body, runs.length ? table(runs) : empty());
      before = now;
      timer = setTimeout(refresh, PAUSE);
    } catch (error) {
      if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
    }
  }
  await refresh();
  return () => clearTimeout(timer);
}

function empty() {
  return h("div", {class: "drop"},
    h("p", {}, "No runs in this workspace yet. A run is an application on Spark with every operator on its planned node; ", h("code", {}, "berth watch"), " moves operators when that is worth it."),
    h("p", {}, "Start one in the workspace's folder: ", h("code", {}, "berth watch app.py --problem problem.yaml"), ". It appears here at once."));
}

function table(runs) {
  return h("div", {class: "scroll card"}, h("table", {},
    h("thead", {}, h("tr", {}, ["Run", "Application", "State", "Started", "Migrations", ""].map((text) => h("th", {scope: "col"}, text)))),
    h("tbody", {}, runs.map((run) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: address("runs", run.id)}, run.path)),
      h("td", {}, run.application ?? "–"),
      h("td", {}, tag(runState(run.state)), run.ended_because ? h("span", {class: "quiet fine"}, ` ${run.ended_because}`) : null),
      h("td", {}, moment(run.started)),
      h("td", {}, run.kind === "watch" ? counted(run.migrations ?? 0, "migration") : "–"),
      h("td", {}, run.proposal ? h("a", {class: "button small primary", href: address("runs", run.id)}, "A move waits for your answer") : null))))));
}
