/** A state as a small label: a sign, a word and a colour. */

import {h} from "./dom.js";

export function tag({kind, sign, text}) {
  return h("span", {class: `tag ${kind}`}, h("span", {"aria-hidden": "true"}, sign), text);
}
