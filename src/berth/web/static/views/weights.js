/** A slider for the weight of each metric. The problem's own metrics stand first; the others are a fold away. */

import {fill, freshId, h} from "../lib/dom.js";
import {quantity} from "../lib/format.js";

const COMMON = ["response_time", "availability", "traffic", "network_usage", "cost_per_hour", "nodes_used"];

/** @param {Record<string, number>} own the problem's objective */
export function weightSliders(metrics, own) {
  const highest = Math.max(1, ...Object.values(own));
  const sliders = new Map();
  const rows = (list) => h("div", {class: "weights"}, list.map((metric) => {
    const id = freshId("weight");
    const output = h("output", {for: id});
    const input = h("input", {type: "range", id, min: "0", max: String(highest), step: String(highest / 20), value: String(own[metric.name] ?? 0), oninput: () => say()});
    const say = () => {
      output.textContent = quantity(Number(input.value));
      output.classList.toggle("off", Number(input.value) === 0);
    };
    const label = h("label", {for: id, title: metric.about}, `${metric.label}${metric.maximise ? " (more is better)" : ""}`);
    say();
    sliders.set(metric.name, {input, say});
    return [label, input, output];
  }));
  const usable = metrics.filter((metric) => metric.name && (!metric.needs_previous || own[metric.name]));
  const first = usable.filter((metric) => own[metric.name] || COMMON.includes(metric.name));
  const rest = usable.filter((metric) => !first.includes(metric));
  const changed = () => [...sliders].some(([name, {input}]) => Math.abs(Number(input.value) - (own[name] ?? 0)) > 1e-9 * highest);
  return {
    element: fill(h("div", {class: "stack"}), rows(first), h("details", {}, h("summary", {}, `${rest.length} more metrics`), rows(rest))),
    changed,
    reset: () => {
      for (const [name, {input, say}] of sliders) {
        input.value = String(own[name] ?? 0);
        say();
      }
    },
    /** Weights above 0 by name. Untouched sliders give the exact number of the file, not the slider's step. */
    value: () => Object.fromEntries([...sliders].map(([name, {input}]) => {
      const original = own[name] ?? 0;
      const step = highest / 20;
      return [name, Math.abs(Number(input.value) - original) <= step / 2 && original ? original : Number(input.value)];
    }).filter(([, weight]) => weight > 0)),
  };
}
