/**
 * Building the page without markup in strings: what users wrote (names, messages) only ever becomes text, so that
 * nothing in a file can act as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes: `class`, `on*` functions, `dataset`, booleans, anything else as an attribute. */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element, by the same rules. */
export function s(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces all that an element contains. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Makes an id that no other element has, for labels and descriptions. */
export function freshId(prefix) {
  freshId.last = (freshId.last ?? 0) + 1;
  return `${prefix}-${freshId.last}`;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}
