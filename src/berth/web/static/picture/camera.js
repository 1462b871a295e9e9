/** Which part of a world is seen: screen = world x scale + offset. */

const NEAREST = 60;
const FARTHEST = 0.4;

export class Camera {
  constructor() {
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = 1;
  }

  /** Shows a whole box `{left, top, right, bottom}` in a window of some size, with room at the edges. */
  fit(box, width, height, room, closest = Infinity) {
    const across = Math.max(box.right - box.left, 1e-9);
    const down = Math.max(box.bottom - box.top, 1e-9);
    this.scale = Math.max(1e-9, Math.min((width - 2 * room) / across, (height - 2 * room) / down, closest));
    this.x = width / 2 - this.scale * (box.left + box.right) / 2;
    this.y = height / 2 - this.scale * (box.top + box.bottom) / 2;
    this.fitted = this.scale;
  }

  /** Zooms around a point of the screen, which stays where it is. */
  zoom(factor, x, y) {
    const scale = Math.min(this.fitted * NEAREST, Math.max(this.fitted * FARTHEST, this.scale * factor));
    const real = scale / this.scale;
    this.x = x - (x - this.x) * real;
    this.y = y - (y - this.y) * real;
    this.scale = scale;
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
  }

  toScreen(point) {
    return {x: point.x * this.scale + this.x, y: point.y * this.scale + this.y};
  }
}
