/** The front between two metrics: the plans of which none is as good as another in both; a click shows one. */

import {get, path, post, request} from "../lib/api.js";
import {scatterChart} from "../charts/scatter.js";
import {fill, freshId, h} from "../lib/dom.js";
import {duration} from "../lib/format.js";
import {mayEnd, only} from "../lib/me.js";
import {metricList, metricText} from "../lib/metrics.js";
import {announce, failure, waiting} from "../lib/notices.js";
import {address, go, show} from "../lib/router.js";
import {jobState, OVER} from "../lib/status.js";
import {listen} from "../lib/stream.js";
import {tag} from "../lib/tag.js";
import {problemPage} from "./frame.js";

const USUAL = ["response_time", "cost_per_hour"];

export async function frontView({main, id, query, current}) {
  const formId = freshId("front");
  const button = h("button", {type: "submit", class: "primary", form: formId, disabled: true}, "Find the front");
  const body = problemPage(main, id, "Front", {actions: only("planner", button)});
  fill(body, waiting());
  let metrics, version, job;
  try {
    let jobs;
    [metrics, version, jobs] = await Promise.all([metricList(), get("version"), get(`jobs?problem=${encodeURIComponent(id)}`)]);
    const asked = query.get("job");
    job = asked ? jobs.find((one) => one.id === asked) ?? await get(path("jobs", asked)) : jobs.find((one) => one.kind === "front");
  } catch (error) {
    if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
    return undefined;
  }
  if (!current()) return undefined;

  const told = h("div", {});
  const result = h("div", {class: "stack"});
  fill(body,
    h("p", {class: "quiet"}, "A weighted sum asks what a millisecond is worth before anybody has seen what it costs. A front shows that: plans from the best for one metric to the best for the other."),
    form(), told, result);
  button.disabled = false;
  if (job) return follow(id, job, metrics, result, current);
  return undefined;

  function form() {
    const usable = metrics.filter((metric) => metric.name && !metric.needs_previous);
    const before = job?.request.objectives ?? USUAL;
    const [first, second] = before.map((name) => choice(usable, name));
    const points = h("input", {type: "number", id: freshId("points"), min: "2", max: "200", step: "1", value: String(job?.request.points ?? 12), required: true});
    const limit = h("input", {type: "number", id: freshId("limit"), min: "0.1", max: version.limits?.time_limit_s ?? "", step: "any", value: "60", required: true});
    return h("form", {id: formId, class: "card row fields", onsubmit: async (event) => {
      event.preventDefault();
      fill(told);
      button.disabled = true;
      try {
        const started = await post("fronts", {problem: id, objectives: [first.value, second.value], points: Number(points.value), time_limit: Number(limit.value)});
        go(address("problems", id, "front", {job: started.id}));
      } catch (error) {
        fill(told, failure(error));
        button.disabled = false;
      }
    }}, field("From the best", first), field("to the best", second), field("Points, at most", points), field("Time limit", h("div", {class: "with-unit"}, limit, "s")));
  }
}

function choice(metrics, name) {
  const select = h("select", {id: freshId("metric")}, metrics.map((metric) => h("option", {value: metric.name}, metric.label)));
  select.value = name;
  return select;
}

function field(label, control) {
  const input = control.matches("input, select") ? control : control.querySelector("input");
  return h("div", {class: "field"}, h("label", {for: input.id}, label), control);
}

