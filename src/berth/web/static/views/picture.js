/** A problem as a picture: the network, the applications, and the way on to a plan. */

import {get, path} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {counted, percent} from "../lib/format.js";
import {goalText, metricList} from "../lib/metrics.js";
import {failure, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {picturePanel} from "../picture/panel.js";
import {sceneOf} from "../picture/scene.js";
import {problemPage} from "./frame.js";

export async function pictureView({main, id, current}) {
  const body = problemPage(main, id, "Picture", {
    actions: h("a", {class: "button primary", href: address("problems", id, "solve")}, "Find a plan"),
  });
  fill(body, waiting());
  try {
    const [view, metrics] = await Promise.all([get(`${path("problems", id)}/view`), metricList()]);
    if (!current()) return undefined;
    const panel = picturePanel(sceneOf(view));
    const operators = view.applications.reduce((sum, application) => sum + application.operators.length, 0);
    fill(body,
      h("p", {class: "quiet"}, `${counted(view.nodes.length, "node")}, ${counted(view.links_all, "link")}, ${counted(operators, "operator")} in ${counted(view.applications.length, "application")}. `,
        `Objective: ${goalText(view.objective ?? {response_time: 1}, metrics, view.objective_within)}. `, asked(view)),
      panel.element);
    return panel.destroy;
  } catch (error) {
    if (!current()) return undefined;
    fill(body, error.status === 422
      ? failure(error, h("a", {class: "button", href: address("problems", id, "edit")}, "Mend it in the editor"))
      : failure(error, h("button", {type: "button", onclick: () => show()}, "Try again"), h("a", {class: "button", href: "#/problems"}, "All problems")));
    return undefined;
  }
}

/** What every plan has to keep beyond the applications' own requirements. */
function asked(view) {
  const survive = view.survive && (view.survive === "node" ? "the loss of any node" : `the loss of all nodes with one value of ${view.survive.label}`);
  return [
    survive ? `Plans survive ${survive}. ` : "",
    view.max_utilisation !== null ? `Nodes and instances are kept busy at most ${percent(view.max_utilisation)} of the time.` : "",
  ].join("");
}
