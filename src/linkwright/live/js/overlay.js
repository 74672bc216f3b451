// What lies over the picture: traces, frames, labels, arrows of forces and moments, contacts, the hand.
import { addScaled, carryDirection, carryPoint, dot, norm, scaled } from "./vectors.js";
import { drawCenter, themed } from "./planar.js";
import { contactGap } from "./rebounds.js";
import { formatNumber, prettyName } from "./units.js";

const AXES = ["#D55E00", "#009E73", "#0072B2"];
export const FORCE_COLORS = { reaction: "#009E73", weight: "#8a8a8a", moment: "#CC79A7", hand: "#E69F00", effort: "#0072B2" };

/** Draw an arrow from a to b in pixels. */
export function drawArrow(pen, a, b, color, width = 2) {
  const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(d[0], d[1]);
  if (length < 2) return;
  const u = [d[0] / length, d[1] / length], head = Math.min(11, 0.5 * length), foot = [b[0] - head * u[0], b[1] - head * u[1]];
  pen.path([a, foot]).stroke(color, width);
  pen.path([b, [foot[0] - 0.4 * head * u[1], foot[1] + 0.4 * head * u[0]], [foot[0] + 0.4 * head * u[1], foot[1] - 0.4 * head * u[0]]], true).fill(color);
}

/** Draw a moment about the line of sight as an arc with a head. */
function drawTurn(pen, p, size, color) {
  const radius = 8 + 18 * Math.min(1, Math.abs(size)), sign = Math.sign(size) || 1, c = pen.context;
  const from = -Math.PI * 0.75, to = from - sign * 1.5 * Math.PI * Math.max(0.3, Math.min(1, Math.abs(size)));
  c.beginPath(); c.arc(p[0], p[1], radius, from, to, sign > 0);
  pen.stroke(color, 2);
  const tip = [p[0] + radius * Math.cos(to), p[1] + radius * Math.sin(to)], t = [sign * Math.sin(to), -sign * Math.cos(to)];
  const n = [Math.cos(to), Math.sin(to)];
  pen.path([[tip[0] + 7 * t[0], tip[1] + 7 * t[1]], [tip[0] + 4 * n[0], tip[1] + 4 * n[1]], [tip[0] - 4 * n[0], tip[1] - 4 * n[1]]], true).fill(color);
}

/** The world points where joints, then loops, bear their reactions. */
export function reactionPoints(state) {
  const { scene } = state;
  return [...scene.joints, ...scene.loops.filter((one) => one.places.length).map((one) => one.places[0])]
    .map((one) => state.worldOf(one));
}

/** Draw reactions and weights, scaled so that the largest force is a quarter of the mechanism. */
export function drawForces(pen, state, camera, theme) {
  const { scene } = state, reactions = state.reactions(), { bodies, gravity } = state.masses, size = scene.view.size;
  const forces = [], moments = [];
  if (reactions) {
    reactionPoints(state).forEach((p, k) => {
      const row = reactions.slice(6 * k, 6 * k + 6);
      if (row.length === 6) { forces.push({ p, f: row.slice(3), color: FORCE_COLORS.reaction }); moments.push({ p, m: row.slice(0, 3) }); }
    });
  }
  for (const body of bodies) if (body.link >= 0 && body.mass > 0) forces.push({ p: state.worldOf(body), f: scaled(gravity, body.mass), color: FORCE_COLORS.weight });
  const largest = Math.max(1e-12, ...forces.map((one) => norm(one.f))), length = (0.28 * size) / largest;
  const turn = Math.max(1e-12, ...moments.map((one) => norm(one.m)));
  for (const { p, f, color } of forces) {
    if (norm(f) > 0.01 * largest) drawArrow(pen, camera.project(p), camera.project(addScaled(p, f, length)), themed(color, theme), 2.2);
  }
  for (const { p, m } of moments) {
    if (norm(m) < 0.02 * turn || norm(m) < 1e-9 * largest * size) continue;
    if (camera.planar) drawTurn(pen, camera.project(p), dot(m, camera.toward) / turn, themed(FORCE_COLORS.moment, theme));
    else {
      const tip = addScaled(p, m, (0.2 * size) / turn), a = camera.project(p), b = camera.project(tip);
      drawArrow(pen, a, b, themed(FORCE_COLORS.moment, theme), 1.6);
      drawArrow(pen, a, camera.project(addScaled(p, m, (0.17 * size) / turn)), themed(FORCE_COLORS.moment, theme), 1.6);
    }
  }
  pen.context.font = "12px sans-serif";
  pen.text(`longest arrow: ${formatNumber(largest, 3)} N${turn > 1e-9 ? `, ${formatNumber(turn, 3)} N m` : ""}`, 10, 16, theme.ink);
}