/** The job of a front while it runs, and what it found. */
function follow(id, first, metrics, result, current) {
  let job = first;
  const line = h("p", {class: "quiet", role: "status"});
  const told = h("div", {});
  const found = h("div", {class: "stack"});
  const stop = h("button", {type: "button", onclick: async () => {
    stop.disabled = true;
    try {
      await post(`${path("jobs", job.id)}/cancel`);
    } catch (error) {
      fill(told, failure(error));
    }
  }}, "Stop and keep the points so far");
  fill(result, h("div", {class: "row"}, line, mayEnd(job) ? stop : null), told, found);
  const say = () => {
    const names = job.request.objectives.map((name) => metrics.find((metric) => metric.name === name)?.label ?? name);
    fill(line, tag(jobState(job.state)), ` ${names.join(" and ")}`, job.stage && !OVER.has(job.state) ? ` · ${job.stage}` : "", OVER.has(job.state) && job.elapsed ? ` · ${duration(job.elapsed)}` : "");
    stop.hidden = OVER.has(job.state);
  };
  const ended = async () => {
    try {
      const front = await get(path("fronts", job.id));
      if (current()) fill(found, ...(front.points.length ? shown(id, job, front, metrics, told) : [nothing(front)]));
    } catch (error) {
      if (current()) fill(found, error.status === 404 ? h("div", {class: "notice bad", role: "alert"}, h("p", {}, h("strong", {}, "No front. "), job.reason ?? "")) : failure(error));
    }
  };
  say();
  if (OVER.has(job.state)) {
    ended();
    return undefined;
  }
  const close = listen(`${path("jobs", job.id)}/events`, {
    state: (next) => {
      job = next;
      say();
      if (!OVER.has(job.state)) return;
      close();
      announce(`The front is ${jobState(job.state).text}.`);
      ended();
    },
    progress: (step) => {
      job.stage = step.stage;
      say();
    },
  }, {numbered: true});
  return close;
}

function nothing(front) {
  const words = front.status === "infeasible" ? "Proved: no plan keeps all constraints. " : "No plan was found. ";
  return h("div", {class: "notice bad", role: "alert"}, h("p", {}, h("strong", {}, words), front.reason ?? ""));
}

/** The points as a chart and as a table; whoever picks one sees its plan. */
function shown(id, job, front, metrics, told) {
  const [x, y] = front.objectives.map((name) => metrics.find((metric) => metric.name === name));
  const open = (number) => () => openPlan(id, job, front.points[number].plan, number + 1).catch((error) => fill(told, failure(error)));
  const points = front.points.map((point, number) => ({
    x: point.values[x.name], y: point.values[y.name], name: point.knee ? `${number + 1}, the knee` : String(number + 1), broken: false, marked: point.knee, open: open(number)}));
  const way = (metric) => `${metric.label} (${metric.maximise ? "more" : "less"} is better)`;
  return [
    h("p", {}, `${front.summary}.`, front.reason ? ` It ended early: ${front.reason}.` : ""),
    h("section", {class: "card"}, scatterChart({points, xTitle: way(x), yTitle: way(y), xText: (value) => metricText(x, value), yText: (value) => metricText(y, value), xMaximise: x.maximise, yMaximise: y.maximise})),
    h("div", {class: "scroll card", tabindex: "0", role: "region", "aria-label": "The points of the front"}, h("table", {class: "front"},
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Plan"), [x, y].map((metric) => h("th", {scope: "col", class: "figure"}, metric.label)), h("th", {scope: "col"}, "On the front"), h("th", {scope: "col"}, h("span", {class: "unseen"}, "Remarks")))),
      h("tbody", {}, front.points.map((point, number) => h("tr", {},
        h("th", {scope: "row"}, only("planner", h("button", {type: "button", class: "small", onclick: open(number)}, `See plan ${number + 1}`))),
        [x, y].map((metric) => h("td", {class: "figure"}, metricText(metric, point.values[metric.name]))),
        h("td", {}, point.proved ? "proved" : "found"),
        h("td", {}, point.knee ? tag({kind: "good", sign: "◆", text: "knee"}) : null)))))),
  ];
}

/** Stores a point's plan, unless that was done before, and shows it. */
async function openPlan(id, job, plan, number) {
  const name = `fronts/${job.id}/point-${String(number).padStart(2, "0")}.json`;
  let stored;
  try {
    stored = (await request("POST", `plans/upload?name=${encodeURIComponent(name)}`, {json: plan})).body.id;
  } catch (error) {
    if (error.status !== 409 || !error.body.id) throw error;
    stored = error.body.id;
  }
  go(address("problems", id, "plans", stored));
}
