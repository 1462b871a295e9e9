/** A plan: how good it is in words, its metrics, where everything runs, and why. */

import {get, path, post, url} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {duration} from "../lib/format.js";
import {byWhom} from "../lib/me.js";
import {goalMetric, goalText, metricList, metricText} from "../lib/metrics.js";
import {failure, waiting, warningList} from "../lib/notices.js";
import {swatch} from "../lib/palette.js";
import {address, show} from "../lib/router.js";
import {planStatus} from "../lib/status.js";
import {picturePanel} from "../picture/panel.js";
import {sceneOf} from "../picture/scene.js";
import {explanationSection} from "./explanation.js";
import {nameOf, problemPage} from "./frame.js";

export async function planView({main, id, plan: planId, current}) {
  const body = problemPage(main, id, "Plans", {
    title: nameOf(planId), crumbs: [[nameOf(id), address("problems", id)]],
    actions: h("div", {class: "row"},
      h("a", {class: "button", href: url(`${path("plans", planId)}/file`), download: nameOf(planId).split("/").at(-1)}, "Download"),
      h("a", {class: "button", href: address("problems", id, "plans")}, "Compare"),
      h("a", {class: "button primary", href: address("problems", id, "plans", planId, "change")}, "Change by hand")),
  });
  fill(body, waiting());
  let panel = null;
  try {
    const [entry, view, metrics, judgement, compared] = await Promise.all([
      get(path("plans", planId)), get(`${path("problems", id)}/view`), metricList(), post("evaluate", {problem: id, plan: planId}),
      post("compare", {problem: id, plans: [planId]})]);
    if (!current()) return undefined;
    const scene = sceneOf(view);
    panel = picturePanel(scene, {judgement, lossOf: (node) => post("loss", {problem: id, plan: planId, node: node.name})});
    const here = compared.plans[0];
    const status = planStatus(here, goalMetric(entry.goal, metrics)?.maximise);
    fill(body,
      h("div", {class: `notice ${status.kind}`, role: "status"},
        h("p", {}, h("strong", {}, `${status.sign} ${sentence(status.text)}`), status.reason ? ` ${status.reason}` : ""),
        h("p", {class: "fine"}, `Found by ${entry.policy ?? "an unknown policy"}${entry.seconds ? ` in ${duration(entry.seconds)}` : ""}${byWhom(entry.by) && `, stored${byWhom(entry.by)}`}; goal: ${goalText(entry.goal ?? view.objective, metrics)}.`),
        here.version === "another" ? h("p", {class: "fine"}, "Made for another version of this problem. The figures here are those under the problem as it is now; what was proved there doesn't count here.") : null,
        judgement.violations.length ? h("ul", {}, judgement.violations.slice(0, 12).map((line) => h("li", {}, line))) : null),
      warningList(judgement.warnings),
      metricTiles(metrics, judgement.metrics, entry.goal),
      panel.element,
      h("div", {class: "columns"}, placement(scene, judgement), explanationSection(id, planId, metrics, entry)));
    return panel.destroy;
  } catch (error) {
    if (current()) {
      fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again"), h("a", {class: "button", href: address("problems", id, "plans")}, "All plans of this problem")));
    }
    return panel?.destroy;
  }
}

/** The metrics as tiles, those of the goal first. */
export function metricTiles(metrics, values, goal, deltas = {}) {
  const known = metrics.filter((metric) => values[metric.key] !== undefined);
  const sought = Object.assign({}, ...[goal ?? {}].flat());
  const first = known.filter((metric) => sought[metric.name]);
  return h("dl", {class: "tiles"}, [...first, ...known.filter((metric) => !first.includes(metric))].map((metric) => h("div", {class: "tile", title: metric.about},
    h("dt", {}, metric.label, sought[metric.name] ? " ◎" : ""), h("dd", {}, metricText(metric, values[metric.key]), deltas[metric.key] ?? null))));
}

function placement(scene, judgement) {
  const rows = Object.entries(judgement.assignment);
  return h("section", {class: "card"}, h("h2", {}, "Where everything runs"), h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": "Where everything runs"}, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Operator"), h("th", {scope: "col"}, "Node"))),
    h("tbody", {}, rows.map(([instance, name]) => h("tr", {}, h("th", {scope: "row"}, instance), h("td", {}, scene.nodeByName.has(name) ? [swatch(scene.nodeByName.get(name).colour), " "] : "", name)))))));
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
