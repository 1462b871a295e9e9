/** What the views of one thing share: where one is, the title, the tabs. */

import {fill, h} from "../lib/dom.js";
import {address} from "../lib/router.js";

/** Clears the page for a view. `crumbs`: pairs of text and address. Returns the element for the content. */
export function page(main, {title, crumbs = [], actions = null, tabs = null, label = title}) {
  document.title = `${label} · berth`;
  const body = h("div", {class: "stack"});
  fill(main,
    crumbs.length ? h("nav", {class: "crumbs", "aria-label": "Where you are"}, crumbs.map(([text, link], index) => [index ? " / " : "", h("a", {href: link}, text)])) : null,
    h("div", {class: "row apart head"}, h("h1", {}, title), actions),
    tabs,
    body);
  return body;
}

const TABS = [["Picture"], ["Edit", "edit"], ["Solve", "solve"], ["Front", "front"], ["Plans", "plans"]];

/** The page of a problem, with its tabs. */
export function problemPage(main, id, tab, {actions = null, title = null, crumbs = []} = {}) {
  const tabs = h("nav", {class: "tabs", "aria-label": "Parts of this problem"}, TABS.map(([text, part]) => h("a", {
    href: part ? address("problems", id, part) : address("problems", id),
    "aria-current": text === tab ? "page" : null,
  }, text)));
  return page(main, {
    title: title ?? nameOf(id), label: `${tab}: ${nameOf(id)}`, actions, tabs,
    crumbs: [["Problems", "#/problems"], ...crumbs],
  });
}

/** An id as people wrote it: the inverse of the server's escaping. */
export function nameOf(id) {
  const text = id.replaceAll("~", "/");
  try {
    return decodeURIComponent(text.replaceAll("%", "%25").replace(/=([0-9A-F]{2})/g, "%$1"));
  } catch {
    return text;
  }
}
