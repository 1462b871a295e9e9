/** Numbers as people read them, with their units. The rules are those of berth's own pictures. */

const STEPS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** Any amount: 5, 0.25, 1.25k, 64G. */
export function quantity(value) {
  const [text, prefix] = scaled(value);
  return text + prefix;
}

/** Bytes per second: 1.5 MB/s. */
export function byteRate(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  const [text, prefix] = scaled(value);
  return `${text} ${prefix}B/s`;
}

/** Bytes: 4 GB. */
export function bytes(value) {
  const [text, prefix] = scaled(value);
  return `${text} ${prefix}B`;
}

/** A time: 0.91 ms, 31.8 ms, 1,250 ms. */
export function milliseconds(value) {
  const size = Math.abs(value);
  return `${rounded(value, size >= 1000 ? 0 : size >= 10 ? 1 : 2)} ms`;
}

/** A duration: 0.42 s, 12 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds) {
  if (seconds < 10) return `${rounded(seconds, 2)} s`;
  if (seconds < 120) return `${rounded(seconds, 0)} s`;
  return seconds < 7200 ? twoParts(seconds, 60, "min", "s") : twoParts(seconds / 60, 60, "h", "min");
}

/** A number of small parts, so many of which are a large one; without the small ones where there are none. */
function twoParts(count, size, large, small) {
  const whole = Math.round(count);
  const rest = whole % size;
  return `${Math.floor(whole / size)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
}

/** A share: 60 %, 4.2 %, 99.95 %. */
export function percent(share) {
  const value = 100 * share;
  const size = Math.abs(value);
  if (size > 0 && size < 0.05) return value < 0 ? "> −0.1 %" : "< 0.1 %";
  if (size > 99 && size < 100) return `${rounded(Math.floor(value * 100) / 100, 2)} %`;
  return `${rounded(value, size < 10 ? 1 : 0)} %`;
}

/** A number without a unit: at most four digits that matter. */
export function plain(value) {
  if (!Number.isFinite(value)) return "unknown";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toPrecision(3);
  return value.toLocaleString("en", {maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : 4});
}

/** How many of something: 1 node, 3 nodes. */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** A value with a sign, for differences; the minus is a real one. */
export function signed(text, value) {
  return value < 0 ? `−${text.replace(/^[-−]/, "")}` : `+${text}`;
}

/** A resource's amount: memory is in bytes by custom, everything else is a count. */
export function resource(name, value) {
  return /memory|bytes|disk|storage/.test(name) ? bytes(value) : quantity(value);
}

/** A point in time as people say it: 14:05:10 today, otherwise with the date. */
export function moment(value) {
  const date = value instanceof Date ? value : new Date(typeof value === "number" ? value * 1000 : value);
  if (Number.isNaN(date.getTime())) return "";
  const time = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString("en-CA")} ${time}`;
}

function scaled(value) {
  for (const [step, prefix] of [...STEPS, [1, ""]]) {
    if (Math.abs(value) >= step * 0.9995) return [threeDigits(value / step), prefix];
  }
  return [threeDigits(value), ""];
}

function threeDigits(value) {
  if (value === 0) return "0";
  const digits = Math.max(3, String(Math.trunc(Math.abs(value))).length);
  return String(Number(value.toPrecision(digits)));
}

function rounded(value, decimals) {
  return Number(value.toFixed(decimals)).toLocaleString("en", {maximumFractionDigits: decimals});
}
