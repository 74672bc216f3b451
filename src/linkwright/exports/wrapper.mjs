// HEADING

/** What the module contains: names, functions with their inputs and outputs, addresses. */
export const table = TABLE;

/** Return the bytes of the module beside this file, in browsers and in Node. */
async function readModule() {
  const place = new URL(table.file, import.meta.url);
  if (place.protocol === "file:" && typeof process !== "undefined") {
    return (await import("node:fs/promises")).readFile(place);
  }
  return (await fetch(place)).arrayBuffer();
}

/** Load the module: from its bytes, from a compiled WebAssembly.Module, or from the file beside. */
export async function load(source) {
  const given = source ?? (await readModule());
  const found = await WebAssembly.instantiate(given, { Math });
  return new Mechanism(found.instance ?? found, table);
}

/** Copy numbers into an array of the module; say which input is wrong. */
function fill(view, given, name) {
  const numbers = typeof given === "number" ? [given] : given;
  if (numbers === undefined || numbers === null) {
    throw new TypeError(`${name} is missing; it has ${view.length} numbers`);
  }
  if (numbers.length !== view.length) {
    throw new RangeError(`${name} has ${numbers.length} numbers; it needs ${view.length}`);
  }
  view.set(numbers);
}

/** The functions of a mechanism; each one is a method with the name that `table` gives. */
export class Mechanism {
  constructor(instance, table) {
    this.table = table;
    this.exports = instance.exports;
    this.memory = instance.exports.memory;
    for (const [name, one] of Object.entries(table.functions)) {
      const run = instance.exports[name];
      const places = [...one.inputs, ...one.outputs].map((port) => port.at);
      this[name] = (...given) => {
        one.inputs.forEach((port, k) => fill(this.view(port), given[k], port.name));
        run(...places);
        const found = one.outputs.map((port) => this.view(port).slice());
        if (found.length === 1) return found[0];
        return Object.fromEntries(one.outputs.map((port, k) => [port.name, found[k]]));
      };
    }
  }

  /** Return the memory of an input, an output or a buffer as a typed array, without copying.
   *  It is valid until the memory grows, which only `simulate` with many sample times does. */
  view(port) {
    const Kind = port.kind === "int" ? Int32Array : Float64Array;
    return new Kind(this.memory.buffer, port.at, port.size);
  }

  /** Call a function on what is in its inputs already (see `view`); its outputs are there then. */
  call(name) {
    const one = this.table.functions[name];
    this.exports[name](...one.inputs.map((port) => port.at), ...one.outputs.map((port) => port.at));
  }

