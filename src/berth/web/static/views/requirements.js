/** What a plan must keep, for each application: the problem's own values stand there already. */

import {freshId, h} from "../lib/dom.js";

const FIELDS = [
  ["max_response_time_ms", "Slowest path at most", "ms", "0", ""],
  ["min_availability", "Availability at least", "of 1", "0", "1"],
  ["throughput_per_s", "Results per second to keep up", "per s", "0", ""],
];

export function requirementFields(applications) {
  const inputs = [];
  const element = h("div", {class: "stack"}, applications.map((application) => h("fieldset", {},
    h("legend", {}, application.name),
    h("div", {class: "requirements"}, FIELDS.map(([key, label, unit, min, max]) => {
      const id = freshId("requirement");
      const original = application[key] ?? null;
      const input = h("input", {type: "number", id, step: "any", min, max, value: original ?? "", inputmode: "decimal"});
      inputs.push({application: application.name, key, input, original});
      return h("div", {}, h("label", {for: id}, label), h("div", {class: "with-unit"}, input, unit));
    })))));
  return {
    element,
    /** Only what differs from the problem; null if nothing does. */
    value: () => {
      const result = {};
      for (const {application, key, input, original} of inputs) {
        const now = input.value === "" ? null : Number(input.value);
        if (now !== original) (result[application] ??= {})[key] = now;
      }
      return Object.keys(result).length ? result : null;
    },
  };
}
