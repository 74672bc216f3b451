// The eye: parallel onto a plane of motion, in perspective in space; turn, shift, zoom.
import { addScaled, cross, dot, multiplyMatrices, scaled, subtract, turned, unit } from "./vectors.js";

const FIELD = 0.5;

/** A camera that looks at a middle point. */
export class Camera {
  /** @param {object} view the first view of a scene */
  constructor(view) {
    this.first = view;
    this.planar = view.planar;
    this.wide = 640;
    this.high = 400;
    this.reset();
  }

  /** Return to the first view. */
  reset() {
    this.right = this.first.right.slice();
    this.up = this.first.up.slice();
    this.middle = this.first.middle.slice();
    this.zoom = 1;
    this.anchor = this.home ?? null;
    this.reach = null; // how far from the middle the followed point may be
  }

  /** Show all of some points, as large as they fit, from the same side. */
  fit(points) {
    if (!points.length) return;
    const bounds = [this.right, this.up, this.toward].map((way) => { const at = points.map((p) => dot(p, way)); return [Math.min(...at), Math.max(...at)]; });
    const [wide, high, deep] = bounds.map(([low, top]) => top - low), least = 0.1 * this.first.size;
    this.middle = [this.right, this.up, this.toward].reduce((sum, way, k) => addScaled(sum, way, (bounds[k][0] + bounds[k][1]) / 2), [0, 0, 0]);
    const room = Math.min((0.82 * this.wide) / Math.max(wide, least), (0.82 * this.high) / Math.max(high, least));
    this.zoom *= room / this.scale;
    if (!this.planar) this.zoom *= Math.max(0.3, 1 - deep / (2 * this.distance));
  }

  /** Set the size of the picture, CSS pixels. */
  resize(wide, high) { this.wide = Math.max(1, wide); this.high = Math.max(1, high); }

  /** The direction from the picture to the eye. */
  get toward() { return cross(this.right, this.up); }

  /** Pixels for a metre at the middle point. */
  get scale() {
    const [w, h] = this.first.extent, margin = this.planar ? 24 : 40;
    return this.zoom * Math.max(1e-9, Math.min((this.wide - margin) / w, (this.high - margin) / h)) * (this.planar ? 1 : 0.92);
  }

  /** The distance of the eye from the middle point in space, m. */
  get distance() { return this.high / (2 * this.scale * Math.tan(FIELD / 2)); }

  /** A point on the picture, pixels, and its distance towards the eye, m. @returns {[number, number, number]} */
  project(p) {
    const d = subtract(p, this.middle), depth = dot(d, this.toward);
    const s = this.planar ? this.scale : this.scale * (this.distance / Math.max(1e-3 * this.distance, this.distance - depth));
    return [this.wide / 2 + s * dot(d, this.right), this.high / 2 - s * dot(d, this.up), depth];
  }

  /** The point of the world under a pixel, as deep as a given point. */
  unproject(x, y, near) {
    const depth = dot(subtract(near, this.middle), this.toward);
    const s = this.planar ? this.scale : this.scale * (this.distance / (this.distance - depth));
    const flat = addScaled(scaled(this.right, (x - this.wide / 2) / s), this.up, (this.high / 2 - y) / s);
    return addScaled(addScaled(this.middle, flat), this.toward, depth);
  }

  /** Turn about the vertical and about the horizontal of the picture, rad. */
  turn(dx, dy) {
    this.reach = null;
    const vertical = this.first.vertical;
    this.right = turned(this.right, vertical, -dx);
    this.up = turned(this.up, vertical, -dx);
    this.up = turned(this.up, this.right, -dy);
    this.right = unit(this.right);
    this.up = unit(subtract(this.up, scaled(this.right, dot(this.up, this.right))));
  }

  /** Shift the picture by pixels. */
  shift(dx, dy) {
    this.reach = null;
    this.middle = addScaled(addScaled(this.middle, this.right, -dx / this.scale), this.up, dy / this.scale);
  }

  /** Zoom by a factor, keeping the point under a pixel in its place. */
  zoomBy(factor, x = this.wide / 2, y = this.high / 2) {
    const before = this.zoom;
    this.reach = null;
    this.zoom = Math.min(60, Math.max(0.05, this.zoom * factor));
    const gain = 1 - before / this.zoom;
    this.middle = addScaled(this.middle, this.right, ((x - this.wide / 2) * gain * this.zoom) / (before * this.scale));
    this.middle = addScaled(this.middle, this.up, ((this.high / 2 - y) * gain * this.zoom) / (before * this.scale));
  }

  /** The place of the eye. */
  get eye() { return addScaled(this.middle, this.toward, this.distance); }

  /** The matrix from the world to clip coordinates, by columns. */
  get matrix() {
    const r = this.right, u = this.up, e = this.toward, eye = this.eye, distance = this.distance;
    const view = [r[0], u[0], e[0], 0, r[1], u[1], e[1], 0, r[2], u[2], e[2], 0, -dot(r, eye), -dot(u, eye), -dot(e, eye), 1];
    const f = 1 / Math.tan(FIELD / 2), near = Math.max(0.01 * distance, distance - 12 * this.first.size), far = distance + 40 * this.first.size;
    const lens = [
      (f * this.high) / this.wide, 0, 0, 0, 0, f, 0, 0,
      0, 0, -(far + near) / (far - near), -1, 0, 0, (-2 * far * near) / (far - near), 0,
    ];
    return multiplyMatrices(lens, view);
  }
}
