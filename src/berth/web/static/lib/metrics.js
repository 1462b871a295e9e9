/** The metrics with their labels, units and directions, as the server knows them; and values in words. */

import {get} from "./api.js";
import {byteRate, bytes, milliseconds, plain, quantity, signed} from "./format.js";

let catalogue = null;

/** All metrics in the server's order; loaded once. */
export async function metricList() {
  catalogue ??= get("metrics");
  try {
    return await catalogue;
  } catch (error) {
    catalogue = null;
    throw error;
  }
}

/** A metric's value with its unit. */
export function metricText(metric, value) {
  if (value === null || value === undefined) return "not known";
  switch (metric?.unit) {
    case "ms": return milliseconds(value);
    case "bytes/s": case "B/s": return byteRate(value);
    case "bytes": case "B": return bytes(value);
    case "share": return `${plain(Math.floor(value * 1e4 + 1e-6) / 100)} %`;
    case "": case undefined: return quantity(value);
    default: return `${quantity(value)} ${value === 1 ? metric.unit.replace(/s$/, "") : metric.unit}`;
  }
}

/** What a difference says: text with a sign, and whether it is better; null where nothing changed that matters. */
export function difference(metric, before, after) {
  if (before === undefined || after === undefined || before === null || after === null) return null;
  const change = after - before;
  if (Math.abs(change) <= 1e-9 * Math.max(Math.abs(before), Math.abs(after))) return null;
  const better = metric.maximise ? change > 0 : change < 0;
  return {text: signed(metricText(metric, Math.abs(change)), change), better};
}

/** Of some values the best one; null if there is none. */
export function bestOf(metric, values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return null;
  return metric.maximise ? Math.max(...known) : Math.min(...known);
}

/** A goal in words: "response time", or "1 × response time + 0.5 × availability". */
export function goalText(goal, metrics) {
  const entries = Object.entries(goal ?? {}).filter(([, weight]) => weight > 0);
  if (!entries.length) return "no objective";
  const label = (name) => metrics.find((metric) => metric.name === name)?.label ?? name.replaceAll("_", " ");
  if (entries.length === 1) return label(entries[0][0]);
  return entries.map(([name, weight]) => `${plain(weight)} × ${label(name)}`).join(" + ");
}

/** The metric that a goal of one weight is; null for sums. */
export function goalMetric(goal, metrics) {
  const entries = Object.entries(goal ?? {}).filter(([, weight]) => weight > 0);
  return entries.length === 1 ? metrics.find((metric) => metric.name === entries[0][0]) ?? null : null;
}

/** An objective's value: with the metric's unit, or as the number of a sum. */
export function objectiveText(goal, metrics, value) {
  if (value === null || value === undefined) return "none yet";
  const metric = goalMetric(goal, metrics);
  return metric ? metricText(metric, value) : plain(value);
}
