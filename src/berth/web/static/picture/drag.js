/** Dragging an operator onto a node of the map: a small flag follows the pointer, and the node below it lights up. */

import {h} from "../lib/dom.js";

const STILL = 6;
const EDGE = 70;

/**
 * @param {PointerEvent} event where it begins
 * @param {{label: string, map: import("./map.js").MapPicture, allowed: Set<number>|null, dropped: (node: any) => void}} what
 */
export function dragToNode(event, {label, map, allowed, dropped}) {
  if (event.button > 0) return;
  const start = {x: event.clientX, y: event.clientY};
  const flag = h("div", {class: "flag", "aria-hidden": "true"}, label);
  let dragging = false;
  let target = null;
  let pull = 0;

  // Near the upper or lower edge of the window the page scrolls, so that a map out of sight can be reached.
  const scroll = () => {
    if (!dragging) return;
    if (pull) window.scrollBy(0, pull);
    requestAnimationFrame(scroll);
  };

  const move = (now) => {
    if (now.pointerId !== event.pointerId) return;
    if (!dragging) {
      if (Math.hypot(now.clientX - start.x, now.clientY - start.y) < STILL) return;
      dragging = true;
      document.body.append(flag);
      document.body.classList.add("dragging");
      map.mark({allowed});
      requestAnimationFrame(scroll);
    }
    pull = now.clientY < EDGE + 52 ? -10 : now.clientY > window.innerHeight - EDGE ? 10 : 0;
    now.preventDefault();
    flag.style.left = `${now.clientX + 12}px`;
    flag.style.top = `${now.clientY + 12}px`;
    const node = map.nodeAtWindow(now.clientX, now.clientY, 20);
    const open = node && (!allowed || allowed.has(node.index));
    flag.textContent = node ? `${label} → ${node.name}${open ? "" : " (may not run there)"}` : label;
    flag.classList.toggle("refused", Boolean(node) && !open);
    target = open ? node : null;
    map.mark({target: target?.index ?? -1});
  };
  const end = (now) => {
    if (now.type !== "keydown" && now.pointerId !== event.pointerId) return;
    if (now.type === "keydown" && now.key !== "Escape") return;
    for (const name of ["pointermove", "pointerup", "pointercancel", "keydown"]) window.removeEventListener(name, name === "pointermove" ? move : end);
    flag.remove();
    document.body.classList.remove("dragging");
    if (!dragging) return;
    dragging = false;
    map.mark({target: -1, allowed: null});
    if (now.type === "pointerup" && target) dropped(target);
  };
  window.addEventListener("pointermove", move, {passive: false});
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
  window.addEventListener("keydown", end);
}
