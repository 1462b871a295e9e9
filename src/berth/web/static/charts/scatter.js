/** Plans as points over two metrics, with the Pareto front: the plans that no other beats in both. */

import {s} from "../lib/dom.js";
import {chartWidth, frame, MARGIN} from "./frame.js";
import {scale} from "./scale.js";

/** Which points no other beats: at least as good in both and better in one. */
export function paretoFront(points, xMaximise, yMaximise) {
  const better = (one, other, maximise) => (maximise ? one - other : other - one);
  return points.filter((point) => !points.some((other) => {
    const across = better(other.x, point.x, xMaximise);
    const down = better(other.y, point.y, yMaximise);
    return across >= 0 && down >= 0 && (across > 0 || down > 0);
  }));
}

/** @param {{points: {x, y, name, broken, marked, open}[], xTitle, yTitle, xText, yText, xMaximise, yMaximise}} what `marked`: with a ring; `open`: what a click does */
export function scatterChart({points, xTitle, yTitle, xText, yText, xMaximise, yMaximise, width = chartWidth(640), height = 330}) {
  const x = scale(points.map((point) => point.x), MARGIN.left, width - MARGIN.right - 40, {room: 0.1});
  const y = scale(points.map((point) => point.y), height - MARGIN.bottom, MARGIN.top, {room: 0.1});
  const front = paretoFront(points.filter((point) => !point.broken), xMaximise, yMaximise).sort((one, other) => one.x - other.x || one.y - other.y);
  const label = `${yTitle} over ${xTitle}. Not beaten in both: ${front.map((point) => point.name).join(", ") || "none"}.`;
  const svg = frame({width, height, x, y, xTitle, yTitle, xText, yText, label});
  if (front.length > 1) {
    svg.append(s("path", {class: "line stroke-3 dashed", d: front.map((point, index) => `${index ? "L" : "M"}${x.place(point.x).toFixed(1)} ${y.place(point.y).toFixed(1)}`).join("")}));
  }
  const taken = [];
  const named = together(points, x, y);
  for (const point of [...front, ...points.filter((one) => !front.includes(one))]) {
    const best = front.includes(point);
    const [across, down] = [x.place(point.x), y.place(point.y)];
    const mark = point.broken
      ? s("path", {class: "line stroke-2", d: `M${across - 5} ${down - 5}l10 10m0 -10l-10 10`})
      : best ? s("path", {class: "fill-3", d: `M${across} ${down - 7}l7 7l-7 7l-7 -7z`}) : s("circle", {class: "fill-1", cx: across, cy: down, r: 5});
    mark.append(s("title", {}, `${point.name}: ${xTitle} ${xText(point.x)}, ${yTitle} ${yText(point.y)}${point.broken ? ", breaks constraints" : best ? ", on the Pareto front" : ""}`));
    if (point.marked) svg.append(s("circle", {class: "line stroke-2", cx: across, cy: down, r: 11}));
    if (point.open) {
      mark.classList.add("pick");
      mark.addEventListener("click", point.open);
    }
    svg.append(mark);
    const text = named.get(point);
    const end = across > width * 0.6;
    const gap = point.marked ? 15 : 9;
    const box = [end ? across - gap - text.length * 6.6 : across + gap, down - 8, end ? across - gap : across + gap + text.length * 6.6, down + 6];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
    taken.push(box);
    svg.append(s("text", {class: "named", x: end ? across - gap : across + gap, y: down + 4, "text-anchor": end ? "end" : "start"}, text));
  }
  return svg;
}

/** What stands at each point: its name, and those of the plans that are hidden behind it. */
function together(points, x, y) {
  const place = (point) => `${Math.round(x.place(point.x))} ${Math.round(y.place(point.y))}`;
  return new Map(points.map((point) => {
    const others = points.filter((one) => one !== point && place(one) === place(point));
    return [point, others.length === 0 ? point.name : others.length === 1 ? `${point.name}, ${others[0].name}` : `${point.name} and ${others.length} others`];
  }));
}
