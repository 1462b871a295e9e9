/** Which labels are drawn where: the important ones first, and none over another. */

const SIDES = [[1, 0], [-1, 0], [0, 1], [0, -1]];

/**
 * @param {{x: number, y: number, room: number, width: number, height: number, weight: number}[]} wanted
 *   `room`: how far from the point a label starts; `weight`: heavier ones come first
 * @param {{width: number, height: number}} sheet
 * @param {number} most
 * @param {number[][]} taken boxes that no label may cover, such as the nodes
 * @returns {{item: any, left: number, top: number}[]}
 */
export function arranged(wanted, sheet, most, taken = []) {
  const placed = [];
  for (const item of [...wanted].sort((one, other) => other.weight - one.weight)) {
    if (placed.length >= most) break;
    if (item.x < -20 || item.y < -20 || item.x > sheet.width + 20 || item.y > sheet.height + 20) continue;
    for (const [across, down] of SIDES) {
      const left = item.x + across * item.room + (across < 0 ? -item.width : across === 0 ? -item.width / 2 : 0);
      const top = item.y + down * item.room + (down < 0 ? -item.height : down === 0 ? -item.height / 2 : 0);
      const box = [left - 2, top - 1, left + item.width + 2, top + item.height + 1];
      if (box[0] < 0 || box[1] < 0 || box[2] > sheet.width || box[3] > sheet.height) continue;
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      placed.push({item, left, top});
      break;
    }
  }
  return placed;
}
