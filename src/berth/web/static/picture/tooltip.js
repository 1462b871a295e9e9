/** One small box with numbers beside what is pointed at or has the focus. It never takes the pointer or the focus. */

import {fill, h} from "../lib/dom.js";

const box = h("div", {class: "tooltip", role: "tooltip", hidden: true});

/** Shows lines beside a point of the window. The first line is the name. */
export function showTooltip(lines, x, y) {
  if (!box.isConnected) document.body.append(box);
  fill(box, h("strong", {}, lines[0]), lines.slice(1).map((line) => h("div", {}, line)));
  box.hidden = false;
  const {width, height} = box.getBoundingClientRect();
  const left = x + 14 + width > window.innerWidth ? Math.max(4, x - width - 14) : x + 14;
  const top = y + 14 + height > window.innerHeight ? Math.max(4, y - height - 14) : y + 14;
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}

export function hideTooltip() {
  box.hidden = true;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTooltip();
});
document.addEventListener("scroll", hideTooltip, {passive: true, capture: true});
window.addEventListener("hashchange", hideTooltip);
