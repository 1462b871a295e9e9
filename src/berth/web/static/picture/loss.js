/** What if a node goes: what moves, how slow it gets and what breaks, in words; the judge on the server says it. */

import {h} from "../lib/dom.js";
import {counted, milliseconds} from "../lib/format.js";
import {listed} from "./facts.js";

const MOST_MOVES = 12;
const MOST_BROKEN = 6;

/**
 * @param {any} loss the answer of POST /loss
 * @param {boolean} shown whether the picture shows what is left
 * @param {() => void} onToggle shows it, or the plan again
 */
export function lossSection(loss, shown, onToggle) {
  return h("section", {class: "loss"},
    h("h4", {}, `If ${loss.loss} goes`),
    h("p", {}, summary(loss)),
    loss.moved.length ? h("ul", {}, loss.moved.slice(0, MOST_MOVES).map(({instance, to}) => h("li", {}, `${instance} ${to ? `moves to ${to}` : "has no node to move to"}`)),
      loss.moved.length > MOST_MOVES ? h("li", {class: "quiet"}, `and ${loss.moved.length - MOST_MOVES} more`) : null) : null,
    loss.lost.length ? h("p", {}, `Lost with it, because it may run nowhere else: ${listed(loss.lost)}.`) : null,
    loss.violations.length ? h("div", {class: "notice bad"}, h("p", {}, "What breaks then:"),
      h("ul", {}, loss.violations.slice(0, MOST_BROKEN).map((line) => h("li", {}, line)))) : null,
    loss.moved.length && !loss.stored ? h("p", {class: "quiet fine"}, "The plan has no failover for this that holds: these are the best moves that a short search found.") : null,
    loss.after ? h("button", {type: "button", "aria-pressed": String(shown), onclick: onToggle}, shown ? "Show the plan again" : "Show what is left") : null);
}

function summary(loss) {
  const time = loss.response_time_ms === null ? "the response time can't be told"
    : `response time ${milliseconds(loss.response_time_ms)} instead of ${loss.response_time_before_ms === null ? "unknown" : milliseconds(loss.response_time_before_ms)}`;
  if (!loss.moved.length && !loss.lost.length && !loss.violations.length) return `Nothing has to move; ${time}.`;
  const verdict = loss.violations.length ? "it isn't survived" : "it is survived";
  return `${counted(loss.moved.length, "instance")} ${loss.moved.length === 1 ? "moves" : "move"}, ${verdict}; ${time}.`;
}
