// Coordinates that people set: loops close by continuation in small steps; bodies follow the mouse.
import { carryPoint, orthonormalRows, solvePositive, withoutRows } from "./vectors.js";

const MAX_STEP = 0.08, MIN_SHARE = 1 / 512, MAX_JUMP = 0.6;

/** Numbers between two vectors. */
export function between(a, b, share) { return Float64Array.from(a, (v, k) => v + share * (b[k] - v)); }

/** Go from one point of a path to its end in small steps, each of which must succeed.
 *  @param {(share: number) => boolean} attempt takes the step that ends at a share of the path
 *  @param {number} parts the number of steps to begin with @returns {number} the share that was reached */
export function continueAlong(attempt, parts) {
  let done = 0, step = 1 / Math.max(1, parts);
  while (done < 1) {
    const next = Math.min(1, done + step);
    if (attempt(next)) { done = next; step = Math.min(1, 1.5 * step); } else { step /= 2; if (!(step >= MIN_SHARE)) break; }
  }
  return done;
}

/** The names of velocities that are held while a coordinate is dragged. */
function heldNames(state, k) {
  const own = state.scene.velocities[state.scene.coordinates[k].velocity]?.name;
  const free = state.scene.independent;
  return free.includes(own) ? free : own === undefined ? [] : [own];
}

/** Close the loops near q. @returns {Float64Array | null} */
function closeNear(state, q, p, hold, from) {
  const found = state.functions.close({ q, p: Array.from(p), t: state.t, hold });
  const jump = Math.max(...found.q.map((v, k) => Math.abs(v - from[k])));
  return found.closed && found.q.every(Number.isFinite) && jump < MAX_JUMP ? found.q : null;
}

/** Set one coordinate. Loops follow; where they cannot close, the last good state stays.
 *  @returns {string} a sentence if the value was not reached, else nothing */
export function setCoordinate(state, k, value) {
  const one = state.scene.coordinates[k], start = state.q[k];
  const limited = Math.min(one.limited[1] ? one.upper : Infinity, Math.max(one.limited[0] ? one.lower : -Infinity, value));
  if (!state.hasLoops || one.velocity < 0) {
    state.q[k] = limited;
    if (one.unit === "1") normalizeQuaternions(state, k);
    if (state.hasLoops) return closeAll(state, state.p) ? "" : "The loops cannot close there.";
    state.touch();
    return "";
  }
  const attempt = (hold) => (share) => {
    const q = Float64Array.from(state.q);
    q[k] = start + share * (limited - start);
    const found = closeNear(state, q, state.p, hold, state.q);
    if (found) state.q.set(found);
    return found !== null;
  };
  const held = heldNames(state, k), parts = Math.ceil(Math.abs(limited - start) / MAX_STEP);
  const done = continueAlong(attempt(held), parts);
  if (done < 1 && held.length > 1) {
    const own = [state.scene.velocities[one.velocity].name], from = state.q[k];
    continueAlong((share) => {
      const q = Float64Array.from(state.q);
      q[k] = from + share * (limited - from);
      const found = closeNear(state, q, state.p, own, state.q);
      if (found) state.q.set(found);
      return found !== null;
    }, parts);
  }
  state.touch();
  const reached = Math.abs(state.q[k] - limited) < 1e-9;
  return reached ? "" : `The loops cannot close beyond ${one.name} = ${state.q[k].toPrecision(4)}; the last good position stays.`;
}

/** Keep quaternions at unit length after one of their entries was set. */
function normalizeQuaternions(state, k) {
  const names = state.scene.coordinates, stem = names[k].name.replace(/[^.]*$/, "");
  const group = names.map((one, i) => (one.unit === "1" && one.name.startsWith(stem) ? i : -1)).filter((i) => i >= 0);
  const rest = Math.hypot(...group.filter((i) => i !== k).map((i) => state.q[i]));
  const own = Math.max(-1, Math.min(1, state.q[k])), room = Math.sqrt(Math.max(0, 1 - own * own));
  state.q[k] = own;
  const others = group.filter((i) => i !== k);
  if (rest > 1e-12) for (const i of others) state.q[i] *= room / rest;
  else if (others.length) state.q[others[0]] = room;
}

/** Close all loops at parameters p. @returns {boolean} */
export function closeAll(state, p, hold = state.scene.independent) {
  if (!state.hasLoops) return true;
  const found = closeNear(state, state.q, p, hold, state.q) ?? closeNear(state, state.q, p, [], state.q);
  if (!found) return false;
  state.q.set(found);
  state.touch();
  return true;
}

