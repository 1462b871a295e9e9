/**
 * The applications as graphs, left to right: a box for each operator in the colour of its node, with the node's name;
 * the slowest path is drawn thick and dashed. Boxes are reached by Tab and the arrow keys.
 */

import {fill, h, s} from "../lib/dom.js";
import {byteRate} from "../lib/format.js";
import {textColour} from "../lib/palette.js";
import {Camera} from "./camera.js";
import {operatorLines} from "./facts.js";
import {gestures} from "./gestures.js";
import {nodesOf} from "./scene.js";
import {hideTooltip, showTooltip} from "./tooltip.js";
import {zoomButtons} from "./zoom-buttons.js";

const BOX = {width: 128, height: 42};
const COLUMN = 166;
const ROW = 62;
const HEAD = 30;
const CLOSEST = 1.15;

export class GraphPicture {
  /** @param {{onOperator?: (operator: any) => void, onGrab?: (operator: any, event: PointerEvent) => void}} on */
  constructor(on = {}) {
    this.on = on;
    this.camera = new Camera();
    this.chosen = null;
    this.assignment = {};
    this.critical = new Set();
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
    let top = 0;
    let right = 0;
    const several = scene.applications.length > 1;
    fill(this.world);
    for (const application of scene.applications) {
      if (several) {
        this.world.append(s("text", {class: "application", x: 0, y: top + 14}, application.name));
        top += HEAD;
      }
      const rows = Math.max(1, application.height);
      const places = application.operators.map((operator) => ({x: operator.layer * COLUMN, y: top + operator.y * (rows - 1) * ROW}));
      right = Math.max(right, ...places.map((place) => place.x + BOX.width));
      for (const stream of application.streams) this.world.append(this.streamOf(application, stream, places));
      application.operators.forEach((operator, index) => {
        const full = scene.operatorByName.get(operator.full);
        const box = this.boxOf(full, places[index]);
        this.boxes.set(full.full, {...places[index], ...box});
        this.world.append(box.element);
      });
      top += (rows - 1) * ROW + BOX.height + 24;
    }
    this.size = {left: 0, top: 0, right, bottom: top - 24};
    this.rove(scene.operators[0]?.full);
    this.refresh();
    this.fit();
  }

  /** Colours every box by where its instances run, and marks the slowest path. */
  setPlan(assignment, criticalPath) {
    this.assignment = assignment ?? {};
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
    this.camera.fit(this.size, width, height, 16, CLOSEST);
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
      place.textContent = nodes.length > 1 ? `on ${nodes.length} nodes` : nodes.length ? short(nodes[0].name, 20) : operator.pinned ? `📌 ${short(operator.pinned, 16)}` : "";
      const critical = this.critical.has(operator.full);
      element.classList.toggle("critical", critical);
      element.classList.toggle("chosen", operator.full === this.chosen);
      element.setAttribute("aria-pressed", String(operator.full === this.chosen));
      element.setAttribute("aria-label", [...operatorLines(this.scene, operator, this.assignment), critical ? "on the slowest path" : ""].filter(Boolean).join(", "));
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

  streamOf(application, stream, places) {
    const [from, to] = [places[stream.from], places[stream.to]];
    const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
    const half = Math.max(30, (x2 - x1) / 2);
    const curve = `M${x1} ${y1}C${x1 + half} ${y1} ${x2 - half} ${y2} ${x2 - 7} ${y2}`;
    const [sender, receiver] = [application.operators[stream.from].full, application.operators[stream.to].full];
    const element = s("g", {class: "stream"},
      s("path", {class: "way", d: curve}),
      s("path", {class: "inner", d: curve}),
      s("path", {class: "tip", d: `M${x2} ${y2}l-9 -5v10z`}),
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

function short(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
