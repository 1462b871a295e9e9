/** Two people changed one file: both texts side by side, and the choice. Nothing is lost without being asked. */

import {get, path} from "../lib/api.js";
import {ask} from "../lib/dialog.js";
import {h} from "../lib/dom.js";
import {moment} from "../lib/format.js";

/**
 * @returns {Promise<{choice: "theirs"|"overwrite"|"new", theirs: any}|null>}
 */
export async function resolveConflict(id, mine, error) {
  const theirs = await get(path("problems", id));
  const current = error.body.current ?? {};
  const who = current.by ? ` by ${current.by}` : "";
  const when = current.changed ? ` at ${moment(current.changed)}` : "";
  const content = h("div", {class: "stack"},
    h("p", {}, `It was changed${who}${when} while you were editing. Lines that differ are marked.`),
    h("div", {class: "both"},
      side("Yours, not saved", mine, theirs.text),
      side("What is stored now", theirs.text, mine)));
  const choice = await ask("Someone else changed this file", content, [
    {label: "Save mine as a new file", kind: "primary", value: "new"},
    {label: "Take theirs, drop mine", value: "theirs"},
    {label: "Overwrite theirs with mine", kind: "danger", value: "overwrite"},
  ], {narrow: false});
  return choice === null ? null : {choice, theirs};
}

function side(title, text, other) {
  const there = new Set(other.split("\n"));
  return h("div", {}, h("h3", {}, title), h("pre", {tabindex: "0", "aria-label": title},
    text.split("\n").map((line) => (there.has(line) ? `  ${line}\n` : [h("span", {class: "changed"}, `● ${line}`), "\n"]))));
}
