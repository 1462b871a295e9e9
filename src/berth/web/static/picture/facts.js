/** The numbers of a node, an operator or a link as lines: for tooltips, for the details panel, for screen readers. */

import {byteRate, bytes, counted, inUnit, milliseconds, percent, quantity} from "../lib/format.js";
import {instanceGroups} from "./scene.js";

/** @param {any} use the node's entry of a judgement, if it hosts anything */
export function nodeLines(scene, node, use) {
  const capacity = Object.entries(node.capacity).map(([name, amount]) => `${name} ${quantity(amount)}`);
  return [
    node.name,
    node.hosts ? `capacity: ${capacity.join(", ") || "none stated"}` : "hosts no operators",
    node.cores !== 1 ? `${counted(node.cores, "core")}${node.speed === 1 ? "" : `, each of speed ${quantity(node.speed)} × reference`}` : node.speed !== 1 ? `speed ${quantity(node.speed)} × reference` : null,
    node.availability < 1 ? `availability ${percent(node.availability)}` : null,
    node.cost_per_hour ? `costs ${inUnit(node.cost_per_hour, "/h")}` : null,
    node.nic_bytes_per_s ? `network card ${byteRate(node.nic_bytes_per_s)}` : null,
    ...Object.entries(node.labels).map(([name, value]) => `${name}: ${value}`),
    node.holds.length ? `holds ${node.holds.join(", ")}` : null,
    use ? `runs ${listed(instanceGroups(scene, use.instances))}` : null,
    ...(use?.uses ?? []).map((one) => `${one.label}: ${used(one)}`),
  ].filter(Boolean);
}

export function operatorLines(scene, operator, assignment) {
  const places = operator.instances.map((instance) => [instance, assignment?.[instance]]).filter(([, node]) => node);
  const nodes = [...new Set(places.map(([, node]) => node))];
  return [
    operator.full,
    operator.parallelism > 1 ? counted(operator.parallelism, "instance") : null,
    nodes.length ? `runs on ${listed(nodes)}` : null,
    operator.pinned ? `pinned to ${operator.pinned}` : operator.allowed ? `may run on ${counted(operator.allowed.length, "node")}` : null,
    operator.work_ms ? `${milliseconds(operator.work_ms)} of work for each piece of data` : null,
    operator.load ? `${operator.parallelism > 1 ? "each keeps up to" : "keeps"} ${inUnit(operator.load, "processors")} of speed 1 busy` : null,
    ...Object.entries(operator.demand).map(([name, amount]) => `needs ${name} ${quantity(amount)}`),
    operator.state_bytes ? `keeps ${bytes(operator.state_bytes)} of state` : null,
  ].filter(Boolean);
}

export function listed(names, most = 6) {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}

function used({used: amount, limit, share, label}) {
  const show = (value) => (/byte|card/.test(label) ? byteRate(value) : quantity(value));
  const of = limit === null ? "no limit" : `of ${label === "busy" ? inUnit(limit, "processors") : show(limit)}`;
  return `${show(amount)} ${of}${share === null ? "" : ` (${percent(share)})`}`;
}

