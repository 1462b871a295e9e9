/** Where boxes and streams are: layers from left to right, or from top to bottom where that leaves the letters larger. */

export const BOX = {width: 128, height: 42};
const ALONG = {across: 166, down: 74};
const BESIDE = {across: 146, down: 62};
const HEAD = 30;
const GAP = 24;

/**
 * @param {any[]} applications of a scene
 * @param {{width: number, height: number}} window what it is meant to fit
 * @returns {{places: {x: number, y: number}[][], heads: {x: number, y: number}[], size: any, downwards: boolean, scale: number}}
 */
export function graphLayout(applications, window) {
  const [rightwards, downwards] = [arranged(applications, false), arranged(applications, true)];
  const scale = ({size}) => Math.min((window.width - 32) / size.right, (window.height - 32) / size.bottom);
  const best = scale(downwards) > 1.15 * scale(rightwards) ? downwards : rightwards;
  return {...best, scale: scale(best)};
}

/** The way of a stream between two boxes, and the tip of its arrow. */
export function streamPath(from, to, downwards) {
  const [width, height] = [BOX.width, BOX.height];
  if (downwards) {
    const [x1, y1, x2, y2] = [from.x + width / 2, from.y + height, to.x + width / 2, to.y];
    const half = Math.max(18, (y2 - y1) / 2);
    return {way: `M${x1} ${y1}C${x1} ${y1 + half} ${x2} ${y2 - half} ${x2} ${y2 - 7}`, tip: `M${x2} ${y2}l-5 -9h10z`};
  }
  const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2];
  const half = Math.max(30, (x2 - x1) / 2);
  return {way: `M${x1} ${y1}C${x1 + half} ${y1} ${x2 - half} ${y2} ${x2 - 7} ${y2}`, tip: `M${x2} ${y2}l-9 -5v10z`};
}

function arranged(applications, downwards) {
  const head = applications.length > 1 ? HEAD : 0;
  const size = {left: 0, top: 0, right: 0, bottom: 0};
  const [places, heads] = [[], []];
  let start = 0;
  for (const application of applications) {
    const beside = application.height - 1;
    heads.push(downwards ? {x: start, y: 14} : {x: 0, y: start + 14});
    places.push(application.operators.map((operator) => (downwards
      ? {x: start + operator.y * beside * BESIDE.across, y: head + operator.layer * ALONG.down}
      : {x: operator.layer * ALONG.across, y: start + head + operator.y * beside * BESIDE.down})));
    for (const {x, y} of places.at(-1)) {
      size.right = Math.max(size.right, x + BOX.width);
      size.bottom = Math.max(size.bottom, y + BOX.height);
    }
    start = downwards ? size.right + GAP : size.bottom + GAP;
  }
  return {places, heads, size, downwards};
}
