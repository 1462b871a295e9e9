/** The style sheet's colours for the canvas, which doesn't see it; read again when light turns to dark. */

const NAMES = ["ground", "card", "sunken", "line", "strong-line", "ink", "soft", "accent", "bad", "warn", "good", "land", "coast", "sea", "graticule", "focus", "series-2"];
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let colours = null;

/** The colours by their names. */
export function theme() {
  if (!colours) {
    const style = getComputedStyle(document.documentElement);
    colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
  return colours;
}

/** Calls back when the colours change; returns how to end that. */
export function onThemeChange(callback) {
  const listener = () => {
    colours = null;
    callback();
  };
  dark.addEventListener("change", listener);
  return () => dark.removeEventListener("change", listener);
}
