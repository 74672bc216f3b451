// Draws planar mechanisms on a canvas, in the style of Linkwright's figures.
import { dot, subtract } from "./vectors.js";

/** Colours of drawings on light and dark pages. */
export const THEMES = {
  light: { ink: "#202020", paper: "#ffffff", gray: "#8a8a8a", faint: "#dddddd", base: "#f2f2f2", floor: "#f7f7f7", ball: "#bfbfbf", glow: "#ffd24d" },
  dark: { ink: "#e8e8e8", paper: "#15181c", gray: "#8f959b", faint: "#343a40", base: "#2a2f35", floor: "#1b1f24", ball: "#6b7178", glow: "#b98a00" },
};

/** Okabe and Ito's colours on dark paper: lighter, in the same order of hues, so that lines are as clear as on white. */
const ON_DARK = {
  "#0072B2": "#4aa3f5", "#D55E00": "#ff8533", "#009E73": "#22c79a", "#CC79A7": "#e39cc4", "#E69F00": "#ffb92e", "#56B4E9": "#b5e1ff",
  "#7F7F7F": "#a6abb0", "#4D4D4D": "#b9bec4",
};

/** A colour of the scene on the present page: ink turns light on dark paper. */
export function themed(color, theme) {
  const name = color.toUpperCase();
  if (name === "#202020") return theme.ink;
  if (name === "#8A8A8A") return theme.gray;
  return theme === THEMES.dark ? ON_DARK[name] ?? color : color;
}

/** The convex hull of points in the plane. */
export function convexHull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1) {
        const [a, b] = kept.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        kept.pop();
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return half(sorted).concat(half(sorted.reverse()));
}

let software; // known after the first question

/** Whether pictures are computed without a graphics card: then smooth edges cost too much, and lines
 *  that the card's program draws cost more than lines that the browser draws. */
export function isSoftware() {
  if (software !== undefined) return software;
  const gl = document.createElement("canvas").getContext("webgl2"), more = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  software = /swiftshader|llvmpipe|software|basic render/i.test(name);
  return software;
}

/** What draws lines on a canvas. @returns {CanvasRenderingContext2D} */
export function linesOn(canvas) { return canvas.getContext("2d", { willReadFrequently: isSoftware() }); }

/** Draws paths on a canvas. */
export class Pen {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) { this.context = context; }

  path(points, closed = false) {
    this.context.beginPath();
    points.forEach((p, k) => (k ? this.context.lineTo(p[0], p[1]) : this.context.moveTo(p[0], p[1])));
    if (closed) this.context.closePath();
    return this;
  }

  disc(p, radius) { this.context.beginPath(); this.context.arc(p[0], p[1], radius, 0, 2 * Math.PI); return this; }

  stroke(color, width, dash = []) {
    this.context.strokeStyle = color; this.context.lineWidth = width; this.context.setLineDash(dash);
    this.context.stroke(); this.context.setLineDash([]);
    return this;
  }

  fill(color) { this.context.fillStyle = color; this.context.fill(); return this; }

  text(words, x, y, color, align = "left") {
    this.context.fillStyle = color; this.context.textAlign = align; this.context.textBaseline = "middle";
    this.context.fillText(words, x, y);
  }
}

const PAINTERS = {
  line(pen, c, p, theme) { pen.path(p).stroke(theme.paper, 6); pen.path(p).stroke(c, 3.5); },
  plate(pen, c, p) { pen.path(p, true).fill(`${c}2e`).stroke(c, 2.5); },
  wheel(pen, c, p) { pen.path(p).stroke(c, 3); },
  spoke(pen, c, p) { pen.path(p).stroke(c, 1); },
  coil(pen, c, p, theme) { pen.path(p).stroke(theme.ink, 1); },
  blade(pen, c, p, theme) { pen.path(p).stroke(theme.ink, 5); },
  base(pen, c, p, theme) { pen.path(p, true).fill(theme.base).stroke(theme.ink, 1); },
  edge(pen, c, p, theme) { pen.path(p).stroke(theme.ink, 1.2); },
  floor(pen, c, p, theme) { pen.path(p, true).fill(theme.floor).stroke(theme.gray, 0.8); },
  axis(pen, c, p) { pen.path(p).stroke(c, 1.6); },
  hull(pen, c, p, theme) { pen.path(convexHull(p), true).fill(theme.paper).stroke(c, 1.4); },
  ball(pen, c, p, theme, r) { pen.disc(p[0], 1.15 * r).fill(theme.ball).stroke(c, 1.2); },
  dot(pen, c, p, theme) { pen.disc(p[0], 2.2).fill(theme.ink); },
  center(pen, c, p, theme, r) { drawCenter(pen, p[0], Math.max(4, 0.62 * r), theme); },
};

/** The sign of a centre of mass: a disc with two dark quarters. */
export function drawCenter(pen, p, radius, theme) {
  pen.disc(p, radius).fill(theme.paper).stroke(theme.ink, 0.8);
  for (const a of [0, Math.PI]) {
    const c = pen.context;
    c.beginPath(); c.moveTo(p[0], p[1]); c.arc(p[0], p[1], radius, a - Math.PI / 2, a); c.closePath();
    pen.fill(theme.ink);
  }
}

