/** A plan: how good it is in words, its metrics, where everything runs, and why. */

import {get, path, post, url} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {duration} from "../lib/format.js";
import {byWhom} from "../lib/me.js";
import {difference, goalMetric, goalText, metricList, metricText} from "../lib/metrics.js";
import {failure, waiting, warningList} from "../lib/notices.js";
import {swatch} from "../lib/palette.js";
import {address, show} from "../lib/router.js";
import {planStatus} from "../lib/status.js";
import {brokenThen, lossSummary} from "../picture/loss.js";
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
    const [verdict, figures, places, about] = [h("div", {class: "stack"}), h("div", {}), h("section", {class: "card"}), h("p", {class: "quiet fine", hidden: true}, "This is about the plan, not about what is left of it.")];
    panel = picturePanel(scene, {
      judgement,
      lossOf: (node) => post("loss", {problem: id, plan: planId, node: node.name}),
      onLeft: (loss) => showParts(loss),
    });
    const here = compared.plans[0];
    const status = planStatus(here, goalMetric(entry.goal, metrics)?.maximise);
    const found = [
      h("div", {class: `notice ${status.kind}`, role: "status"},
        h("p", {}, h("strong", {}, `${status.sign} ${sentence(status.text)}`), status.reason ? ` ${status.reason}` : ""),
        h("p", {class: "fine"}, `Found by ${entry.policy ?? "an unknown policy"}${entry.seconds ? ` in ${duration(entry.seconds)}` : ""}${byWhom(entry.by) && `, stored${byWhom(entry.by)}`}; goal: ${goalText(entry.goal ?? view.objective, metrics)}.`),
        here.version === "another" ? h("p", {class: "fine"}, "Made for another version of this problem. The figures here are those under the problem as it is now; what was proved there doesn't count here.") : null,
        judgement.violations.length ? h("ul", {}, judgement.violations.slice(0, 12).map((line) => h("li", {}, line))) : null),
      warningList(judgement.warnings)];
    /** Everything around the pictures: of the plan, or of what a loss leaves of it. */
    const showParts = (loss) => {
      const shown = loss?.after ?? judgement;
      fill(verdict, loss ? leftNotice(loss, () => panel.showPlan()) : found);
      fill(figures, metricTiles(metrics, shown.metrics, entry.goal, loss ? deltas(metrics, judgement.metrics, shown.metrics) : {}));
      fill(places, placement(scene, shown, loss, judgement));
      about.hidden = !loss;
    };
    showParts(null);
    fill(body, verdict, figures, panel.element,
      h("div", {class: "columns"}, places, explanationSection(id, planId, metrics, entry, scene, about)));
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

/** What is left after a loss, in words, and the way back to the plan. */
function leftNotice(loss, onBack) {
  return [
    h("div", {class: `notice ${loss.violations.length ? "bad" : "warn"}`, role: "status"},
      h("p", {}, h("strong", {}, `What is left after the loss of ${loss.loss}`)),
      h("p", {}, lossSummary(loss)),
      h("p", {class: "fine"}, "Figures, pictures and the table below are those of what is left; differences are against the plan."),
      h("div", {class: "row"}, h("button", {type: "button", class: "small", onclick: onBack}, "Back to the plan"))),
    brokenThen(loss), warningList(loss.after.warnings)];
}

function deltas(metrics, before, after) {
  return Object.fromEntries(metrics.map((metric) => {
    const step = difference(metric, before[metric.key], after[metric.key]);
    return [metric.key, step && h("span", {class: `delta ${step.better ? "better" : "worse"}`}, step.text)];
  }));
}

/** @param {any} loss what is shown is left after it; null: the plan */
function placement(scene, shown, loss, judgement) {
  const heading = loss ? `Where everything runs after the loss of ${loss.loss}` : "Where everything runs";
  const moved = (instance) => loss && shown.assignment[instance] !== judgement.assignment[instance];
  const node = (name) => [scene.nodeByName.has(name) ? [swatch(scene.nodeByName.get(name).colour), " "] : "", name];
  return [h("h2", {}, heading), h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": heading}, h("table", {},
    h("thead", {}, h("tr", {}, ["Operator", "Node", ...(loss ? ["Before"] : [])].map((text) => h("th", {scope: "col"}, text)))),
    h("tbody", {}, Object.entries(judgement.assignment).map(([instance, before]) => h("tr", {class: moved(instance) ? "chosen" : ""},
      h("th", {scope: "row"}, instance),
      h("td", {}, instance in shown.assignment ? node(shown.assignment[instance]) : "✕ lost"),
      loss ? h("td", {}, moved(instance) ? node(before) : "") : null)))))];
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
