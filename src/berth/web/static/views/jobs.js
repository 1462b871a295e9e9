/** All jobs, the newest first; those that are not over are asked for again every other second. */

import {get, path, request} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {counted, duration, moment, percent} from "../lib/format.js";
import {byWhom, mayEnd, only} from "../lib/me.js";
import {goalText, metricList, objectiveText} from "../lib/metrics.js";
import {failure, toast, waiting} from "../lib/notices.js";
import {address, show} from "../lib/router.js";
import {jobState, OVER} from "../lib/status.js";
import {tag} from "../lib/tag.js";
import {nameOf, page} from "./frame.js";

const PAUSE = 2000;

export async function jobsView({main, current}) {
  const body = page(main, {title: "Jobs"});
  fill(body, waiting());
  let timer = 0;
  let before = "";
  async function refresh() {
    try {
      const [jobs, metrics] = await Promise.all([get("jobs"), metricList()]);
      if (!current()) return;
      const now = JSON.stringify(jobs.map((job) => [job.id, job.state, job.objective, job.bound, job.position]));
      if (now !== before) fill(body, jobs.length ? table(jobs, metrics, refresh) : empty());
      before = now;
      if (jobs.some((job) => !OVER.has(job.state))) timer = setTimeout(refresh, PAUSE);
    } catch (error) {
      if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again")));
    }
  }
  await refresh();
  return () => clearTimeout(timer);
}

function empty() {
  return h("div", {class: "drop"}, h("p", {}, "No jobs yet. A job computes a plan for a problem."), h("a", {class: "button primary", href: "#/problems"}, "Choose a problem"));
}

function table(jobs, metrics, refresh) {
  const act = (method, route, said) => async () => {
    try {
      await request(method, route);
      toast(said);
    } catch (error) {
      toast(`${error.title} ${error.message}`);
    }
    refresh();
  };
  return h("div", {class: "scroll card"}, h("table", {},
    h("thead", {}, h("tr", {}, ["Problem", "Policy", "Goal", "State"].map((text) => h("th", {scope: "col"}, text)),
      ["Best", "Gap", "Time"].map((text) => h("th", {scope: "col", class: "figure"}, text)), h("th", {scope: "col"}, "Created"), h("th", {scope: "col"}, h("span", {class: "unseen"}, "Actions")))),
    h("tbody", {}, jobs.map((job) => h("tr", {},
      h("th", {scope: "row"}, h("a", {href: job.kind === "front" ? address("problems", job.problem, "front", {job: job.id}) : address("jobs", job.id)}, nameOf(job.problem))),
      h("td", {}, job.policy),
      h("td", {}, job.kind === "front" ? `front: ${job.request.objectives.map((name) => goalText({[name]: 1}, metrics)).join(" and ")}` : goalText(job.goal, metrics)),
      h("td", {}, tag(jobState(job.state)), job.position ? h("span", {class: "quiet fine"}, ` number ${job.position} in the queue`) : null),
      h("td", {class: "figure"}, job.kind === "front" ? job.points === null ? "–" : counted(job.points, "point") : OVER.has(job.state) && job.objective === null ? "–" : objectiveText(job.goal, metrics, job.objective)),
      h("td", {class: "figure"}, job.gap === null || job.gap === undefined ? "–" : percent(job.gap)),
      h("td", {class: "figure"}, job.elapsed === null || job.elapsed === undefined ? "–" : duration(job.elapsed)),
      h("td", {}, moment(job.created), byWhom(job.by)),
      h("td", {}, only("admin", OVER.has(job.state)
        ? h("button", {type: "button", class: "small plain", "aria-label": `Forget this job of ${nameOf(job.problem)}`, onclick: act("DELETE", path("jobs", job.id), "Forgotten; its plan stays.")}, "Forget")
        : h("button", {type: "button", class: "small", "aria-label": `Stop this job of ${nameOf(job.problem)}`, onclick: act("POST", `${path("jobs", job.id)}/cancel`, "Stopping; the best plan so far is kept.")}, "Stop"), mayEnd(job))))))));
}
