/** Why a plan is as it is: asked for when wanted, because it takes the server some seconds. */

import {post} from "../lib/api.js";
import {askText} from "../lib/dialog.js";
import {fill, h} from "../lib/dom.js";
import {counted, distance, inUnit, milliseconds, percent, signed} from "../lib/format.js";
import {only} from "../lib/me.js";
import {goalMetric, objectiveText} from "../lib/metrics.js";
import {announce, failure, waiting} from "../lib/notices.js";
import {address, go} from "../lib/router.js";
import {listed} from "../picture/facts.js";
import {moveLines} from "../picture/loss.js";
import {instanceGroups} from "../picture/scene.js";
import {nameOf} from "./frame.js";

const MOST_LIMITS = 8;
const MOST_LOSSES = 12;

/** @param {HTMLElement} about a line under the heading, of which plan this is */
export function explanationSection(problem, plan, metrics, entry, scene, about) {
  const place = h("div", {class: "stack", "aria-live": "polite"});
  const unit = goalMetric(entry.goal, metrics)?.unit ?? "";
  const explain = async (whatIf) => {
    fill(place, waiting(whatIf === "none" ? "Explaining…" : "Solving the problem with one thing more, several times…"));
    try {
      const answer = await post("explain", {problem, plan, what_if: whatIf, time_limit: 10});
      fill(place, mending(answer, scene), alternatives(answer, unit, scene), binding(answer), slowest(answer), survival(answer, metrics, scene, saveFailover), helps(answer, unit));
      const more = answer.survival ? "What would help, and what does survival cost?" : "What would help?";
      if (whatIf === "none") place.append(h("button", {type: "button", onclick: () => explain("quick")}, `${more} (up to 10 s)`));
      announce("The explanation is there.");
    } catch (error) {
      fill(place, failure(error, h("button", {type: "button", onclick: () => explain(whatIf)}, "Try again")));
    }
  };
  /** The same placement as a plan of its own: the server finds its failover. */
  const saveFailover = async () => {
    const name = await askText("Save with this failover", "Name of the plan", `${nameOf(plan).replace(/\.json$/, "")}-failover`, "Save");
    if (!name) return;
    try {
      const stored = await post("plans", {problem, assignment: entry.plan.assignment, base: plan, name: name.endsWith(".json") ? name : `${name}.json`});
      go(address("problems", problem, "plans", stored.id));
    } catch (error) {
      place.prepend(failure(error));
    }
  };
  fill(place, h("p", {class: "quiet"}, "The best other node for each operator, what is full, the slowest path, and what would help."),
    only("planner", h("button", {type: "button", class: "primary", onclick: () => explain("none")}, "Explain this plan")));
  return h("section", {class: "card"}, h("h2", {}, "Why"), about, place);
}

