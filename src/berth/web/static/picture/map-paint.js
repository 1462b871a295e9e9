/** Paints a scene onto a canvas: land, links, traffic, nodes, labels. It decides nothing and remembers only widths. */

import {percent} from "../lib/format.js";
import {arranged} from "./labels.js";
import {theme} from "./theme.js";

const NAME_FONT = "600 12.5px system-ui, 'DejaVu Sans', sans-serif";
const SMALL_FONT = "11.5px system-ui, 'DejaVu Sans', sans-serif";
const MOST_LABELS = 120;
/** With more traffic than this labels don't look for a place beside it. */
const MOST_AVOIDED = 60;
const STEPS = 20;
const DELAY_LEVELS = [0.6, 0.38, 0.2];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} what scene, camera, width, height, load (Map of node index to use), traffic, thin (paths by delay),
 *   land, grid, chosen, target, allowed (Set or null), planned
 */
export function paint(context, what) {
  const {width, height, scene} = what;
  const colours = theme();
  context.clearRect(0, 0, width, height);
  context.fillStyle = scene.geographic ? colours.sea : colours.card;
  context.fillRect(0, 0, width, height);
  if (scene.geographic) paintEarth(context, what, colours);
  paintThinLinks(context, what, colours);
  const points = scene.nodes.map((node) => what.camera.toScreen(node));
  paintTraffic(context, what, points, colours);
  paintNodes(context, what, points, colours);
  paintLabels(context, what, points, colours);
}

/** The links as paths in world units, shortest delays first, so that a frame strokes three paths and no more. */
export function thinPaths(scene) {
  const delays = scene.links.map((link) => link.delay_ms ?? 0).sort((one, other) => one - other);
  const bounds = [delays[Math.floor(delays.length / 3)], delays[Math.floor((2 * delays.length) / 3)]];
  const paths = DELAY_LEVELS.map(() => new Path2D());
  for (const link of scene.links) {
    const level = link.delay_ms <= bounds[0] ? 0 : link.delay_ms <= bounds[1] ? 1 : 2;
    const [from, to] = [scene.nodes[link.from], scene.nodes[link.to]];
    paths[level].moveTo(from.x, from.y);
    paths[level].lineTo(to.x, to.y);
  }
  return paths;
}

/** How far a node reaches on the screen: it grows a little with the zoom, and leaves its neighbours to be seen. */
export function screenRadius(node, camera) {
  const wanted = node.radius * Math.min(1.8, Math.max(0.7, (camera.scale / camera.fitted) ** 0.35));
  return Math.max(4.5, Math.min(wanted, 0.62 * node.nearest * camera.scale));
}

function inWorld(context, camera, draw) {
  context.save();
  context.transform(camera.scale, 0, 0, camera.scale, camera.x, camera.y);
  draw(1 / camera.scale);
  context.restore();
}

function paintEarth(context, {camera, land, grid}, colours) {
  inWorld(context, camera, (pixel) => {
    context.lineWidth = pixel;
    if (land) {
      context.fillStyle = colours.land;
      context.fill(land);
      context.strokeStyle = colours.coast;
      context.stroke(land);
    }
    context.strokeStyle = colours.graticule;
    context.stroke(grid);
  });
}

function paintThinLinks(context, {camera, thin, scene}, colours) {
  const crowded = Math.max(0.35, Math.min(1, 120 / Math.max(1, scene.links.length)));
  inWorld(context, camera, (pixel) => {
    context.strokeStyle = colours["strong-line"];
    thin.forEach((path, level) => {
      context.globalAlpha = DELAY_LEVELS[level] * crowded;
      context.lineWidth = pixel * (level === 0 ? 1.3 : 1);
      context.stroke(path);
    });
  });
}

function paintTraffic(context, {traffic, scene, camera}, points, colours) {
  const most = Math.max(...traffic.map((link) => link.bytes_per_s ?? 0), 1e-9);
  for (const link of traffic) {
    const thickness = 1.6 + 5 * Math.sqrt((link.bytes_per_s ?? 0) / most);
    const line = lineOf(link, scene, camera, points);
    if (!line) continue;
    context.strokeStyle = context.fillStyle = link.critical ? colours["series-2"] : colours.accent;
    context.lineWidth = thickness;
    context.beginPath();
    context.moveTo(line.from.x, line.from.y);
    context.quadraticCurveTo(line.middle.x, line.middle.y, line.to.x, line.to.y);
    context.stroke();
    if (link.critical) {
      // A second sign beside the colour: the slowest path is dashed inside.
      context.save();
      context.strokeStyle = colours.card;
      context.lineWidth = Math.max(1, thickness * 0.35);
      context.setLineDash([5, 5]);
      context.stroke();
      context.restore();
    }
    arrow(context, line.middle, line.to, 6 + thickness);
  }
}

function lineOf(link, scene, camera, points) {
  const start = screenRadius(scene.nodes[link.from], camera) + 2;
  const end = screenRadius(scene.nodes[link.to], camera) + 4;
  return bow(points[link.from], points[link.to], start, end);
}

/** Points along the traffic, which labels had better not cover. */
function trafficPoints({traffic, scene, camera}, points) {
  if (traffic.length > MOST_AVOIDED) return [];
  const lines = traffic.map((link) => lineOf(link, scene, camera, points)).filter(Boolean);
  return lines.flatMap(({from, middle, to}) => Array.from({length: STEPS + 1}, (_, step) => {
    const part = step / STEPS;
    const along = (axis) => (1 - part) ** 2 * from[axis] + 2 * part * (1 - part) * middle[axis] + part ** 2 * to[axis];
    return {x: along("x"), y: along("y")};
  }));
}

