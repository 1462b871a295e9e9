/** One job while it runs: the best plan so far and the bound close in on each other. When it is over: its plan. */

import {get, path, post} from "../lib/api.js";
import {lineChart} from "../charts/lines.js";
import {fill, h} from "../lib/dom.js";
import {duration, percent, quantity} from "../lib/format.js";
import {byWhom, mayEnd} from "../lib/me.js";
import {goalMetric, goalText, metricList, metricText, objectiveText} from "../lib/metrics.js";
import {announce, failure, waiting} from "../lib/notices.js";
import {address, go} from "../lib/router.js";
import {jobState, OVER, planStatus} from "../lib/status.js";
import {listen} from "../lib/stream.js";
import {tag} from "../lib/tag.js";
import {nameOf, page} from "./frame.js";

export async function jobView({main, job: id, current}) {
  const body = page(main, {title: "Job", crumbs: [["Jobs", "#/jobs"]]});
  fill(body, waiting());
  let job, metrics;
  try {
    [job, metrics] = await Promise.all([get(path("jobs", id)), metricList()]);
  } catch (error) {
    fill(body, failure(error, h("a", {class: "button", href: "#/jobs"}, "All jobs")));
    return undefined;
  }
  if (!current()) return undefined;
  if (job.kind === "front") {
    location.replace(address("problems", job.problem, "front", {job: id}));
    return undefined;
  }
  const started = OVER.has(job.state);
  const points = [];
  const line = h("p", {class: "quiet fine", role: "status"});
  const chart = h("div", {class: "card live-chart"});
  const told = h("div", {});
  const head = h("div", {class: "row"});
  const tiles = h("dl", {class: "tiles"});
  const result = h("div", {"aria-live": "polite"});
  const cancel = h("button", {type: "button", onclick: stop}, "Stop and keep the best plan");
  page(main, {title: `Plan for ${nameOf(job.problem)}`, crumbs: [["Jobs", "#/jobs"], [nameOf(job.problem), address("problems", job.problem)]], actions: mayEnd(job) ? cancel : null})
    .append(told, head, tiles, result, chart, line);

  let frame = 0;
  let leaving = 0;
  const redraw = () => { frame ||= requestAnimationFrame(() => { frame = 0; draw(); }); };
  const clock = setInterval(() => { if (!OVER.has(job.state)) redraw(); }, 500);
  const begun = Date.now() - 1000 * (job.elapsed ?? 0);

  const close = listen(`${path("jobs", id)}/events`, {
    state: (next) => {
      const was = job.state;
      job = next;
      if (was !== job.state) announce(`The job is ${jobState(job.state).text}.`);
      if (OVER.has(job.state)) ended();
      redraw();
    },
    progress: (step) => {
      points.push(step);
      for (const key of ["objective", "bound", "gap", "stage"]) if (step[key] !== undefined) job[key] = step[key];
      redraw();
    },
  }, {numbered: true, connection: (connected) => {
    line.textContent = connected || OVER.has(job.state) ? "" : "The line to the server broke; trying again. The job goes on meanwhile.";
  }});

  function elapsed() {
    return OVER.has(job.state) ? job.elapsed ?? 0 : job.state === "waiting" ? 0 : (Date.now() - begun) / 1000;
  }

  function draw() {
    const {goal} = job;
    const metric = goalMetric(goal, metrics);
    const text = (value) => metricText(metric, value);
    fill(head, tag(jobState(job.state)),
      h("span", {class: "quiet"}, job.position ? `number ${job.position} in the queue` : `${job.policy}, ${metric?.maximise ? "maximises" : "minimises"} ${goalText(goal, metrics)}${byWhom(job.by) && `, asked for${byWhom(job.by)}`}`),
      job.stage ? h("span", {class: "quiet"}, `· ${job.stage}`) : null);
    fill(tiles, tile("Best plan so far", objectiveText(goal, metrics, job.objective)),
      tile("Proved: no plan is better than", job.bound === null || job.bound === undefined ? "not known" : text(job.bound)),
      tile("Gap", job.gap === null || job.gap === undefined ? "not known" : percent(job.gap)),
      tile("Time", `${duration(elapsed())} (limit ${duration(job.request?.time_limit ?? 60)})`));
    cancel.hidden = OVER.has(job.state);
    cancel.disabled = job.state === "cancelling";
    fill(chart, points.length
      ? lineChart({
        title: metric ? `${metric.label}` : "objective (weighted sum)", xTitle: "seconds", steps: true,
        xText: quantity, yText: text, xRange: [0, Math.max(0.05, elapsed(), ...points.map((point) => point.seconds))],
        series: [{name: "best plan so far", points: points.map((point) => ({x: point.seconds, y: point.objective}))},
          {name: "proved bound", points: points.map((point) => ({x: point.seconds, y: point.bound}))}]
          .filter((one) => one.points.some((point) => Number.isFinite(point.y))),
      })
      : h("div", {class: "waiting"}, OVER.has(job.state) ? "It was over before there was anything to draw." : [h("span", {class: "spinner", "aria-hidden": "true"}), job.state === "waiting" ? "Waiting for its turn…" : "Looking for a first plan…"]));
  }

  function ended() {
    close();
    clearInterval(clock);
    if (job.plan) {
      const status = planStatus(job, job.maximise);
      const link = address("problems", job.problem, "plans", job.plan);
      fill(result, h("div", {class: `notice ${status.kind}`}, h("p", {}, h("strong", {}, `${status.sign} A plan: ${status.text}. `), job.reason ?? ""), h("a", {class: "button primary", href: link}, "See the plan")));
      // Who watched it end sees the plan; who came back later (or by the back button) stays here.
      if (!started) leaving = setTimeout(() => current() && go(link), 1200);
    } else {
      const reason = job.status === "infeasible" ? "Proved: no plan keeps all constraints." : jobState(job.state).text;
      fill(result, h("div", {class: "notice bad", role: "alert"}, h("p", {}, h("strong", {}, "No plan. "), `${reason} `, job.reason ?? ""),
        h("div", {class: "row"}, h("a", {class: "button", href: address("problems", job.problem, "solve")}, "Ask again with other settings"),
          h("a", {class: "button", href: address("problems", job.problem, "edit")}, "Change the problem"))));
    }
  }

  async function stop() {
    cancel.disabled = true;
    try {
      await post(`${path("jobs", id)}/cancel`);
    } catch (error) {
      fill(told, failure(error));
    }
  }

  draw();
  return () => {
    close();
    clearInterval(clock);
    clearTimeout(leaving);
    cancelAnimationFrame(frame);
  };
}

function tile(name, value) {
  return h("div", {class: "tile"}, h("dt", {}, name), h("dd", {}, value));
}
