// The state of a live mechanism: coordinates, velocities, parameters, efforts; and its functions.
import { Mechanism } from "./wasm.js";
import { carryPoint } from "./vectors.js";

export const CONTROL_TIME = 1e-3; // the time between two efforts of the controller, s

/** Bytes of a text in base64. @returns {Uint8Array} */
export function decodeBase64(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

/** Load the functions of a scene. @returns {Promise<Mechanism>} */
export async function loadFunctions(scene) {
  const found = await WebAssembly.instantiate(decodeBase64(scene.wasm), { Math });
  return new Mechanism(found.instance, scene.table);
}

/** What a person changes and a simulation moves. All numbers are in SI units. */
export class LiveState {
  /** @param {object} scene data of `live.scene` @param {Mechanism} functions */
  constructor(scene, functions) {
    this.scene = scene;
    this.functions = functions;
    this.linkCount = scene.links.length;
    this.canMove = "rates" in scene.table.functions;
    this.hasLoops = "close" in scene.table.programs;
    this.nominal = Float64Array.from(scene.anchors);
    this.resetAll();
  }

  /** Return to the start: home, own parameters, no efforts. */
  resetAll() {
    this.p = Float64Array.from(this.scene.parameters, (one) => one.value);
    this.u = new Float64Array(this.scene.efforts.length);
    this.stiffness = 0;
    this.damping = 0;
    this.push = new Float64Array(this.scene.velocities.length);
    this.resetMotion();
  }

  /** Return to the start of the recorded run, or to home at rest. */
  resetMotion() {
    const run = this.scene.run;
    this.t = run ? run.t[0] : 0;
    this.q = Float64Array.from(run ? run.start : this.scene.home);
    this.qd = run ? Float64Array.from(run.start_velocity) : new Float64Array(this.scene.velocities.length);
    this.reference = Float64Array.from(this.q);
    this.version = (this.version ?? 0) + 1;
    this.holds = this.known = null;
    if (!run) this.rest();
  }

  /** Take all velocities away but those that drives demand. */
  rest() {
    this.qd.fill(0);
    const ports = this.scene.table.programs.simulate?.project;
    if (!ports) return;
    const [time, state, given, found] = ports.map((port) => this.functions.view(port));
    time[0] = this.t;
    state.set(this.stateVector);
    given.set(this.motionVector);
    this.functions.exports.project(...ports.map((port) => port.at));
    if (found.every(Number.isFinite)) this.qd.set(found.subarray(this.q.length));
  }

  /** Take another recorded run, {t, q, qd}, of given parameters, or none, and go to its start. @returns {object} with energies */
  takeRun(run, parameters) {
    this.scene.parameters.forEach((one, k) => { this.p[k] = Object.hasOwn(parameters, one.name) ? parameters[one.name] : one.value; });
    const kept = run && { ...run, start: run.q[0], start_velocity: run.qd[0], kinetic: [], potential: [] };
    for (let k = 0; k < (run?.t.length ?? 0); k++) {
      this.t = run.t[k]; this.q.set(run.q[k]); this.qd.set(run.qd[k]); this.touch();
      [kept.kinetic[k], kept.potential[k]] = this.energies();
    }
    this.scene.run = kept;
    this.resetMotion();
    return kept;
  }

  /** The parameters as functions want them: at least one number. */
  get inputs() { return this.p.length ? this.p : new Float64Array(1); }

  /** Tell the state that q, p or t have changed; `holds` say what stops and friction do there, and
   *  `known` are the accelerations and reactions there, if a recorded run has them. */
  touch(holds = null, known = null) { this.version++; this.holds = holds; this.known = known; }

  /** What stops and friction do at a state that nothing has computed: those at rest hold the motion if they would push. */
  get settledHolds() {
    if (this.holds || !this.scene.table.stops.length) return this.holds ?? [];
    const one = this.scene.table.programs.settle, at = (name) => this.functions.view(one.buffers[name]), given = at("buffers.parameters");
    at("buffers.clock")[one.fields.TIME] = this.t;
    at("buffers.states").set(this.stateVector);
    at("stop_buffers.fastest").fill(0);
    given.set(this.motionVector);
    this.functions.exports.settle(...Object.values(one.buffers).map((buffer) => buffer.at));
    return given.slice(this.#firstHold);
  }

  /** The inputs of the motion with the stops that hold it. */
  get heldVector() { const found = this.motionVector; found.set(this.settledHolds, this.#firstHold); return found; }

  get #firstHold() { return this.motionInputs().length + this.p.length; }

  /** Placements of all links (12 numbers each), computed when something changed. */
  get poses() { this.#place(); return this.placed; }

  /** Anchors in their links' axes at the present parameters. */
  get anchors() { this.#place(); return this.anchored; }

  /** The bodies with their masses, and the vector of gravity, at the present parameters. */
  get masses() { this.#place(); return { bodies: this.bodies, gravity: this.gravity }; }

  #place() {
    if (this.placedAt === this.version) return;
    const found = this.functions.place([this.t], this.q, this.inputs);
    this.placed = found.poses;
    this.anchored = found.anchors;
    this.gravity = Array.from(found.loads.slice(0, 3));
    this.bodies = this.scene.bodies.map((one, k) => ({ ...one, mass: found.loads[3 + k] }));
    this.placedAt = this.version;
  }

  /** Placements at other coordinates. */
  posesAt(q, t = this.t) { return this.functions.place([t], q, this.inputs).poses; }

  /** A point of a link that moves with an anchor, in the link's axes at the present parameters. */
  shifted(point, anchor) {
    if (anchor === undefined || anchor < 0) return point;
    const now = this.anchors, was = this.nominal, k = 3 * anchor;
    return [point[0] + now[k] - was[k], point[1] + now[k + 1] - was[k + 1], point[2] + now[k + 2] - was[k + 2]];
  }

  /** The present place in the world of something that has a link, a point and an anchor. */
  worldOf(one) { return this.world(one.link, one.point, one.anchor); }

  /** The same point in the world. */
  world(link, point, anchor) { return carryPoint(this.poses, link, this.shifted(point, anchor)); }

  /** All inputs of the motion: efforts (with the controller's share) and the hand's pushes. */
  motionInputs() {
    const u = this.controlled();
    if (this.scene.actuated) return [...u, ...this.push];
    return Array.from(u, (value, k) => value + this.push[k]);
  }

  /** Efforts with those of the controller: stiffness · (reference − q) − damping · q̇ on each coordinate
   *  that an effort acts along. */
  controlled() {
    const u = Float64Array.from(this.u);
    if (!this.stiffness && !this.damping) return u;
    this.scene.coordinates.forEach((one, k) => {
      const v = one.velocity, at = this.effortOf(v);
      if (v < 0 || at < 0) return;
      const force = this.stiffness * (this.reference[k] - this.q[k]) - this.damping * this.qd[v];
      u[at] += force / Math.max(1, this.damping * CONTROL_TIME * this.mobilities[v]) / (this.scene.efforts[at].share ?? 1);
    });
    return u;
  }

  /** The acceleration of each velocity under a unit of force along it, at the first position: a
   *  controller may not take more than the whole velocity away in one of its steps. */
  get mobilities() {
    if (this.mobile) return this.mobile;
    const rates = (k) => {
      const given = new Float64Array(this.motionSize);
      given.set([...new Float64Array(this.scene.table.inputs.length), ...this.p]);
      if (k >= 0) given[k] = 1;
      return this.functions.rates([this.t], [...this.scene.home, ...new Float64Array(this.qd.length)], given).rate;
    };
    const rest = rates(-1);
    this.mobile = Float64Array.from(this.qd, (_, v) => {
      const at = this.effortOf(v);
      if (at < 0) return 0;
      const found = rates(at)[this.q.length + v] - rest[this.q.length + v];
      return Math.abs(found / (this.scene.efforts[at].share ?? 1));
    });
    return this.mobile;
  }

  /** The index of the effort along a velocity; −1 if there is none. */
  effortOf(v) {
    if (v < 0) return -1;
    if (!this.scene.actuated) return v;
    const name = this.scene.velocities[v].name;
    return this.scene.efforts.findIndex((one) => one.drives === name);
  }

  /** State and inputs of the motion as one vector each, for `rates`, `energies` and `loads`. */
  get stateVector() { return [...this.q, ...this.qd]; }

  get motionSize() { return (this.scene.table.functions.rates ?? this.scene.table.functions.energies).inputs[2].size; }

  get motionVector() {
    const found = new Float64Array(this.motionSize);
    found.set([...this.motionInputs(), ...this.p, ...(this.scene.table.stops.length ? this.holds ?? [] : [])]);
    return found;
  }

  /** Kinetic and potential energy, J. @returns {[number, number]} */
  energies() {
    if (!this.canMove) return [0, 0];
    const found = this.functions.energies([this.t], this.stateVector, this.motionVector);
    return [found[0], found[1]];
  }

  /** Accelerations q̈. */
  accelerations() {
    if (this.known) return this.known.qdd;
    const found = this.functions.rates([this.t], this.stateVector, this.heldVector);
    return found.rate.slice(this.q.length);
  }

  /** Reactions of joints, then of loops: rows (moment, force), world axes; null if unknown. */
  reactions() {
    if (this.known) return this.known.reactions;
    if (!this.canMove || !this.functions.loads) return null;
    const found = this.functions.loads([this.t], this.stateVector, this.heldVector);
    return found.every(Number.isFinite) ? found : null;
  }

  /** The numbers of a quantity of the equations, row by row; null if the page does not compute it. */
  quantity(name) {
    if (!Object.hasOwn(this.scene.table.functions, name)) return null;
    return this.functions[name]([this.t], this.stateVector, this.motionVector);
  }

  /** Coordinates after a small displacement along the velocities. */
  moved(q, step) { return this.functions.move(q, step); }
}
