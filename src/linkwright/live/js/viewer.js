// The viewer: mounts a live mechanism in an element of a page, a notebook or the studio.
import { setCoordinate, setParameters } from "./closing.js";
import { Viewer } from "./stage.js";

/** Show a live mechanism in an element.
 *  @param {HTMLElement} element @param {object} scene JSON of `live.scene` @param {{look?: object}} options
 *  @returns {{state, set, on, update, dispose, ready, play, pause, step, reset}} */
export function mountViewer(element, scene, options = {}) {
  const viewer = new Viewer(element, scene, options), named = (list, values) => Object.fromEntries(list.map((one, k) => [one.name, values[k]]));
  const bodyOf = (link) => viewer.scene.bodies.find((one) => one.link === link)?.name ?? null;
  viewer.handle = {
    ready: viewer.ready,
    get state() {
      const { state } = viewer;
      if (!state) return null;
      return { t: state.t, q: Array.from(state.q), qd: Array.from(state.qd), parameters: named(viewer.scene.parameters.filter((one) => !one.hidden), state.p), efforts: named(viewer.scene.efforts, state.u), picked: viewer.picked < 0 ? null : bodyOf(viewer.picked), playing: viewer.playing, mode: viewer.mode, lit: viewer.look.lit.map(bodyOf), energy: state.energies() };
    },
    /** Set coordinates (all of them, or a table by name), parameters and efforts by name, the picked body. */
    set({ q, qd, parameters, efforts, picked, speed, look }) {
      if (q || qd || parameters || efforts) viewer.toLive();
      const { state, scene: own } = viewer;
      if (parameters) viewer.say(setParameters(state, own.parameters.map((one, k) => Object.hasOwn(parameters, one.name) ? parameters[one.name] : state.p[k])));
      if (Array.isArray(q) || ArrayBuffer.isView(q)) { state.q.set(q); state.touch(); } else if (q) own.coordinates.forEach((one, k) => { if (Object.hasOwn(q, one.name)) viewer.say(setCoordinate(state, k, q[one.name])); });
      if (qd) { state.qd.set(qd); state.touch(); } else if (q) state.rest();
      if (efforts) own.efforts.forEach((one, k) => { if (Object.hasOwn(efforts, one.name)) state.u[k] = efforts[one.name]; });
      if (picked !== undefined) viewer.pick(own.bodies.find((one) => one.name === picked)?.link ?? -1);
      if (speed) { viewer.speed = speed; viewer.speedChoice.value = String(speed); }
      if (look) { Object.assign(viewer.look, look); for (const label of viewer.switches.children) label.querySelector("input").checked = viewer.look[label.dataset.switch]; }
      if ((q || qd || parameters) && !viewer.playing) viewer.restart();
      viewer.changed();
    },
    on(name, act) { if (!viewer.listeners.has(name)) viewer.listeners.set(name, new Set()); viewer.listeners.get(name).add(act); return () => viewer.listeners.get(name).delete(act); },
    /** Show another scene, such as that of a file that was saved again; values of the same names stay. */
    async update(next, { keep = true } = {}) {
      const old = viewer.state, kept = keep && old ? { q: named(viewer.scene.coordinates, old.q), parameters: {}, camera: next.view.planar === viewer.scene.view.planar ? viewer.camera : null } : null;
      if (kept) viewer.scene.parameters.forEach((one, k) => { if (old.p[k] !== one.value) kept.parameters[one.name] = old.p[k]; });
      await viewer.load(next, kept);
    },
    /** Show another recorded run, {t, q, qd}, of given parameters; null for none. */
    record: (run, parameters) => viewer.setRecorded(run, parameters),
    /** Where the centre of mass of a body is on the screen, pixels of the window. */
    whereIs(name) {
      const body = viewer.scene.bodies.find((one) => one.name === name), box = viewer.stage.getBoundingClientRect();
      const [x, y] = viewer.camera.project(viewer.state.worldOf(body));
      return [box.left + x, box.top + y];
    },
    /** The time of one picture, ms: the mean of several, drawn one after the other. */
    measureFrames(count = 20) {
      const begin = performance.now();
      for (let k = 0; k < count; k++) { viewer.camera.turn(1e-3, 0); viewer.draw(); viewer.spatial?.finish(); }
      return (performance.now() - begin) / count;
    },
    play: () => viewer.play(), pause: () => viewer.pause(), step: () => viewer.step(), reset: () => viewer.reset(), dispose: () => viewer.dispose(),
  };
  return viewer.handle;
}
