/** What if a node goes: what moves, how slow it gets and what breaks, in words; the judge on the server says it. */

import {h} from "../lib/dom.js";
import {counted, milliseconds} from "../lib/format.js";
import {listed} from "./facts.js";
import {instanceGroups} from "./scene.js";

const MOST_MOVES = 12;
const MOST_BROKEN = 6;

/**
 * @param {any} loss the answer of POST /loss
 * @param {boolean} shown whether the picture shows what is left
 * @param {() => void} onToggle shows it, or the plan again
 */
export function lossSection(scene, loss, shown, onToggle) {
  const moves = moveLines(scene, loss.moved);
  return h("section", {class: "loss"},
    h("h4", {}, `If ${loss.loss} goes`),
    h("p", {}, lossSummary(loss)),
    moves.length ? h("ul", {}, moves.slice(0, MOST_MOVES).map((line) => h("li", {}, line)),
      moves.length > MOST_MOVES ? h("li", {class: "quiet"}, `and ${counted(moves.length - MOST_MOVES, "more move", "more moves")}`) : null) : null,
    loss.lost.length ? h("p", {}, `Lost with it, because it may run nowhere else: ${listed(instanceGroups(scene, loss.lost))}.`) : null,
    brokenThen(loss),
    loss.moved.length && !loss.stored ? h("p", {class: "quiet fine"}, "The plan has no failover for this that holds: these are the best moves that a short search found.") : null,
    loss.after ? h("button", {type: "button", "aria-pressed": String(shown), onclick: onToggle}, shown ? "Show the plan again" : "Show what is left") : null);
}

/** One sentence: whether it is survived, what moves, and how slow it gets. */
export function lossSummary(loss) {
  const count = loss.moved.length;
  const moves = count ? `${counted(count, "instance")} ${count === 1 ? "moves" : "move"}` : "nothing has to move";
  return `${loss.violations.length ? "Not survived" : "Survived"}: ${moves}; ${timeThen(loss)}.`;
}

/** The constraints that break after a loss; null where none does. */
export function brokenThen(loss) {
  if (!loss.violations.length) return null;
  const more = loss.violations.length - MOST_BROKEN;
  return h("div", {class: "notice bad"}, h("p", {}, "What breaks then:"), h("ul", {},
    loss.violations.slice(0, MOST_BROKEN).map((line) => h("li", {}, line)),
    more > 0 ? h("li", {class: "quiet"}, `and ${more} more`) : null));
}

function timeThen(loss) {
  const [now, before] = [loss.response_time_ms, loss.response_time_before_ms];
  if (loss.after && !Object.keys(loss.after.assignment).length) return "nothing is left to run";
  if (now === null) return "the response time can't be told";
  if (before === null) return `response time ${milliseconds(now)}`;
  if (milliseconds(now) === milliseconds(before)) return `the response time stays at ${milliseconds(now)}`;
  return `response time ${milliseconds(now)} instead of ${milliseconds(before)}`;
}

/** What moves where (pairs of an instance and its next node, null for none), all instances of an operator with the same target in one line. */
export function moveLines(scene, moved) {
  const groups = new Map();
  for (const {instance, to} of moved) {
    const operator = scene.operatorOfInstance.get(instance)?.full ?? instance;
    const key = JSON.stringify([operator, to]);
    if (!groups.has(key)) groups.set(key, {to, instances: []});
    groups.get(key).instances.push(instance);
  }
  return [...groups.values()].map(({to, instances}) => `${instanceGroups(scene, instances)[0]} ${to ? `to ${to}` : "has no node to move to"}`);
}
