/** Why a plan is as it is: asked for when wanted, because it takes the server some seconds. */

import {post} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {distance, inUnit, milliseconds, percent, signed} from "../lib/format.js";
import {only} from "../lib/me.js";
import {goalMetric} from "../lib/metrics.js";
import {announce, failure, waiting} from "../lib/notices.js";

/** @param {HTMLElement} about a line under the heading, of which plan this is */
export function explanationSection(problem, plan, metrics, entry, scene, about) {
  const place = h("div", {class: "stack", "aria-live": "polite"});
  const unit = goalMetric(entry.goal, metrics)?.unit ?? "";
  const explain = async (whatIf) => {
    fill(place, waiting(whatIf === "none" ? "Explaining…" : "Solving the problem with one thing more, several times…"));
    try {
      const answer = await post("explain", {problem, plan, what_if: whatIf, time_limit: 10});
      fill(place, alternatives(answer, unit), binding(answer), slowest(answer), mending(answer), helps(answer, unit));
      if (whatIf === "none") place.append(h("button", {type: "button", onclick: () => explain("quick")}, "What would help? (up to 10 s)"));
      announce("The explanation is there.");
    } catch (error) {
      fill(place, failure(error, h("button", {type: "button", onclick: () => explain(whatIf)}, "Try again")));
    }
  };
  fill(place, h("p", {class: "quiet"}, "The best other node for each operator, what is full, the slowest path, and what would help."),
    only("planner", h("button", {type: "button", class: "primary", onclick: () => explain("none")}, "Explain this plan")));
  return h("section", {class: "card"}, h("h2", {}, "Why"), about, place);
}

function alternatives(answer, unit) {
  const change = (other) => signed(other.change, unit);
  const best = (item) => {
    if (item.fixed) return "may run nowhere else";
    if (item.best) return `${item.best.node}: ${item.best.change === 0 ? "no change" : change(item.best)}${item.best.better ? " (better)" : ""}`;
    return item.searched ? "none is open" : "none found among the best";
  };
  const forbidden = answer.operators.flatMap((item) => item.forbidden.map((other) => `${item.instances[0]} on ${other.node} would ${other.better ? "be better" : "change"} (${change(other)}), but ${other.breaks[0] ?? "is not allowed"}`));
  return h("div", {}, h("h3", {}, "Best other place for each operator"),
    h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": "Best other places"}, h("table", {},
      h("thead", {}, h("tr", {}, ["Operator", "On", "Best other node, and the change"].map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", {}, answer.operators.map((item) => h("tr", {}, h("th", {scope: "row"}, item.instances.join(", ")), h("td", {}, item.node), h("td", {}, best(item))))))),
    answer.explained < answer.units ? h("p", {class: "quiet fine"}, `${answer.explained} of ${answer.units} are explained, those that matter most.`) : null,
    forbidden.length ? [h("h3", {}, "What stands in the way of better nodes"), h("ul", {}, forbidden.slice(0, 8).map((line) => h("li", {}, line)))] : null);
}

function binding(answer) {
  const meter = (share) => {
    const bar = h("span", {});
    bar.style.width = `${Math.min(100, 100 * (share ?? 1))}%`;
    return h("span", {class: `meter${(share ?? 2) > 1 + 1e-9 ? " full" : ""}`, "aria-hidden": "true"}, bar);
  };
  return h("div", {}, h("h3", {}, "What binds: the fullest limits"), answer.limits.length
    ? h("div", {class: "scroll"}, h("table", {}, h("tbody", {}, answer.limits.slice(0, 8).map((limit) => h("tr", {},
      h("th", {scope: "row"}, `${limit.kind} ${limit.name}`),
      h("td", {class: "figure"}, meter(limit.share), limit.share === null ? "none there" : percent(limit.share)),
      h("td", {class: "figure"}, `${inUnit(limit.used, limit.unit)} of ${inUnit(limit.limit, limit.unit)}`))))))
    : h("p", {class: "quiet"}, "Nothing has a limit here."));
}

function slowest(answer) {
  const way = answer.critical_path;
  if (!way) return null;
  return h("div", {}, h("h3", {}, `Slowest path: ${milliseconds(way.total_ms)}`),
    h("p", {}, `Work ${milliseconds(way.work_ms)} (${percent(way.work_share)}), delay ${milliseconds(way.delay_ms)} (${percent(way.delay_share)}).`),
    h("ol", {class: "steps"}, way.steps.map((step) => h("li", {}, `${step.instance} on ${step.node}: ${milliseconds(step.work_ms)} of work`, step.delay_ms ? `, then ${milliseconds(step.delay_ms)} on the way` : ""))));
}

function mending(answer) {
  if (!answer.mending) return null;
  return h("div", {}, h("h3", {}, "How to mend it"),
    h("ol", {class: "steps"}, answer.mending.moves.map((move) => h("li", {}, `Move ${move.instances.join(", ")} from ${move.from ?? "nowhere"} to ${move.to}`))),
    answer.mending.left?.length ? h("p", {}, "Then still broken: ", [].concat(answer.mending.left).join("; ")) : h("p", {}, "Then nothing is broken."));
}

function helps(answer, unit) {
  if (!answer.what_if) return null;
  const busy = answer.what_if.changes.some((change) => change.utilisation_max_ratio);
  return h("div", {}, h("h3", {}, "What would help"), h("div", {class: "scroll"}, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Change"), h("th", {scope: "col", class: "figure"}, "Result"), h("th", {scope: "col", class: "figure"}, "Gain"), busy ? h("th", {scope: "col", class: "figure"}, "Busiest") : null)),
    h("tbody", {}, answer.what_if.changes.map((change) => h("tr", {},
      h("th", {scope: "row"}, change.change),
      h("td", {class: "figure"}, change.objective === null ? change.reason ?? "none" : inUnit(change.objective, unit), change.proved ? " (proved)" : ""),
      h("td", {class: "figure"}, change.gain ? distance(change.gain, unit) : "none"),
      busy ? h("td", {class: "figure"}, change.utilisation_max_ratio === null ? "–" : percent(change.utilisation_max_ratio)) : null))))));
}
