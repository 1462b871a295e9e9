/** A problem's text: mistakes are told while one types, at the field they are in; saving never overwrites in silence. */

import {authorName, get, path, request, setAuthorName} from "../lib/api.js";
import {askText} from "../lib/dialog.js";
import {fill, freshId, h} from "../lib/dom.js";
import {counted} from "../lib/format.js";
import {me, only} from "../lib/me.js";
import {announce, failure, toast, waiting} from "../lib/notices.js";
import {address, go, guardLeaving, show} from "../lib/router.js";
import {resolveConflict} from "./conflict.js";
import {nameOf, problemPage} from "./frame.js";
import {textEditor} from "./text-editor.js";
import {storeProblem} from "./upload.js";

const PAUSE = 350;
/** Ways out that the message alone doesn't tell a newcomer. */
const HINTS = {format: " Write “format: berth/v1” as the first line."};

export async function editView({main, id, current}) {
  const state = h("span", {class: "quiet fine", role: "status"});
  const saveButton = h("button", {type: "button", class: "primary", onclick: () => save()}, "Save");
  const body = problemPage(main, id, "Edit", {actions: h("div", {class: "row"}, state,
    only("planner", h("button", {type: "button", onclick: () => saveAs()}, "Save as…")), only("planner", saveButton))});
  fill(body, waiting());
  let stored;
  try {
    stored = await get(path("problems", id));
  } catch (error) {
    fill(body, failure(error, h("a", {class: "button", href: "#/problems"}, "All problems")));
    return undefined;
  }
  if (!current()) return undefined;

  const told = h("div", {});
  const list = h("div", {});
  const authorId = freshId("author");
  const editor = textEditor({text: stored.text, label: `Text of ${nameOf(id)}`, changed: () => { showState(); checkSoon(); }, save: () => save()});
  fill(body, told, h("div", {class: "editor"}, editor.element,
    h("aside", {"aria-label": "Mistakes"}, list)),
  me().by_token ? null : h("div", {class: "row"}, h("label", {for: authorId}, "Your name, for others who edit this"),
    h("input", {id: authorId, value: authorName(), maxlength: "80", autocomplete: "name", onchange: (event) => setAuthorName(event.target.value.trim())})));
  guardLeaving(dirty);
  showState();
  showMistakes(stored.mistakes);
  let timer = 0;
  let asked = null;

  function dirty() {
    return editor.text() !== stored.text;
  }

  function showState() {
    state.textContent = dirty() ? "not saved" : "saved";
    saveButton.disabled = !dirty();
  }

  function checkSoon() {
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  async function check() {
    asked?.abort();
    asked = new AbortController();
    try {
      const {body: answer} = await request("POST", `problems/check?${new URLSearchParams({name: nameOf(id)})}`, {text: editor.text(), type: typeOf(id), signal: asked.signal});
      fill(told);
      showMistakes(answer.mistakes);
    } catch (error) {
      if (error.name !== "AbortError") fill(told, failure(error));
    }
  }

  function showMistakes(mistakes) {
    editor.mark(mistakes.map((one) => one.line).filter(Boolean));
    fill(list, mistakes.length
      ? [h("h2", {}, counted(mistakes.length, "mistake")),
        h("ul", {class: "mistakes"}, mistakes.map((one) => h("li", {}, h("button", {type: "button", onclick: () => editor.jump(one.line ?? 1, one.column ?? 1)},
          h("strong", {}, one.line ? `Line ${one.line}` : "The file"), one.path ? h("code", {}, one.path) : null, one.path ? ": " : "", one.message, HINTS[one.path] ? h("span", {class: "hint"}, HINTS[one.path]) : null))))]
      : [h("h2", {}, "No mistakes"), h("p", {class: "quiet fine"}, "It can be solved as it is."),
        only("planner", h("a", {class: "button", href: address("problems", id, "solve")}, "Find a plan"))]);
    if (mistakes.length) announce(`${counted(mistakes.length, "mistake")}; the first: ${mistakes[0].path} ${mistakes[0].message}`);
  }

  async function save(etag = stored.etag) {
    fill(told);
    saveButton.disabled = true;
    const text = editor.text();
    try {
      stored = (await request("PUT", `${path("problems", id)}?draft=true`, {text, type: typeOf(id), etag: `"${etag}"`})).body;
      showMistakes(stored.mistakes);
      toast(stored.mistakes.length ? "Saved as a draft: it still has mistakes." : "Saved.");
    } catch (error) {
      if (error.status === 412) await settle(text, error);
      else fill(told, failure(error));
    }
    showState();
  }

  async function settle(text, error) {
    try {
      const answer = await resolveConflict(id, text, error);
      if (answer === null) return;
      if (answer.choice === "overwrite") await save(answer.theirs.etag);
      else if (answer.choice === "new") await saveAs();
      else {
        stored = answer.theirs;
        editor.replace(stored.text);
        showMistakes(stored.mistakes);
      }
    } catch (problem) {
      fill(told, failure(problem, h("button", {type: "button", onclick: () => show()}, "Load the page anew")));
    }
  }

  async function saveAs() {
    const suggestion = nameOf(id).replace(/(\.\w+)$/, "-copy$1");
    const name = await askText("Save as a new file", "File name", suggestion, "Save");
    if (!name) return;
    try {
      const other = await storeProblem(/\.(ya?ml|json)$/.test(name) ? name : `${name}.yaml`, editor.text());
      if (!other) return;
      guardLeaving(null);
      toast("Saved.");
      go(address("problems", other, "edit"));
    } catch (error) {
      fill(told, failure(error));
    }
  }

  return () => {
    clearTimeout(timer);
    asked?.abort();
  };
}

function typeOf(id) {
  return id.endsWith(".json") ? "application/json" : "application/yaml";
}
