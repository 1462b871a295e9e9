/** The plans of a problem side by side: a table with the best of each row, bars, and two metrics against each other. */

import {get, path, request} from "../lib/api.js";
import {barChart} from "../charts/bars.js";
import {scatterChart} from "../charts/scatter.js";
import {ask} from "../lib/dialog.js";
import {fill, freshId, h} from "../lib/dom.js";
import {moment} from "../lib/format.js";
import {bestOf, goalMetric, metricList, metricText} from "../lib/metrics.js";
import {failure, toast, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {planStatus} from "../lib/status.js";
import {tag} from "../lib/tag.js";
import {problemPage} from "./frame.js";

const SHOWN_AT_FIRST = 6;

export async function compareView({main, id, current}) {
  const body = problemPage(main, id, "Plans", {actions: h("a", {class: "button primary", href: address("problems", id, "solve")}, "Find a plan")});
  fill(body, waiting());
  let plans, metrics;
  try {
    [plans, metrics] = await Promise.all([get(`plans?problem=${encodeURIComponent(id)}`), metricList()]);
  } catch (error) {
    fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
    return;
  }
  if (!current()) return;
  plans.sort((one, other) => other.modified.localeCompare(one.modified));
  if (!plans.length) {
    fill(body, h("div", {class: "drop"}, h("p", {}, "No plans for this problem yet."), h("a", {class: "button primary", href: address("problems", id, "solve")}, "Find a plan")));
    return;
  }
  const chosen = new Set(plans.slice(0, SHOWN_AT_FIRST).map((plan) => plan.id));
  const table = h("div", {});
  const charts = h("div", {class: "stack"});
  const axes = axisChoice(metrics, plans, () => drawCharts());
  const picked = () => plans.filter((plan) => chosen.has(plan.id));

  function drawCharts() {
    const list = picked();
    const known = metrics.filter((metric) => list.some((plan) => plan.metrics?.[metric.key] !== undefined));
    const varied = known.filter((metric) => varies(metric, list));
    fill(charts, list.length < 2 ? h("p", {class: "quiet"}, "Find another plan (with another policy, other weights or by hand) to weigh them against each other.") : [
      h("section", {class: "card"}, h("h2", {}, "Two metrics against each other"), axes.element, scatter(list),
        h("ul", {class: "key"}, h("li", {}, "◆ Pareto front: no other plan is better in both"), h("li", {}, "● beaten by another"), h("li", {}, "✕ breaks constraints"))),
      varied.length ? h("section", {class: "card"}, h("h2", {}, "Where they differ"), h("div", {class: "figures"}, varied.slice(0, 8).map((metric) => bars(metric, list)))) : null,
    ]);
  }

  function scatter(list) {
    const [x, y] = axes.value();
    const points = list.filter((plan) => plan.metrics?.[x.key] !== undefined && plan.metrics?.[y.key] !== undefined)
      .map((plan) => ({x: plan.metrics[x.key], y: plan.metrics[y.key], name: plan.path.replace(/\.json$/, ""), broken: plan.violations > 0}));
    if (!points.length) return h("p", {class: "quiet"}, "None of the plans has both metrics.");
    const way = (metric) => `${metric.label} (${metric.maximise ? "more" : "less"} is better)`;
    return scatterChart({points, xTitle: way(x), yTitle: way(y), xText: (value) => metricText(x, value), yText: (value) => metricText(y, value), xMaximise: x.maximise, yMaximise: y.maximise});
  }

  function bars(metric, list) {
    const best = bestOf(metric, list.filter((plan) => !plan.violations).map((plan) => plan.metrics?.[metric.key]));
    return barChart({title: metric.label, bars: list.filter((plan) => plan.metrics?.[metric.key] !== undefined).map((plan) => ({
      name: plan.path.replace(/\.json$/, ""), value: plan.metrics[metric.key], text: metricText(metric, plan.metrics[metric.key]), best: !plan.violations && plan.metrics[metric.key] === best}))});
  }

  function draw() {
    fill(table, comparison(id, picked(), metrics));
    drawCharts();
  }

  fill(body,
    h("fieldset", {class: "card"}, h("legend", {class: "unseen"}, "Plans to compare"), h("ul", {class: "cards picks"}, plans.map((plan) => pick(id, plan, metrics, chosen, draw)))),
    table, charts);
  draw();
}

function pick(id, plan, metrics, chosen, draw) {
  const box = freshId("pick");
  return h("li", {class: "row"},
    h("input", {type: "checkbox", id: box, checked: chosen.has(plan.id), onchange: (event) => {
      if (event.target.checked) chosen.add(plan.id);
      else chosen.delete(plan.id);
      draw();
    }}),
    h("label", {for: box}, plan.path),
    h("span", {class: "quiet fine"}, moment(plan.modified)),
    h("button", {type: "button", class: "small plain danger", "aria-label": `Delete ${plan.path}`, onclick: async () => {
      const sure = await ask(`Delete ${plan.path}?`, h("p", {}, "The plan's file goes for good."), [{label: "Delete", kind: "danger", value: true}]);
      if (!sure) return;
      try {
        await request("DELETE", path("plans", plan.id), {etag: `"${plan.etag}"`});
        toast("Deleted.");
      } catch (error) {
        toast(`${error.title} ${error.message}`);
      }
      show();
    }}, "Delete"));
}

function comparison(id, plans, metrics) {
  if (!plans.length) return h("p", {class: "quiet"}, "Tick plans to compare them.");
  const known = metrics.filter((metric) => plans.some((plan) => plan.metrics?.[metric.key] !== undefined));
  return h("div", {class: "scroll card", tabindex: "0", role: "region", "aria-label": "Plans side by side"}, h("table", {class: "comparison"},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Metric"), plans.map((plan) => h("th", {scope: "col", class: "figure"},
      h("a", {href: address("problems", id, "plans", plan.id)}, plan.path.replace(/\.json$/, "")))))),
    h("tbody", {},
      h("tr", {}, h("th", {scope: "row"}, "found by"), plans.map((plan) => h("td", {class: "figure"}, plan.policy ?? "–"))),
      h("tr", {}, h("th", {scope: "row"}, "status"), plans.map((plan) => {
        const status = planStatus(plan, goalMetric(plan.goal, metrics)?.maximise);
        return h("td", {class: "figure"}, tag({...status, text: plan.status === "optimal" || plan.violations ? status.text : "keeps all"}));
      })),
      known.map((metric) => {
        const best = bestOf(metric, plans.filter((plan) => !plan.violations).map((plan) => plan.metrics?.[metric.key]));
        return h("tr", {}, h("th", {scope: "row", title: metric.about}, metric.label), plans.map((plan) => {
          const value = plan.metrics?.[metric.key];
          const isBest = varies(metric, plans) && value === best && !plan.violations;
          return h("td", {class: `figure${isBest ? " best" : ""}`}, value === undefined ? "–" : metricText(metric, value), isBest ? [h("span", {"aria-hidden": "true"}, " ★"), h("span", {class: "unseen"}, " best")] : null);
        }));
      }))));
}

/** Whether plans differ in a metric by more than rounding. */
function varies(metric, plans) {
  const values = plans.map((plan) => plan.metrics?.[metric.key]).filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length > 1 && high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
}

function axisChoice(metrics, plans, changed) {
  const known = metrics.filter((metric) => plans.some((plan) => plan.metrics?.[metric.key] !== undefined));
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