/** Take values of another scene by their names, and close the loops; where they cannot close, the start stays.
 *  @param {{q: object, parameters: object}} keep @returns {boolean} whether they close */
export function restoreState(state, keep) {
  state.scene.parameters.forEach((one, k) => { if (Object.hasOwn(keep.parameters, one.name)) state.p[k] = keep.parameters[one.name]; });
  state.scene.coordinates.forEach((one, k) => { if (Object.hasOwn(keep.q, one.name)) state.q[k] = keep.q[one.name]; });
  state.touch();
  const isClosed = closeAll(state, state.p);
  if (!isClosed) state.resetAll();
  return isClosed;
}

/** Set parameters; loops follow in small steps. Where they cannot close, the last good values stay.
 *  @returns {string} a sentence if the values were not reached */
export function setParameters(state, values) {
  const from = Float64Array.from(state.p), to = Float64Array.from(values);
  if (!state.hasLoops) { state.p.set(to); state.touch(); return ""; }
  const change = Math.max(0, ...to.map((v, k) => Math.abs(v - from[k]) / Math.max(1e-9, Math.abs(from[k]), Math.abs(v))));
  const done = continueAlong((share) => {
    const p = share >= 1 ? to : between(from, to, share);
    if (!closeAll(state, p)) return false;
    state.p.set(p);
    return true;
  }, Math.ceil(change / 0.1));
  state.touch();
  return done >= 1 ? "" : "The loops cannot close with this value; the last good one stays.";
}

/** The Jacobian (3 × nv) of a point of a link, by differences. */
export function pointJacobian(state, link, point) {
  const n = state.scene.velocities.length, h = 1e-6, columns = [];
  for (let k = 0; k < n; k++) {
    const step = new Float64Array(n);
    step[k] = h;
    const ahead = carryPoint(state.posesAt(state.moved(state.q, step)), link, point);
    step[k] = -h;
    const behind = carryPoint(state.posesAt(state.moved(state.q, step)), link, point);
    columns.push(ahead.map((v, i) => (v - behind[i]) / (2 * h)));
  }
  return columns;
}

/** Move a point of a link towards a place: inverse kinematics by damped steps on the constraints.
 *  @returns {number} the distance that is left, m */
export function dragPoint(state, link, point, target, rounds = 6) {
  const size = state.scene.view.size;
  let left = Infinity;
  for (let round = 0; round < rounds; round++) {
    const x = carryPoint(state.poses, link, point);
    const gap = target.map((v, k) => v - x[k]), far = Math.hypot(...gap);
    left = far;
    if (far < 1e-7 * size) break;
    const share = Math.min(1, (0.15 * size) / far), e = gap.map((v) => share * v);
    const step = dragStep(state, pointJacobian(state, link, point), e, size);
    const kept = Float64Array.from(state.q);
    state.q.set(withinLimits(state, state.moved(state.q, step)));
    if (state.hasLoops) {
      const found = closeNear(state, state.q, state.p, [], kept);
      if (!found) { state.q.set(kept); state.touch(); break; }
      state.q.set(found);
    }
    state.touch();
  }
  return left;
}

/** The damped step for a displacement e, along what the constraints allow. */
function dragStep(state, columns, e, size) {
  const n = columns.length;
  let rows = [];
  if (state.hasLoops) {
    const given = [...state.motionInputs(), ...state.p];
    const p = new Float64Array(state.scene.table.functions.constraints.inputs[2].size);
    p.set(given);
    rows = orthonormalRows(state.functions.constraints([state.t], state.q, p).jacobian, n);
  }
  const J = [0, 1, 2].map((r) => withoutRows(columns.map((c) => c[r]), rows));
  const scale = Math.max(1e-12, ...J.map((row) => row.reduce((s, v) => s + v * v, 0)));
  const A = J.map((a, i) => J.map((b, j) => a.reduce((s, v, k) => s + v * b[k], 0) + (i === j ? 1e-4 * scale : 0)));
  const y = solvePositive(A, e), step = new Float64Array(n);
  for (let k = 0; k < n; k++) step[k] = J[0][k] * y[0] + J[1][k] * y[1] + J[2][k] * y[2];
  const most = Math.max(...step.map((v, k) => Math.abs(v) / (state.scene.velocities[k].unit.startsWith("m") ? size : 1)));
  return most > 0.4 ? step.map((v) => (v * 0.4) / most) : step;
}

/** Coordinates within their limits. */
function withinLimits(state, q) {
  return q.map((v, k) => {
    const one = state.scene.coordinates[k];
    return Math.min(one.limited[1] ? one.upper : Infinity, Math.max(one.limited[0] ? one.lower : -Infinity, v));
  });
}
