/** Dialogues: the browser's own element keeps the focus inside and closes on Escape. */

import {freshId, h} from "./dom.js";

/**
 * Asks and waits for an answer.
 * @param {string} title
 * @param {Node|string} content
 * @param {{label: string, value: any, kind?: string, check?: () => boolean}[]} choices
 * @returns {Promise<any>} the value of the chosen button, or null if it was closed
 */
export function ask(title, content, choices, {narrow = true} = {}) {
  return new Promise((resolve) => {
    const id = freshId("dialog");
    const finish = (value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const dialog = h("dialog", {class: narrow ? "narrow" : "", "aria-labelledby": id, oncancel: (event) => { event.preventDefault(); finish(null); }},
      h("form", {method: "dialog", class: "stack", onsubmit: (event) => { event.preventDefault(); pick(choices[0]); }},
        h("h2", {id}, title),
        h("div", {}, content),
        h("div", {class: "row"},
          choices.map((choice, index) => h("button", {
            type: index === 0 ? "submit" : "button",
            class: choice.kind ?? "",
            onclick: index === 0 ? null : () => pick(choice),
          }, choice.label)),
          h("button", {type: "button", class: "plain", onclick: () => finish(null)}, "Cancel"))));
    const pick = (choice) => {
      if (choice.check && !choice.check()) return;
      finish(typeof choice.value === "function" ? choice.value() : choice.value);
    };
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks for one line of text. */
export function askText(title, label, initial, action) {
  const id = freshId("text");
  const input = h("input", {id, value: initial, required: true, autocomplete: "off", autofocus: true});
  const content = h("div", {class: "field"}, h("label", {for: id}, label), input);
  return ask(title, content, [{label: action, kind: "primary", value: () => input.value.trim(), check: () => input.reportValidity() && input.value.trim() !== ""}]);
}
