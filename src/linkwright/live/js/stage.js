// The viewer's elements and acts: picture, sliders, simulation, plots, equations.
import { BodyPanel } from "./bodies.js";
import { Camera } from "./camera.js";
import { dragPoint, restoreState, setCoordinate, setParameters } from "./closing.js";
import { HistoryFigure, make } from "./figures.js";
import { canLeave, followPoint, massCenter, movingPoints, viewOfReach } from "./follow.js";
import { FormulaPanel } from "./formulas.js";
import { drawOverlay } from "./overlay.js";
import { SliderPanel } from "./panels.js";
import { drawPlanar, linesOn, Pen, pickPlanar, THEMES } from "./planar.js";
import { connectPointer } from "./pointer.js";
import { interpolate, Simulation } from "./simulation.js";
import { SpatialPicture } from "./spatial.js";
import { LiveState, loadFunctions } from "./state.js";
import { carryPoint, pointInLink } from "./vectors.js";

const SPEEDS = [0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10], STEP_TIME = 0.01, FRAME_BUDGET = 0.04;
const SWITCHES = { frames: true, centers: true, traces: true, labels: false, forces: false, shadow: true, shapes: true, follow: false };
const SWITCH_WORDS = { centers: "centres of mass", follow: "follow the motion" };
const HINT = "Drag a body to move it, the background to turn or shift, the wheel to zoom (after a click). Keys: space runs, S steps, R resets, arrows turn, + and − zoom, F shows all that moves, Home is the first view, Tab picks the next body.";

/** Draws one mechanism in an element, and lets people move it. */
export class Viewer {
  constructor(root, scene, options) {
    this.root = root; this.options = options; this.listeners = new Map(); this.closers = [];
    this.look = { ...SWITCHES, ...options.look, lit: [] };
    this.playing = false; this.speed = 1; this.shownAt = -Infinity; this.kept = null; this.grabbed = null; this.picked = -1;
    root.classList.add("lw-live");
    this.#build();
    const scheme = matchMedia("(prefers-color-scheme: dark)"), redraw = () => this.changed();
    scheme.addEventListener("change", redraw);
    this.closers.push(() => scheme.removeEventListener("change", redraw));
    if (typeof ResizeObserver === "function") { const watch = new ResizeObserver(() => { root.style.setProperty("--lw-stage-height", `${this.stage.offsetHeight}px`); redraw(); }); watch.observe(this.stage); this.closers.push(() => watch.disconnect()); }
    const print = () => this.#print(), resume = () => { this.printing = false; this.changed(); };
    addEventListener("beforeprint", print); addEventListener("afterprint", resume);
    this.closers.push(() => { removeEventListener("beforeprint", print); removeEventListener("afterprint", resume); });
    this.ready = this.load(scene);
  }

  /** Load another scene; coordinates and parameters of the same names keep their values if `keep`. */
  async load(scene, keep = null) {
    this.pause();
    let functions;
    try { functions = await loadFunctions(scene); } catch (problem) {
      this.say(`This browser cannot run the mechanism: ${problem.message}`);
      return;
    }
    this.scene = scene; this.state = new LiveState(scene, functions); this.simulation = new Simulation(this.state);
    this.recorded = scene.run; this.mode = scene.run ? "recorded" : "live"; this.kept = null; this.time = this.state.t; this.pace = 0;
    const isKept = !keep || restoreState(this.state, keep);
    if (keep) this.mode = "live";
    this.camera = keep?.camera ?? new Camera(viewOfReach(this.state));
    this.camera.home = this.camera.anchor = massCenter(this.state);
    if (!keep && this.options.look?.follow === undefined) this.look.follow = canLeave(scene);
    if (!keep) { this.camera.planar = scene.view.planar && !scene.shapes.length && !scene.meshes; if (scene.meshes && !this.options.look) this.look.centers = false; }
    this.#picture();
    this.#panels();
    this.#offerRecorded();
    this.restart();
    this.say(isKept ? this.state.canMove ? "" : scene.notes[0] ?? "" : "The loops cannot close near the position before; this is the start.");
    this.emit("ready");
    this.changed();
  }

