/**
 * The network as a map that can be moved, zoomed and asked. Everything is one canvas: 500 nodes and their links are
 * painted in one go, and only when something changed. What it shows is told to screen readers by the details panel.
 */

import {fill, h} from "../lib/dom.js";
import {counted} from "../lib/format.js";
import {announce} from "../lib/notices.js";
import {Camera} from "./camera.js";
import {nodeLines} from "./facts.js";
import {coastLines, graticule} from "./geography.js";
import {gestures} from "./gestures.js";
import {paint, screenRadius, thinPaths} from "./map-paint.js";
import {onThemeChange} from "./theme.js";
import {hideTooltip, showTooltip} from "./tooltip.js";
import {zoomButtons} from "./zoom-buttons.js";

const REACH = 12;
const EARTH_CLOSEST = 60;

export class MapPicture {
  /** @param {{onNode?: (node: any) => void, label?: string}} on what happens when a node is chosen */
  constructor(on = {}) {
    this.on = on;
    this.camera = new Camera();
    this.load = new Map();
    this.traffic = [];
    this.lost = new Set();
    this.chosen = this.target = -1;
    this.allowed = null;
    this.canvas = h("canvas", {"aria-hidden": "true"});
    this.surface = h("div", {class: "surface", tabindex: "0", role: "application", "aria-label": "Map of the network"}, this.canvas);
    this.element = h("div", {class: "picture map"}, this.surface);
    // A canvas has no elements to ask: tests find nodes through this.
    this.surface.picture = this;
    const {zoomBy} = gestures(this.surface, this.camera, {
      changed: () => this.changed(),
      reset: () => this.fit(),
      tapped: (x, y) => this.tap(x, y),
    });
    this.element.append(zoomButtons("map", zoomBy, () => this.fit()));
    this.surface.addEventListener("pointermove", (event) => this.hover(event));
    this.surface.addEventListener("pointerleave", hideTooltip);
    this.surface.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.surface);
    this.endTheme = onThemeChange(() => this.changed());
  }

  /** Shows a scene (see scene.js). */
  setScene(scene) {
    this.scene = scene;
    this.thin = thinPaths(scene);
    this.surface.setAttribute("aria-label",
      `Map of the network: ${counted(scene.nodes.length, "node")}. Arrow keys move, plus and minus zoom, 0 shows all, N and P go from node to node, Enter chooses.`);
    if (scene.geographic) {
      this.grid = graticule(Math.max(scene.box.right - scene.box.left, scene.box.bottom - scene.box.top));
      coastLines().then((land) => { this.land = land; this.changed(); });
    }
    this.fit();
  }

  /** Shows a plan as the judge sees it; null: the network alone. `lost`: the names of nodes that are gone. */
  setJudgement(judgement, lost = []) {
    this.planned = judgement !== null;
    this.lost = new Set(lost);
    this.load = new Map((judgement?.nodes ?? []).map((use) => [use.index, use]));
    this.traffic = judgement?.links ?? [];
    this.changed();
  }

  /** Marks a node, and tells which nodes may be chosen (a Set of indices; null: all). */
  mark({chosen = this.chosen, target = this.target, allowed = this.allowed}) {
    Object.assign(this, {chosen, target, allowed});
    this.changed();
  }

  fit() {
    if (!this.scene || !this.width) return;
    const room = Math.min(70, this.width / 6);
    this.camera.fit(this.scene.box, this.width, this.height, room, this.scene.geographic ? EARTH_CLOSEST : Infinity);
    this.changed();
  }

  /** The node at a point of the window, or null; fingers and drops need not be exact. */
  nodeAtWindow(clientX, clientY, reach = REACH) {
    const box = this.surface.getBoundingClientRect();
    if (clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom) return null;
    return this.nodeAt(clientX - box.left, clientY - box.top, reach);
  }

  nodeAt(x, y, reach = REACH) {
    let best = null;
    let nearest = Infinity;
    for (const node of this.scene?.nodes ?? []) {
      const point = this.camera.toScreen(node);
      const distance = Math.hypot(point.x - x, point.y - y) - screenRadius(node, this.camera);
      if (distance < Math.min(nearest, reach)) [best, nearest] = [node, distance];
    }
    return best;
  }

  /** Where a node is in the window, for tooltips and tests. */
  placeOf(node) {
    const box = this.surface.getBoundingClientRect();
    const point = this.camera.toScreen(node);
    return {x: box.left + point.x, y: box.top + point.y};
  }

  destroy() {
    this.observer.disconnect();
    this.endTheme();
    cancelAnimationFrame(this.frame);
    hideTooltip();
  }

  hover(event) {
    if (event.buttons || event.pointerType === "touch") return;
    const node = this.nodeAtWindow(event.clientX, event.clientY, 4);
    this.surface.classList.toggle("pointing", node !== null);
    if (node) showTooltip(nodeLines(this.scene, node, this.load.get(node.index)), event.clientX, event.clientY);
    else hideTooltip();
  }

  tap(x, y) {
    const node = this.nodeAt(x, y, 18);
    this.choose(node);
  }

  choose(node) {
    this.chosen = node?.index ?? -1;
    this.changed();
    this.on.onNode?.(node);
  }

  key(event) {
    if (event.target !== this.surface || !this.scene?.nodes.length || event.ctrlKey || event.metaKey) return;
    const key = event.key.toLowerCase();
    if (key === "n" || key === "p") {
      const count = this.scene.nodes.length;
      this.chosen = (this.chosen + (key === "n" ? 1 : -1) + count) % count;
      const node = this.scene.nodes[this.chosen];
      this.bringIntoView(node);
      const lines = nodeLines(this.scene, node, this.load.get(node.index));
      const {x, y} = this.placeOf(node);
      showTooltip(lines, x, y);
      announce(lines.join(", "));
    } else if (event.key === "Enter" && this.chosen >= 0) {
      event.preventDefault();
      this.on.onNode?.(this.scene.nodes[this.chosen]);
    }
  }

  bringIntoView(node) {
    const point = this.camera.toScreen(node);
    if (point.x < 30 || point.y < 30 || point.x > this.width - 30 || point.y > this.height - 30) {
      this.camera.pan(this.width / 2 - point.x, this.height / 2 - point.y);
    }
    this.changed();
  }

  resized() {
    const {width, height} = this.surface.getBoundingClientRect();
    if (!width || !height || (width === this.width && height === this.height)) return;
    const first = !this.width;
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [width, height];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    if (first || this.camera.scale === this.camera.fitted) this.fit();
    else this.changed();
  }

  /** Asks for one painting in the next frame, however much changed. */
  changed() {
    if (this.frame || !this.scene || !this.width) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      paint(this.canvas.getContext("2d"), this);
      // For the tests of large networks: how long the last painting took.
      this.surface.dataset.paintMs = (performance.now() - start).toFixed(2);
    });
  }
}

/** What the signs on the map mean. */
export function mapLegend(planned) {
  const item = (sign, text) => h("li", {}, h("span", {class: "sign", "aria-hidden": "true"}, sign), text);
  return fill(h("ul", {class: "key legend"}),
    item("●", "node, larger with more capacity"),
    item("─", "link, darker with less delay"),
    planned ? item("◔", "ring: load; red beyond 100 %") : null,
    planned ? item("➜", "traffic, thicker with more bytes") : null,
    planned ? item("┅➜", "slowest path (dashed inside)") : null,
    planned ? item("○", "node without operators") : null);
}
