/** The parts of a run's page: figures, curves, lanes and what happened, each from what is known and nothing else. */

import {chartWidth} from "../charts/frame.js";
import {laneChart} from "../charts/lanes.js";
import {lineChart} from "../charts/lines.js";
import {h} from "../lib/dom.js";
import {bytes, byteRate, duration, milliseconds, moment, percent, quantity} from "../lib/format.js";
import {swatch} from "../lib/palette.js";

const EVENTS = {
  started: "▶", finished: "✓", failed: "✕", stopped: "■", looked: "·", kept: "=", waited: "…", migrated: "⇄", "rolled back": "↩",
  proposed: "?", declined: "✕", "node lost": "✕", "node back": "↑", stuck: "!", warned: "!", "measuring failed": "✕", "migration failed": "✕",
};
/** Events that screen readers are told at once, and that curves are marked with. */
export const LOUD = new Set(["migrated", "rolled back", "node lost", "node back", "stuck", "warned", "migration failed", "failed", "proposed"]);

export function tiles(figures, run) {
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

export function whereTable(run, figures, colourOf) {
  const nodesOf = new Map();
  for (const [instance, node] of Object.entries(run.assignment ?? {})) {
    const operator = instance.split("/").at(-1).replace(/#\d+$/, "");
    nodesOf.set(operator, [...new Set([...(nodesOf.get(operator) ?? []), node])]);
  }
  const operators = figures?.operators ?? [...nodesOf].map(([operator, nodes]) => ({operator, nodes}));
  if (!operators.length) return h("p", {class: "quiet"}, "Where everything runs is not known yet.");
  const cell = (value, text) => h("td", {class: "figure"}, value === null || value === undefined ? "–" : text(value));
  return h("section", {class: "card"}, h("h2", {}, run.state === "ended" ? "Operators at the end" : "Operators now"), h("div", {class: "scroll"}, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Operator"), h("th", {scope: "col"}, "On"), ["Rows in", "Busy", "Per row", "State"].map((text) => h("th", {scope: "col", class: "figure"}, text)))),
    h("tbody", {}, operators.map((one) => h("tr", {}, h("th", {scope: "row"}, one.operator),
      h("td", {}, (nodesOf.get(one.operator) ?? one.nodes ?? []).map((node, index) => [index ? ", " : "", swatch(colourOf(node)), " ", node])),
      cell(one.rows_per_s, (value) => `${quantity(value)}/s`), cell(one.busy_share, percent), cell(one.ms_per_row, milliseconds), cell(one.state_bytes, bytes)))))));
}

export function charts(points, events) {
  const measured = events.filter((event) => Number.isFinite(event.value_achieved) || Number.isFinite(event.source_bytes_per_s));
  const times = [...points.map((point) => point.time), ...events.map((event) => Date.parse(event.time) / 1000)].filter((time) => time > 0);
  const start = Math.min(...times);
  const marks = events.filter((event) => LOUD.has(event.event)).map((event) => ({x: Date.parse(event.time) / 1000 - start, text: `${event.event}: ${event.reason ?? ""}`}));
  const over = (key) => points.map((point) => ({x: point.time - start, y: point[key]}));
  const past = (key) => measured.map((event) => ({x: Date.parse(event.time) / 1000 - start, y: event[key]}));
  const common = {xTitle: "time since the first event", xText: duration, time: true, zero: true, width: chartWidth(460), height: 230};
  const busiest = Object.entries(points.at(-1)?.busy ?? {}).sort((one, other) => (other[1] ?? 0) - (one[1] ?? 0)).slice(0, 4).map(([name]) => name);
  const list = [];
  const visible = (chartPoints, chart) => { if (chartPoints.filter((point) => Number.isFinite(point.y)).length > 1) list.push(chart()); };
  visible(over("rows"), () => lineChart({...common, title: "rate (rows/s)", yText: quantity, series: [{name: "rows/s", points: over("rows")}], marks: inside(marks, points, start)}));
  visible(over("p50"), () => lineChart({...common, title: "latency", yText: milliseconds, series: [{name: "median", points: over("p50")}, {name: "95 of 100", points: over("p95")}], marks: inside(marks, points, start)}));
  if (points.length > 1 && busiest.length) list.push(lineChart({...common, title: "busy (share of the time)", yText: percent, series: busiest.map((name) => ({name, points: points.map((point) => ({x: point.time - start, y: point.busy[name]}))}))}));
  visible(past("value_achieved"), () => lineChart({...common, title: "objective of the plan that ran", yText: quantity, series: [{name: "achieved", points: past("value_achieved")}], marks}));
  visible(past("source_bytes_per_s"), () => lineChart({...common, title: "what the sources send", yText: byteRate, series: [{name: "sources", points: past("source_bytes_per_s")}], marks}));
  if (!list.length) return h("p", {class: "quiet fine"}, "Curves appear once there are two measurements.");
  return h("section", {}, h("h2", {}, "Over time"), h("div", {class: "figures"}, list.map((chart) => h("div", {class: "card"}, chart))));
}

function inside(marks, points, start) {
  return marks.filter((mark) => mark.x >= points[0].time - start && mark.x <= points.at(-1).time - start);
}

export function lanes(events, run, colourOf) {
  const known = events.filter((event) => ["started", "migrated", "rolled back"].includes(event.event) && event.assignment);
  const seconds = (event) => Date.parse(event.time) / 1000;
  if (!known.length) return null;
  const end = run.state === "running" ? Date.now() / 1000 : seconds(events.at(-1));
  const marks = events.filter((event) => LOUD.has(event.event)).map((event) => ({x: seconds(event), sign: EVENTS[event.event], text: `${event.event}: ${event.reason ?? ""}`}));
  return h("section", {class: "card"}, h("h2", {}, "Plans over time"),
    laneChart({plans: known.map((event) => ({x: seconds(event), assignment: event.assignment})), end, marks, colourOf, xText: duration}),
    h("ul", {class: "key"}, h("li", {}, "⇄ moved"), h("li", {}, "↩ went back"), h("li", {}, "✕ node lost or failure"), h("li", {}, "↑ node back")));
}

export function happened(events) {
  if (!events.length) return h("p", {class: "quiet"}, "Nothing has happened yet.");
  const shown = events.filter((event) => event.event !== "looked").slice(-200).reverse();
  const figures = (event) => [
    Number.isFinite(event.gain) ? `gain ${percent(event.gain)}` : null,
    Number.isFinite(event.noticed_s) ? `${duration(event.noticed_s)} after it was noticed` : null,
    Number.isFinite(event.pause_s) ? `pause ${duration(event.pause_s)}` : null,
    Number.isFinite(event.state_bytes) ? `${bytes(event.state_bytes)} of state` : null,
  ].filter(Boolean).join(", ");
  return h("section", {class: "card"}, h("h2", {}, "What happened"), h("ol", {class: "timeline", tabindex: "0", "aria-label": "What happened, the newest first"}, shown.map((event) => h("li", {},
    h("time", {class: "quiet fine", datetime: event.time ?? ""}, moment(event.time)),
    h("strong", {}, `${EVENTS[event.event] ?? ""} ${event.event}${event.node ? ` ${event.node}` : ""}`),
    h("span", {}, event.reason ?? "", figures(event) ? h("span", {class: "quiet fine"}, ` (${figures(event)})`) : null)))));
}
