// A free body at the present state: the forces on it, and their polygon.
import { make } from "./figures.js";
import { linesOn, Pen, themed } from "./planar.js";
import { drawArrow, FORCE_COLORS } from "./overlay.js";
import { addScaled, carryPoint, dot, norm, scaled, subtract } from "./vectors.js";
import { formatNumber, prettyName } from "./units.js";

const lengthOf = (a, b) => Math.hypot(b[0] - a[0], b[1] - a[1]);

/** The forces on all bodies of a link: weight, reactions of its joints and loops, and what is left of
 *  mass times acceleration (springs and loads). @returns {{name, force, point, color}[]} */
export function bodyForces(state, link) {
  const { scene } = state, rows = state.reactions();
  if (!rows) return [];
  const found = [], { bodies: all, gravity } = state.masses, bodies = all.filter((one) => one.link === link && one.mass > 0);
  const mass = bodies.reduce((sum, one) => sum + one.mass, 0);
  const center = bodies.reduce((sum, one) => addScaled(sum, state.shifted(one.point, one.anchor), one.mass / (mass || 1)), [0, 0, 0]);
  if (mass > 0) found.push({ name: "weight", force: scaled(gravity, mass), point: carryPoint(state.poses, link, center), color: FORCE_COLORS.weight });
  const add = (one, k, inner, outer) => {
    const force = Array.from(rows.slice(6 * k + 3, 6 * k + 6)), sign = inner === link ? 1 : outer === link ? -1 : 0;
    if (sign && inner !== outer) found.push({ name: one.name, force: scaled(force, sign), moment: norm(rows.slice(6 * k, 6 * k + 3)), point: state.worldOf(one), color: FORCE_COLORS.reaction });
  };
  scene.joints.forEach((one, k) => { if (one.links.length) add(one, k, one.links[one.links.length - 1], one.link); });
  scene.loops.filter((one) => one.places.length === 2).forEach((one, k) => add({ ...one, ...one.places[0] }, scene.joints.length + k, one.places[1].link, one.places[0].link));
  const total = scaled(centerAcceleration(state, link, center), mass), sum = found.reduce((s, one) => addScaled(s, one.force), [0, 0, 0]);
  const rest = subtract(total, sum), largest = Math.max(norm(total), ...found.map((one) => norm(one.force)));
  if (norm(rest) > 1e-4 * largest) found.push({ name: "springs and loads", force: rest, point: carryPoint(state.poses, link, center), color: FORCE_COLORS.effort });
  const shown = found.filter((one) => norm(one.force) > 1e-9 * largest);
  shown.total = total;
  return shown;
}

/** The acceleration of a point of a link in the present motion, by differences along it. */
export function centerAcceleration(state, link, point) {
  const h = 1e-3, qdd = state.accelerations(), at = (sign) => {
    const step = Float64Array.from(state.qd, (v, k) => sign * h * v + 0.5 * h * h * qdd[k]);
    return carryPoint(state.posesAt(state.moved(state.q, step), state.t + sign * h), link, point);
  };
  const [a, b, c] = [at(-1), carryPoint(state.poses, link, point), at(1)];
  return a.map((v, k) => (v - 2 * b[k] + c[k]) / (h * h));
}

/** A place beyond the tip of an arrow from a to b, for its name. */
function beyondTip(a, b) {
  const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(...d);
  return [b[0] + (9 * d[0]) / length, b[1] + (9 * d[1]) / length];
}

/** A place beside the middle of an arrow from a to b, on the side that is away from a point. */
function besideMiddle(a, b, away) {
  const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(...d), n = [-d[1] / length, d[0] / length];
  const at = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], side = (at[0] - away[0]) * n[0] + (at[1] - away[1]) * n[1] < 0 ? -1 : 1;
  return [side, -side].map((one) => [at[0] + 9 * one * n[0], at[1] + 9 * one * n[1]]);
}

/** Write the name of an arrow at the first of some places that no other name has taken, between two
 *  ends of the width: colours do not tell arrows apart for everybody, nor two reactions. */
function nameArrow(pen, a, spots, ends, name, theme, taken) {
  const text = prettyName(name), c = pen.context;
  c.font = "11px sans-serif";
  const width = c.measureText(text).width, places = spots.map((spot) => [Math.min(ends[1] - width - 2, Math.max(ends[0] + 2, spot[0] < a[0] ? spot[0] - width : spot[0])), spot[1], width]);
  for (const one of places) one[1] = Math.min(ends[2] - 8, Math.max(8, one[1]));
  const place = places.find(([x, y]) => taken.every((one) => Math.abs(y - one[1]) >= 12 || x > one[0] + one[2] || x + width < one[0])) ?? places[0];
  taken.push(place);
  c.lineJoin = "round"; c.strokeStyle = theme.paper; c.lineWidth = 3; c.textAlign = "left"; c.textBaseline = "middle";
  c.strokeText(text, place[0], place[1]);
  pen.text(text, place[0], place[1], theme.ink);
}

