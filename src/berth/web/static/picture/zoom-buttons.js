/** Buttons for those who have neither wheel nor keys at hand. */

import {h} from "../lib/dom.js";

export function zoomButtons(what, zoomBy, fit) {
  const button = (label, sign, action) => h("button", {type: "button", class: "small", "aria-label": label, title: label, onclick: action}, sign);
  return h("div", {class: "zoom"},
    button(`Zoom in on the ${what}`, "+", () => zoomBy(1.4)),
    button(`Zoom out of the ${what}`, "−", () => zoomBy(1 / 1.4)),
    button(`Show the whole ${what}`, "⤢", fit));
}
