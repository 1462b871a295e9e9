/** Horizontal bars with their values written beside them; the best one is said, not only coloured. */

import {h, s} from "../lib/dom.js";
import {chartWidth} from "./frame.js";

/** @param {{title: string, bars: {name: string, value: number, text: string, best: boolean}[]}} what */
export function barChart({title, bars}) {
  const [row, width, names] = [26, chartWidth(420), 140];
  const most = Math.max(...bars.map((bar) => Math.abs(bar.value)), 1e-12);
  const svg = s("svg", {class: "chart", viewBox: `0 0 ${width} ${bars.length * row + 4}`, role: "img",
    "aria-label": `${title}: ${bars.map((bar) => `${bar.name} ${bar.text}`).join(", ")}`});
  bars.forEach((bar, index) => {
    const top = index * row;
    const length = (Math.abs(bar.value) / most) * (width - names - 92);
    svg.append(
      s("text", {x: 0, y: top + 17}, bar.name.length > 21 ? `${bar.name.slice(0, 20)}…` : bar.name),
      s("rect", {class: `bar${bar.best ? " best" : ""}`, x: names, y: top + 5, width: Math.max(1, length), height: row - 9, rx: 3}),
      s("text", {x: names + Math.max(1, length) + 6, y: top + 17}, bar.text + (bar.best && bars.length > 1 ? " ★" : "")));
  });
  return h("figure", {class: "bars"}, h("figcaption", {}, title), svg);
}
