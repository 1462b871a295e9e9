/**
 * Changing a plan by hand: drag an operator onto a node (or choose the node from a list), and every metric and violation
 * follows at once. The server's judge computes them; answers that came too late are dropped.
 */

import {get, path, post} from "../lib/api.js";
import {askText} from "../lib/dialog.js";
import {fill, h} from "../lib/dom.js";
import {counted} from "../lib/format.js";
import {only} from "../lib/me.js";
import {difference, metricList, metricText} from "../lib/metrics.js";
import {announce, failure, toast, waiting, warningList} from "../lib/notices.js";
import {swatch} from "../lib/palette.js";
import {address, go, guardLeaving, show} from "../lib/router.js";
import {dragToNode} from "../picture/drag.js";
import {picturePanel} from "../picture/panel.js";
import {sceneOf} from "../picture/scene.js";
import {nameOf, problemPage} from "./frame.js";

const PAUSE = 30;

export async function changeView({main, id, plan: planId, current}) {
  const undoButton = h("button", {type: "button", onclick: () => undo()}, "Undo");
  const saveButton = h("button", {type: "button", class: "primary", onclick: () => save()}, "Save as a plan");
  const body = problemPage(main, id, "Plans", {
    title: `Change ${nameOf(planId)}`, crumbs: [[nameOf(id), address("problems", id)], [nameOf(planId), address("problems", id, "plans", planId)]],
    actions: h("div", {class: "row"}, undoButton, only("planner", saveButton)),
  });
  fill(body, waiting());
  let scene, metrics, first;
  try {
    const [view, list, judgement] = await Promise.all([get(`${path("problems", id)}/view`), metricList(), post("evaluate", {problem: id, plan: planId})]);
    [scene, metrics, first] = [sceneOf(view), list, judgement];
  } catch (error) {
    if (current()) fill(body, failure(error, h("button", {type: "button", onclick: () => show()}, "Try again"), h("a", {class: "button", href: address("problems", id, "plans")}, "All plans")));
    return undefined;
  }
  if (!current()) return undefined;

  let assignment = {...first.assignment};
  let now = first;
  let chosen = null;
  let saved = true;
  const past = [];
  const told = h("div", {});
  const tiles = h("dl", {class: "tiles", tabindex: "0", "aria-label": "Metrics of the changed plan"});
  const broken = h("div", {"aria-live": "polite"});
  const list = h("div", {class: "scroll operators-list", tabindex: "0", role: "region", "aria-label": "Operators and their nodes"});
  const hint = h("p", {class: "quiet"});
  const panel = picturePanel(scene, {
    judgement: first,
    onOperator: (operator) => choose(operator),
    onGrab: (operator, event) => grab(operator.instances, operator.name, event),
    // With an operator chosen, a tap or Enter on a node moves it there; otherwise it shows the node's details.
    onNode: (node) => {
      if (!node || !chosen) return false;
      const operator = chosen;
      choose(null);
      move(operator.instances, node);
      return true;
    },
  });
  fill(body, told, h("section", {class: "strip", "aria-label": "Metrics of the changed plan"}, tiles), h("div", {class: "verdict"}, broken, hint), h("div", {class: "changing"}, panel.element),
    h("section", {class: "card"}, h("h2", {}, "Operators"), list));
  guardLeaving(() => !saved);

  function allowed(instances) {
    const sets = instances.map((instance) => scene.operatorOfInstance.get(instance)?.allowed).filter(Boolean);
    if (!sets.length) return new Set(scene.nodes.filter((node) => node.hosts).map((node) => node.index));
    return new Set(sets[0].filter((index) => sets.every((one) => one.includes(index))));
  }

  function choose(operator) {
    chosen = operator && operator !== chosen ? operator : null;
    panel.graph.choose(chosen);
    panel.map.mark({allowed: chosen ? allowed(chosen.instances) : null});
    sayHint();
  }

  function sayHint() {
    hint.textContent = chosen
      ? `${chosen.name} is chosen: now tap a node on the map (or use the list below) to move it there. Nodes that may not host it are pale.`
      : "Drag an operator from the graph or the list onto a node of the map; or tap an operator, then a node; or choose nodes in the list below.";
  }

  function grab(instances, label, event) {
    dragToNode(event, {label, map: panel.map, allowed: allowed(instances), dropped: (node) => {
      choose(null);
      move(instances, node);
    }});
  }

  function move(instances, node) {
    if (instances.every((instance) => assignment[instance] === node.name)) return;
    if (!allowed(instances).has(node.index)) {
      toast(`${instances[0]} may not run on ${node.name}.`);
      return;
    }
    past.push(assignment);
    assignment = {...assignment, ...Object.fromEntries(instances.map((instance) => [instance, node.name]))};
    saved = false;
    showList();
    judgeSoon();
  }

  function undo() {
    if (!past.length) return;
    assignment = past.pop();
    saved = past.length === 0;
    showList();
    judgeSoon();
    announce("Undone.");
  }

  let timer = 0;
  let asked = null;
  function judgeSoon() {
    undoButton.disabled = !past.length;
    saveButton.disabled = !past.length;
    clearTimeout(timer);
    timer = setTimeout(judge, PAUSE);
  }

  async function judge() {
    asked?.abort();
    asked = new AbortController();
    try {
      now = await post("evaluate", {problem: id, plan: planId, assignment}, {signal: asked.signal});
      fill(told);
      panel.update(now);
      showFigures();
    } catch (error) {
      if (error.name !== "AbortError") fill(told, failure(error, h("button", {type: "button", onclick: judge}, "Try again")));
    }
  }

  function showFigures() {
    const said = [];
    fill(tiles, goalFirst(metrics, scene.objective).filter((metric) => now.metrics[metric.key] !== undefined || first.metrics[metric.key] !== undefined).map((metric) => {
      const change = difference(metric, first.metrics[metric.key], now.metrics[metric.key]);
      if (change) said.push(`${metric.label} ${change.text}, ${change.better ? "better" : "worse"}`);
      return h("div", {class: "tile", title: metric.about}, h("dt", {}, metric.label), h("dd", {}, metricText(metric, now.metrics[metric.key]),
        h("span", {class: `delta ${change ? (change.better ? "better" : "worse") : "quiet"}`}, change ? `${change.text} ${change.better ? "better" : "worse"}` : "")));
    }));
    fill(broken, now.violations.length
      ? h("div", {class: "notice bad"}, h("p", {}, h("strong", {}, `✕ Breaks ${counted(now.violations.length, "constraint")}`)), h("ul", {}, now.violations.slice(0, 10).map((line) => h("li", {}, line))))
      : h("div", {class: "notice good"}, h("p", {}, h("strong", {}, "✓ Keeps every constraint"))), warningList(now.warnings));
    const warned = now.warnings.length ? [counted(now.warnings.length, "warning")] : [];
    if (past.length) announce([...said, now.violations.length ? `breaks ${now.violations.length}` : "breaks nothing", ...warned].join("; "));
  }

  /** Made once: a hundred lists of a hundred nodes take longer than all the rest. */
  const rows = new Map(Object.keys(first.assignment).map((instance) => [instance, row(instance)]));

  function showList() {
    for (const one of rows.values()) one.show();
  }

  function row(instance) {
    const before = first.assignment[instance];
    const open = [...allowed([instance])].map((index) => scene.nodes[index]);
    const select = h("select", {"aria-label": `Node of ${instance}`, "data-instance": instance,
      onchange: () => move([instance], scene.nodeByName.get(select.value))}, open.map((one) => h("option", {value: one.name}, one.name)));
    const [colour, was] = [h("span", {}), h("td", {})];
    const element = h("tr", {},
      h("th", {scope: "row", class: open.length > 1 ? "handle" : "", onpointerdown: (event) => grab([instance], instance, event)}, open.length > 1 ? h("span", {"aria-hidden": "true"}, "⠿ ") : "", instance),
      h("td", {}, h("span", {class: "row"}, colour, select)), was);
    let shown = null;
    const show = () => {
      const name = assignment[instance];
      if (name === shown) return;
      shown = name;
      const node = scene.nodeByName.get(name);
      // where it is now may be a node that it may not be on
      if (node && ![...select.options].some((option) => option.value === name)) select.append(h("option", {value: name}, name));
      select.value = name;
      select.disabled = open.length < 2 && open[0] === node;
      fill(colour, node ? swatch(node.colour) : null);
      element.className = name === before ? "" : "chosen";
      was.textContent = name === before ? "" : `was ${before}`;
    };
    return {element, show};
  }

  async function save() {
    const name = await askText("Save as a plan", "Name of the plan", `${nameOf(planId).replace(/\.json$/, "")}-by-hand`, "Save");
    if (!name) return;
    try {
      const stored = await post("plans", {problem: id, assignment, base: planId, name: name.endsWith(".json") ? name : `${name}.json`});
      saved = true;
      guardLeaving(null);
      toast("Saved.");
      go(address("problems", id, "plans", stored.id));
    } catch (error) {
      fill(told, failure(error));
      told.scrollIntoView({block: "nearest"});
    }
  }

  fill(list, h("table", {}, h("thead", {}, h("tr", {}, ["Operator", "Node", "Before"].map((text) => h("th", {scope: "col"}, text)))),
    h("tbody", {}, [...rows.values()].map((one) => one.element))));
  undoButton.disabled = saveButton.disabled = true;
  sayHint();
  showFigures();
  showList();
  const keys = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.closest("input, textarea, dialog")) {
      event.preventDefault();
      undo();
    }
  };
  window.addEventListener("keydown", keys);
  return () => {
    window.removeEventListener("keydown", keys);
    clearTimeout(timer);
    asked?.abort();
    panel.destroy();
  };
}

/** What the problem minimises comes first. */
function goalFirst(metrics, objective) {
  const sought = Object.assign({}, ...[objective ?? {}].flat());
  return [...metrics].sort((one, other) => Boolean(sought[other.name]) - Boolean(sought[one.name]));
}
