/**
 * The applications as graphs: a box for each operator in the colour of its node, with the node's name;
 * the slowest path is drawn thick and dashed. Boxes are reached by Tab and the arrow keys.
 */

import {fill, h, s} from "../lib/dom.js";
import {byteRate} from "../lib/format.js";
import {textColour} from "../lib/palette.js";
import {Camera} from "./camera.js";
import {operatorLines} from "./facts.js";
import {BOX, graphLayout, streamPath} from "./graph-layout.js";
import {gestures} from "./gestures.js";
import {nodesOf} from "./scene.js";
import {hideTooltip, showTooltip} from "./tooltip.js";
import {zoomButtons} from "./zoom-buttons.js";

const CLOSEST = 1.15;
/** The strip at the top that belongs to the zoom buttons. */
const BUTTONS = 40;

export class GraphPicture {
  /** @param {{onOperator?: (operator: any) => void, onGrab?: (operator: any, event: PointerEvent) => void}} on */
  constructor(on = {}) {
    this.on = on;
    this.camera = new Camera();
    this.chosen = null;
    this.assignment = {};
    this.critical = new Set();
    this.lost = new Set();
    this.world = s("g", {});
    this.svg = s("svg", {class: "graph-sheet", role: "group", "aria-label": "Operators and streams"}, this.world);
    this.surface = h("div", {class: "surface", tabindex: "-1"}, this.svg);
    this.element = h("div", {class: "picture graph"}, this.surface);
    const {zoomBy} = gestures(this.surface, this.camera, {
      changed: () => this.moved(),
      reset: () => this.fit(),
      movable: (event) => !(this.on.onGrab && event.target.closest?.(".operator")),
    });
    this.element.append(zoomButtons("graph", zoomBy, () => this.fit()));
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.surface);
  }

  setScene(scene) {
    this.scene = scene;
    this.boxes = new Map();
    this.streams = [];
    const {places, heads, size, downwards} = graphLayout(scene.applications, windowSize());
    fill(this.world);
    scene.applications.forEach((application, position) => {
      if (scene.applications.length > 1) this.world.append(s("text", {class: "application", ...heads[position]}, application.name));
      for (const stream of application.streams) this.world.append(this.streamOf(application, stream, places[position], downwards));
      application.operators.forEach((operator, index) => {
        const full = scene.operatorByName.get(operator.full);
        const box = this.boxOf(full, places[position][index]);
        this.boxes.set(full.full, {...places[position][index], ...box});
        this.world.append(box.element);
      });
    });
    this.size = size;
    this.rove(scene.operators[0]?.full);
    this.refresh();
    this.fit();
  }

  /** Colours every box by where its instances run, and marks the slowest path; `lost`: instances that are gone. */
  setPlan(assignment, criticalPath, lost = []) {
    this.assignment = assignment ?? {};
    this.lost = new Set(lost);
    const steps = (criticalPath?.steps ?? []).map((step) => step.instance.replace(/#\d+$/, ""));
    this.critical = new Set(steps);
    this.criticalPairs = new Set(steps.slice(1).map((step, index) => `${steps[index]} ${step}`));
    if (this.scene) this.refresh();
  }

  choose(operator) {
    this.chosen = operator?.full ?? null;
    if (this.chosen) this.rove(this.chosen);
    this.refresh();
  }

  fit() {
    const {width, height} = this.surface.getBoundingClientRect();
    if (!this.size || !width) return;
    this.camera.fit(this.size, width, height - BUTTONS, 14, CLOSEST);
    this.camera.pan(0, BUTTONS);
    this.moved();
  }

  destroy() {
    this.observer.disconnect();
    hideTooltip();
  }

  moved() {
    this.world.setAttribute("transform", `translate(${this.camera.x.toFixed(1)} ${this.camera.y.toFixed(1)}) scale(${this.camera.scale.toFixed(4)})`);
  }

  refresh() {
    for (const operator of this.scene.operators) {
      const {element, ground, bands, place, name} = this.boxes.get(operator.full);
      const nodes = nodesOf(this.scene, operator, this.assignment);
      const single = nodes.length === 1 ? nodes[0].colour : null;
      ground.style.fill = single ?? "";
      const ink = single ? textColour(single) : "";
      name.style.fill = place.style.fill = ink;
      fill(bands, nodes.length > 1 ? nodes.slice(0, 8).map((node, index, all) => {
        const width = BOX.width / all.length;
        const band = s("rect", {x: index * width, y: BOX.height - 7, width, height: 7});
        band.style.fill = node.colour;
        return band;
      }) : []);
      const gone = operator.instances.some((instance) => this.lost.has(instance));
      element.classList.toggle("gone", gone);
      place.textContent = gone ? "✕ lost" : nodes.length > 1 ? `on ${nodes.length} nodes` : nodes.length ? short(nodes[0].name, 20) : operator.pinned ? `pinned: ${short(operator.pinned, 12)}` : "";
      name.setAttribute("y", place.textContent ? 18 : 26);
      const critical = this.critical.has(operator.full);
      element.classList.toggle("critical", critical);
      element.classList.toggle("chosen", operator.full === this.chosen);
      element.setAttribute("aria-pressed", String(operator.full === this.chosen));
      element.setAttribute("aria-label", [...operatorLines(this.scene, operator, this.assignment), gone ? "lost" : "", critical ? "on the slowest path" : ""].filter(Boolean).join(", "));
    }
    for (const {element, key} of this.streams) element.classList.toggle("critical", this.criticalPairs?.has(key) ?? false);
  }

  boxOf(operator, at) {
    const ground = s("rect", {class: "ground", width: BOX.width, height: BOX.height, rx: 8});
    const bands = s("g", {});
    const name = s("text", {class: "name", x: BOX.width / 2, y: 18}, short(operator.name, 17) + (operator.parallelism > 1 ? ` ×${operator.parallelism}` : ""));
    const place = s("text", {class: "place", x: BOX.width / 2, y: 33});
    const show = (event) => {
      const box = element.getBoundingClientRect();
      showTooltip(operatorLines(this.scene, operator, this.assignment), event.clientX ?? box.right, event.clientY ?? box.top);
    };
    const element = s("g", {
      class: `operator${this.on.onGrab ? " grabbable" : ""}`, role: "button", tabindex: "-1", transform: `translate(${at.x} ${at.y})`,
      "data-operator": operator.full,
      onpointerenter: show, onpointerleave: hideTooltip, onfocus: show, onblur: hideTooltip,
      onclick: () => this.on.onOperator?.(operator),
      onpointerdown: (event) => this.on.onGrab?.(operator, event),
      onkeydown: (event) => this.key(event, operator),
    }, ground, bands, name, place);
    return {element, ground, bands, name, place};
  }

  streamOf(application, stream, places, downwards) {
    const {way, tip} = streamPath(places[stream.from], places[stream.to], downwards);
    const [sender, receiver] = [application.operators[stream.from].full, application.operators[stream.to].full];
    const element = s("g", {class: "stream"},
      s("path", {class: "way", d: way}),
      s("path", {class: "inner", d: way}),
      s("path", {class: "tip", d: tip}),
      s("title", {}, `${sender} → ${receiver}: ${stream.bytes_per_s === null ? "rate unknown" : byteRate(stream.bytes_per_s)}`));
    this.streams.push({element, key: `${sender} ${receiver}`});
    return element;
  }

  key(event, operator) {
    const directions = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.on.onOperator?.(operator);
    } else if (directions[event.key]) {
      event.preventDefault();
      const next = this.neighbour(operator, ...directions[event.key]);
      if (!next) return;
      this.rove(next);
      this.boxes.get(next).element.focus();
    }
  }

  /** The nearest box in a direction; sideways counts double, so that one stays in the row where that is possible. */
  neighbour(operator, across, down) {
    const here = this.boxes.get(operator.full);
    let best = null;
    let least = Infinity;
    for (const [name, box] of this.boxes) {
      const ahead = (box.x - here.x) * across + (box.y - here.y) * down;
      const aside = Math.abs((box.x - here.x) * down) + Math.abs((box.y - here.y) * across);
      if (ahead > 0 && ahead + 2 * aside < least) [best, least] = [name, ahead + 2 * aside];
    }
    return best;
  }

  /** One box at a time can be reached by Tab; the arrow keys move from there. */
  rove(name) {
    for (const [other, {element}] of this.boxes) element.setAttribute("tabindex", other === name ? "0" : "-1");
  }
}

/** About the size that the graph will have beside the map, before it is on the page. */
export function windowSize() {
  return window.innerWidth > 900 ? {width: Math.min(640, (window.innerWidth - 60) / 2), height: 400} : {width: window.innerWidth - 40, height: 230};
}

function short(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