/** Draw pairs of points as short lines. */
function drawPairs(pen, glyph, color, points, theme) {
  const [own, width] = { hatch: [theme.ink, 0.8], grid: [theme.faint, 0.8] }[glyph.kind] ?? [color, 1];
  for (let k = 0; k + 1 < points.length; k += 2) pen.path([points[k], points[k + 1]]).stroke(own, width);
}

/** Draw a spring, damper, rod or rail between two points of the picture. */
export function drawConnector(pen, scene, tie, a, b, scale, theme) {
  const color = themed(tie.color, theme);
  if (tie.kind === "rail" || tie.kind === "rod") { pen.path([a, b]).stroke(color, tie.kind === "rail" ? 2.4 : 1.8); return; }
  const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(d[0], d[1]) || 1;
  const w = 1.2 * scene.view.sign * scale, across = [(-d[1] / length) * w, (d[0] / length) * w];
  for (const part of scene.patterns[tie.kind]) {
    pen.path(part.map(([x, y]) => [a[0] + x * d[0] + y * across[0], a[1] + x * d[1] + y * across[1]])).stroke(theme.ink, 1.3);
  }
}

/** Draw lines at round numbers, by which one sees that the view travels. */
function drawRuledPaper(pen, camera, size, theme) {
  const step = 10 ** Math.ceil(Math.log10(size / 4)), scale = camera.scale;
  const lines = (axis, span, draw) => {
    const at = dot(camera.middle, axis), half = span / (2 * scale);
    for (let k = Math.ceil((at - half) / step); k * step <= at + half; k++) draw((k * step - at) * scale + span / 2);
  };
  lines(camera.right, camera.wide, (x) => pen.path([[x, 0], [x, camera.high]]).stroke(theme.faint, 0.7));
  lines(camera.up, camera.high, (y) => pen.path([[0, camera.high - y], [camera.wide, camera.high - y]]).stroke(theme.faint, 0.7));
}

/** Draw the mechanism at its present state.
 *  @param {Pen} pen @param {LiveState} state @param {Camera} camera @param {object} look switches and highlighted links */
export function drawPlanar(pen, state, camera, look, theme) {
  const scene = state.scene, radius = scene.view.sign * camera.scale, jobs = [];
  pen.context.lineCap = pen.context.lineJoin = "round";
  if (look.follow && camera.planar) drawRuledPaper(pen, camera, scene.view.size, theme);
  for (const glyph of scene.glyphs) {
    if ((glyph.group === "frames" && !look.frames) || (glyph.group === "centers" && !look.centers)) continue;
    const points = glyph.points.map((p, k) => camera.project(state.world(glyph.link, p, glyph.anchors[k])));
    const color = themed(glyph.color, theme), lit = look.lit.includes(glyph.link);
    jobs.push({ layer: glyph.layer, go() {
      if (lit && (glyph.kind === "line" || glyph.kind === "plate" || glyph.kind === "wheel")) pen.path(points, glyph.kind === "plate").stroke(theme.glow, 13);
      if (PAINTERS[glyph.kind]) PAINTERS[glyph.kind](pen, color, points, theme, radius);
      else drawPairs(pen, glyph, color, points, theme);
    } });
  }
  for (const tie of scene.connectors) {
    const [a, b] = [0, 1].map((k) => camera.project(state.world(tie.links[k], tie.points[k], tie.anchors[k])));
    jobs.push({ layer: tie.layer, go() { drawConnector(pen, scene, tie, a, b, camera.scale, theme); } });
  }
  jobs.sort((a, b) => a.layer - b.layer).forEach((job) => job.go());
}

/** The link nearest to a pixel, by the drawn lines and plates. @returns {number} −1 if none is near */
export function pickPlanar(state, camera, x, y, reach = 14) {
  let best = -1, near = reach;
  for (const glyph of state.scene.glyphs) {
    if (glyph.link < 0 || !["links", "wheels", "joints", "centers"].includes(glyph.group)) continue;
    const points = glyph.points.map((p, k) => camera.project(state.world(glyph.link, p, glyph.anchors[k])));
    const closed = glyph.kind === "plate";
    const away = closed && insidePolygon(points, x, y) ? 0 : distanceToPath(points, x, y, closed) + (glyph.group === "joints" ? 4 : 0);
    if (away < near) { near = away; best = glyph.link; }
  }
  return best;
}

/** Whether a pixel lies inside a polygon. */
export function insidePolygon(points, x, y) {
  let inside = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [a, b] = [points[i], points[j]];
    if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) inside = !inside;
  }
  return inside;
}

/** The distance of a pixel from a path. */
export function distanceToPath(points, x, y, closed = false) {
  const list = closed ? [...points, points[0]] : points;
  if (list.length === 1) return Math.hypot(list[0][0] - x, list[0][1] - y);
  let best = Infinity;
  for (let k = 0; k + 1 < list.length; k++) {
    const a = list[k], d = subtract([...list[k + 1].slice(0, 2), 0], [...a.slice(0, 2), 0]), size = d[0] * d[0] + d[1] * d[1];
    const s = size > 0 ? Math.max(0, Math.min(1, ((x - a[0]) * d[0] + (y - a[1]) * d[1]) / size)) : 0;
    best = Math.min(best, Math.hypot(a[0] + s * d[0] - x, a[1] + s * d[1] - y));
  }
  return best;
}