/** Draw the axes of frames with their names. */
function drawFrames(pen, state, camera, look, theme) {
  const length = 5 * state.scene.view.sign;
  for (const frame of state.scene.frames) {
    const p = state.worldOf(frame), a = camera.project(p);
    for (let k = 0; k < 3; k++) {
      const d = carryDirection(state.poses, frame.link, frame.rotation.map((row) => row[k]));
      pen.path([a, camera.project(addScaled(p, d, length))]).stroke(AXES[k], 1.8);
    }
    pen.disc(a, 2).fill(theme.ink);
  }
}

/** Write names of joints and frames where they do not cover each other. */
function drawLabels(pen, state, camera, theme) {
  const taken = [];
  pen.context.font = "italic 13px sans-serif";
  const places = [
    ...state.scene.joints.map((one) => ({ name: one.name, p: state.worldOf(one) })),
    ...state.scene.frames.map((one) => ({ name: one.name, p: state.worldOf(one) })),
  ];
  for (const { name, p } of places.slice(0, 80)) {
    const [x, y] = camera.project(p), text = prettyName(name), wide = pen.context.measureText(text).width;
    const spot = [[9, -11], [9, 12], [-9 - wide, -11], [-9 - wide, 12], [14, 0]].map(([dx, dy]) => [x + dx, y + dy])
      .find(([left, top]) => !taken.some((b) => left < b[0] + b[2] && left + wide > b[0] && Math.abs(top - b[1]) < 15));
    if (!spot) continue;
    taken.push([...spot, wide]);
    pen.context.lineJoin = "round"; pen.context.strokeStyle = theme.paper; pen.context.lineWidth = 3;
    pen.context.textBaseline = "middle"; pen.context.textAlign = "left";
    pen.context.strokeText(text, spot[0], spot[1]);
    pen.text(text, spot[0], spot[1], theme.ink);
  }
}

/** The points of a line on the picture that are at least a pixel from the one before; its end stays. */
export function thinned(points) {
  let last = points[0];
  return points.filter((p, k) => {
    const kept = k === 0 || k === points.length - 1 || Math.abs(p[0] - last[0]) + Math.abs(p[1] - last[1]) >= 1;
    if (kept) last = p;
    return kept;
  });
}

/** Draw paths of traced points: of the recorded run in gray, of the live motion in colour. */
export function drawTraces(pen, paths, camera, theme) {
  for (const { points, recorded } of paths) {
    if (points.length < 2) continue;
    pen.path(thinned(points.map((p) => camera.project(p)))).stroke(recorded ? theme.gray : themed("#E69F00", theme), recorded ? 1.1 : 1.8, recorded ? [4, 4] : []);
  }
}

/** Draw the points where contacts may touch; those that touch are filled. */
function drawContacts(pen, state, camera, theme) {
  const color = themed("#D55E00", theme);
  for (const one of state.scene.contacts) {
    const p = carryPoint(state.poses, one.link, one.point), n = carryDirection(state.poses, one.plane.link, one.plane.normal), gap = contactGap(state.poses, one);
    const foot = camera.project(addScaled(p, n, -one.radius));
    pen.disc(foot, 4.5);
    if (gap <= 2e-3 * state.scene.view.size) pen.fill(color); else pen.stroke(color, 1.5);
  }
}

/** The world axes in a corner. */
function drawCompass(pen, camera, theme) {
  if (camera.planar && camera.wide < 480) return; // no corner is free there
  const x = 30, y = camera.high - 28;
  pen.context.font = "italic 12px sans-serif";
  ["x", "y", "z"].forEach((name, k) => {
    const d = [camera.right[k], -camera.up[k]];
    if (Math.hypot(d[0], d[1]) < 0.12) return;
    pen.path([[x, y], [x + 20 * d[0], y + 20 * d[1]]]).stroke(theme.gray, 1.4);
    pen.text(name, x + 28 * d[0], y + 28 * d[1], theme.gray, "center");
  });
}

/** Draw everything that lies over the picture. */
export function drawOverlay(pen, state, camera, look, theme, extras) {
  if (look.traces) drawTraces(pen, extras.paths, camera, theme);
  if (!camera.planar && look.frames) drawFrames(pen, state, camera, look, theme);
  if (!camera.planar && look.centers) for (const body of state.scene.bodies) if (body.link >= 0 && body.mass > 0) drawCenter(pen, camera.project(state.worldOf(body)), 4.5, theme);
  if (state.scene.contacts.length) drawContacts(pen, state, camera, theme);
  if (look.forces && state.canMove) drawForces(pen, state, camera, theme);
  if (look.labels) drawLabels(pen, state, camera, theme);
  if (extras.hand) {
    const a = camera.project(carryPoint(state.poses, extras.hand.link, extras.hand.point)), b = camera.project(extras.hand.target);
    pen.path([a, b]).stroke(FORCE_COLORS.hand, 2.5, [3, 4]);
    pen.disc(a, 4).fill(FORCE_COLORS.hand); pen.disc(b, 5).stroke(FORCE_COLORS.hand, 2);
  }
  drawCompass(pen, camera, theme);
}