/** A slightly bent line between two nodes, so that both directions are seen; null if they touch. */
function bow(from, to, start, end) {
  const [across, down] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(across, down);
  if (length < start + end + 2) return null;
  const [unitX, unitY] = [across / length, down / length];
  const bend = Math.min(30, length * 0.12);
  return {
    from: {x: from.x + unitX * start, y: from.y + unitY * start},
    middle: {x: (from.x + to.x) / 2 - unitY * bend, y: (from.y + to.y) / 2 + unitX * bend},
    to: {x: to.x - unitX * end, y: to.y - unitY * end},
  };
}

function arrow(context, from, to, size) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  context.beginPath();
  context.moveTo(to.x + 2 * Math.cos(angle), to.y + 2 * Math.sin(angle));
  context.lineTo(to.x - size * Math.cos(angle - 0.42), to.y - size * Math.sin(angle - 0.42));
  context.lineTo(to.x - size * Math.cos(angle + 0.42), to.y - size * Math.sin(angle + 0.42));
  context.fill();
}

function paintNodes(context, {scene, camera, load, lost, chosen, target, allowed, planned}, points, colours) {
  for (const node of scene.nodes) {
    const {x, y} = points[node.index];
    const radius = screenRadius(node, camera);
    const use = load.get(node.index);
    context.globalAlpha = allowed && !allowed.has(node.index) ? 0.25 : 1;
    context.beginPath();
    if (node.hosts) context.arc(x, y, radius, 0, 2 * Math.PI);
    else context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    context.fillStyle = planned && !use ? colours.card : node.colour;
    context.fill();
    context.lineWidth = planned && !use ? 2 : 1;
    context.strokeStyle = planned && !use ? node.colour : colours["strong-line"];
    context.stroke();
    if (use) ring(context, x, y, radius + 4, use.share, colours);
    if (lost.has(node.name)) cross(context, x, y, radius + 3, colours);
    context.globalAlpha = 1;
    if (node.index === chosen || node.index === target) {
      context.beginPath();
      context.arc(x, y, radius + (node.index === target ? 11 : 9), 0, 2 * Math.PI);
      context.lineWidth = 3;
      context.strokeStyle = node.index === target ? colours.good : colours.focus;
      context.stroke();
    }
  }
}

/** Over a node that is gone. */
function cross(context, x, y, reach, colours) {
  context.lineWidth = 3;
  context.strokeStyle = colours.bad;
  context.beginPath();
  context.moveTo(x - reach, y - reach);
  context.lineTo(x + reach, y + reach);
  context.moveTo(x - reach, y + reach);
  context.lineTo(x + reach, y - reach);
  context.stroke();
}

/** The load as a ring: full is 100 %, and more is red and thicker. */
function ring(context, x, y, radius, share, colours) {
  context.lineWidth = 3;
  context.strokeStyle = colours.line;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  const over = share === null || share > 1 + 1e-9;
  context.strokeStyle = over ? colours.bad : colours.ink;
  context.lineWidth = over ? 5 : 3;
  context.beginPath();
  context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, share ?? 1));
  context.stroke();
}

/** Where the nodes are, as boxes: labels keep off them while there are few enough to look. */
function discs(scene, camera, points) {
  if (scene.nodes.length > 150) return [];
  return scene.nodes.map((node) => {
    const reach = screenRadius(node, camera) - 1;
    const {x, y} = points[node.index];
    return [x - reach, y - reach, x + reach, y + reach];
  });
}

const widths = new Map();

function textWidth(context, text, font) {
  const key = font + text;
  if (!widths.has(key)) {
    context.font = font;
    widths.set(key, context.measureText(text).width);
  }
  return widths.get(key);
}

function paintLabels(context, what, points, colours) {
  const {scene, camera, load, chosen, target, width, height} = what;
  const wanted = scene.nodes.map((node) => {
    const use = load.get(node.index);
    const second = use ? secondLine(scene, use) : "";
    return {
      node, second,
      ...points[node.index],
      room: screenRadius(node, camera) + (use ? 9 : 4),
      width: Math.max(textWidth(context, node.name, NAME_FONT), second ? textWidth(context, second, SMALL_FONT) : 0),
      height: second ? 28 : 15,
      weight: (node.index === chosen || node.index === target ? 1e6 : 0) + (use ? 1e3 * (1 + use.instances.length) : 0) + node.radius,
    };
  });
  context.lineJoin = "round";
  context.textBaseline = "top";
  const boxes = discs(scene, camera, points);
  for (const {item, left, top} of arranged(wanted, {width, height}, mostLabels(scene, camera), boxes, trafficPoints(what, points))) {
    written(context, item.node.name, left, top, NAME_FONT, colours.ink, colours.card);
    if (item.second) written(context, item.second, left, top + 14, SMALL_FONT, colours.soft, colours.card);
  }
}

/** In a crowd the names wait until one comes nearer; otherwise they would cover what they name. */
function mostLabels(scene, camera) {
  return scene.nodes.length > 150 ? Math.min(MOST_LABELS, 20 * (camera.scale / camera.fitted) ** 1.5) : MOST_LABELS;
}

function written(context, text, left, top, font, colour, halo) {
  context.font = font;
  context.lineWidth = 3;
  context.strokeStyle = halo;
  context.globalAlpha = 0.85;
  context.strokeText(text, left, top);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(text, left, top);
}

/** What runs on a node, beside its name: operators while they are few. */
function secondLine(scene, use) {
  const names = [...new Set(use.instances.map((instance) => scene.operatorOfInstance.get(instance)?.name ?? instance))];
  const most = names.length > 3 ? `${names.length} operators` : names.join(", ");
  const load = use.share === null ? "!" : use.share > 1 + 1e-9 ? `${percent(use.share)} !` : use.share > 0 ? percent(use.share) : "";
  return load ? `${most} · ${load}` : most;
}
