/**
 * Addresses behind the hash: the back button, links and reloading work, and the server has one page only.
 * A view is a function from its place to a function that cleans up behind it (closes streams, stops drawing).
 */

let leave = null;
let guard = null;
let turn = 0;
let shown = "";
let routes = [];

/** Shows the view of the present address, and of every later one. `list`: pairs of pattern and view. */
export function start(list) {
  routes = list.map(([pattern, view]) => [expression(pattern), view]);
  window.addEventListener("hashchange", onChange);
  window.addEventListener("beforeunload", (event) => {
    if (guard && guard()) event.preventDefault();
  });
  return show();
}

/** Goes to an address. */
export function go(address) {
  if (location.hash === address) return show();
  location.hash = address;
  return undefined;
}

/** The address of a view: parts are escaped, a last object becomes a query. */
export function address(...parts) {
  const query = typeof parts.at(-1) === "object" ? parts.pop() : null;
  const path = `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
  return query ? `${path}?${new URLSearchParams(query)}` : path;
}

/** Asks before a view with unsaved work is left; `null` ends that. */
export function guardLeaving(question) {
  guard = question;
}

/** Whether the present view has unsaved work. */
export function unsaved() {
  return Boolean(guard?.());
}

/** Shows the present view anew (after a login, say). */
export async function show() {
  const main = document.getElementById("main");
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  for (const [pattern, view] of routes) {
    const match = pattern.exec(path || "/");
    if (!match) continue;
    turn += 1;
    const mine = turn;
    leave?.();
    leave = null;
    guard = null;
    shown = location.hash;
    markSection(path);
    const parameters = Object.fromEntries(Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]));
    const ended = await view({main, query: new URLSearchParams(query ?? ""), current: () => mine === turn, ...parameters});
    if (mine === turn) leave = ended ?? null;
    else ended?.();
    return;
  }
  location.replace("#/problems");
}

function onChange() {
  if (location.hash === shown) return;
  if (location.hash === "#main") {
    // The skip link: a jump within the page, not another view.
    history.replaceState(null, "", shown || "#/problems");
    document.getElementById("main").focus();
    return;
  }
  if (guard && guard() && !window.confirm("Your changes are not saved. Leave anyway?")) {
    history.pushState(null, "", shown);
    return;
  }
  window.scrollTo(0, 0);
  show().then(() => {
    // Where a view puts the focus on its first step, it stays there.
    const main = document.getElementById("main");
    if (!main.contains(document.activeElement)) main.focus({preventScroll: true});
  });
}

function markSection(path) {
  for (const link of document.querySelectorAll(".sections a")) {
    const section = link.getAttribute("href").slice(1);
    if (path.startsWith(section)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function expression(pattern) {
  const source = pattern.replace(/:(\w+)/g, "(?<$1>[^/]+)");
  return new RegExp(`^${source}/?$`);
}
