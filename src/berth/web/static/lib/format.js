/**
 * Numbers as people read them, with their units: the rules of `berth/amounts.py`, to the letter.
 * A test holds the two together.
 */

const DIGITS = 3;
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const PREFIXED = {"bytes/s": "B/s", bytes: "B", "B·s": "B·s", "g/h": "g/h"};
const COUNTS = ["nodes", "containers", "instances"];
/** Of anything else: from here on it takes a prefix, too. */
const MANY = 1e6;
const NOUNS = {processors: "processor", points: "point"};
const LONGEST = 12;
const SAME = 1e-9;

/** A value with its unit: 18.6 MB/s, 67.6 ms, 1.2 s, 3.4 GB, 0.12 /h, 99.2 %, 2.3 processors, 12. */
export function inUnit(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return unit === "share" ? percentText(100 * value) : withUnit(value, unit ?? "");
}

/** What has been added, with a sign: +3.2 ms, -1.2 MB/s, +0.5 points; empty where nothing has changed or is known. */
export function change(before, after, unit) {
  if (typeof before !== "number" || typeof after !== "number") return "";
  if (Math.abs(after - before) <= SAME * Math.max(Math.abs(before), Math.abs(after))) return "";
  return signed(after - before, unit);
}

/** A difference with its sign and unit. */
export function signed(step, unit) {
  return (step < 0 ? "" : "+") + distance(step, unit);
}

/** How far two values are apart: 3.2 ms; shares are so many points apart. */
export function distance(step, unit) {
  return unit === "share" ? inUnit(100 * step, "points") : inUnit(step, unit);
}

/** Any amount: 5, 0.25, 1.25k, 64G. */
export const quantity = (value) => inUnit(value, "");

/** Bytes per second: 1.5 MB/s. */
export const byteRate = (value) => inUnit(value, "bytes/s");

/** Bytes: 4 GB. */
export const bytes = (value) => inUnit(value, "bytes");

/** A time: 0.91 ms, 31.8 ms, 1.25 s. */
export const milliseconds = (value) => inUnit(value, "ms");

/** A share: 60 %, 4.2 %, 99.95 %. */
export const percent = (share) => inUnit(share, "share");

/** A duration: 0.42 s, 12 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds) {
  if (seconds < 120) return `${digits(seconds < 10 ? seconds : Math.round(seconds))} s`;
  return seconds < 7200 ? twoParts(seconds, 60, "min", "s") : twoParts(seconds / 60, 60, "h", "min");
}

/** A number of small parts, so many of which are a large one; without the small ones where there are none. */
function twoParts(count, size, large, small) {
  const whole = Math.round(count);
  const rest = whole % size;
  return `${Math.floor(whole / size)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
}

/** How many of something: 1 node, 3 nodes. */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** A point in time as people say it: 14:05:10 today, otherwise with the date. */
export function moment(value) {
  const date = value instanceof Date ? value : new Date(typeof value === "number" ? value * 1000 : value);
  if (Number.isNaN(date.getTime())) return "";
  const time = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString("en-CA")} ${time}`;
}

function withUnit(value, unit) {
  if (COUNTS.includes(unit)) return digits(value);
  if (unit === "ms") return Math.abs(value) >= 999.5 ? `${digits(value / 1e3)} s` : `${digits(value)} ms`;
  if (unit === "") return scaled(value).join("");
  if (unit in PREFIXED) {
    const [text, prefix] = scaled(value);
    return `${text} ${prefix}${PREFIXED[unit]}`;
  }
  // amounts of a resource may be bytes without saying so
  const text = Math.abs(value) >= MANY ? scaled(value).join("") : digits(value);
  return `${text} ${text === "1" || text === "-1" ? NOUNS[unit] ?? unit : unit}`;
}

/** What is nearly nothing or nearly everything is neither. */
function percentText(value) {
  const missing = 100 - value;
  if (value !== 0 && Math.abs(value) < 0.001) return value > 0 ? "<0.001 %" : ">-0.001 %";
  if (missing > 100 * SAME && missing < 1) {
    // Two digits of what is missing: 99.2, 99.95, 99.999.
    return `${grouped(Number(value.toFixed(1 - exponentOf(missing))))} %`;
  }
  return `${digits(value)} %`;
}

/** The digits and the prefix of the unit. */
function scaled(value) {
  for (const [step, prefix] of PREFIXES) {
    if (Math.abs(value) >= step * 0.9995) return [digits(value / step), prefix];
  }
  return [digits(value), ""];
}

/** Three digits that matter, more before the point: 0.25, 57.6, 1,250; 1.2e-5 for what is tiny or huge. */
function digits(value) {
  if (value === 0) return "0";
  const size = exponentOf(value);
  const rounded = Number(value.toPrecision(Math.abs(size) > LONGEST ? DIGITS : Math.max(DIGITS, size + 1)));
  const exponent = exponentOf(rounded);
  if (exponent > -5 && exponent <= LONGEST) return grouped(rounded);
  return rounded.toExponential().replace("e+", "e");
}

/** The power of ten of a number's first digit. */
const exponentOf = (value) => Number(value.toExponential().split("e")[1]);

/** All digits, the thousands apart. */
const grouped = (value) => value.toLocaleString("en", {maximumFractionDigits: 20});
