/**
 * A colour for every node, the same as in berth's other pictures (drawing/palette.py): Okabe and Ito's seven, then
 * colours chosen to stay apart for people with colour blindness. The node's name always stands beside its colour.
 */

const COLOURS = [
  "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#772200", "#99ee99", "#770066",
  "#7788ff", "#003399", "#006655", "#bbaa55", "#22eeff", "#996633", "#77cc99", "#ffcc66", "#885588", "#aa0044",
];
const SHADES = [[255, 0], [255, 0.4], [0, 0.3], [255, 0.65], [0, 0.5]];

/** The colour of a node by its number in the problem. */
export function nodeColour(number) {
  const [other, share] = SHADES[Math.floor(number / COLOURS.length) % SHADES.length];
  const mixed = parts(COLOURS[number % COLOURS.length]).map((part) => Math.round(part * (1 - share) + other * share));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever is easier to read on a background (contrast as in WCAG 2). */
export function textColour(background) {
  const light = luminance(parts(background)) + 0.05;
  return light / 0.05 >= 1.05 / light ? "#000000" : "#ffffff";
}

/** A small square in a colour, beside a name that says the same. */
export function swatch(colour) {
  const element = document.createElement("span");
  element.className = "swatch";
  element.style.backgroundColor = colour;
  element.setAttribute("aria-hidden", "true");
  return element;
}

function parts(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
