/** What was found and how good it is, in words. */

import {percent} from "./format.js";

/** A plan's status as a sentence and a kind for its colour. `maximise`: the goal is a maximum. */
export function planStatus({status, gap, reason, violations, bound, objective}, maximise = false) {
  const broken = Array.isArray(violations) ? violations.length : violations ?? 0;
  if (status === "infeasible") return {kind: "bad", sign: "✕", text: "proved: no plan keeps all constraints", reason};
  if (broken > 0) return {kind: "bad", sign: "✕", text: `breaks ${broken} ${broken === 1 ? "constraint" : "constraints"}`, reason};
  if (status === "optimal") return {kind: "good", sign: "✓", text: "proved optimal", reason};
  if (status === "unknown") return {kind: "warn", sign: "?", text: "no plan found", reason};
  if (bound !== null && bound !== undefined && gap !== null && gap !== undefined) {
    return {kind: "good", sign: "✓", text: distance(objective, bound, gap, maximise), reason};
  }
  return {kind: "good", sign: "✓", text: "keeps every constraint; how far from the best is not known", reason};
}

/** "at most 3.2 % above the best possible": relative to the bound, which is what the best can't beat. */
function distance(objective, bound, gap, maximise) {
  const above = Math.abs(bound) > 1e-12 ? Math.abs(objective - bound) / Math.abs(bound) : null;
  if (above === null || above > 10) return `keeps every constraint; the best may be far better (gap ${percent(gap)})`;
  return `at most ${percent(above)} ${maximise ? "below" : "above"} the best possible`;
}

const JOB_STATES = {
  waiting: ["busy", "…", "waiting"],
  running: ["busy", "▶", "running"],
  cancelling: ["warn", "■", "stopping"],
  done: ["good", "✓", "done"],
  cancelled: ["warn", "■", "stopped"],
  failed: ["bad", "✕", "failed"],
  broken: ["bad", "✕", "cut off when the service ended"],
};

export function jobState(state) {
  const [kind, sign, text] = JOB_STATES[state] ?? ["", "", state];
  return {kind, sign, text};
}

export const OVER = new Set(["done", "cancelled", "failed", "broken"]);
