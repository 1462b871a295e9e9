/** Who is signed in, and what that role may do. The server decides; knowing it here saves people refusals. */

import {get} from "./api.js";
import {h} from "./dom.js";

const ROLES = ["viewer", "planner", "admin"];
let known = {name: "", role: "viewer", by_token: false};

/** Asks who this is; views come after it. */
export async function meet() {
  known = await get("me");
  return known;
}

export function me() {
  return known;
}

export function may(role) {
  return ROLES.indexOf(known.role) >= ROLES.indexOf(role);
}

/** A job is ended by whose it is, or by an admin. */
export function mayEnd(job) {
  return may("admin") || (may("planner") && job.by === known.name);
}

/** A button or link for those who may; for others one that does nothing and says why. */
export function only(role, element, allowed = may(role)) {
  if (allowed) return element;
  return h("button", {type: "button", class: element.className, disabled: true, "aria-label": element.getAttribute("aria-label"), title: `This needs the role ${role}; yours is ${known.role}.`}, element.textContent);
}

/** " by anna"; nothing where nobody has a name. */
export function byWhom(by) {
  return by && (known.by_token || by !== "owner") ? ` by ${by}` : "";
}
