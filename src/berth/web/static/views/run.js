/** One run, live or past: how it goes, where everything is, what happened and why, and a move that waits for an answer. */

import {get, path, post} from "../lib/api.js";
import {fill, h} from "../lib/dom.js";
import {may, only} from "../lib/me.js";
import {difference, metricList, metricText} from "../lib/metrics.js";
import {announce, failure, toast, waiting} from "../lib/notices.js";
import {nodeColour} from "../lib/palette.js";
import {listen} from "../lib/stream.js";
import {tag} from "../lib/tag.js";
import {picturePanel} from "../picture/panel.js";
import {sceneOf} from "../picture/scene.js";
import {nameOf, page} from "./frame.js";
import {charts, happened, lanes, LOUD, tiles, whereTable} from "./run-parts.js";
import {runState} from "./runs.js";

const MOST_POINTS = 600;
export async function runView({main, run: id, current}) {
  const state = h("span", {});
  const body = page(main, {title: nameOf(id), crumbs: [["Runs", "#/runs"]], actions: state});
  fill(body, waiting());
  let run, scene, metrics;
  const events = [];
  const points = [];
  const colours = new Map();
  const colourOf = (name) => {
    if (!colours.has(name)) colours.set(name, nodeColour(colours.size));
    return colours.get(name);
  };
  try {
    run = await get(path("runs", id));
    let view, past, curve;
    [past, curve, metrics, view] = await Promise.all([
      get(`${path("runs", id)}/history?after=0&limit=1000`),
      get(`${path("runs", id)}/figures?most=${MOST_POINTS / 2}`),
      metricList(),
      run.problem?.id ? get(`${path("problems", run.problem.id)}/view`).catch(() => null) : null]);
    events.push(...past.events);
    points.push(...curve.map(pointOf));
    view?.nodes.forEach((node) => colourOf(node.name));
    if (view) scene = sceneOf(view);
  } catch (error) {
    fill(body, failure(error, h("a", {class: "button", href: "#/runs"}, "All runs")));
    return undefined;
  }
  if (!current()) return undefined;

  const parts = Object.fromEntries(["proposal", "tiles", "map", "charts", "where", "lanes", "happened"].map((name) => [name, h("div", {})]));
  const line = h("p", {class: "quiet fine", role: "status"});
  fill(body, line, parts.proposal, parts.tiles, parts.map, parts.where, parts.charts, parts.lanes, parts.happened);
  if (run.now && pointOf(run.now).time > (points.at(-1)?.time ?? 0)) points.push(pointOf(run.now));
  let told = -1;
  let frame = 0;
  const redraw = () => { frame ||= requestAnimationFrame(() => { frame = 0; draw(); }); };

  const close = listen(`${path("runs", id)}/events`, {
    history: (event) => {
      if (events.some((one) => one.number === event.number)) return;
      events.push(event);
      if (event.assignment && !["proposed", "declined"].includes(event.event)) run.assignment = event.assignment;
      if (LOUD.has(event.event)) announce(`${event.event}: ${event.reason ?? ""}`);
      redraw();
    },
    now: (now) => {
      if (!now) return;
      run.now = now;
      const point = pointOf(now);
      if (points.at(-1)?.time !== point.time) points.push(point);
      if (points.length > MOST_POINTS) points.shift();
      redraw();
    },
    proposal: (proposal) => {
      run.proposal = proposal;
      if (proposal) announce(`A move is proposed: ${proposal.reason}`);
      drawProposal();
    },
    state: (entry) => {
      Object.assign(run, {state: entry.state, ended_because: entry.ended_because, migrations: entry.migrations, updated: entry.updated});
      redraw();
    },
  }, {connection: (connected) => { line.textContent = connected || run.state === "ended" ? "" : "The line to the server broke; trying again."; }});

  function draw() {
    fill(state, tag(runState(run.state)), run.ended_because ? h("span", {class: "quiet fine"}, ` ${run.ended_because}`) : null);
    const figures = run.now ?? run.report;
    fill(parts.tiles, figures ? tiles(figures, run) : h("p", {class: "quiet"}, "It has not measured anything yet."));
    fill(parts.where, whereTable(run, figures, colourOf));
    fill(parts.charts, charts(points, events));
    fill(parts.lanes, lanes(events, run, colourOf));
    // Drawn anew only with something new, so that nobody who reads the list is thrown back to its top.
    if (events.length !== told) fill(parts.happened, happened(events));
    told = events.length;
    drawMap();
  }

  let panel = null;
  let drawn = "";
  /** The map is asked for anew only when something has moved. */
  async function drawMap() {
    const wanted = JSON.stringify(run.assignment);
    if (!scene || !run.assignment || wanted === drawn) return;
    drawn = wanted;
    try {
      const judgement = await post("evaluate", {problem: run.problem.id, assignment: run.assignment});
      if (!current()) return;
      if (panel) panel.update(judgement);
      else {
        panel = picturePanel(scene, {judgement});
        fill(parts.map, panel.element);
      }
    } catch (error) {
      fill(parts.map, h("p", {class: "quiet fine"}, `No map: ${error.message}`));
    }
  }

  function drawProposal() {
    const proposal = run.proposal;
    if (!proposal || typeof proposal !== "object") return fill(parts.proposal);
    const answer = (approve) => async () => {
      try {
        await post(`${path("runs", id)}/decision`, {proposal: proposal.id, approve});
        toast(approve ? "Approved: the run moves now." : "Refused: the run stays as it is.");
        run.proposal = null;
        drawProposal();
      } catch (error) {
        fill(parts.proposal, failure(error));
      }
    };
    return fill(parts.proposal, h("section", {class: "notice warn", role: "alert"},
      h("h2", {}, may("admin") ? "A move waits for your answer" : "A move waits for an admin's answer"), h("p", {}, proposal.reason),
      h("ul", {}, moves(proposal).map((text) => h("li", {}, text))),
      promised(proposal, metrics),
      h("div", {class: "row"}, only("admin", h("button", {type: "button", class: "primary", onclick: answer(true)}, "Approve the move")), only("admin", h("button", {type: "button", onclick: answer(false)}, "Refuse it")))));
  }

  draw();
  drawProposal();
  return () => {
    close();
    panel?.destroy();
    cancelAnimationFrame(frame);
  };
}

