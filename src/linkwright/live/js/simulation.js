// The running motion: DOP853 of the module, its history, the hand's spring, a recorded run.
import { carryPoint } from "./vectors.js";
import { pointJacobian } from "./closing.js";
import { Rebounds } from "./rebounds.js";
import { indexAtTime } from "./scales.js";
import { CONTROL_TIME } from "./state.js";

export const TOLERANCES = { rtol: 1e-10, atol: 1e-12 };
const SAMPLE_TIME = 1 / 120, HAND_TIME = 4e-3, MAX_SAMPLES = 60000, LIMIT_SLACK = 1e-9;
const STEP_BUDGET = 20000; // of one call, which is a second for Stewart: more of them do not end near a singular position
const WHY = {
  "margin alarm": "it is close to a position in which its constraints depend on each other, where a page cannot go on",
  "not closed": "its constraints cannot be kept", "step too small": "its steps become too small", "budget spent": "its steps become too small",
  event: "stops and friction act without end", "signal lost": "a force is not finite", NaN: "no finite state",
};

/** The samples of a motion over time. */
export class History {
  constructor() { this.clear(); }

  clear() { this.t = []; this.q = []; this.qd = []; this.kinetic = []; this.potential = []; this.holds = []; }

  /** Add a sample of the present state; the older half of a very long history is thinned. */
  add(state) {
    const last = this.t[this.t.length - 1];
    if (last !== undefined && state.t <= last) return;
    const [kinetic, potential] = state.energies();
    this.t.push(state.t); this.q.push(Float64Array.from(state.q)); this.qd.push(Float64Array.from(state.qd));
    this.kinetic.push(kinetic); this.potential.push(potential); this.holds.push(state.holds);
    if (this.t.length > MAX_SAMPLES) {
      for (const key of ["t", "q", "qd", "kinetic", "potential", "holds"]) this[key] = this[key].filter((_, k) => k % 2 === 0 || k > MAX_SAMPLES / 2);
    }
  }

  /** q at a time, between samples. @returns {{q: Float64Array, qd: Float64Array} | null} */
  at(t) {
    if (!this.t.length) return null;
    return interpolate(this, t);
  }
}

/** The row of a table at a time, by lines between rows. */
function rowAt(times, rows, t) {
  const k = indexAtTime(times, t), m = Math.min(k + 1, times.length - 1), s = m > k ? Math.min(1, Math.max(0, (t - times[k]) / (times[m] - times[k]))) : 0;
  return Float64Array.from(rows[k], (v, i) => (1 - s) * v + s * rows[m][i]);
}

/** A state between the samples of a history: cubics where velocities are rates, else lines of unit quaternions;
 *  with the stops that hold it and the forces there, as far as the history has them. */
export function interpolate(history, t) {
  const k = Math.min(indexAtTime(history.t, t), Math.max(0, history.t.length - 2));
  const m = Math.min(k + 1, history.t.length - 1), span = history.t[m] - history.t[k];
  const s = span > 0 ? Math.min(1, Math.max(0, (t - history.t[k]) / span)) : 0, r = 1 - s;
  const a = history.q[k], b = history.q[m], da = history.qd[k], db = history.qd[m];
  const q = a.length === da.length
    ? Float64Array.from(a, (v, i) => r * r * ((1 + 2 * s) * v + s * span * da[i]) + s * s * ((1 + 2 * r) * b[i] - r * span * db[i]))
    : Float64Array.from(a, (v, i) => r * v + s * b[i]);
  const { forces, holds } = history, same = holds?.[k] && holds[m] && holds[k].every((one, i) => one === holds[m][i]);
  const known = forces ? { qdd: rowAt(forces.t, forces.qdd, t), reactions: rowAt(forces.t, forces.reactions, t) } : null;
  return { q, qd: Float64Array.from(da, (v, i) => r * v + s * db[i]), holds: same ? holds[k] : null, known };
}

/** A coordinate that rests beyond its limit by rounding alone, at the limit: the next call begins there. */
function atLimit({ limited, lower, upper }, value) {
  if (limited[0] && value < lower && value > lower - LIMIT_SLACK) return lower;
  return limited[1] && value > upper && value < upper + LIMIT_SLACK ? upper : value;
}

/** Moves a state in time. */
export class Simulation {
  constructor(state) {
    this.state = state;
    this.history = new History();
    this.hand = null;
    this.message = "";
    this.fastest = null; // of the impacts with stops
    this.rebounds = new Rebounds(state);
  }

  /** Forget the history; begin at the present state. */
  restart() {
    this.history.clear();
    this.message = "";
    this.fastest = null;
    if (this.state.canMove) this.history.add(this.state);
  }

  /** A spring from a point of a link to a place of the world, or nothing. */
  hold(hand) {
    this.hand = hand;
    if (!hand) this.state.push.fill(0);
  }

  /** Advance by seconds. @returns {boolean} whether the motion can go on */
  advance(seconds) {
    const state = this.state, end = state.t + seconds;
    const chunk = this.hand ? HAND_TIME : state.stiffness || state.damping ? CONTROL_TIME : SAMPLE_TIME;
    let sampled = this.history.t[this.history.t.length - 1] ?? -Infinity;
    while (state.t < end - 1e-12) {
      const until = Math.min(end, state.t + chunk);
      this.rebounds.prepare();
      if (this.hand) this.#push();
      if (!this.#integrate(until)) return false;
      if (state.t - sampled >= SAMPLE_TIME - 1e-9 || state.t >= end - 1e-12) { this.history.add(state); sampled = state.t; }
    }
    return true;
  }

  #take({ t, q, qd }, holds) {
    const state = this.state;
    state.q.set(q.map((value, k) => atLimit(state.scene.coordinates[k], value))); state.qd.set(qd); state.t = t;
    state.touch(holds);
  }

  /** The stops that hold the motion, where the call before left them and nothing has changed since. */
  #knownHolds(u) {
    const { holds, p } = this.state, given = [...u, ...p], same = this.given?.every((one, k) => one === given[k]);
    this.given = given;
    return same ? holds : null;
  }

  #integrate(until) {
    const state = this.state, { q, qd, p, t } = state, u = state.motionInputs();
    const found = state.functions.simulate({ q, qd, u, p: Array.from(p), t, until, ...TOLERANCES, fastest: this.fastest, holds: this.#knownHolds(u), budget: STEP_BUDGET });
    if (found.end === "reached" && found.q.every(Number.isFinite)) {
      this.fastest = found.fastest;
      this.#take(found, found.holds);
      return true;
    }
    if (found.end === "limit") this.message = `The motion ends at a limit: ${found.limit}.`;
    else this.message = `The motion cannot go on at t = ${found.t.toFixed(3)} s: ${WHY[found.reason] ?? WHY.NaN}.`;
    return false;
  }

  /** The generalized forces of the hand's spring at the present state. */
  #push() {
    const { link, point, target } = this.hand, state = this.state;
    const mass = state.masses.bodies.reduce((sum, body) => sum + body.mass, 0) || 1;
    const k = mass * 60, c = 0.6 * Math.sqrt(k * mass);
    const x = carryPoint(state.poses, link, point), J = pointJacobian(state, link, point);
    const v = [0, 1, 2].map((r) => J.reduce((sum, column, i) => sum + column[r] * state.qd[i], 0));
    this.hand.force = x.map((value, r) => k * (target[r] - value) - c * v[r]);
    J.forEach((column, i) => { state.push[i] = column.reduce((sum, value, r) => sum + value * this.hand.force[r], 0); });
  }
}
