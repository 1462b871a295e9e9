/** A text area with line numbers, where lines can be marked and jumped to. Plain, so that every keyboard habit works. */

import {fill, h} from "../lib/dom.js";

const LINE = 20;

export function textEditor({text, label, changed, save}) {
  const gutter = h("div", {class: "gutter", "aria-hidden": "true"});
  const area = h("textarea", {"aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    oninput: () => { number(); changed(); },
    onscroll: () => { gutter.scrollTop = area.scrollTop; },
    onkeydown: (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        save();
      }
    }});
  area.value = text;
  let marked = new Set();
  let lines = 0;

  function number(force = false) {
    const count = area.value.split("\n").length;
    if (count === lines && !force) return;
    lines = count;
    fill(gutter, Array.from({length: count}, (_, index) => [
      marked.has(index + 1) ? h("span", {class: "marked"}, `✕${index + 1}`) : String(index + 1), "\n"]));
    gutter.scrollTop = area.scrollTop;
  }
  number();
  return {
    element: h("div", {class: "sheet"}, gutter, area),
    area,
    text: () => area.value,
    replace: (next) => { area.value = next; number(true); },
    mark: (numbers) => { marked = new Set(numbers); number(true); },
    /** Puts the cursor there, with the rest of the line selected, and the line in the middle. */
    jump: (line, column = 1) => {
      const rows = area.value.split("\n");
      const start = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
      area.focus();
      area.setSelectionRange(Math.min(start + column - 1, start + (rows[line - 1]?.length ?? 0)), start + (rows[line - 1]?.length ?? 0));
      area.scrollTop = Math.max(0, line * LINE - area.clientHeight / 2);
    },
  };
}
