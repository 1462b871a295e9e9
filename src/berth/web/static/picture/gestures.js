/**
 * Wheel, pinch, drag and keys on a camera: the same for the map and the graph. On touch screens one finger up and down
 * still scrolls the page (touch-action: pan-y in the style sheet), two fingers move and zoom the picture.
 */

const KEY_STEP = 60;
const KEY_ZOOM = 1.3;
const STILL = 5;

/**
 * @param {HTMLElement} element what is touched
 * @param {import("./camera.js").Camera} camera
 * @param {{changed: () => void, reset: () => void, tapped?: (x: number, y: number, event: PointerEvent) => void, movable?: (event: PointerEvent) => boolean}} on
 * @returns {{zoomBy: (factor: number) => void}} what buttons call
 */
export function gestures(element, camera, on) {
  const pointers = new Map();
  let start = null;
  let moved = false;

  const place = (event) => {
    const box = element.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const zoomBy = (factor) => {
    const box = element.getBoundingClientRect();
    camera.zoom(factor, box.width / 2, box.height / 2);
    on.changed();
  };

  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const {x, y} = place(event);
    camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y);
    on.changed();
  }, {passive: false});

  element.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || (on.movable && !on.movable(event))) return;
    pointers.set(event.pointerId, place(event));
    start = place(event);
    moved = false;
  });
  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    if (!moved && Math.hypot(now.x - start.x, now.y - start.y) > STILL) {
      moved = true;
      element.setPointerCapture(event.pointerId);
    }
    if (!moved && pointers.size === 1) return;
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const distance = (point) => Math.max(20, Math.hypot(point.x - other.x, point.y - other.y));
      camera.zoom(distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      camera.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    } else {
      camera.pan(now.x - before.x, now.y - before.y);
    }
    pointers.set(event.pointerId, now);
    on.changed();
  });
  const ended = (event) => {
    const was = pointers.delete(event.pointerId);
    if (was && !moved && event.type === "pointerup" && pointers.size === 0) {
      const {x, y} = place(event);
      on.tapped?.(x, y, event);
    }
  };
  element.addEventListener("pointerup", ended);
  element.addEventListener("pointercancel", ended);

  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = {ArrowLeft: [KEY_STEP, 0], ArrowRight: [-KEY_STEP, 0], ArrowUp: [0, KEY_STEP], ArrowDown: [0, -KEY_STEP]};
    if (steps[event.key]) camera.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") return event.preventDefault(), zoomBy(KEY_ZOOM);
    else if (event.key === "-") return event.preventDefault(), zoomBy(1 / KEY_ZOOM);
    else if (event.key === "0") return event.preventDefault(), on.reset();
    else return;
    event.preventDefault();
    on.changed();
  });
  return {zoomBy};
}