function pointOf(now) {
  return {time: now.time ? Date.parse(now.time) / 1000 : 0, rows: now.rows_per_s, p50: now.latency_ms?.p50, p95: now.latency_ms?.p95, last: now.latency_ms?.last,
    busy: now.busy ?? Object.fromEntries((now.operators ?? []).map((one) => [one.operator, one.busy_share]))};
}

/** Every metric that the move would change, by the plans of the proposal. */
function promised(proposal, metrics) {
  const known = proposal.change?.metrics ?? {};
  const rows = metrics.map((metric) => ({metric, ...known[metric.key]})).map((row) => ({...row, change: difference(row.metric, row.before, row.after)})).filter((row) => row.change);
  const broken = proposal.change?.broken ?? [];
  return [
    rows.length ? h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Metric"), ["Now", "After", "Change"].map((text) => h("th", {scope: "col", class: "figure"}, text)))),
      h("tbody", {}, rows.map(({metric, before, after, change}) => h("tr", {}, h("th", {scope: "row"}, metric.label),
        h("td", {class: "figure"}, metricText(metric, before)), h("td", {class: "figure"}, metricText(metric, after)),
        h("td", {class: `figure delta ${change.better ? "better" : "worse"}`}, `${change.text} ${change.better ? "better" : "worse"}`)))))) : null,
    broken.length ? [h("p", {}, "It would break:"), h("ul", {}, broken.map((line) => h("li", {}, line)))] : null,
  ];
}

function moves(proposal) {
  const [before, after] = [proposal.before?.assignment ?? {}, proposal.after?.assignment ?? {}];
  return Object.keys(after).filter((instance) => before[instance] !== after[instance]).map((instance) => `${instance}: ${before[instance] ?? "nowhere"} → ${after[instance]}`);
}
