/** One run, live or past: how it goes, where everything is, what happened and why, and a move that waits for an answer. */

import {get, path, post} from "../lib/api.js";
import {chartWidth} from "../charts/frame.js";
import {lineChart} from "../charts/lines.js";
import {laneChart} from "../charts/lanes.js";
import {fill, h} from "../lib/dom.js";
import {bytes, byteRate, duration, milliseconds, moment, percent, plain, quantity} from "../lib/format.js";
import {announce, failure, toast, waiting} from "../lib/notices.js";
import {nodeColour, swatch} from "../lib/palette.js";
import {listen} from "../lib/stream.js";
import {tag} from "../lib/tag.js";
import {nameOf, page} from "./frame.js";
import {runState} from "./runs.js";

const MOST_POINTS = 600;
const EVENTS = {
  started: "▶", finished: "✓", failed: "✕", stopped: "■", looked: "·", kept: "=", waited: "…", migrated: "⇄", "rolled back": "↩",
  proposed: "?", declined: "✕", "node lost": "✕", "node back": "↑", stuck: "!", "measuring failed": "✕", "migration failed": "✕",
};
const LOUD = new Set(["migrated", "rolled back", "node lost", "node back", "stuck", "migration failed", "failed", "proposed"]);

export async function runView({main, run: id, current}) {
  const state = h("span", {});
  const body = page(main, {title: nameOf(id), crumbs: [["Runs", "#/runs"]], actions: state});
  fill(body, waiting());
  let run;
  const events = [];
  const points = [];
  const colours = new Map();
  const colourOf = (name) => {
    if (!colours.has(name)) colours.set(name, nodeColour(colours.size));
    return colours.get(name);
  };
  try {
    run = await get(path("runs", id));
    const [past, view] = await Promise.all([
      get(`${path("runs", id)}/history?after=0&limit=1000`),
      run.problem?.id ? get(`${path("problems", run.problem.id)}/view`).catch(() => null) : null]);
    events.push(...past.events);
    view?.nodes.forEach((node) => colourOf(node.name));
  } catch (error) {
    fill(body, failure(error, h("a", {class: "button", href: "#/runs"}, "All runs")));
    return undefined;
  }
  if (!current()) return undefined;

  const parts = Object.fromEntries(["proposal", "tiles", "charts", "where", "lanes", "happened"].map((name) => [name, h("div", {})]));
  const line = h("p", {class: "quiet fine", role: "status"});
  fill(body, line, parts.proposal, parts.tiles, parts.where, parts.charts, parts.lanes, parts.happened);
  if (run.now) points.push(pointOf(run.now));
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
  }, (connected) => { line.textContent = connected || run.state !== "running" ? "" : "The line to the server broke; trying again."; });

  function draw() {
    fill(state, tag(runState(run.state)), run.ended_because ? h("span", {class: "quiet fine"}, ` ${run.ended_because}`) : null);
    const figures = run.now ?? run.report;
    fill(parts.tiles, figures ? tiles(figures, run) : h("p", {class: "quiet"}, "It has not measured anything yet."));
    fill(parts.where, whereTable(run, figures, colourOf));
    fill(parts.charts, charts(points, events));
    fill(parts.lanes, lanes(events, run, colourOf));
    fill(parts.happened, happened(events));
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
      h("h2", {}, "A move waits for your answer"), h("p", {}, proposal.reason),
      h("ul", {}, moves(proposal).map((text) => h("li", {}, text))),
      h("div", {class: "row"}, h("button", {type: "button", class: "primary", onclick: answer(true)}, "Approve the move"), h("button", {type: "button", onclick: answer(false)}, "Refuse it"))));
  }

  draw();
  drawProposal();
  return () => {
    close();
    cancelAnimationFrame(frame);
  };
}

function pointOf(now) {
  return {time: now.time ? Date.parse(now.time) / 1000 : 0, rows: now.rows_per_s, p50: now.latency_ms?.p50, p95: now.latency_ms?.p95, last: now.latency_ms?.last,
    busy: Object.fromEntries((now.operators ?? []).map((one) => [one.operator, one.busy_share]))};
}

function moves(proposal) {
  const [before, after] = [proposal.before?.assignment ?? {}, proposal.after?.assignment ?? {}];
  return Object.keys(after).filter((instance) => before[instance] !== after[instance]).map((instance) => `${instance}: ${before[instance] ?? "nowhere"} → ${after[instance]}`);
}

function tiles(figures, run) {
  const tile = (name, value) => h("div", {class: "tile"}, h("dt", {}, name), h("dd", {}, value));
  const latency = figures.latency_ms ?? {};
  return h("dl", {class: "tiles"},
    tile("Rate", figures.rows_per_s === undefined ? "–" : `${quantity(figures.rows_per_s)} rows/s`),
    tile("Rows so far", quantity(figures.rows ?? 0)),
    tile("Latency, median", latency.p50 === undefined || latency.p50 === null ? "–" : milliseconds(latency.p50)),
    tile("Latency, 95 of 100", latency.p95 === undefined || latency.p95 === null ? "–" : milliseconds(latency.p95)),
    tile("Running for", duration(figures.seconds ?? 0)),
    tile("Migrations", String(run.migrations ?? 0)));
}

