// Rigid contacts are stiff springs on a page: their damping follows from the speed at which they close.
import { carryDirection, carryPoint, dot } from "./vectors.js";

const STEP = 1e-5, SLOWEST = 0.01, MOST_DAMPING = 200;

/** The loss d v by which a contact F = k δⁿ (1 + d δ̇) that closes at a speed v rebounds at e v: the root
 *  of a − ln(1 + a) + e a + ln(1 − e a), whatever the mass, the stiffness and the exponent. */
export function lossOfRestitution(e) {
  if (e >= 1) return 0;
  if (e <= 0.02) return 50;
  const rest = (a) => a - Math.log1p(a) + e * a + Math.log1p(-e * a);
  let low = 0, high = 1 / e; // rest is positive between 0 and the root, then falls to −∞ at 1/e
  for (let k = 0; k < 100; k++) { const a = (low + high) / 2; if (rest(a) > 0) low = a; else high = a; }
  return low;
}

/** The gap of a contact at placements of links. */
export function contactGap(poses, one) {
  const n = carryDirection(poses, one.plane.link, one.plane.normal);
  return dot(n, carryPoint(poses, one.link, one.point)) - dot(n, carryPoint(poses, one.plane.link, one.plane.point)) - one.radius;
}

/** Sets the damping of contacts that are about to close. */
export class Rebounds {
  constructor(state) {
    this.state = state;
    this.contacts = state.scene.contacts.filter((one) => one.rebound).map((one) => ({ ...one, at: state.scene.parameters.findIndex((p) => p.name === one.rebound.damping), loss: lossOfRestitution(one.rebound.e) }));
  }

  /** Do so at the present state: a contact that closes keeps its damping until it opens. */
  prepare() {
    const { state } = this;
    if (!this.contacts.length) return;
    const ahead = state.posesAt(state.moved(state.q, state.qd.map((v) => STEP * v))), behind = state.posesAt(state.moved(state.q, state.qd.map((v) => -STEP * v)));
    for (const one of this.contacts) {
      const gap = contactGap(state.poses, one);
      if (gap <= 0 || one.at < 0) continue;
      const speed = (contactGap(ahead, one) - contactGap(behind, one)) / (2 * STEP);
      const fall = -dot(state.masses.gravity, carryDirection(state.poses, one.plane.link, one.plane.normal));
      const closing = Math.sqrt(Math.max(0, speed * speed + 2 * fall * gap)), slow = SLOWEST * Math.sqrt(9.81 * state.scene.view.size);
      state.p[one.at] = Math.min(MOST_DAMPING, one.loss / Math.max(closing, slow));
    }
  }
}
