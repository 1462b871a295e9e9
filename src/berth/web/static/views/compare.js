/**
 * The plans of a problem side by side, all judged by the problem as it is now: a table with the best of each row, bars, and
 * two metrics against each other.
 */

import {get, path, post, request} from "../lib/api.js";
import {barChart} from "../charts/bars.js";
import {scatterChart} from "../charts/scatter.js";
import {ask} from "../lib/dialog.js";
import {fill, freshId, h} from "../lib/dom.js";
import {moment} from "../lib/format.js";
import {byWhom, only} from "../lib/me.js";
import {bestOf, goalMetric, goalText, metricList, metricText} from "../lib/metrics.js";
import {failure, toast, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {planStatus} from "../lib/status.js";
import {tag} from "../lib/tag.js";
import {problemPage} from "./frame.js";

const SHOWN_AT_FIRST = 6;
/** What the server judges in one request. */
const MOST_AT_ONCE = 100;
/** What is said of plans that were not made for the problem as it is now. */
const VERSIONS = {another: "made for another version", unknown: "made for an unknown version"};

export async function compareView({main, id, current}) {
  const body = problemPage(main, id, "Plans", {actions: only("planner", h("a", {class: "button primary", href: address("problems", id, "solve")}, "Find a plan"))});
  fill(body, waiting());
  let listed, metrics;
  try {
    [listed, metrics] = await Promise.all([get(`plans?problem=${encodeURIComponent(id)}`), metricList()]);
  } catch (error) {
    fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
    return;
  }
  if (!current()) return;
  // Those of this version first, the newest of each on top.
  const rank = {this: 0, unknown: 1, another: 2};
  listed.sort((one, other) => rank[one.version] - rank[other.version] || other.modified.localeCompare(one.modified));
  if (!listed.length) {
    fill(body, h("div", {class: "drop"}, h("p", {}, "No plans for this problem yet."), h("a", {class: "button primary", href: address("problems", id, "solve")}, "Find a plan")));
    return;
  }
  const chosen = new Set(listed.slice(0, SHOWN_AT_FIRST).map((plan) => plan.id));
  const judged = new Map();
  const told = h("div", {});
  const table = h("div", {});
  const charts = h("div", {class: "stack"});
  let axes = null;
  let terms = null;
  const picked = () => listed.filter((plan) => chosen.has(plan.id) && judged.has(plan.id)).map((plan) => ({...plan, ...judged.get(plan.id)}));

  /** What the file of a plan says was true for the problem that it was made for: here, the server judges all by this one. */
  async function judge() {
    const missing = listed.filter((plan) => chosen.has(plan.id) && !judged.has(plan.id)).map((plan) => plan.id);
    for (let first = 0; first < missing.length; first += MOST_AT_ONCE) {
      terms = await post("compare", {problem: id, plans: missing.slice(first, first + MOST_AT_ONCE)});
      for (const plan of terms.plans) judged.set(plan.id, plan);
    }
  }

  async function draw() {
    try {
      await judge();
    } catch (error) {
      if (current()) fill(told, failure(error, h("button", {type: "button", onclick: draw}, "Try again")));
      return;
    }
    if (!current()) return;
    fill(told, terms ? h("p", {class: "quiet"}, `All judged by ${terms.judged_by.problem} (${terms.judged_by.fingerprint}), as it is now; its objective: ${goalText(terms.goal, metrics)}.`) : null);
    fill(table, comparison(id, picked(), metrics, terms?.goal), misfits(picked()));
    drawCharts();
  }

  function drawCharts() {
    const list = picked().filter((plan) => !plan.mistakes.length);
    if (list.length < 2) {
      fill(charts, h("p", {class: "quiet"}, "Find another plan (with another policy, other weights or by hand) to weigh them against each other."));
      return;
    }
    axes ??= axisChoice(metrics, list, drawCharts);
    const varied = metrics.filter((metric) => varies(metric, list));
    fill(charts,
      h("section", {class: "card"}, h("h2", {}, "Two metrics against each other"), axes.element, scatter(list),
        h("ul", {class: "key"}, h("li", {}, "◆ Pareto front: no other plan is better in both"), h("li", {}, "● beaten by another"), h("li", {}, "✕ breaks constraints"))),
      varied.length ? h("section", {class: "card"}, h("h2", {}, "Where they differ"), h("div", {class: "figures"}, varied.slice(0, 8).map((metric) => bars(metric, list)))) : null);
  }

  function scatter(list) {
    const [x, y] = axes.value();
    const points = list.filter((plan) => plan.metrics[x.key] !== undefined && plan.metrics[y.key] !== undefined)
      .map((plan) => ({x: plan.metrics[x.key], y: plan.metrics[y.key], name: shortName(plan), broken: plan.violations.length > 0}));
    if (!points.length) return h("p", {class: "quiet"}, "None of the plans has both metrics.");
    const way = (metric) => `${metric.label} (${metric.maximise ? "more" : "less"} is better)`;
    return scatterChart({points, xTitle: way(x), yTitle: way(y), xText: (value) => metricText(x, value), yText: (value) => metricText(y, value), xMaximise: x.maximise, yMaximise: y.maximise});
  }

  function bars(metric, list) {
    const best = bestOf(metric, list.filter(keepsAll).map((plan) => plan.metrics[metric.key]));
    return barChart({title: metric.label, bars: list.filter((plan) => plan.metrics[metric.key] !== undefined).map((plan) => ({
      name: shortName(plan), value: plan.metrics[metric.key], text: metricText(metric, plan.metrics[metric.key]), best: keepsAll(plan) && plan.metrics[metric.key] === best}))});
  }

  fill(body,
    h("fieldset", {class: "card"}, h("legend", {class: "unseen"}, "Plans to compare"), h("ul", {class: "cards picks"}, listed.map((plan) => pick(plan, chosen, draw)))),
    told, table, charts);
  await draw();
}

function pick(plan, chosen, draw) {
  const box = freshId("pick");
  return h("li", {class: "row"},
    h("input", {type: "checkbox", id: box, checked: chosen.has(plan.id), onchange: (event) => {
      if (event.target.checked) chosen.add(plan.id);
      else chosen.delete(plan.id);
      draw();
    }}),
    h("label", {for: box}, plan.path, VERSIONS[plan.version] ? h("span", {class: "version fine"}, VERSIONS[plan.version]) : null),
    h("span", {class: "quiet fine"}, moment(plan.modified), byWhom(plan.by)),
    only("planner", h("button", {type: "button", class: "small plain danger", "aria-label": `Delete ${plan.path}`, onclick: async () => {
      const sure = await ask(`Delete ${plan.path}?`, h("p", {}, "The plan's file goes for good."), [{label: "Delete", kind: "danger", value: true}]);
      if (!sure) return;
      try {
        await request("DELETE", path("plans", plan.id), {etag: `"${plan.etag}"`});
        toast("Deleted.");
      } catch (error) {
        toast(`${error.title} ${error.message}`);
      }
      show();
    }}, "Delete")));
}

function shortName(plan) {
  return plan.path.replace(/\.json$/, "");
}

function keepsAll(plan) {
  return !plan.violations.length && !plan.mistakes.length;
}

function comparison(id, plans, metrics, goal) {
  if (!plans.length) return h("p", {class: "quiet"}, "Tick plans to compare them.");
  const known = metrics.filter((metric) => plans.some((plan) => plan.metrics[metric.key] !== undefined));
  const objective = goalMetric(goal, metrics) ?? {maximise: false, unit: ""};
  const row = (name, cell, about = null) => h("tr", {}, h("th", {scope: "row", title: about}, name), plans.map(cell));
  const figures = (name, measure, valueOf, about = null) => {
    const best = bestOf(measure, plans.filter(keepsAll).map(valueOf));
    const differ = spread(plans.map(valueOf));
    return row(name, (plan) => {
      const value = valueOf(plan);
      const isBest = differ && value === best && keepsAll(plan);
      return h("td", {class: `figure${isBest ? " best" : ""}`}, value === undefined || value === null ? "–" : metricText(measure, value), isBest ? [h("span", {"aria-hidden": "true"}, " ★"), h("span", {class: "unseen"}, " best")] : null);
    }, about);
  };
  return h("div", {class: "scroll card", tabindex: "0", role: "region", "aria-label": "Plans side by side"}, h("table", {class: "comparison"},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Metric"), plans.map((plan) => h("th", {scope: "col", class: "figure"},
      h("a", {href: address("problems", id, "plans", plan.id)}, shortName(plan)))))),
    h("tbody", {},
      row("found by", (plan) => h("td", {class: "figure"}, plan.policy || "–")),
      row("found for", (plan) => h("td", {class: "figure"}, plan.goal && Object.keys(plan.goal).length ? goalText(plan.goal, metrics) : "–"), "what was minimised"),
      plans.some((plan) => VERSIONS[plan.version]) ? row("made for", (plan) => h("td", {class: "figure"}, VERSIONS[plan.version]?.replace("made for ", "") ?? "this version")) : null,
      row("status", (plan) => {
        if (plan.mistakes.length) return h("td", {class: "figure"}, tag({kind: "bad", sign: "✕", text: "does not fit this problem"}));
        const status = planStatus(plan, goalMetric(plan.goal, metrics)?.maximise);
        return h("td", {class: "figure"}, tag({...status, text: plan.status === "optimal" || plan.violations.length ? status.text : "keeps all"}));
      }),
      plans.some((plan) => plan.warnings.length) ? row("warnings", (plan) => h("td", {class: "figure", title: plan.warnings.join("\n")}, plan.warnings.length || "–")) : null,
      figures("objective", objective, (plan) => plan.problem_objective, goalText(goal, metrics)),
      known.map((metric) => figures(metric.label, metric, (plan) => plan.metrics[metric.key], metric.about)))));
}

