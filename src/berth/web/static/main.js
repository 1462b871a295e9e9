/** The page starts here: which address shows which view. */

import {signOut} from "./lib/api.js";
import {fill, h} from "./lib/dom.js";
import {meet} from "./lib/me.js";
import {failure} from "./lib/notices.js";
import {start} from "./lib/router.js";
import {changeView} from "./views/change.js";
import {compareView} from "./views/compare.js";
import {editView} from "./views/edit.js";
import {experimentView, experimentsView} from "./views/experiments.js";
import {frontView} from "./views/front.js";
import {jobView} from "./views/job.js";
import {jobsView} from "./views/jobs.js";
import {pictureView} from "./views/picture.js";
import {planView} from "./views/plan.js";
import {problemsView} from "./views/problems.js";
import {runView} from "./views/run.js";
import {runsView} from "./views/runs.js";
import {solveView} from "./views/solve.js";
import {tablesView, tableView} from "./views/tables.js";

const VIEWS = [
  ["/", problemsView],
  ["/problems", problemsView],
  ["/problems/:id", pictureView],
  ["/problems/:id/edit", editView],
  ["/problems/:id/solve", solveView],
  ["/problems/:id/front", frontView],
  ["/problems/:id/plans", compareView],
  ["/problems/:id/plans/:plan", planView],
  ["/problems/:id/plans/:plan/change", changeView],
  ["/jobs", jobsView],
  ["/jobs/:job", jobView],
  ["/runs", runsView],
  ["/runs/:run", runView],
  ["/tables", tablesView],
  ["/tables/:table", tableView],
  ["/experiments", experimentsView],
  ["/experiments/:experiment", experimentView],
];

try {
  const {name, role, by_token: signedIn} = await meet();
  if (signedIn) {
    fill(document.getElementById("me"), h("span", {}, name, " ", h("span", {class: "quiet"}, role)),
      h("button", {type: "button", class: "small plain", onclick: signOut}, "Sign out"));
  }
  // Whoever had to sign in again is back where they were.
  const before = sessionStorage.getItem("berth-return");
  sessionStorage.removeItem("berth-return");
  if (before && !location.hash) history.replaceState(null, "", before);
  start(VIEWS);
} catch (error) {
  fill(document.getElementById("main"), failure(error, h("button", {type: "button", onclick: () => location.reload()}, "Try again")));
}
