// What the camera keeps in view: the centre of mass of a running mechanism, or all that moves.
import { setCoordinate } from "./closing.js";
import { addScaled, carryPoint, dot } from "./vectors.js";

const FREE_JOINTS = new Set(["free", "planar"]), LOOSE_SHARE = 0.15, SWEEP_STEP = 0.3, MAX_SWEPT = 3;

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

/** Move the camera with a point that travels, as soon as it leaves the middle of the picture, or
 *  the part of it between the middle and where the point was at first. */
export function followPoint(camera, point) {
  if (!point.every(Number.isFinite)) return;
  camera.anchor ??= point;
  const away = (p, way) => dot(p, way) - dot(camera.middle, way);
  camera.reach ??= [camera.right, camera.up, camera.toward].map((way) => Math.abs(away(camera.anchor, way)));
  const ways = [[camera.right, camera.wide], [camera.up, camera.high], [camera.toward, Math.min(camera.wide, camera.high)]];
  ways.forEach(([way, room], k) => {
    const loose = Math.max((LOOSE_SHARE * room) / camera.scale, camera.reach[k]), far = away(point, way);
    if (Math.abs(far) > loose) camera.middle = addScaled(camera.middle, way, far - Math.sign(far) * loose);
  });
  camera.anchor = point;
}

/** Enlarge a first view in the plane to all that a linkage reaches as its free coordinates turn.
 *  @returns {object} the view */
export function viewOfReach(state) {
  const { scene } = state, { view } = scene, free = scene.independent.map((name) => scene.coordinates.findIndex((one) => one.name === name)).filter((k) => k >= 0 && scene.coordinates[k].unit === "rad");
  if (!view.planar || !state.hasLoops || scene.run || !free.length || free.length > MAX_SWEPT) return view;
  const start = Float64Array.from(state.q), ways = [view.right, view.up];
  const ends = ways.map((way, i) => [dot(view.middle, way) - view.extent[i] / 2, dot(view.middle, way) + view.extent[i] / 2]);
  for (const k of free) {
    for (const sign of [1, -1]) {
      for (let turn = SWEEP_STEP; turn < Math.PI + SWEEP_STEP; turn += SWEEP_STEP) {
        const stuck = setCoordinate(state, k, start[k] + sign * Math.min(turn, Math.PI));
        for (const p of movingPoints(state)) ways.forEach((way, i) => { const at = dot(p, way); ends[i] = [Math.min(ends[i][0], at), Math.max(ends[i][1], at)]; });
        if (stuck) break;
      }
      state.q.set(start);
      state.touch();
    }
  }
  const middle = ways.reduce((sum, way, i) => addScaled(sum, way, (ends[i][0] + ends[i][1]) / 2 - dot(view.middle, way)), view.middle);
  return { ...view, middle, extent: ends.map(([low, high]) => high - low) };
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
