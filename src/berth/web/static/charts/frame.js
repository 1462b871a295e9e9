/** The frame that charts share: axes with ticks, titles with units. */

import {s} from "../lib/dom.js";
import {ticks, timeTicks} from "./scale.js";

export const MARGIN = {left: 66, right: 14, top: 26, bottom: 44};

/** How wide a chart is drawn: on a phone narrower, so that its letters stay legible. */
export function chartWidth(most) {
  return Math.max(270, Math.min(most, document.getElementById("main").clientWidth - 60));
}

/**
 * @param {{width: number, height: number, x: any, y: any, xTitle: string, yTitle: string, xText: Function, yText: Function, label: string, time?: boolean}} what `time`: x is in seconds
 * @returns {SVGElement} with the axes in it
 */
export function frame({width, height, x, y, xTitle, yTitle, xText, yText, label, time = false}) {
  const bottom = height - MARGIN.bottom;
  const right = width - MARGIN.right;
  const svg = s("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  for (const value of ticks(y.low, y.high, Math.max(3, Math.round(height / 60)))) {
    const at = y.place(value);
    svg.append(s("line", {class: "grid", x1: MARGIN.left, x2: right, y1: at, y2: at}),
      s("text", {x: MARGIN.left - 7, y: at + 4, "text-anchor": "end"}, yText(value)));
  }
  for (const value of (time ? timeTicks : ticks)(x.low, x.high, Math.max(3, Math.round(width / 110)))) {
    const at = x.place(value);
    svg.append(s("line", {class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 5}),
      s("text", {x: at, y: bottom + 19, "text-anchor": "middle"}, xText(value)));
  }
  svg.append(
    s("path", {class: "axis", d: `M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}`}),
    s("text", {class: "title", x: 4, y: 14}, yTitle),
    s("text", {class: "title", x: right, y: height - 6, "text-anchor": "end"}, xTitle));
  return svg;
}
