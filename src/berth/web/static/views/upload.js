/** Bringing problem files in: by a button, by dropping them on the page; with what to do where a name is taken. */

import {get, path, request} from "../lib/api.js";
import {ask, askText} from "../lib/dialog.js";
import {h} from "../lib/dom.js";
import {toast} from "../lib/notices.js";
import {address, go} from "../lib/router.js";

const SAMPLE = `format: berth/v1
name: my-problem
network:
  nodes:
    - {name: edge, capacity: {cpu: 2}}
    - {name: centre, capacity: {cpu: 8}, speed: 2}
  links:
    - {from: edge, to: centre, delay_ms: 20}
applications:
  - name: my-application
    operators:
      - {name: source, pinned: edge, demand: {cpu: 1}, emits_bytes_per_s: 1000}
      - {name: work, demand: {cpu: 2}, work_ms: 10, selectivity: 0.5}
      - {name: sink, pinned: centre, demand: {cpu: 1}, work_ms: 1}
    streams:
      - {from: source, to: work}
      - {from: work, to: sink}
`;

/** Stores one file; returns its id, or null if it was given up. */
export async function storeProblem(name, text) {
  const type = name.endsWith(".json") ? "application/json" : "application/yaml";
  const send = (as, draft) => request("POST", `problems?${new URLSearchParams({name: as, ...(draft ? {draft: "true"} : {})})}`, {text, type});
  let [as, draft] = [name, false];
  for (;;) {
    try {
      return (await send(as, draft)).body.id;
    } catch (error) {
      if (error.status === 409) {
        const answer = await taken(as, text, type);
        if (answer === null) return null;
        if (answer.id) return answer.id;
        as = answer.name;
      } else if (error.status === 422 && !draft && !error.mistakes.some((one) => one.path === "name")) {
        const answer = await ask(`${as} has mistakes`, mistakeList(error), [{label: "Mend them in the editor", kind: "primary", value: "draft"}]);
        if (answer === null) return null;
        draft = true;
      } else {
        throw error;
      }
    }
  }
}

/** A new problem from a small sample. */
export async function newProblem() {
  const name = await askText("A new problem", "Its file name", "my-problem.yaml", "Create");
  if (!name) return;
  const file = /\.(ya?ml|json)$/.test(name) ? name : `${name}.yaml`;
  const id = await storeProblem(file, SAMPLE.replace("my-problem", file.replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "-")));
  if (id) go(address("problems", id, "edit"));
}

/** Stores files one after another and shows the only or the first one. */
export async function storeFiles(files) {
  const stored = [];
  for (const file of files) {
    const id = await storeProblem(file.name, await file.text());
    if (id) stored.push(id);
  }
  if (!stored.length) return;
  toast(stored.length === 1 ? "Stored." : `${stored.length} files stored.`);
  if (stored.length > 1) {
    go("#/problems");
    return;
  }
  const {ok} = await get(path("problems", stored[0]));
  go(ok ? address("problems", stored[0]) : address("problems", stored[0], "edit"));
}

/** Lets an element take dropped files. */
export function takesDrops(element, onFiles) {
  const has = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  element.addEventListener("dragover", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    element.classList.add("dropping");
  });
  element.addEventListener("dragleave", (event) => {
    if (!element.contains(event.relatedTarget)) element.classList.remove("dropping");
  });
  element.addEventListener("drop", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    element.classList.remove("dropping");
    onFiles([...event.dataTransfer.files]);
  });
}

async function taken(name, text, type) {
  const other = name.replace(/(-\d+)?(\.\w+)$/, (_, number, ending) => `-${number ? Number(number.slice(1)) + 1 : 2}${ending}`);
  const answer = await ask(`${name} is there already`, h("p", {}, "Keep both, or put this file in the place of the other one?"), [
    {label: `Keep both (as ${other})`, kind: "primary", value: "both"},
    {label: "Replace it", kind: "danger", value: "replace"},
  ]);
  if (answer === "both") return {name: other};
  if (answer !== "replace") return null;
  const there = (await get("problems")).find((one) => one.path === name);
  const {body} = await request("PUT", `${path("problems", there.id)}?draft=true`, {text, type, etag: `"${there.etag}"`});
  return {id: body.id};
}

function mistakeList(error) {
  return h("div", {},
    h("p", {}, "It can't be solved as it is:"),
    h("ul", {}, error.mistakes.slice(0, 8).map((one) => h("li", {}, one.line ? `line ${one.line}: ` : "", one.path ? h("code", {}, one.path) : "", one.path ? ": " : "", one.message))),
    error.mistakes.length > 8 ? h("p", {}, `and ${error.mistakes.length - 8} more`) : null);
}
