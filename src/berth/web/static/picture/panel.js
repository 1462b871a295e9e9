/** Map and graph side by side, with the details of what is chosen in words below. */

import {fill, h} from "../lib/dom.js";
import {milliseconds} from "../lib/format.js";
import {swatch} from "../lib/palette.js";
import {nodeLines, operatorLines} from "./facts.js";
import {graphLayout} from "./graph-layout.js";
import {GraphPicture, windowSize} from "./graph.js";
import {lossSection} from "./loss.js";
import {MapPicture, mapLegend} from "./map.js";

const LEGIBLE = 0.5;

/**
 * @param {any} scene see scene.js
 * @param {{judgement?: any, onOperator?: Function, onNode?: Function, onGrab?: Function, lossOf?: (node: any) => Promise<any>, onLeft?: (loss: any) => void}} options
 *   lossOf asks what becomes of the plan when a node goes; onLeft is told what the picture shows: the loss whose rest it
 *   is, or null for the plan
 */
export function picturePanel(scene, {judgement = null, onOperator, onNode, onGrab, lossOf, onLeft} = {}) {
  // A graph too large to be read beside the map gets the whole width below it; not where one is dragged to the other.
  const long = !onGrab && graphLayout(scene.applications, windowSize()).scale < LEGIBLE;
  const state = {judgement, chosen: null, loss: null, shown: false};
  const details = h("div", {class: "details card", "aria-live": "polite"});
  const map = new MapPicture({
    onNode: (node) => {
      if (onNode?.(node)) return;
      choose(node ? {node} : null);
      if (node && lossOf) askLoss(node);
    },
  });
  const graph = new GraphPicture({
    onGrab,
    onOperator: (operator) => {
      choose({operator});
      showOperator(operator);
      onOperator?.(operator);
    },
  });

  /** The judgement in the picture: of the plan, or of what a loss leaves of it. */
  function seen() {
    return state.shown ? state.loss.after : state.judgement;
  }

  function showOperator(operator) {
    graph.choose(operator);
    const node = scene.nodeByName.get(seen()?.assignment?.[operator?.instances[0]]);
    map.mark({chosen: node?.index ?? -1});
  }

  function choose(chosen) {
    if (state.shown) showLeft(false);
    Object.assign(state, {chosen, loss: null});
    showDetails();
  }

  /** Asks what if a node goes; an answer about another node than the one that is chosen by then is dropped. */
  async function askLoss(node) {
    let loss = null;
    try {
      loss = await lossOf(node);
    } catch (error) {
      loss = {refused: error.mistakes?.[0]?.message ?? error.message};
    }
    if (state.chosen?.node !== node) return;
    state.loss = loss;
    showDetails();
  }

  function showLeft(shown) {
    state.shown = shown;
    showPictures();
    showDetails();
    onLeft?.(shown ? state.loss : null);
  }

  function showPictures() {
    const loss = state.shown ? state.loss : null;
    map.setJudgement(seen(), loss?.nodes);
    graph.setPlan(seen()?.assignment, seen()?.critical_path, loss?.lost);
    caption.textContent = slowest();
  }

  function lossPart() {
    if (!state.loss) return null;
    if (state.loss.refused) return h("p", {class: "quiet fine"}, state.loss.refused);
    return lossSection(scene, state.loss, state.shown, () => showLeft(!state.shown));
  }

  function showDetails() {
    const {node, operator} = state.chosen ?? {};
    const lines = node ? nodeLines(scene, node, seen()?.nodes.find((use) => use.index === node.index))
      : operator ? operatorLines(scene, operator, seen()?.assignment) : null;
    fill(details, lines
      ? [h("h3", {}, node ? [swatch(node.colour), " ", node.name] : lines[0]), h("ul", {}, lines.slice(1).map((line) => h("li", {}, line))), lossPart()]
      : h("p", {class: "quiet"}, "Choose a node on the map or an operator in the graph to see its numbers here."));
  }

  function update(next) {
    Object.assign(state, {judgement: next, loss: null, shown: false});
    showPictures();
    showDetails();
  }

  const caption = h("span", {class: "quiet fine"});
  const note = scene.links_shown < scene.links_all
    ? `${scene.links_shown.toLocaleString("en")} of ${scene.links_all.toLocaleString("en")} links are drawn, those to the nearest nodes.` : null;
  const element = h("div", {class: "stack"},
    h("div", {class: `pictures${long ? " long" : ""}`},
      h("figure", {}, h("figcaption", {}, "Network", h("span", {class: "quiet fine"}, ` — ${layoutText(scene)}`)), map.element),
      h("figure", {}, h("figcaption", {}, "Application", scene.applications.length > 1 ? "s" : "", caption), graph.element)),
    mapLegend(judgement !== null),
    note ? h("p", {class: "quiet fine"}, note) : null,
    details);

  function slowest() {
    const total = seen()?.critical_path?.total_ms;
    const left = state.shown ? ` — after the loss of ${state.loss.loss}` : "";
    return left + (total ? `${left ? "," : " —"} slowest path ${milliseconds(total)}, dashed` : left ? "" : " — boxes are operators, arrows are streams");
  }

  map.setScene(scene);
  graph.setScene(scene);
  update(judgement);
  return {element, map, graph, update, showOperator, showPlan: () => showLeft(false), destroy: () => { map.destroy(); graph.destroy(); }};
}

function layoutText(scene) {
  if (scene.geographic) return "where the nodes are on Earth";
  return scene.layout === "circle" ? "nodes in a circle; their delays are not drawn" : "the farther apart, the longer the delay";
}
