/** Axes: round numbers for ticks, and values to places. */

/** About `count` round numbers that cover a range. */
export function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const result = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) result.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return result;
}

const TIMES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** About `count` moments that cover a range of seconds: whole minutes and hours, where there are some. */
export function timeTicks(low, high, count = 5) {
  const step = TIMES.find((one) => one >= ((high - low) / count) * 0.999);
  if (high - low < count || step === undefined) return ticks(low, high, count);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({length: Math.floor(high / step + 1e-9) - first + 1}, (_, index) => (first + index) * step);
}

/** A linear scale with a little room at both ends; of equal values a range around them. */
export function scale(values, from, to, {zero = false, room = 0.06} = {}) {
  const known = values.filter(Number.isFinite);
  let low = known.length ? Math.min(...known) : 0;
  let high = known.length ? Math.max(...known) : 1;
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === 0 && high === 0) high = 1;
  if (high - low <= Math.abs(high) * 1e-9) [low, high] = [low - Math.max(1, Math.abs(low)) * 0.1, high + Math.max(1, Math.abs(high)) * 0.1];
  const margin = (high - low) * room;
  if (low !== 0) low -= margin;
  high += margin;
  const place = (value) => from + ((value - low) / (high - low)) * (to - from);
  return {low, high, place};
}
