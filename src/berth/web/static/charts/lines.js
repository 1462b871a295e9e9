/** Lines over time: each with a name, a colour and a way of dashing, so that no line is told by its colour alone. */

import {h, s} from "../lib/dom.js";
import {chartWidth, frame, MARGIN} from "./frame.js";
import {scale} from "./scale.js";

const DASHES = ["", "7 4", "2 3", "10 3 2 3"];

/**
 * @param {{title: string, xTitle: string, xText: Function, yText: Function, zero?: boolean, steps?: boolean, width?: number, height?: number,
 *   xRange?: number[], marks?: {x: number, text: string}[],
 *   series: {name: string, points: {x: number, y: number|null}[]}[]}} what `steps`: a value holds until the next one
 */
export function lineChart({title, xTitle, xText, yText, series, zero = false, steps = false, width = chartWidth(640), height = 260, xRange = [], marks = [], time = false}) {
  const all = series.flatMap((one) => one.points).filter((point) => Number.isFinite(point.y));
  if (!all.length) return h("p", {class: "quiet"}, `${title}: nothing yet.`);
  const x = scale([...all.map((point) => point.x), ...xRange], MARGIN.left, width - MARGIN.right, {room: 0});
  const y = scale(all.map((point) => point.y), height - MARGIN.bottom, MARGIN.top, {zero});
  const last = series.map((one) => {
    const known = one.points.filter((point) => Number.isFinite(point.y));
    return known.length ? `${one.name} ${yText(known.at(-1).y)}` : null;
  }).filter(Boolean);
  const svg = frame({width, height, x, y, xTitle, yTitle: title, xText, yText, label: `${title}: ${last.join(", ")}`, time});
  for (const mark of marks.filter((one) => one.x >= x.low && one.x <= x.high)) {
    const at = x.place(mark.x);
    svg.append(s("line", {class: "grid dashed", x1: at, x2: at, y1: MARGIN.top, y2: height - MARGIN.bottom}, s("title", {}, mark.text)));
  }
  series.forEach((one, index) => {
    svg.append(s("path", {class: `line stroke-${(index % 4) + 1}`, "stroke-dasharray": DASHES[index % 4], d: pathOf(one.points, x, y, steps, x.high)}));
    const end = one.points.filter((point) => Number.isFinite(point.y)).at(-1);
    if (end) svg.append(s("circle", {class: `fill-${(index % 4) + 1}`, cx: x.place(end.x), cy: y.place(end.y), r: 3.5}));
  });
  return h("div", {}, svg, lineKey(series.map((one) => one.name)));
}

export function lineKey(names) {
  return h("ul", {class: "key"}, names.map((name, index) => h("li", {},
    s("svg", {width: 30, height: 8, "aria-hidden": "true"}, s("line", {class: `line stroke-${(index % 4) + 1}`, x1: 0, x2: 30, y1: 4, y2: 4, "stroke-width": 2.5, "stroke-dasharray": DASHES[index % 4]})),
    name)));
}

function pathOf(points, x, y, steps, end) {
  let path = "";
  let pen = false;
  let last = null;
  for (const point of points) {
    if (!Number.isFinite(point.y)) {
      pen = steps && pen;
      continue;
    }
    const [across, down] = [x.place(point.x).toFixed(1), y.place(point.y).toFixed(1)];
    path += !pen ? `M${across} ${down}` : steps ? `H${across}V${down}` : `L${across} ${down}`;
    pen = true;
    last = point;
  }
  return steps && last ? `${path}H${x.place(end).toFixed(1)}` : path;
}