  // -- the elements -----------------------------------------------------------------------------

  #build() {
    const button = (word, act, label) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, word);
    this.gl = make("canvas", { class: "lw-gl", "aria-hidden": "true" });
    this.canvas = make("canvas", { class: "lw-ink", "aria-hidden": "true" });
    this.stage = make("div", { class: "lw-stage", tabindex: 0, role: "application", "aria-roledescription": "moving mechanism", "aria-label": HINT }, this.gl, this.canvas);
    this.playButton = button("Run", () => this.toggle(), "run or pause (space)");
    this.stepButton = button("Step", () => this.step(), "one step of 10 ms (S)");
    this.resetButton = button("Reset", () => this.reset(), "return to the start (R)");
    this.fitButton = button("Fit", () => this.fit(), "show all that moves (F)");
    this.speedChoice = make("select", { "aria-label": "speed", onchange: () => { this.speed = Number(this.speedChoice.value); } }, ...SPEEDS.map((one) => make("option", { value: one, selected: one === 1 }, `${one} ×`)));
    this.modeChoice = make("select", { "aria-label": "what moves", onchange: () => this.setMode(this.modeChoice.value) }, make("option", { value: "recorded" }, "recorded run"), make("option", { value: "live" }, "live simulation"));
    this.timeSlider = make("input", { type: "range", class: "lw-time", step: "any", "aria-label": "time of the recorded run", oninput: () => this.showTime(Number(this.timeSlider.value)) });
    this.clock = make("output", { class: "lw-clock", "aria-label": "time" });
    const boxes = Object.keys(SWITCHES).map((key) => {
      const box = make("input", { type: "checkbox", checked: this.look[key], onchange: () => { this.look[key] = box.checked; this.changed(); } });
      return make("label", { "data-switch": key }, box, SWITCH_WORDS[key] ?? key);
    });
    this.message = make("p", { class: "lw-message", role: "status", "aria-live": "polite" });
    this.toolbar = make("div", { class: "lw-toolbar", role: "toolbar", "aria-label": "simulation" }, this.playButton, this.stepButton, this.resetButton, this.fitButton, this.speedChoice, this.modeChoice, this.timeSlider, this.clock);
    this.switches = make("div", { class: "lw-switches", role: "group", "aria-label": "what is drawn" }, ...boxes);
    this.notes = make("ul", { class: "lw-note" });
    this.side = make("div", { class: "lw-side" });
    this.below = make("div", { class: "lw-below" });
    this.main = make("div", { class: "lw-main" }, this.stage, this.toolbar, this.message, this.switches, this.below, make("p", { class: "lw-note lw-hint" }, HINT), this.notes);
    this.body = make("div", { class: "lw-columns" }, this.main, this.side);
    this.root.append(this.body);
  }

  /** Choose how the picture is drawn: on a canvas, or by WebGL2 if there is any. */
  #picture() {
    this.disconnect?.();
    this.spatial?.dispose();
    this.spatial = null; this.standing = "";
    if (!this.camera.planar) {
      try {
        const fresh = make("canvas", { class: "lw-gl", "aria-hidden": "true" });
        this.gl.replaceWith(fresh);
        this.gl = fresh;
        this.spatial = new SpatialPicture(fresh, this.state);
      } catch (problem) {
        this.standing = "This browser has no WebGL2: the mechanism is drawn as lines.";
      }
    }
    this.gl.hidden = !this.spatial;
    this.disconnect = connectPointer(this.stage, this.camera, {
      changed: () => this.changed(), pick: (x, y) => this.pick(this.linkAt(x, y)), grab: (x, y) => this.#grab(x, y),
      drag: (x, y) => this.#drag(x, y), release: () => this.#release(), key: (event) => this.#key(event),
    });
  }

  #panels() {
    const { scene, state } = this, parameters = scene.parameters.filter((one) => !one.hidden), start = (values) => scene.coordinates.map((one, k) => ({ ...one, value: values[k] }));
    for (const one of [this.playButton, this.stepButton]) one.disabled = !state.canMove && !scene.run;
    this.notes.replaceChildren(...scene.notes.map((text) => make("li", {}, text)));
    for (const label of this.switches.children) {
      const key = label.dataset.switch;
      label.querySelector("input").checked = this.look[key];
      label.hidden = (key === "shadow" && !this.spatial) || (key === "shapes" && !(scene.shapes.length || scene.meshes)) || (key === "forces" && !state.canMove) || (key === "frames" && !scene.frames.length);
    }
    this.coordinatePanel = new SliderPanel("Coordinates", start(state.q), (k, value) => this.setCoordinate(k, value), () => { this.state.resetMotion(); this.toLive(); this.restart(); this.changed(); }, true);
    this.parameterPanel = new SliderPanel("Parameters", parameters.map((one, k) => ({ ...one, limited: [false, false], value: state.p[k] })), (k, value) => this.setParameter(k, value), () => { this.say(setParameters(state, scene.parameters.map((one) => one.value))); this.changed(); }, parameters.length > 0 && parameters.length <= 10);
    const most = Math.max(0, ...scene.efforts.map((one) => one.bound * Math.abs(one.share ?? 1))), kinds = new Set(scene.efforts.map((one) => one.unit));
    const per = kinds.size === 1 ? { "N m": ["N m/rad", "N m s/rad"], N: ["N/m", "N s/m"] }[[...kinds][0]] : null, [ofStiffness, ofDamping] = per ?? ["", ""];
    const gains = [{ name: "stiffness", unit: ofStiffness, lower: 0, upper: 10 * most, value: 0 }, { name: "damping", unit: ofDamping, lower: 0, upper: most, value: 0 }];
    const efforts = scene.efforts.map((one) => ({ name: one.name, spoken: `effort ${one.name}`, unit: one.unit, lower: -one.bound, upper: one.bound, value: 0 }));
    this.effortPanel = new SliderPanel("Efforts and gains", [...efforts, ...gains], (k, value) => this.setEffort(k, value), () => { state.u.fill(0); state.stiffness = state.damping = 0; this.changed(); });
    this.figure = new HistoryFigure(scene, () => ({ live: this.simulation.history, recorded: this.recorded }), { hovered: (t) => this.preview(t), left: () => this.leavePreview() });
    this.formulas = new FormulaPanel(scene, { changed: () => this.changed(), light: (links) => this.light(links), dark: () => this.light(this.picked >= 0 ? [this.picked] : []) });
    this.bodies = new BodyPanel(scene, { choose: (link) => this.pick(link) });
    const plots = make("details", { class: "lw-panel", open: true }, make("summary", {}, "Plots"), this.figure.root);
    this.below.replaceChildren(plots);
    this.side.replaceChildren(this.coordinatePanel.root, ...(parameters.length ? [this.parameterPanel.root] : []), ...(state.canMove ? [this.effortPanel.root, this.bodies.root] : []), this.formulas.root);
    for (const panel of [plots, ...this.side.children]) panel.addEventListener("toggle", () => this.changed());
  }

  // -- what people do ---------------------------------------------------------------------------

  setCoordinate(k, value) { this.toLive(); this.say(setCoordinate(this.state, k, value)); this.state.rest(); this.state.reference.set(this.state.q); if (!this.playing) this.restart(); this.changed(); }

  setParameter(k, value) { this.toLive(); const values = Float64Array.from(this.state.p); values[k] = value; this.say(setParameters(this.state, values)); this.changed(); }

  setEffort(k, value) {
    this.toLive();
    const n = this.scene.efforts.length;
    if (k < n) this.state.u[k] = value; else if (k === n) this.state.stiffness = value; else this.state.damping = value;
    this.changed();
  }

  /** Live from the state that is seen. */
  toLive() { this.leavePreview(); if (this.mode !== "live") this.setMode("live"); }

  setMode(mode) {
    this.pause();
    this.mode = mode; this.modeChoice.value = mode; this.timeSlider.hidden = mode !== "recorded";
    if (mode === "recorded") this.showTime(this.recorded.t[0]); else { this.state.t = this.time; this.state.touch(); this.restart(); }
    this.changed();
  }

  restart() { this.simulation.restart(); this.livePaths = this.scene.traces.map(() => []); this.tracedTo = 0; }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (!this.scene || (this.mode === "live" && !this.state.canMove)) return;
    this.leavePreview();
    if (this.mode === "recorded" && this.time >= this.recorded.t[this.recorded.t.length - 1]) this.time = this.recorded.t[0];
    this.playing = true; this.last = 0;
    this.playButton.textContent = "Pause";
    this.emit("play");
    this.changed();
  }

  pause() { this.playing = false; this.playButton.textContent = "Run"; if (this.scene) this.changed(); }

  step() { if (!this.scene) return; this.pause(); this.leavePreview(); this.#advance(STEP_TIME); this.changed(); }

  reset() { if (!this.scene) return; this.pause(); this.kept = null; this.state.resetMotion(); this.time = this.state.t; this.simulation.hold(null); if (this.recorded) this.timeSlider.value = this.time; this.restart(); this.say(""); this.changed(); }

  /** Take another recorded run, {t, q, qd}, of given parameters (others have their own values); null for none. */
  setRecorded(run, parameters = {}) {
    this.pause(); this.kept = null;
    this.recorded = this.state.takeRun(run, parameters); this.mode = run ? "recorded" : "live"; this.time = this.state.t;
    this.#offerRecorded();
    this.restart(); this.changed();
  }

  /** Show what a recorded run needs: its slider, the choice of what moves, its paths. */
  #offerRecorded() {
    const run = this.recorded;
    this.modeChoice.hidden = !run; this.modeChoice.value = this.mode; this.timeSlider.hidden = this.mode !== "recorded";
    if (run) { this.timeSlider.min = run.t[0]; this.timeSlider.max = run.t[run.t.length - 1]; this.timeSlider.value = run.t[0]; }
    this.recordedPaths = run ? this.#tracePaths(run) : [];
  }

  /** Show a time of the recorded run. */
  showTime(t) { this.time = t; const { q, qd, holds, known } = interpolate(this.recorded, t); this.state.q.set(q); this.state.qd.set(qd); this.state.t = t; this.state.touch(holds, known); this.changed(); }

  /** Show the pose at a time of a plot, without changing the state. */
  preview(t) {
    const history = this.mode === "live" && this.simulation.history.t.length > 1 ? this.simulation.history : this.recorded ?? this.simulation.history;
    if (!history.t.length) return;
    if (this.playing) this.pause();
    const { state } = this;
    this.kept ??= { q: Float64Array.from(state.q), qd: Float64Array.from(state.qd), t: state.t, holds: state.holds, known: state.known };
    const first = history.t[0], last = history.t[history.t.length - 1], at = Math.min(last, Math.max(first, t));
    const found = interpolate(history, at);
    state.q.set(found.q); state.qd.set(found.qd); state.t = at; state.touch(found.holds, found.known);
    this.figure.mark(at);
    this.changed();
  }

  leavePreview() {
    if (!this.kept) return;
    const { state, kept } = this;
    state.q.set(kept.q); state.qd.set(kept.qd); state.t = kept.t; state.touch(kept.holds, kept.known);
    this.kept = null;
    this.figure.mark(null);
    this.changed();
  }

  /** Show all that moves, where it is now. */
  fit() { if (!this.scene) return; this.camera.fit(movingPoints(this.state)); this.camera.anchor = massCenter(this.state); this.camera.reach = null; this.changed(); }

  light(links) { this.look.lit = links; this.changed(); }

  pick(link) { this.picked = link; this.look.lit = link >= 0 ? [link] : []; if (link >= 0) this.bodies.choice.value = String(link); this.emit("pick"); this.changed(); }

  /** The link under a pixel, or −1. */
  linkAt(x, y) { return this.spatial ? Math.max(-1, this.spatial.pick(this.camera, this.look, x, y, this.theme)) : pickPlanar(this.state, this.camera, x, y); }

  #grab(x, y) {
    if (!this.scene || !this.state.canMove) return false;
    this.leavePreview();
    const link = this.linkAt(x, y);
    this.changed();
    if (link < 0) return false;
    const origin = this.state.worldOf(this.scene.bodies.find((one) => one.link === link) ?? { link, point: [0, 0, 0] });
    const target = this.camera.unproject(x, y, origin);
    this.grabbed = { link, point: pointInLink(this.state.poses, link, target), target, depth: target };
    return true;
  }

  #drag(x, y) {
    const wasPlaying = this.playing && this.mode === "live";
    if (this.mode !== "live") this.toLive();
    this.grabbed.target = this.camera.unproject(x, y, this.grabbed.depth);
    if (wasPlaying) this.simulation.hold(this.grabbed);
    else {
      dragPoint(this.state, this.grabbed.link, this.grabbed.point, this.grabbed.target);
      this.state.rest(); this.state.reference.set(this.state.q);
      this.restart();
    }
    this.changed();
  }

  #release() { this.simulation.hold(null); this.grabbed = null; this.changed(); }

  #key(event) {
    const act = { " ": () => this.toggle(), s: () => this.step(), r: () => this.reset(), f: () => this.fit(), Escape: () => this.pick(-1) }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) { act(); return true; }
    if (event.key !== "Tab") return false;
    const links = [...new Set(this.scene.bodies.map((one) => one.link))].filter((link) => link >= 0), k = links.indexOf(this.picked) + (event.shiftKey ? -1 : 1);
    if (k < 0 || k >= links.length) { this.pick(-1); return false; }
    this.pick(links[k]);
    this.say(this.scene.bodies.filter((one) => one.link === links[k]).map((one) => one.name).join(", "));
    return true;
  }

  // -- frames -----------------------------------------------------------------------------------

  /** Ask for a new picture. */
  changed() {
    if (this.asked || this.disposed) return;
    this.asked = requestAnimationFrame((stamp) => { this.asked = 0; this.#frame(stamp); });
  }

  #frame(stamp) {
    if (!this.scene) return;
    if (this.playing) {
      const seconds = this.last ? Math.min(0.2, (stamp - this.last) / 1000) : 1 / 60;
      this.last = stamp;
      this.#advance(seconds * this.speed);
      if (this.playing) this.changed();
    }
    this.draw();
    this.emit("change");
  }

  #advance(seconds) {
    if (this.mode === "recorded") {
      const end = this.recorded.t[this.recorded.t.length - 1];
      this.time = Math.min(end, this.time + seconds);
      this.showTime(this.time);
      this.timeSlider.value = this.time;
      if (this.time >= end) this.pause();
      return;
    }
    const begin = performance.now(), spent = () => (performance.now() - begin) / 1000;
    let done = 0; // in parts that take a quarter of the time for a picture, as far as known
    while (done < seconds - 1e-9 && spent() < FRAME_BUDGET) {
      const part = Math.min(seconds - done, Math.max(1e-4, this.pace ? (this.pace * FRAME_BUDGET) / 4 : seconds / 8));
      if (!this.simulation.advance(part)) { this.pause(); this.say(this.simulation.message); break; }
      done += part;
      this.pace = done / Math.max(1e-3, spent());
    }
    this.time = this.state.t;
  }

  /** Paths of the traced points in a history, at most 600 points each. */
  #tracePaths(history) {
    const every = Math.max(1, Math.floor(history.t.length / 600)), found = this.scene.traces.map(() => []);
    for (let k = 0; k < history.t.length; k += every) {
      const poses = this.state.posesAt(history.q[k], history.t[k]);
      this.scene.traces.forEach((one, i) => found[i].push(carryPoint(poses, one.link, this.state.shifted(one.point, one.anchor))));
    }
    return found;
  }

  #growPaths() {
    const { history } = this.simulation;
    for (; this.tracedTo < history.t.length; this.tracedTo++) {
      const poses = this.state.posesAt(history.q[this.tracedTo], history.t[this.tracedTo]);
      this.scene.traces.forEach((one, i) => this.livePaths[i].push(carryPoint(poses, one.link, this.state.shifted(one.point, one.anchor))));
    }
  }

  /** Colours for the page as it is: light or dark. */
  get theme() {
    if (this.printing) return THEMES.light;
    const scheme = getComputedStyle(this.root).colorScheme;
    return scheme.includes("dark") && (!scheme.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches) && !matchMedia("print").matches ? THEMES.dark : THEMES.light;
  }

  draw() {
    if (!this.scene) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1), box = this.stage.getBoundingClientRect(), wide = Math.max(50, box.width), high = Math.max(50, box.height), { theme } = this;
    for (const canvas of [this.canvas, this.gl]) if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) { canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio); }
    this.camera.resize(wide, high);
    if (this.look.follow && !this.grabbed) followPoint(this.camera, massCenter(this.state));
    const context = linesOn(this.canvas), pen = new Pen(context);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    if (this.spatial) this.spatial.draw(this.camera, this.look, theme); else drawPlanar(pen, this.state, this.camera, this.look, theme);
    this.#growPaths();
    const paths = [...this.recordedPaths.map((points) => ({ points, recorded: true })), ...this.livePaths.map((points) => ({ points, recorded: false }))];
    drawOverlay(pen, this.state, this.camera, this.look, theme, { paths, hand: this.playing ? this.grabbed : null });
    this.#showNumbers(theme);
  }

  /** Draw in the colours of paper, all on the canvas of lines: a browser prints no new picture of WebGL2. */
  #print() {
    this.printing = true;
    this.shownAt = -Infinity; // plots, too
    this.draw();
    if (!this.spatial) return;
    const context = linesOn(this.canvas);
    context.globalCompositeOperation = "destination-over";
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.gl, 0, 0);
    context.globalCompositeOperation = "source-over";
  }

  #showNumbers(theme) {
    const { state } = this, now = performance.now();
    this.clock.textContent = `${state.t.toFixed(3)} s`;
    if (now - this.shownAt < 100) { this.later ??= setTimeout(() => { this.later = null; this.changed(); }, 110); return; }
    this.shownAt = now;
    this.coordinatePanel.show(state.q);
    this.parameterPanel.show(state.p);
    this.effortPanel.show([...state.u, state.stiffness, state.damping]);
    this.formulas.show(state);
    this.bodies.show(state, this.camera, theme);
    if (!this.kept) this.figure.time = this.mode === "recorded" ? this.time : null;
    this.figure.draw(theme);
  }

  /** Say something; what holds as long as the page is open is said again after it. */
  say(text) { const words = [text, this.standing].filter(Boolean).join(" "); this.message.textContent = words; this.message.hidden = !words; }
  emit(name) { for (const act of this.listeners.get(name) ?? []) act(this.handle); }

  dispose() {
    this.disposed = true; this.playing = false;
    cancelAnimationFrame(this.asked); clearTimeout(this.later);
    this.disconnect?.(); this.spatial?.dispose();
    for (const close of this.closers) close();
    this.body.remove();
  }
}
