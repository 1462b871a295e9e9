/** Where every operator was over time: a lane for each, in the colour of its node and with the node's name. */

import {h, s} from "../lib/dom.js";
import {textColour} from "../lib/palette.js";
import {chartWidth} from "./frame.js";
import {timeTicks} from "./scale.js";

const [ROW, FOOT] = [26, 30];
const MOST = 40;

/**
 * @param {{plans: {x: number, assignment: Record<string, string>}[], end: number, marks: {x: number, sign: string, text: string}[],
 *   colourOf: (node: string) => string, xText: Function}} what
 */
export function laneChart({plans, end, marks, colourOf, xText}) {
  const width = chartWidth(900);
  const margin = Math.min(150, width / 4);
  const names = [...new Set(plans.flatMap((plan) => Object.keys(plan.assignment)))];
  const shown = names.slice(0, MOST);
  const start = plans[0]?.x ?? 0;
  const span = Math.max(end - start, 1e-9);
  const place = (x) => margin + ((x - start) / span) * (width - margin - 8);
  const height = shown.length * ROW + FOOT + 18;
  const svg = s("svg", {class: "chart wide", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Where every operator was: ${shown.map((name) => `${name} on ${stays(plans, name, end).map((stay) => stay.node).join(", then ")}`).join("; ")}`});
  shown.forEach((name, index) => {
    const top = 18 + index * ROW;
    svg.append(s("text", {x: 0, y: top + 16}, cut(name.split("/").at(-1), Math.floor(margin / 7))));
    for (const stay of stays(plans, name, end)) {
      const [left, length] = [place(stay.from), Math.max(1, place(stay.to) - place(stay.from) - 1)];
      const block = s("rect", {x: left, y: top, width: length, height: ROW - 5, rx: 3}, s("title", {}, `${name} on ${stay.node}`));
      block.style.fill = colourOf(stay.node);
      svg.append(block);
      if (length > stay.node.length * 7 + 8) {
        const label = s("text", {x: left + 5, y: top + 15}, stay.node);
        label.style.fill = textColour(colourOf(stay.node));
        svg.append(label);
      }
    }
  });
  for (const mark of marks) {
    const at = place(mark.x);
    svg.append(s("line", {class: "axis dashed", x1: at, x2: at, y1: 16, y2: height - FOOT}),
      s("text", {class: "title", x: at, y: 12, "text-anchor": "middle"}, mark.sign, s("title", {}, mark.text)));
  }
  for (const value of timeTicks(0, span, Math.max(2, Math.round((width - margin) / 110)))) svg.append(s("text", {x: place(start + value), y: height - 8, "text-anchor": "middle"}, xText(value)));
  return h("div", {}, h("div", {class: "scroll"}, svg), names.length > shown.length ? h("p", {class: "quiet fine"}, `${names.length - shown.length} more are not drawn.`) : null);
}

/** The nodes that an instance was on, one after another. */
function stays(plans, name, end) {
  const result = [];
  plans.forEach((plan, index) => {
    const node = plan.assignment[name];
    if (!node) return;
    const to = plans[index + 1]?.x ?? end;
    if (result.at(-1)?.node === node) result.at(-1).to = to;
    else result.push({node, from: plan.x, to});
  });
  return result;
}

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
