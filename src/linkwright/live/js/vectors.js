// Vectors of three numbers, placements of links (3 × 4, row by row), and small dense matrices.

/** @returns {number} the scalar product */
export function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/** @returns {number[]} the vector product */
export function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** @returns {number[]} a + s·b */
export function addScaled(a, b, s = 1) { return [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]; }

/** @returns {number[]} a − b */
export function subtract(a, b) { return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]; }

/** @returns {number[]} a·s */
export function scaled(a, s) { return [a[0] * s, a[1] * s, a[2] * s]; }

/** @returns {number} the length */
export function norm(a) { return Math.hypot(a[0], a[1], a[2]); }

/** @returns {number[]} a unit vector; x if the vector has no length */
export function unit(a) { const n = norm(a); return n > 0 ? scaled(a, 1 / n) : [1, 0, 0]; }

/** @returns {number[]} a vector turned about a unit axis by an angle, rad */
export function turned(v, axis, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), w = cross(axis, v), d = dot(axis, v) * (1 - c);
  return [0, 1, 2].map((k) => v[k] * c + w[k] * s + axis[k] * d);
}

/** @returns {number[]} a unit vector normal to a unit vector */
export function normalTo(a) {
  const k = [0, 1, 2].reduce((best, i) => (Math.abs(a[i]) < Math.abs(a[best]) ? i : best), 0);
  const e = [0, 0, 0];
  e[k] = 1;
  return unit(cross(e, a));
}

/** Carry a point of a link into the world; link −1 is ground.
 *  @param {Float64Array} poses placements of all links, 12 numbers each */
export function carryPoint(poses, link, p) {
  if (link < 0) return [p[0], p[1], p[2]];
  const o = 12 * link;
  return [0, 4, 8].map((r) => poses[o + r] * p[0] + poses[o + r + 1] * p[1] + poses[o + r + 2] * p[2] + poses[o + r + 3]);
}

/** Turn a direction of a link into world axes. */
export function carryDirection(poses, link, d) {
  if (link < 0) return [d[0], d[1], d[2]];
  const o = 12 * link;
  return [0, 4, 8].map((r) => poses[o + r] * d[0] + poses[o + r + 1] * d[1] + poses[o + r + 2] * d[2]);
}

/** Take a point of the world into the axes of a link. */
export function pointInLink(poses, link, x) {
  if (link < 0) return [x[0], x[1], x[2]];
  const o = 12 * link, d = [x[0] - poses[o + 3], x[1] - poses[o + 7], x[2] - poses[o + 11]];
  return [0, 1, 2].map((c) => poses[o + c] * d[0] + poses[o + 4 + c] * d[1] + poses[o + 8 + c] * d[2]);
}

/** The 4 × 4 matrix (columns, for WebGL) that takes z from 0 to 1 to the segment from a to b, with a radius. */
export function segmentMatrix(a, b, radius) {
  const along = subtract(b, a), z = unit(along), x = normalTo(z), y = cross(z, x);
  return [
    ...scaled(x, radius), 0, ...scaled(y, radius), 0, ...along, 0, ...a, 1,
  ];
}

/** The 4 × 4 matrix (columns) of a rotation (9 numbers, rows), a point, and factors along its axes. */
export function placementMatrix(R, p, s) {
  return [
    R[0] * s[0], R[3] * s[0], R[6] * s[0], 0, R[1] * s[1], R[4] * s[1], R[7] * s[1], 0,
    R[2] * s[2], R[5] * s[2], R[8] * s[2], 0, p[0], p[1], p[2], 1,
  ];
}

/** The product of two 4 × 4 matrices by columns. */
export function multiplyMatrices(a, b) {
  const found = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + r] * b[4 * c + k];
      found[4 * c + r] = sum;
    }
  }
  return found;
}

/** Solve the symmetric positive definite system A x = b by Cholesky; rows with weak pivots give 0.
 *  @param {number[][]} A @param {number[]} b */
export function solvePositive(A, b) {
  const n = b.length, L = A.map((row) => row.slice()), x = b.slice(), kept = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = L[i][j];
      for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (i === j) {
        kept[i] = sum > 1e-13 * Math.abs(A[i][i]) && sum > 0;
        L[i][i] = kept[i] ? Math.sqrt(sum) : 1;
      } else L[i][j] = kept[j] ? sum / L[j][j] : 0;
    }
    if (!kept[i]) for (let j = 0; j < i; j++) L[i][j] = 0;
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    x[i] = kept[i] ? x[i] / L[i][i] : 0;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
    x[i] = kept[i] ? x[i] / L[i][i] : 0;
  }
  return x;
}

/** Orthonormal rows that span the rows of a matrix, longest first; dependent rows are left out.
 *  @param {Float64Array} flat rows one after the other @returns {number[][]} */
export function orthonormalRows(flat, columns, share = 1e-9) {
  const rows = [];
  for (let r = 0; r < flat.length; r += columns) rows.push(Array.from(flat.subarray(r, r + columns)));
  const found = [], length = (row) => Math.hypot(...row);
  const first = Math.max(0, ...rows.map(length));
  while (rows.length) {
    const k = rows.reduce((best, row, i) => (length(row) > length(rows[best]) ? i : best), 0);
    const [row] = rows.splice(k, 1), size = length(row);
    if (!(size > share * first)) break;
    const e = row.map((v) => v / size);
    found.push(e);
    for (const other of rows) {
      const d = other.reduce((sum, v, i) => sum + v * e[i], 0);
      for (let i = 0; i < columns; i++) other[i] -= d * e[i];
    }
  }
  return found;
}

/** Take from a vector all that lies along orthonormal rows. */
export function withoutRows(v, rows) {
  const found = Array.from(v);
  for (const e of rows) {
    const d = found.reduce((sum, x, i) => sum + x * e[i], 0);
    for (let i = 0; i < found.length; i++) found[i] -= d * e[i];
  }
  return found;
}
