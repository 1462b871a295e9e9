/** All problems of the workspace; for somebody who is new here, the examples, one click away. */

import {get, path, request} from "../lib/api.js";
import {ask} from "../lib/dialog.js";
import {fill, h} from "../lib/dom.js";
import {counted, moment} from "../lib/format.js";
import {may, only} from "../lib/me.js";
import {goalText, metricList} from "../lib/metrics.js";
import {failure, toast, waiting} from "../lib/notices.js";
import {address, go, show} from "../lib/router.js";
import {page} from "./frame.js";
import {newProblem, storeFiles, takesDrops} from "./upload.js";

export async function problemsView({main, current}) {
  const told = h("div", {});
  const guarded = (action) => async (...given) => {
    fill(told);
    try {
      await action(...given);
    } catch (error) {
      fill(told, failure(error));
    }
  };
  const storeGuarded = guarded(storeFiles);
  const input = h("input", {type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true", multiple: true, accept: ".yaml,.yml,.json",
    onchange: () => storeGuarded([...input.files]).then(() => { input.value = ""; })});
  const body = page(main, {
    title: "Problems",
    actions: h("div", {class: "row"},
      only("planner", h("button", {type: "button", class: "primary", onclick: () => input.click()}, "Upload a file")),
      only("planner", h("button", {type: "button", onclick: guarded(newProblem)}, "New")), input),
  });
  const list = h("div", {}, waiting());
  body.append(told, list);
  if (may("planner")) takesDrops(body, storeGuarded);
  try {
    const [problems, examples, metrics] = await Promise.all([get("problems"), get("examples"), metricList()]);
    if (!current()) return;
    const copy = guarded(async (name) => go(address("problems", await copied(name))));
    fill(list, problems.length ? filled(problems, metrics, guarded(removed)) : null,
      examplesSection(examples, problems.length === 0, copy));
  } catch (error) {
    fill(list, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
  }
}

function filled(problems, metrics, remove) {
  return h("ul", {class: "cards"}, problems.map((problem) => h("li", {class: "card"},
    h("div", {class: "row apart"},
      h("h2", {}, h("a", {href: address("problems", problem.id, ...(problem.ok ? [] : ["edit"]))}, problem.path)),
      problem.ok ? null : h("span", {class: "tag bad"}, "✕ ", counted(problem.mistakes, "mistake"))),
    h("p", {class: "quiet fine"}, problem.ok
      ? `${counted(problem.nodes, "node")}, ${counted(problem.operators, "operator")} in ${counted(problem.applications, "application")}; minimises ${goalText(problem.objective, metrics)}`
      : "can't be solved until the mistakes are mended"),
    h("p", {class: "quiet fine"}, `changed ${moment(problem.modified)}`),
    h("div", {class: "row"},
      problem.ok
        ? only("planner", h("a", {class: "button small primary", href: address("problems", problem.id, "solve"), "aria-label": `Find a plan for ${problem.path}`}, "Find a plan"))
        : h("a", {class: "button small primary", href: address("problems", problem.id, "edit"), "aria-label": `Mend ${problem.path}`}, "Mend it"),
      h("a", {class: "button small", href: address("problems", problem.id, "plans"), "aria-label": `Plans of ${problem.path}`}, "Plans"),
      only("planner", h("button", {type: "button", class: "small plain danger", "aria-label": `Delete ${problem.path}`, onclick: () => remove(problem)}, "Delete"))))));
}

function examplesSection(examples, empty, copy) {
  const cards = h("ul", {class: "cards"}, examples.map((example) => h("li", {class: "card"},
    h("h3", {}, example.title),
    h("p", {class: "quiet fine about", title: example.about}, example.about),
    h("div", {class: "row apart"},
      h("span", {class: "quiet fine"}, `${counted(example.nodes, "node")}, ${counted(example.operators, "operator")}`),
      only("planner", h("button", {type: "button", class: `small${empty ? " primary" : ""}`, "aria-label": `Open the example ${example.title}`, onclick: () => copy(example.name)}, "Open"))))));
  if (!empty) return h("details", {class: "examples"}, h("summary", {}, "Examples"), cards);
  return h("section", {class: "examples"},
    h("div", {class: "drop"},
      h("p", {}, h("strong", {}, "berth finds on which machine each operator of a streaming application should run.")),
      h("p", {}, "Open an example to see how, or drop a problem file (YAML or JSON) here. Nothing leaves this machine.")),
    h("h2", {}, "Start with an example"), cards);
}

async function copied(name) {
  try {
    return (await request("POST", path("examples", name))).body.id;
  } catch (error) {
    if (error.status === 409 && error.body.id) return error.body.id;
    throw error;
  }
}

async function removed(problem) {
  const sure = await ask(`Delete ${problem.path}?`, h("p", {}, "The file goes; plans that were found for it stay."), [{label: "Delete", kind: "danger", value: true}]);
  if (!sure) return;
  await request("DELETE", path("problems", problem.id), {etag: `"${problem.etag}"`});
  toast(`${problem.path} is deleted.`);
  show();
}
