/** The metrics with their labels, units and directions, as the server knows them; and values in words. */

import {get} from "./api.js";
import {change, inUnit, percent, quantity} from "./format.js";

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
  return inUnit(value, metric?.unit);
}

/** What a difference says: text with a sign, and whether it is better; null where nothing changed that matters. */
export function difference(metric, before, after) {
  const text = change(before, after, metric.unit);
  return text ? {text, better: metric.maximise ? after > before : after < before} : null;
}

/** Of some values the best one; null if there is none. */
export function bestOf(metric, values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return null;
  return metric.maximise ? Math.max(...known) : Math.min(...known);
}

/**
 * A goal in words: "response time", or "1 × response time + 0.5 × availability"; several in order: "a within 5 %, then b".
 * @param {number[]} within by goal, how far from its best what comes after it may be
 */
export function goalText(goal, metrics, within = []) {
  if (Array.isArray(goal)) {
    return goal.map((level, number) => goalText(level, metrics) + (within[number] ? ` within ${percent(within[number])}` : "")).join(", then ");
  }
  const entries = Object.entries(goal ?? {}).filter(([, weight]) => weight > 0);
  if (!entries.length) return "no objective";
  const label = (name) => metrics.find((metric) => metric.name === name)?.label ?? name.replaceAll("_", " ");
  if (entries.length === 1) return label(entries[0][0]);
  return entries.map(([name, weight]) => `${quantity(weight)} × ${label(name)}`).join(" + ");
}

/** The metric that a goal of one weight (the first, of several in order) is; null for sums. */
export function goalMetric(goal, metrics) {
  if (Array.isArray(goal)) return goalMetric(goal[0], metrics);
  const entries = Object.entries(goal ?? {}).filter(([, weight]) => weight > 0);
  return entries.length === 1 ? metrics.find((metric) => metric.name === entries[0][0]) ?? null : null;
}

/** An objective's value: with the metric's unit, or as the number of a sum. */
export function objectiveText(goal, metrics, value) {
  if (value === null || value === undefined) return "none yet";
  return metricText(goalMetric(goal, metrics), value);
}