function alternatives(answer, unit, scene) {
  const change = (other) => signed(other.change, unit);
  const best = (item) => {
    if (item.fixed) return "may run nowhere else";
    if (item.best) return `${item.best.node}: ${item.best.change === 0 ? "no change" : change(item.best)}${item.best.better ? " (better)" : ""}`;
    return item.searched ? "none is open" : "none found among the best";
  };
  const operatorOf = (instance) => scene.operatorOfInstance.get(instance)?.full ?? instance;
  // instances of one operator of which the same can be said are one row
  const rows = new Map();
  for (const item of answer.operators) {
    const key = JSON.stringify([item.instances.map(operatorOf), item.node, best(item)]);
    rows.set(key, {node: item.node, best: best(item), instances: [...(rows.get(key)?.instances ?? []), ...item.instances]});
  }
  const forbidden = answer.operators.flatMap((item) => item.forbidden.map((other) => `${operatorOf(item.instances[0])} on ${other.node} would ${other.better ? "be better" : "change"} (${change(other)}), but ${other.breaks[0] ?? "is not allowed"}`));
  return h("div", {}, h("h3", {}, "Best other place for each operator"),
    h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": "Best other places"}, h("table", {},
      h("thead", {}, h("tr", {}, ["Operator", "On", "Best other node, and the change"].map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", {}, [...rows.values()].map((row) => h("tr", {}, h("th", {scope: "row"}, instanceGroups(scene, row.instances).join(", ")), h("td", {}, row.node), h("td", {}, row.best)))))),
    answer.explained < answer.units ? h("p", {class: "quiet fine"}, `${answer.explained} of ${answer.units} are explained, those that matter most.`) : null,
    forbidden.length ? [h("h3", {}, "What stands in the way of better nodes"), h("ul", {}, [...new Set(forbidden)].slice(0, 8).map((line) => h("li", {}, line)))] : null);
}

function binding(answer) {
  const meter = (share) => {
    const bar = h("span", {});
    bar.style.width = `${Math.min(100, 100 * (share ?? 1))}%`;
    return h("span", {class: `meter${(share ?? 2) > 1 + 1e-9 ? " full" : ""}`, "aria-hidden": "true"}, bar);
  };
  const more = answer.binding.length - MOST_LIMITS;
  return h("div", {}, h("h3", {}, "What binds: the fullest limits"), answer.binding.length
    ? h("div", {class: "scroll"}, h("table", {class: "binding"}, h("tbody", {}, answer.binding.slice(0, MOST_LIMITS).map((limit) => h("tr", {},
      h("th", {scope: "row"}, `${limit.kind} ${limit.name}`, h("span", {class: "quiet fine"}, amounts(limit))),
      h("td", {class: "figure"}, meter(limit.share), limit.share === null ? "none there" : percent(limit.share)))))))
    : h("p", {class: "quiet"}, "Nothing has a limit here."),
  more > 0 ? h("p", {class: "quiet fine"}, `and ${counted(more, "more limit")}`) : null);
}

/** "0.75 of 0.8 processors": the unit once where both have the same. */
function amounts(limit) {
  const [used, most] = [inUnit(limit.used, limit.unit), inUnit(limit.limit, limit.unit)];
  const [number, ...unit] = used.split(" ");
  const same = unit.join(" ") && most.endsWith(` ${unit.join(" ")}`);
  const each = limit.count > 1 ? `, the fullest of ${limit.count}` : "";
  return ` ${same ? number : used} of ${most}${each}`;
}

/** What becomes of the plan after each loss, the slowest first, and what it costs to survive. */
function survival(answer, metrics, scene, onSave) {
  const found = answer.survival;
  if (!found) return null;
  const title = h("h3", {}, "What it survives");
  if (!found.losses.length && answer.violations.length) return h("div", {}, title, h("p", {class: "quiet"}, "Not judged: the plan itself breaks something."));
  const broken = found.losses.filter((loss) => loss.violations.length).length;
  const fullest = ({fullest: limit}) => (limit ? `fullest: ${limit.kind} ${limit.name} ${limit.share === null ? "has none" : percent(limit.share)}` : "");
  const breaks = ({violations: [first, ...others]}) => (first ? `✕ ${first}${others.length ? ` (and ${others.length} more)` : ""}` : "");
  const row = (loss) => {
    const note = breaks(loss) || fullest(loss);
    return [
      h("tr", {class: note ? "noted" : ""},
        h("th", {scope: "row"}, loss.loss),
        h("td", {class: "figure"}, loss.moved.length),
        h("td", {class: "figure"}, loss.lost.length),
        h("td", {class: "figure"}, loss.response_time_ms === null ? "unknown" : milliseconds(loss.response_time_ms))),
      note ? h("tr", {}, h("td", {colspan: "4", class: `fine ${breaks(loss) ? "worse" : "quiet"}`}, note)) : null];
  };
  return h("div", {}, title,
    h("p", {}, `It survives ${found.count - broken} of ${counted(found.count, "loss", "losses")}. ${costOf(found, metrics)}`),
    found.losses.length ? h("div", {class: "scroll"}, h("table", {class: "losses"},
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Loss of"), ["Moves", "Lost", "Response time"].map((name) => h("th", {scope: "col", class: "figure"}, name)))),
      h("tbody", {}, found.losses.slice(0, MOST_LOSSES).map(row)))) : null,
    found.losses.length > MOST_LOSSES ? h("p", {class: "quiet fine"}, `and ${found.losses.length - MOST_LOSSES} more that leave it faster`) : null,
    found.failover ? betterFailover(found, scene, onSave) : null,
    found.helpless.length ? h("p", {class: "worse"}, `No failover was found for the loss of ${listed(found.helpless)}: other places are needed, or more room.`) : null);
}

/** What would survive with everything where it is. */
function betterFailover({failover, helpless}, scene, onSave) {
  const lines = Object.entries(failover).map(([loss, moves]) => {
    const moved = Object.entries(moves).map(([instance, to]) => ({instance, to}));
    return h("li", {}, `loss of ${loss}: ${moveLines(scene, moved).join(", ")}`);
  });
  return h("div", {class: "notice good"},
    h("p", {}, h("strong", {}, `With this failover the same placement survives ${helpless.length ? "more" : "every loss"}:`)),
    h("ul", {}, lines.slice(0, MOST_LOSSES), lines.length > MOST_LOSSES ? h("li", {class: "quiet"}, `and ${lines.length - MOST_LOSSES} more`) : null),
    h("div", {class: "row"}, only("planner", h("button", {type: "button", onclick: onSave}, "Save with this failover"))));
}

function costOf({goal, without, cost, helpless, failover}, metrics) {
  if (!without) return "";
  if (helpless.length) return "What survival costs can't be said: this plan doesn't survive.";
  if (without.objective === null || cost === null) return without.reason ? `What that costs can't be said: ${without.reason}.` : "";
  const best = `${objectiveText(goal, metrics, without.objective)}${without.proved ? " (proved)" : ""} without it`;
  const metric = goalMetric(goal, metrics);
  const name = metric?.label ?? "the objective";
  const what = failover ? "With the failover below, survival" : "That";
  if (cost === 0) return `${what} costs nothing: ${name} ${best} as well.`;
  return `${what} ${cost > 0 ? "costs" : "has not cost"} ${distance(Math.abs(cost), metric?.unit ?? "")}: ${name} ${best}.`;
}

function slowest(answer) {
  const way = answer.critical_path;
  if (!way) return null;
  return h("div", {}, h("h3", {}, `Slowest path: ${milliseconds(way.total_ms)}`),
    h("p", {}, `Work ${milliseconds(way.work_ms)} (${percent(way.work_share)}), delay ${milliseconds(way.delay_ms)} (${percent(way.delay_share)}).`),
    h("ol", {class: "steps"}, way.steps.map((step) => h("li", {}, `${step.instance} on ${step.node}: ${milliseconds(step.work_ms)} of work`, step.delay_ms ? `, then ${milliseconds(step.delay_ms)} on the way` : ""))));
}

function mending(answer, scene) {
  if (!answer.mending) return null;
  return h("div", {}, h("h3", {}, "How to mend it"),
    h("ol", {class: "steps"}, answer.mending.moves.map((move) => h("li", {}, `Move ${instanceGroups(scene, move.instances).join(", ")} from ${move.from ?? "nowhere"} to ${move.to}`))),
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
