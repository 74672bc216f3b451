// What the camera keeps in view: the centre of mass of a running mechanism, or all that moves.
import { addScaled, carryPoint, norm, scaled, subtract } from "./vectors.js";

const FREE_JOINTS = new Set(["free", "planar"]), LOOSE_SHARE = 0.08;

/** Whether some body can leave the place where the mechanism stands: none that loops tie to it. */
export function canLeave(scene) {
  const root = (link) => (link < 0 || scene.links[link] < 0 ? link : root(scene.links[link]));
  const free = new Set(scene.joints.filter((one) => FREE_JOINTS.has(one.type) && one.parent === "ground" && one.links.length).map((one) => root(one.links[0])));
  for (const { places } of scene.loops) {
    const [a, b] = places.length === 2 ? places.map((one) => root(one.link)) : [0, 0];
    if (a !== b && !(free.has(a) && free.has(b))) { free.delete(a); free.delete(b); }
  }
  return free.size > 0;
}

/** The centre of mass of all moving bodies; their mean point if they have no mass. */
export function massCenter(state) {
  const bodies = state.masses.bodies.filter((one) => one.link >= 0), total = bodies.reduce((sum, one) => sum + one.mass, 0);
  const share = (one) => (total > 0 ? one.mass / total : 1 / bodies.length);
  return bodies.reduce((sum, one) => addScaled(sum, state.worldOf(one), share(one)), [0, 0, 0]);
}

/** Move the camera with a point that travels: small motions about a place leave it at rest. */
export function followPoint(camera, point) {
  camera.anchor ??= point;
  const way = subtract(point, camera.anchor), loose = (LOOSE_SHARE * Math.min(camera.wide, camera.high)) / camera.scale, length = norm(way);
  if (!Number.isFinite(length) || length <= loose) return;
  const step = scaled(way, 1 - loose / length);
  camera.anchor = addScaled(camera.anchor, step);
  camera.middle = addScaled(camera.middle, step);
}

/** Points that a picture of all moving bodies must contain. */
export function movingPoints(state) {
  const { scene } = state, found = scene.bodies.filter((one) => one.link >= 0).map((one) => state.worldOf(one));
  for (const glyph of scene.glyphs) if (glyph.link >= 0 && glyph.group !== "frames") glyph.points.forEach((p, k) => found.push(state.world(glyph.link, p, glyph.anchors[k])));
  for (const part of scene.meshes?.parts ?? []) {
    if (part.link < 0) continue;
    for (let c = 0; c < 8; c++) found.push(carryPoint(state.poses, part.link, [0, 1, 2].map((k) => part.low[k] + ((c >> k) & 1) * 65535 * part.step[k])));
  }
  for (const shape of scene.shapes) if (shape.link >= 0) found.push(carryPoint(state.poses, shape.link, shape.point));
  return found.filter((p) => p.every(Number.isFinite));
}
