/** Which labels are drawn where: the important ones first, and none over another. */

/** Beside the point, under it, over it, then at its corners. */
const SIDES = [[1, 0], [-1, 0], [0, 1], [0, -1], [0.75, 0.75], [-0.75, 0.75], [0.75, -0.75], [-0.75, -0.75]];

/**
 * @param {{x: number, y: number, room: number, width: number, height: number, weight: number}[]} wanted
 *   `room`: how far from the point a label starts; `weight`: heavier ones come first
 * @param {{width: number, height: number}} sheet
 * @param {number} most
 * @param {number[][]} taken boxes that no label may cover, such as the nodes
 * @param {{x: number, y: number}[]} lines points that labels had better not cover, such as those of arrows
 * @returns {{item: any, left: number, top: number}[]}
 */
export function arranged(wanted, sheet, most, taken = [], lines = []) {
  const placed = [];
  for (const item of [...wanted].sort((one, other) => other.weight - one.weight)) {
    if (placed.length >= most) break;
    if (item.x < -20 || item.y < -20 || item.x > sheet.width + 20 || item.y > sheet.height + 20) continue;
    let best = null;
    for (const [across, down] of SIDES) {
      const wished = item.x + across * item.room + (across < 0 ? -item.width : across === 0 ? -item.width / 2 : 0);
      // over or under its point a label may be moved to stay on the sheet
      const left = across === 0 ? Math.max(2, Math.min(wished, sheet.width - item.width - 2)) : wished;
      const top = item.y + down * item.room + (down < 0 ? -item.height : down === 0 ? -item.height / 2 : 0);
      const box = [left - 2, top - 1, left + item.width + 2, top + item.height + 1];
      if (box[0] < 0 || box[1] < 0 || box[2] > sheet.width || box[3] > sheet.height) continue;
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      const covered = lines.filter(({x, y}) => box[0] < x && x < box[2] && box[1] < y && y < box[3]).length;
      if (!best || covered < best.covered) best = {box, left, top, covered};
      if (!covered) break;
    }
    if (best) {
      taken.push(best.box);
      placed.push({item, left: best.left, top: best.top});
    }
  }
  return placed;
}