  #program(name) {
    const one = this.table.programs[name];
    if (one === undefined) throw new Error(`this module was written without '${name}'`);
    return one;
  }

  #run(name, one, places = {}) {
    const given = Object.entries(one.buffers).map(([key, buffer]) => places[key] ?? buffer.at);
    this.exports[name](...given);
  }

  #motionParameters(view, u, p) {
    const values = [...(u ?? this.table.inputs.map(() => 0)), ...(p ?? this.table.parameters.map((x) => x.value))];
    fill(view.subarray(0, this.table.inputs.length + this.table.parameters.length), values, "u and p");
    view.fill(0, values.length);
  }

  /** Return a state of the dense output on the constraints. */
  #onConstraints(one, t, y) {
    if (one.project === null) return y;
    const [time, state, parameters, projected] = one.project.map((port) => this.view(port));
    time[0] = t;
    state.set(y);
    parameters.set(this.view(one.buffers["buffers.parameters"]));
    parameters.fill(0, this.table.inputs.length + this.table.parameters.length); // holds are those of the end
    this.exports.project(...one.project.map((port) => port.at));
    return projected.slice();
  }

  /** Make `steps` steps of length `dt` by the classical Runge-Kutta method, and project each of
   *  them onto the constraints. They end early at one that is not reliable, which is not taken. */
  run_rk4({ q, qd, tau, t = 0, dt, steps = 1, p }) {
    const one = this.#program("run_rk4");
    const at = (key) => this.view(one.buffers[key]);
    at("clock").set([t, dt]);
    at("count")[0] = steps;
    fill(at("configuration"), q, "q");
    fill(at("rates"), qd, "qd");
    fill(at("forces"), tau ?? new Float64Array(this.table.qd.length), "tau");
    if (this.table.parameters.length) fill(at("values"), p ?? this.table.parameters.map((x) => x.value), "p");
    this.#run("run_rk4", one);
    return {
      t: at("clock")[0],
      q: at("configuration").slice(),
      qd: at("rates").slice(),
      steps: at("count")[0],
    };
  }

  /** Integrate the motion from t to `until` by DOP853 with error control, through the events of
   *  stops and contacts; `times` are sample times, `u` efforts of actuators (`table.inputs`), `fastest` and `holds`
   *  are those of the call before if the motion goes on: an impact that is slow beside the former does not rebound,
   *  and with the latter (u and p must be the same, too) the stops that hold it need not be found again; `budget` is
   *  the largest number of steps. */
  simulate({ q, qd, u, p, t = 0, until, times = [], rtol = 1e-9, atol = 1e-10, maxStep = Infinity, fastest = null, holds = null, budget = Infinity }) {
    const one = this.#program("simulate");
    const n = this.table.q.length + this.table.qd.length;
    const bytes = 8 * (times.length + 1 + n * times.length);
    const missing = this.table.heap + bytes - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / 65536));
    const sampleTimes = new Float64Array(this.memory.buffer, this.table.heap, times.length + 1);
    sampleTimes.set([...times, Infinity]);
    const places = {
      "buffers.sample_times": this.table.heap,
      "buffers.samples": this.table.heap + 8 * (times.length + 1),
    };
    const at = (key) => this.view(one.buffers[key]);
    const clock = at("buffers.clock"), progress = at("buffers.progress");
    const field = one.fields;
    clock.fill(0);
    clock[field.TIME] = t;
    clock[field.STOP] = until;
    clock[field.RTOL] = rtol;
    clock[field.ATOL] = atol;
    clock[field.MAX_STEP] = maxStep;
    clock[field.CLOSED] = one.closed;
    progress.fill(0);
    progress[field.BUDGET] = Math.min(budget, one.budget);
    at("buffers.count").set([1, times.length]);
    at("buffers.passages").fill(0);
    const speeds = at("stop_buffers.fastest").fill(0);
    if (fastest) speeds.set(fastest.subarray(0, speeds.length));
    at("stop_buffers.hits").fill(0);
    at("stop_buffers.known")[0] = holds ? 1 : 0;
    fill(at("buffers.states").subarray(0, this.table.q.length), q, "q");
    fill(at("buffers.states").subarray(this.table.q.length), qd, "qd");
    this.#motionParameters(at("buffers.parameters"), u, p);
    if (holds) at("buffers.parameters").set(holds, this.table.inputs.length + this.table.parameters.length);
    this.#run("simulate", one, places);
    const states = at("buffers.states"), end = at("stop_buffers.end");
    const samples = new Float64Array(this.memory.buffer, places["buffers.samples"], n * times.length);
    const rows = Array.from({ length: progress[field.SAMPLE] }, (_, k) => {
      const y = this.#onConstraints(one, times[k], samples.slice(n * k, n * (k + 1)));
      return { t: times[k], q: y.slice(0, this.table.q.length), qd: y.slice(this.table.q.length) };
    });
    return {
      t: clock[field.TIME],
      q: states.slice(0, this.table.q.length),
      qd: states.slice(this.table.q.length),
      samples: rows,
      steps: progress[field.STEPS],
      evaluations: progress[field.EVALUATIONS],
      hits: Array.from(at("stop_buffers.hits")),
      fastest: speeds.slice(),
      holds: at("buffers.parameters").slice(this.table.inputs.length + this.table.parameters.length),
      end: ["reached", "limit", "failed"][end[0]],
      limit: end[0] === 1 ? this.table.stops[end[1]] : null,
      reason: end[0] === 2 ? one.reasons[progress[field.REASON]] : null,
    };
  }

  /** Close the loops near q; coordinates whose velocities are named in `hold` stay as they are.
   *  `closed` is false where this is impossible: keep the last closed q then. */
  close({ q, p, t = 0, hold = [] }) {
    const one = this.#program("close");
    const at = (key) => this.view(one.buffers[key]);
    at("time")[0] = t;
    fill(at("configuration"), q, "q");
    this.#motionParameters(at("parameters"), undefined, p);
    for (const name of hold) {
      if (!this.table.qd.includes(name)) throw new RangeError(`unknown velocity '${name}'`);
    }
    at("free").set(this.table.qd.map((name) => (hold.includes(name) ? 0 : 1)));
    this.#run("close", one);
    const [residual, steps] = at("residual");
    return { q: at("configuration").slice(), residual, steps, closed: residual <= one.closed };
  }
}
