/** The Earth under a network whose nodes say where they are: projection, coast lines, graticule. */

const RADIANS = Math.PI / 180;

/** Miller's cylindrical projection: shapes stay familiar, and the poles stay on the sheet. Degrees to degrees. */
export function project(longitude, latitude) {
  const bounded = Math.max(-85, Math.min(85, latitude));
  return {x: longitude, y: -1.25 * Math.log(Math.tan(Math.PI / 4 + 0.4 * bounded * RADIANS)) / RADIANS};
}

let land = null;

/** The coast lines as a path in projected degrees; loaded once, and the map does without them if that fails. */
export function coastLines() {
  land ??= fetch(new URL("../data/land.json", import.meta.url))
    .then((answer) => (answer.ok ? answer.json() : {rings: []}))
    .then((document) => asPath(document.rings))
    .catch(() => new Path2D());
  return land;
}

/** Meridians and parallels as a path, as far apart as suits the extent that is seen. */
export function graticule(extentInDegrees) {
  const step = [2, 5, 10, 15, 30].find((one) => extentInDegrees / one <= 12) ?? 30;
  const path = new Path2D();
  for (let longitude = -180; longitude <= 180; longitude += step) {
    path.moveTo(longitude, project(longitude, 84).y);
    path.lineTo(longitude, project(longitude, -84).y);
  }
  for (let latitude = -80; latitude <= 80; latitude += step) {
    const {y} = project(0, latitude);
    path.moveTo(-180, y);
    path.lineTo(180, y);
  }
  return path;
}

function asPath(rings) {
  const path = new Path2D();
  for (const ring of rings) {
    for (let at = 0; at < ring.length; at += 2) {
      const {x, y} = project(ring[at] / 10, ring[at + 1] / 10);
      if (at === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    }
    path.closePath();
  }
  return path;
}
