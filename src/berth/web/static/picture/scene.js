/**
 * What is drawn: the server's view of a problem with places in one world, colours and quick ways from names to parts.
 * The picture of a plan is this and a judgement (the answer of /evaluate).
 */

import {nodeColour} from "../lib/palette.js";
import {project} from "./geography.js";

const WORLD = 1000;
/** How far apart nodes are drawn at least, as a share of the picture, so that each and its name can be seen. */
const APART = 0.085;
/** With more nodes than this only those at one place are moved: in a crowd one zooms. */
const MOST_APART = 60;
const ROUNDS = 80;

/** @param {any} view the answer of GET /problems/{id}/view */
export function sceneOf(view) {
  const places = view.geographic || view.nodes.length > MOST_APART
    ? spread(view.nodes.map((node) => (view.geographic ? project(node.longitude, node.latitude) : inWorld(node))))
    : movedApart(view.nodes.map(inWorld));
  const resource = view.resources.includes("cpu") ? "cpu" : view.resources[0];
  const amounts = view.nodes.map((node) => node.capacity[resource] ?? node.speed);
  const most = Math.max(...amounts, 1e-9);
  const nearest = nearestOthers(places);
  const nodes = view.nodes.map((node, index) => ({
    ...node,
    index,
    ...places[index],
    nearest: nearest[index],
    colour: nodeColour(index),
    // The area stands for the capacity, but the smallest must still be seen.
    radius: node.hosts ? 5 + 9 * Math.sqrt(amounts[index] / most) : 4,
  }));
  const operators = view.applications.flatMap((application, position) => application.operators.map((operator) => ({
    ...operator, application: application.name, applicationIndex: position,
  })));
  const operatorOfInstance = new Map();
  for (const operator of operators) for (const instance of operator.instances) operatorOfInstance.set(instance, operator);
  return {
    ...view,
    nodes,
    operators,
    operatorOfInstance,
    nodeByName: new Map(nodes.map((node) => [node.name, node])),
    operatorByName: new Map(operators.map((operator) => [operator.full, operator])),
    box: boxOf(nodes),
  };
}

/** The nodes of an operator's instances, each once, in their order. */
export function nodesOf(scene, operator, assignment) {
  const names = new Set(operator.instances.map((instance) => assignment?.[instance]).filter(Boolean));
  return [...names].map((name) => scene.nodeByName.get(name)).filter(Boolean);
}

/** Instances in short, those of one operator together: "tag ×4", or "tag ×3 of 4" where there are others. */
export function instanceGroups(scene, instances) {
  const counts = new Map();
  for (const instance of instances) {
    const name = scene.operatorOfInstance.get(instance)?.full ?? instance;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => {
    const all = scene.operatorByName.get(name)?.parallelism ?? 1;
    if (all === 1) return name;
    return count === all ? `${name} ×${all}` : `${name} ×${count} of ${all}`;
  });
}

const inWorld = (node) => ({x: node.x * WORLD, y: node.y * WORLD});

/** Nodes with hardly any delay between them: moved, as little as helps, until each stands for itself. */
function movedApart(places) {
  const box = boxOf(places);
  const least = APART * Math.max(box.right - box.left, box.bottom - box.top, 1e-6);
  const moved = places.map((place) => ({...place}));
  for (let round = 0; round < ROUNDS; round += 1) {
    let near = false;
    for (let one = 0; one < moved.length; one += 1) {
      for (let other = 0; other < one; other += 1) {
        const [across, down] = [moved[one].x - moved[other].x, moved[one].y - moved[other].y];
        const length = Math.hypot(across, down);
        if (length >= least * (1 - 1e-6)) continue;
        near = true;
        // two at one spot have no direction away from each other: their numbers give them one
        const angle = length > 1e-9 ? Math.atan2(down, across) : 2.4 * one;
        const [x, y] = [((least - length) / 2) * Math.cos(angle), ((least - length) / 2) * Math.sin(angle)];
        moved[one].x += x;
        moved[one].y += y;
        moved[other].x -= x;
        moved[other].y -= y;
      }
    }
    if (!near) break;
  }
  return moved;
}

/** Nodes at one place (two providers in one city) stand side by side, so that each can be seen and hit. */
function spread(places) {
  const box = boxOf(places);
  const step = 0.012 * Math.max(box.right - box.left, box.bottom - box.top, 1e-6);
  const groups = new Map();
  places.forEach((place, index) => {
    const key = `${Math.round(place.x / step)},${Math.round(place.y / step)}`;
    groups.set(key, [...(groups.get(key) ?? []), index]);
  });
  const result = [...places];
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const radius = step * (0.7 + 0.28 * group.length);
    group.forEach((index, turn) => {
      const angle = (2 * Math.PI * turn) / group.length;
      result[index] = {x: places[index].x + radius * Math.cos(angle), y: places[index].y + radius * Math.sin(angle)};
    });
  }
  return result;
}

/** How far each point is from the nearest other one. */
function nearestOthers(points) {
  const least = new Float64Array(points.length).fill(Infinity);
  for (let one = 0; one < points.length; one += 1) {
    for (let other = 0; other < one; other += 1) {
      const distance = Math.hypot(points[one].x - points[other].x, points[one].y - points[other].y);
      if (distance < least[one]) least[one] = distance;
      if (distance < least[other]) least[other] = distance;
    }
  }
  return least;
}

function boxOf(points) {
  const box = {left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity};
  for (const {x, y} of points) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return points.length ? box : {left: 0, top: 0, right: 1, bottom: 1};
}
