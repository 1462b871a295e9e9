/** The parameters of a policy, each with its default and what it means; a mistake is shown at its field. */

import {fill, freshId, h} from "../lib/dom.js";

/** Fields for whatever policy is shown; empty ones keep their default. */
export function parameterFields() {
  const element = h("div", {});
  let fields = [];

  function show(parameters) {
    fields = parameters.map(fieldOf);
    fill(element, fields.length
      ? h("details", {}, h("summary", {}, `Parameters of this policy (${fields.length})`), h("div", {class: "parameters"}, fields.map((field) => field.element)))
      : null);
  }

  return {
    element,
    show,
    /** What was filled in; null if nothing was. */
    value: () => {
      const given = fields.filter((field) => field.control.value.trim() !== "").map((field) => [field.name, typed(field.control.value.trim())]);
      return given.length ? Object.fromEntries(given) : null;
    },
    /** Shows mistakes at their fields, the first in focus. */
    mark: (mistakes) => {
      const wrong = new Map(mistakes.map((one) => [one.path.replace(/^parameters\./, ""), one.message]));
      for (const field of fields) {
        const message = wrong.get(field.name);
        field.wrong.textContent = message ?? "";
        if (message) field.control.setAttribute("aria-invalid", "true");
        else field.control.removeAttribute("aria-invalid");
      }
      const first = fields.find((field) => wrong.has(field.name));
      if (!first) return;
      element.querySelector("details").open = true;
      first.control.focus();
    },
  };
}

function fieldOf({name, default: usual, help}) {
  const [id, about] = [freshId("parameter"), freshId("about")];
  const shown = usual === null ? "none" : String(usual);
  const control = typeof usual === "boolean"
    ? h("select", {id, "aria-describedby": about}, [["", `${usual ? "yes" : "no"} (default)`], ["true", "yes"], ["false", "no"]].map(([value, text]) => h("option", {value}, text)))
    : h("input", {id, placeholder: shown, autocomplete: "off", "aria-describedby": about, inputmode: typeof usual === "number" ? "decimal" : null});
  const wrong = h("span", {class: "wrong", role: "alert"});
  return {name, control, wrong, element: h("div", {class: "field"}, h("label", {for: id}, name.replaceAll("_", " ")), control,
    h("span", {class: "hint", id: about}, `${help}. Default: ${typeof usual === "boolean" ? (usual ? "yes" : "no") : shown}.`), wrong)};
}

function typed(text) {
  if (text === "true" || text === "false") return text === "true";
  return Number.isFinite(Number(text)) ? Number(text) : text;
}