function whereTable(run, figures, colourOf) {
  const nodesOf = new Map();
  for (const [instance, node] of Object.entries(run.assignment ?? {})) {
    const operator = instance.split("/").at(-1).replace(/#\d+$/, "");
    nodesOf.set(operator, [...new Set([...(nodesOf.get(operator) ?? []), node])]);
  }
  const operators = figures?.operators ?? [...nodesOf].map(([operator, nodes]) => ({operator, nodes}));
  if (!operators.length) return h("p", {class: "quiet"}, "Where everything runs is not known yet.");
  const cell = (value, text) => h("td", {class: "figure"}, value === null || value === undefined ? "–" : text(value));
  return h("section", {class: "card"}, h("h2", {}, "Operators now"), h("div", {class: "scroll"}, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Operator"), h("th", {scope: "col"}, "On"), ["Rows in", "Busy", "Per row", "State"].map((text) => h("th", {scope: "col", class: "figure"}, text)))),
    h("tbody", {}, operators.map((one) => h("tr", {}, h("th", {scope: "row"}, one.operator),
      h("td", {}, (nodesOf.get(one.operator) ?? one.nodes ?? []).map((node, index) => [index ? ", " : "", swatch(colourOf(node)), " ", node])),
      cell(one.rows_per_s, (value) => `${quantity(value)}/s`), cell(one.busy_share, percent), cell(one.ms_per_row, milliseconds), cell(one.state_bytes, bytes)))))));
}

function charts(points, events) {
  const measured = events.filter((event) => Number.isFinite(event.value_achieved) || Number.isFinite(event.source_bytes_per_s));
  const times = [...points.map((point) => point.time), ...events.map((event) => Date.parse(event.time) / 1000)].filter((time) => time > 0);
  const start = Math.min(...times);
  const marks = events.filter((event) => LOUD.has(event.event)).map((event) => ({x: Date.parse(event.time) / 1000 - start, text: `${event.event}: ${event.reason ?? ""}`}));
  const over = (key) => points.map((point) => ({x: point.time - start, y: point[key]}));
  const past = (key) => measured.map((event) => ({x: Date.parse(event.time) / 1000 - start, y: event[key]}));
  const common = {xTitle: "time since the first event", xText: duration, zero: true, width: chartWidth(460), height: 230};
  const busiest = Object.entries(points.at(-1)?.busy ?? {}).sort((one, other) => (other[1] ?? 0) - (one[1] ?? 0)).slice(0, 4).map(([name]) => name);
  const list = [];
  const visible = (chartPoints, chart) => { if (chartPoints.filter((point) => Number.isFinite(point.y)).length > 1) list.push(chart()); };
  visible(over("rows"), () => lineChart({...common, title: "rate (rows/s)", yText: quantity, series: [{name: "rows/s", points: over("rows")}], marks: inside(marks, points, start)}));
  visible(over("p50"), () => lineChart({...common, title: "latency", yText: milliseconds, series: [{name: "median", points: over("p50")}, {name: "95 of 100", points: over("p95")}], marks: inside(marks, points, start)}));
  if (points.length > 1 && busiest.length) list.push(lineChart({...common, title: "busy (share of the time)", yText: percent, series: busiest.map((name) => ({name, points: points.map((point) => ({x: point.time - start, y: point.busy[name]}))}))}));
  visible(past("value_achieved"), () => lineChart({...common, title: "objective of the plan that ran", yText: plain, series: [{name: "achieved", points: past("value_achieved")}], marks}));
  visible(past("source_bytes_per_s"), () => lineChart({...common, title: "what the sources send", yText: byteRate, series: [{name: "sources", points: past("source_bytes_per_s")}], marks}));
  if (!list.length) return h("p", {class: "quiet fine"}, "Curves appear once there are two measurements.");
  return h("section", {}, h("h2", {}, "Over time"), h("div", {class: "figures"}, list.map((chart) => h("div", {class: "card"}, chart))));
}

function inside(marks, points, start) {
  return marks.filter((mark) => mark.x >= points[0].time - start && mark.x <= points.at(-1).time - start);
}

function lanes(events, run, colourOf) {
  const known = events.filter((event) => ["started", "migrated", "rolled back"].includes(event.event) && event.assignment);
  const seconds = (event) => Date.parse(event.time) / 1000;
  if (!known.length) return null;
  const end = run.state === "running" ? Date.now() / 1000 : seconds(events.at(-1));
  const marks = events.filter((event) => LOUD.has(event.event)).map((event) => ({x: seconds(event), sign: EVENTS[event.event], text: `${event.event}: ${event.reason ?? ""}`}));
  return h("section", {class: "card"}, h("h2", {}, "Plans over time"),
    laneChart({plans: known.map((event) => ({x: seconds(event), assignment: event.assignment})), end, marks, colourOf, xText: duration}),
    h("ul", {class: "key"}, h("li", {}, "⇄ moved"), h("li", {}, "↩ went back"), h("li", {}, "✕ node lost or failure"), h("li", {}, "↑ node back")));
}

function happened(events) {
  if (!events.length) return h("p", {class: "quiet"}, "Nothing has happened yet.");
  const shown = events.filter((event) => event.event !== "looked").slice(-200).reverse();
  const figures = (event) => [
    Number.isFinite(event.gain) ? `gain ${percent(event.gain)}` : null,
    Number.isFinite(event.pause_s) ? `pause ${duration(event.pause_s)}` : null,
    Number.isFinite(event.state_bytes) ? `${bytes(event.state_bytes)} of state` : null,
  ].filter(Boolean).join(", ");
  return h("section", {class: "card"}, h("h2", {}, "What happened"), h("ol", {class: "timeline", tabindex: "0", "aria-label": "What happened, the newest first"}, shown.map((event) => h("li", {},
    h("time", {class: "quiet fine", datetime: event.time ?? ""}, moment(event.time)),
    h("strong", {}, `${EVENTS[event.event] ?? ""} ${event.event}${event.node ? ` ${event.node}` : ""}`),
    h("span", {}, event.reason ?? "", figures(event) ? h("span", {class: "quiet fine"}, ` (${figures(event)})`) : null)))));
}
