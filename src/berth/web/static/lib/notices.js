/** Telling people what happened: an error with a way out, a short message, a line for screen readers. */

import {h} from "./dom.js";
import {counted} from "./format.js";

/** Says something to screen readers without moving the focus. */
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  // A changed text is only read out if it is a change in the tree.
  requestAnimationFrame(() => { place.textContent = text; });
}

/** A message that goes away by itself; it is announced, too. */
export function toast(text) {
  const element = h("div", {class: "toast"}, text);
  document.getElementById("toasts").append(element);
  announce(text);
  setTimeout(() => element.remove(), 6000);
}

/** What went wrong, with buttons as ways out. `error` is an ApiError or any other error. */
export function failure(error, ...waysOut) {
  return h("div", {class: "notice bad", role: "alert"},
    h("p", {}, h("strong", {}, error.title ?? "Something went wrong. "), " ", error.message),
    error.mistakes?.length
      ? h("ul", {}, error.mistakes.slice(0, 20).map((one) => h("li", {}, one.path ? h("code", {}, one.path) : null, one.path ? ": " : "", one.message)))
      : null,
    waysOut.length ? h("div", {class: "row"}, waysOut) : null);
}

/** What breaks nothing and is worth knowing; null where there is nothing. */
export function warningList(lines) {
  return lines?.length
    ? h("div", {class: "notice warn"}, h("p", {}, h("strong", {}, `! ${counted(lines.length, "warning")}`)), h("ul", {}, lines.slice(0, 10).map((line) => h("li", {}, line))))
    : null;
}

/** A place for what is still being loaded, of the height that it will roughly have. */
export function waiting(text = "Loading…") {
  return h("div", {class: "waiting", role: "status"}, h("span", {class: "spinner", "aria-hidden": "true"}), text);
}