/** The panel of a free body. */
export class BodyPanel {
  constructor(scene, acts) {
    this.scene = scene;
    const links = [...new Set(scene.bodies.filter((one) => one.link >= 0).map((one) => one.link))];
    this.choice = make("select", { "aria-label": "body" }, ...links.map((link) => make("option", { value: link }, scene.bodies.filter((one) => one.link === link).map((one) => one.name).join(", ").slice(0, 60))));
    this.choice.addEventListener("change", () => acts.choose(Number(this.choice.value)));
    this.canvas = make("canvas", { role: "img", "aria-label": "forces on the body, and their polygon" });
    this.list = make("table", { class: "lw-values" });
    this.root = make("details", { class: "lw-panel" }, make("summary", {}, "Free body"), make("div", { class: "lw-row" }, this.choice), this.canvas, this.list);
  }

  /** Draw the forces on the chosen body as a free body, and head to tail as a polygon. */
  show(state, camera, theme) {
    if (!this.root.open || !this.canvas.clientWidth) return;
    const link = Number(this.choice.value), forces = state.canMove ? bodyForces(state, link) : [];
    const ratio = window.devicePixelRatio || 1, wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    this.canvas.width = Math.round(wide * ratio); this.canvas.height = Math.round(high * ratio);
    const context = linesOn(this.canvas), pen = new Pen(context);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!forces.length) { pen.text("no forces are known", 10, 20, theme.gray); this.list.replaceChildren(); return; }
    const flat = (f) => [dot(f, camera.right), -dot(f, camera.up)];
    this.#freeBody(pen, forces, camera, flat, wide / 2, high, theme);
    this.#polygon(pen, forces, flat, wide / 2, wide / 2, high, theme);
    const largest = Math.max(...forces.map((one) => one.moment ?? 0)), withMoment = (moment) => (moment > 1e-9 * Math.max(largest, norm(forces.total)) ? `, ${formatNumber(moment)} N m` : "");
    const row = (name, f, color, moment = 0) => {
      const mark = make("span", { class: "lw-swatch" });
      mark.style.background = themed(color, theme);
      return make("tr", {}, make("th", { scope: "row" }, mark, name), make("td", {}, `${formatNumber(norm(f))} N${withMoment(moment)}`));
    };
    this.list.replaceChildren(...forces.map((one) => row(one.name, one.force, one.color, one.moment)), row("mass × acceleration", forces.total, theme.ink));
  }

  #freeBody(pen, forces, camera, flat, wide, high, theme) {
    const taken = [];
    const points = forces.map((one) => flat(one.point)), xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1e-9);
    const scale = (0.4 * Math.min(wide, high)) / span, mid = [(Math.max(...xs) + Math.min(...xs)) / 2, (Math.max(...ys) + Math.min(...ys)) / 2];
    const place = (p) => [wide / 2 + (p[0] - mid[0]) * scale, high / 2 + (p[1] - mid[1]) * scale];
    const largest = Math.max(...forces.map((one) => norm(one.force)), 1e-12), reach = (0.3 * Math.min(wide, high)) / largest;
    pen.path(points.map(place)).stroke(theme.gray, 5);
    forces.forEach((one, k) => {
      const a = place(points[k]), f = flat(one.force);
      const b = [a[0] + f[0] * reach, a[1] + f[1] * reach];
      drawArrow(pen, a, b, themed(one.color, theme), 2.2);
      if (lengthOf(a, b) > 8) nameArrow(pen, a, [beyondTip(a, b), [b[0] + 8, b[1]], [b[0] - 8, b[1]]], [0, wide, high], one.name, theme, taken);
    });
  }

  #polygon(pen, forces, flat, left, wide, high, theme) {
    const corners = [[0, 0]], taken = [];
    for (const one of forces) { const f = flat(one.force), last = corners[corners.length - 1]; corners.push([last[0] + f[0], last[1] + f[1]]); }
    const all = [...corners], xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
    const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1e-12), scale = (0.78 * Math.min(wide, high)) / span;
    const place = (p) => [left + wide / 2 + (p[0] - (Math.max(...xs) + Math.min(...xs)) / 2) * scale, high / 2 + (p[1] - (Math.max(...ys) + Math.min(...ys)) / 2) * scale];
    const last = corners.length - 1, middle = [left + wide / 2, high / 2];
    const sides = [...forces.map((one, k) => [k, k + 1, one.color, one.name]), [0, last, theme.ink, "m a"]];
    for (const [from, to, color, name] of sides) {
      const a = place(corners[from]), b = place(corners[to]);
      drawArrow(pen, a, b, themed(color, theme), 2);
      const away = to === last && from === 0 ? [a[0] + b[0] - middle[0], a[1] + b[1] - middle[1]] : middle; // the sum inside
      if (lengthOf(a, b) > 8) nameArrow(pen, [(a[0] + b[0]) / 2, 0], besideMiddle(a, b, away), [left, left + wide, high], name, theme, taken);
    }
  }
}
