/** Asking for a plan. Everything has a sensible default: a newcomer presses Start. */

import {get, path, post} from "../lib/api.js";
import {fill, freshId, h} from "../lib/dom.js";
import {only} from "../lib/me.js";
import {goalText, metricList} from "../lib/metrics.js";
import {failure, waiting} from "../lib/notices.js";
import {address, go, show} from "../lib/router.js";
import {problemPage} from "./frame.js";
import {goalFields} from "./goals.js";
import {parameterFields} from "./parameters.js";
import {requirementFields} from "./requirements.js";

export async function solveView({main, id, current}) {
  const formId = freshId("solve");
  const button = h("button", {type: "submit", class: "primary", form: formId, disabled: true}, "Start");
  const body = problemPage(main, id, "Solve", {actions: only("planner", button)});
  fill(body, waiting());
  let view, policies, metrics, plans, version;
  try {
    [view, policies, metrics, plans, version] = await Promise.all([
      get(`${path("problems", id)}/view`), get("policies"), metricList(), get(`plans?problem=${encodeURIComponent(id)}`), get("version")]);
  } catch (error) {
    if (!current()) return;
    fill(body, failure(error, error.status === 422
      ? h("a", {class: "button primary", href: address("problems", id, "edit")}, "Mend them in the editor")
      : h("button", {type: "button", onclick: () => show()}, "Try again")));
    return;
  }
  if (!current()) return;

  const told = h("div", {});
  const goals = goalFields(metrics, view.objective, view.objective_within);
  const requirements = requirementFields(view.applications);
  const parameters = parameterFields();
  const about = h("p", {class: "quiet fine", id: freshId("about")});
  const policy = select(policies.map((one) => [one.name, one.name]), () => describe());
  policy.setAttribute("aria-describedby", about.id);
  if (policies.some((one) => one.name === "auto")) policy.value = "auto";
  const limit = h("input", {type: "number", min: "0.1", max: version.limits?.time_limit_s ?? "", step: "any", value: "60", required: true, id: freshId("limit")});
  const seed = h("input", {type: "number", min: "0", step: "1", value: "0", required: true, id: freshId("seed")});
  const previous = select([["", "none"], ...plans.map((plan) => [plan.id, plan.path])], () => {});

  function describe() {
    const chosen = policies.find((one) => one.name === policy.value);
    fill(about, `${chosen.optimises}. Holds: ${chosen.holds}. (${chosen.paper})`);
    parameters.show(chosen.parameters);
  }
  describe();

  const form = h("form", {id: formId, class: "stack", onsubmit: async (event) => {
    event.preventDefault();
    fill(told);
    if (goals.empty()) {
      fill(told, failure({title: "Nothing to minimise.", message: "Give at least one metric a weight above 0."}));
      return;
    }
    button.disabled = true;
    try {
      const job = await post("jobs", {
        problem: id, policy: policy.value, time_limit: Number(limit.value), seed: Number(seed.value),
        ...goals.value(),
        ...(requirements.value() ? {requirements: requirements.value()} : {}),
        ...(parameters.value() ? {parameters: parameters.value()} : {}),
        ...(previous.value ? {previous: previous.value} : {}),
      });
      go(address("jobs", job.id));
    } catch (error) {
      fill(told, failure(error));
      button.disabled = false;
      told.scrollIntoView({block: "nearest"});
      parameters.mark(error.mistakes ?? []);
    }
  }},
  told,
  h("div", {class: "columns"},
    h("section", {class: "card"},
      h("h2", {}, "How"),
      field("Policy", policy, about),
      field("Time limit", h("div", {class: "with-unit"}, limit, "s"), h("span", {class: "hint"}, "The best plan until then counts; you can stop earlier and keep it.")),
      parameters.element,
      h("details", {}, h("summary", {}, "More"),
        field("Seed", seed, h("span", {class: "hint"}, "The same seed gives the same plan.")),
        field("Previous plan", previous, h("span", {class: "hint"}, "What moved against it is then counted.")))),
    h("section", {class: "card"},
      h("h2", {}, "What counts"),
      h("p", {class: "quiet fine"}, `The problem's own: ${goalText(view.objective, metrics, view.objective_within)}. Slide others up to weigh them, too.`),
      goals.element)),
  h("section", {class: "card"}, h("h2", {}, "Requirements"),
    h("p", {class: "quiet fine"}, "A plan must keep these. Empty: no such requirement."), requirements.element));
  fill(body, h("p", {class: "quiet"}, "Everything has a sensible value already: press Start. This only computes a plan; nothing is moved or started on your machines."), form);
  button.disabled = false;
  button.focus({preventScroll: true});
}

function select(options, changed) {
  return h("select", {id: freshId("select"), onchange: changed}, options.map(([value, text]) => h("option", {value}, text)));
}

function field(label, control, ...hints) {
  const input = control.matches("input, select") ? control : control.querySelector("input");
  return h("div", {class: "field"}, h("label", {for: input.id}, label), control, hints);
}
