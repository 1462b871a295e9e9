/** What is minimised: weights for the goal, and further goals for the plans that are near enough to the best in it. */

import {fill, freshId, h} from "../lib/dom.js";
import {goalText} from "../lib/metrics.js";
import {weightSliders} from "./weights.js";

/**
 * @param {any} own the problem's objective: weights, or a list of such
 * @param {number[]} ownWithin by goal, how far from its best what comes after it may be
 */
export function goalFields(metrics, own, ownWithin) {
  const [first, ...ownThen] = [own].flat();
  const weights = weightSliders(metrics, first);
  const list = h("ol", {class: "then-list", start: "2"});
  let rows = [];
  const usable = metrics.filter((metric) => metric.name && !metric.needs_previous);
  /** Single metrics, and the sums that the problem's own list has. */
  const choices = new Map(usable.map((metric) => [JSON.stringify({[metric.name]: 1}), `${metric.label}${metric.maximise ? " (more is better)" : ""}`]));
  for (const level of ownThen) if (!choices.has(keyOf(level))) choices.set(keyOf(level), goalText(level, metrics));

  const show = () => fill(list, rows.map((row) => row.element));
  const add = (level, within) => {
    const row = thenRow(choices, level, within, () => {
      rows = rows.filter((other) => other !== row);
      show();
      addButton.focus();
    });
    rows.push(row);
    show();
    return row;
  };
  const addButton = h("button", {type: "button", class: "small", onclick: () => {
    const taken = new Set([...Object.keys(weights.value()), ...rows.flatMap((row) => Object.keys(row.level()))]);
    const next = ["response_time", "cost_per_hour", "traffic"].find((name) => !taken.has(name)) ?? "nodes_used";
    add({[next]: 1}, 0).select.focus();
  }}, "Add the next goal");
  const showOwn = () => {
    rows = [];
    ownThen.forEach((level, number) => add(level, ownWithin[number] ?? 0));
    show();
  };
  showOwn();

  const within = () => rows.map((row) => row.within());
  const changed = () => weights.changed() || JSON.stringify(rows.map((row) => keyOf(row.level()))) !== JSON.stringify(ownThen.map(keyOf))
    || within().some((share, number) => share !== (ownWithin[number] ?? 0));
  return {
    element: fill(h("div", {class: "stack"}), weights.element,
      h("section", {class: "then"}, h("h3", {}, "Goals in order"),
        h("p", {class: "quiet fine"}, "Among the plans that are best by the weights above, or near enough to that, the next goal decides, and so on."),
        list, addButton),
      h("button", {type: "button", class: "small", onclick: () => {
        weights.reset();
        showOwn();
      }}, "Back to the problem's own")),
    /** Whether there is anything to minimise. */
    empty: () => !Object.keys(weights.value()).length,
    /** As in a request; nothing where it is the problem's own. */
    value: () => {
      if (!changed()) return {};
      if (!rows.length) return {objective: weights.value()};
      return {objective: [weights.value(), ...rows.map((row) => row.level())], objective_within: within()};
    },
  };
}

/** Weights as a key: a single metric is itself, whatever its weight. */
function keyOf(level) {
  const names = Object.keys(level);
  return JSON.stringify(names.length === 1 ? {[names[0]]: 1} : level);
}

function thenRow(choices, level, share, onRemove) {
  const [selectId, withinId] = [freshId("then"), freshId("within")];
  const select = h("select", {id: selectId}, [...choices].map(([value, text]) => h("option", {value}, text)));
  select.value = keyOf(level);
  const input = h("input", {type: "number", id: withinId, min: "0", step: "any", value: String(Number((100 * share).toPrecision(12))), inputmode: "decimal"});
  const element = h("li", {},
    h("div", {class: "row"}, h("label", {for: selectId}, "then"), select,
      h("span", {class: "row"}, h("label", {for: withinId}, "with the goal before it within"), h("span", {class: "with-unit"}, input, "% of its best")),
      h("button", {type: "button", class: "small plain", onclick: onRemove}, "Remove")));
  return {element, select, level: () => JSON.parse(select.value), within: () => (Number(input.value) || 0) / 100};
}