/** Why plans can't be judged by this problem. */
function misfits(plans) {
  const odd = plans.filter((plan) => plan.mistakes.length);
  return odd.length ? h("ul", {class: "quiet fine"}, odd.map((plan) => h("li", {}, `${shortName(plan)}: ${plan.mistakes.map((one) => [one.path, one.message].filter(Boolean).join(": ")).join("; ")}`))) : null;
}

/** Whether plans differ in a metric by more than rounding. */
function varies(metric, plans) {
  return spread(plans.map((plan) => plan.metrics[metric.key]));
}

function spread(all) {
  const values = all.filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length > 1 && high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
}

function axisChoice(metrics, plans, changed) {
  const known = metrics.filter((metric) => plans.some((plan) => plan.metrics[metric.key] !== undefined));
  const make = (label, initial) => {
    const id = freshId("axis");
    const select = h("select", {id, onchange: changed}, known.map((metric) => h("option", {value: metric.key}, metric.label)));
    select.value = initial?.key ?? known[0]?.key;
    return {select, element: h("span", {class: "row"}, h("label", {for: id}, label), select)};
  };
  const across = make("Across", known.find((metric) => metric.key === "response_time_ms") ?? known[0]);
  const preferred = ["cost_per_hour", "availability", "network_usage_bytes", "traffic_bytes_per_s", "nodes_used"];
  const differs = (key) => varies({key}, plans);
  const up = make("Up", known.find((metric) => metric.key === preferred.find((key) => differs(key) && known.some((one) => one.key === key))) ?? known[1] ?? known[0]);
  const find = (select) => metrics.find((metric) => metric.key === select.value);
  return {element: h("div", {class: "row"}, across.element, up.element), value: () => [find(across.select), find(up.select)]};
}
