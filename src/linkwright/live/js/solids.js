// Solids in space: unit primitives, the glyphs of a mechanism as solids, meshes with smooth normals.
import { addScaled, cross, norm, placementMatrix, scaled, segmentMatrix, subtract, unit } from "./vectors.js";
import { decodeBase64 } from "./state.js";

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** A surface of revolution about z. @param {number[][]} profile (radius, z, normal radius, normal z) */
function revolve(profile, count = 24) {
  const found = [];
  const point = ([r, z, nr, nz], k) => {
    const a = (2 * Math.PI * k) / count, c = Math.cos(a), s = Math.sin(a);
    return [r * c, r * s, z, nr * c, nr * s, nz];
  };
  for (let i = 0; i + 1 < profile.length; i++) {
    for (let k = 0; k < count; k++) {
      const [a, b, c, d] = [point(profile[i], k), point(profile[i], k + 1), point(profile[i + 1], k + 1), point(profile[i + 1], k)];
      if (profile[i][0] > 0) found.push(...a, ...b, ...c);
      if (profile[i + 1][0] > 0) found.push(...a, ...c, ...d);
    }
  }
  return found;
}

/** A ball of radius 1 as rings. */
function ballProfile(parts = 12) {
  return Array.from({ length: parts + 1 }, (_, k) => {
    const a = -Math.PI / 2 + (Math.PI * k) / parts, r = k % parts === 0 ? 0 : Math.cos(a);
    return [r, Math.sin(a), r, Math.sin(a)];
  });
}

/** A box from −1/2 to 1/2. */
function boxTriangles() {
  const found = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const n = [0, 0, 0], u = [0, 0, 0], v = [0, 0, 0];
      n[axis] = side; u[(axis + 1) % 3] = 1; v[(axis + 2) % 3] = side;
      const corner = (a, b) => [...[0, 1, 2].map((k) => (n[k] + a * u[k] + b * v[k]) / 2), ...n];
      found.push(...corner(-1, -1), ...corner(1, -1), ...corner(1, 1), ...corner(-1, -1), ...corner(1, 1), ...corner(-1, 1));
    }
  }
  return found;
}

/** Unit primitives: positions and normals, six numbers a corner. Cylinders and cones reach from z = 0 to 1. */
export function unitPrimitives() {
  const wall = [[1, 0, 1, 0], [1, 1, 1, 0]], foot = [[0, 0, 0, -1], [1, 0, 0, -1]], lid = [[1, 1, 0, 1], [0, 1, 0, 1]];
  return {
    sphere: new Float32Array(revolve(ballProfile(), 20)),
    cylinder: new Float32Array([...revolve(foot, 20), ...revolve(wall, 20), ...revolve(lid, 20)]),
    cone: new Float32Array([...revolve(foot, 20), ...revolve([[1, 0, 0.7, 0.7], [0, 1, 0.7, 0.7]], 20)]),
    box: new Float32Array(boxTriangles()),
  };
}

/** Red, green, blue, opacity of a colour #rrggbb. */
export function colorNumbers(text, opacity = 1) {
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255).concat(opacity);
}

function segment(list, link, a, b, radius, color) {
  if (norm(subtract(b, a)) > 1e-12) list.push({ shape: "cylinder", link, matrix: segmentMatrix(a, b, radius), color });
}

function ball(list, link, p, radius, color) {
  list.push({ shape: "sphere", link, matrix: placementMatrix(IDENTITY, p, [radius, radius, radius]), color });
}

/** Paths as tubes with round joints. */
function tube(list, link, points, radius, color) {
  points.forEach((p, k) => {
    ball(list, link, p, radius, color);
    if (k) segment(list, link, points[k - 1], p, radius, color);
  });
}

/** A prism of two caps of equal size, as a cylinder or box. */
function prism(list, link, points, color) {
  const half = points.length / 2, middle = (part) => scaled(part.reduce((s, p) => addScaled(s, p), [0, 0, 0]), 1 / part.length);
  const top = points.slice(0, half), a = middle(top), b = middle(points.slice(half));
  if (half > 8) { segment(list, link, b, a, norm(subtract(top[0], a)), color); return; }
  const x = subtract(top[0], top[1]), y = subtract(top[1], top[2]), z = subtract(a, b);
  const [ux, uy] = [unit(x), unit(y)], uz = unit(z), c = scaled(addScaled(a, b), 0.5);
  const R = [ux[0], uy[0], uz[0], ux[1], uy[1], uz[1], ux[2], uy[2], uz[2]];
  list.push({ shape: "box", link, matrix: placementMatrix(R, c, [norm(x), norm(y), norm(z)]), color });
}

/** A flat plate as a fan of triangles on both sides. */
function plateTriangles(points, thickness) {
  const n = unit(cross(subtract(points[1], points[0]), subtract(points[2], points[0]))), found = [];
  for (const side of [-1, 1]) {
    const lifted = points.map((p) => addScaled(p, n, (side * thickness) / 2)), normal = scaled(n, side);
    for (let k = 1; k + 1 < points.length; k++) {
      const order = side > 0 ? [lifted[0], lifted[k], lifted[k + 1]] : [lifted[0], lifted[k + 1], lifted[k]];
      for (const p of order) found.push(...p, ...normal);
    }
  }
  return found;
}

const GLYPH_SOLIDS = {
  line(list, g, p, r, c) { tube(list, g.link, p, 0.75 * r, c); },
  plate(list, g, p, r, c) {
    tube(list, g.link, [...p, p[0]], 0.5 * r, c);
    list.push({ shape: "triangles", link: g.link, mesh: plainMesh(plateTriangles(p, 0.6 * r)), color: c });
  },
  wheel(list, g, p, r, c) { tube(list, g.link, p, 0.5 * r, c); },
  spoke(list, g, p, r, c) { tube(list, g.link, p, 0.2 * r, c); },
  blade(list, g, p, r, c) { tube(list, g.link, p, 0.6 * r, c); },
  coil(list, g, p, r, c) { tube(list, g.link, p.filter((_, k) => k % 3 === 0), 0.22 * r, c); },
  hull(list, g, p, r, c) { prism(list, g.link, p, c); },
  ball(list, g, p, r, c) { ball(list, g.link, p[0], 1.25 * r, c); },
  base(list, g, p, r, c) { list.push({ shape: "triangles", link: g.link, mesh: plainMesh(plateTriangles(p, 0.5 * r)), color: c }); },
  solid(list, g, p, r, c) { for (let k = 0; k + 1 < p.length; k += 2) segment(list, g.link, p[k], p[k + 1], 0.25 * r, c); },
};

/** The solids of a mechanism's glyphs, in the axes of their links.
 *  @param {LiveState} state @param {Set<number>} covered links whose shapes are drawn instead */
export function glyphSolids(state, covered) {
  const found = [], r = state.scene.view.sign;
  for (const glyph of state.scene.glyphs) {
    if (!["ground", "links", "wheels", "joints"].includes(glyph.group) || covered.has(glyph.link)) continue;
    const points = glyph.points.map((p, k) => state.shifted(p, glyph.anchors[k]));
    const color = glyph.kind === "base" ? [0.72, 0.72, 0.72, 1] : glyph.kind === "hull" && glyph.color === "#202020" ? [0.3, 0.3, 0.32, 1] : colorNumbers(glyph.color);
    GLYPH_SOLIDS[glyph.kind]?.(found, glyph, points, r, color);
  }
  return found;
}

/** The solids of springs, dampers, rods and rails, in the world. */
export function connectorSolids(state) {
  const found = [], r = state.scene.view.sign;
  for (const tie of state.scene.connectors) {
    const [a, b] = [0, 1].map((k) => state.world(tie.links[k], tie.points[k], tie.anchors[k])), d = subtract(b, a);
    const color = colorNumbers(tie.color);
    if (tie.kind === "rod" || tie.kind === "rail") { segment(found, -1, a, b, 0.5 * r, color); continue; }
    const z = unit(d), x = unit(cross(z, Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), y = cross(z, x), turns = 9, count = 8 * turns;
    let last = a;
    for (let k = 1; k <= count; k++) {
      const s = k / count, angle = 2 * Math.PI * turns * s, wide = 1.3 * r * Math.min(1, 8 * s, 8 * (1 - s));
      const p = addScaled(addScaled(addScaled(a, d, s), x, wide * Math.cos(angle)), y, wide * Math.sin(angle));
      segment(found, -1, last, p, 0.22 * r, color);
      last = p;
    }
  }
  return found;
}

/** The solids of shapes that a file states. */
export function shapeSolids(scene) {
  const found = [];
  for (const one of scene.shapes) {
    const { size, radii, radius, length } = one.numbers, R = one.rotation, p = one.point;
    const z = [R[2], R[5], R[8]], add = (shape, matrix) => found.push({ shape, link: one.link, matrix, color: one.color });
    const low = length === undefined ? p : addScaled(p, z, -length / 2);
    if (one.kind === "box") add("box", placementMatrix(R, p, size));
    if (one.kind === "sphere") add("sphere", placementMatrix(R, p, [radius, radius, radius]));
    if (one.kind === "ellipsoid") add("sphere", placementMatrix(R, p, radii));
    if (one.kind === "cylinder" || one.kind === "capsule") add("cylinder", placementMatrix(R, low, [radius, radius, length]));
    if (one.kind === "cone") add("cone", placementMatrix(R, low, [radius, radius, length]));
    if (one.kind === "capsule") for (const end of [-1, 1]) add("sphere", placementMatrix(R, addScaled(p, z, (end * length) / 2), [radius, radius, radius]));
    if (one.kind === "plane") { const [w, h] = size ?? [2 * scene.view.size, 2 * scene.view.size]; add("box", placementMatrix(R, addScaled(p, z, -0.002 * scene.view.size), [w, h, 0.004 * scene.view.size])); }
  }
  return found;
}

const CREASE = Math.cos((38 * Math.PI) / 180);

/** A mesh with normals that are smooth across faces that nearly continue each other.
 *  @returns {{corners: Float32Array, indices: Uint32Array}} six numbers a corner, three indices a triangle */
export function smoothMesh(corners, indices) {
  const faces = indices.length / 3, normals = new Float64Array(3 * faces), around = new Map();
  const at = (v) => [corners[3 * v], corners[3 * v + 1], corners[3 * v + 2]], of = (f) => [normals[3 * f], normals[3 * f + 1], normals[3 * f + 2]];
  for (let f = 0; f < faces; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => at(indices[3 * f + k]));
    normals.set(cross(subtract(b, a), subtract(c, a)), 3 * f);
    for (let k = 0; k < 3; k++) {
      const v = indices[3 * f + k];
      if (!around.has(v)) around.set(v, []);
      around.get(v).push(f);
    }
  }
  const found = [], known = new Map(), order = new Uint32Array(indices.length);
  for (let f = 0; f < faces; f++) {
    const own = unit(of(f));
    for (let k = 0; k < 3; k++) {
      const v = indices[3 * f + k];
      let sum = [0, 0, 0];
      for (const other of around.get(v)) {
        const n = of(other), size = norm(n);
        if (size > 0 && (n[0] * own[0] + n[1] * own[1] + n[2] * own[2]) / size > CREASE) sum = addScaled(sum, n);
      }
      const n = unit(sum), key = `${v} ${n.map((x) => Math.round(8 * x)).join()}`;
      if (!known.has(key)) { known.set(key, found.length / 6); found.push(...at(v), ...n); }
      order[3 * f + k] = known.get(key);
    }
  }
  return { corners: new Float32Array(found), indices: order };
}

/** Triangles that share no corners, as a mesh. */
export function plainMesh(triangles) {
  const corners = new Float32Array(triangles);
  return { corners, indices: Uint32Array.from({ length: corners.length / 6 }, (_, k) => k) };
}

/** All meshes of a scene as triangles with links and colours. @returns {{link, color, mesh}[]} */
export function sceneMeshes(scene) {
  if (!scene.meshes) return [];
  const packed = new Uint16Array(decodeBase64(scene.meshes.positions).buffer), indices = new Uint32Array(decodeBase64(scene.meshes.indices).buffer);
  let corner = 0, index = 0;
  return scene.meshes.parts.map((part) => {
    const corners = new Float64Array(3 * part.corners);
    for (let k = 0; k < corners.length; k++) corners[k] = part.low[k % 3] + part.step[k % 3] * packed[corner + k];
    const own = indices.subarray(index, index + 3 * part.triangles);
    corner += 3 * part.corners; index += 3 * part.triangles;
    return { link: part.link, color: part.color, mesh: smoothMesh(corners, own) };
  });
}

/** The cell of a grid of a given reach: 1, 2 or 5 times a power of ten. Lines are few, since each
 *  of them takes long where there is no graphics card. */
export function gridCell(reach, most = 14) {
  const power = 10 ** Math.floor(Math.log10(reach / most));
  return power * [1, 2, 5, 10].find((one) => reach / (one * power) <= most);
}

/** The ground as triangles and its grid as lines: x, y and strength of each corner, which fades out to the rim. */
export function groundGeometry(reach, cell) {
  const rim = 40, disc = [], lines = [], fade = (x, y) => Math.max(0, 1 - Math.hypot(x, y) / reach) ** 0.8;
  const point = (k, r) => [r * Math.cos((2 * Math.PI * k) / rim), r * Math.sin((2 * Math.PI * k) / rim)];
  for (let k = 0; k < rim; k++) {
    for (const [a, b] of [[0, 0.5], [0.5, 1]]) {
      const corners = [[k, a], [k, b], [k + 1, b], [k, a], [k + 1, b], [k + 1, a]].map(([i, r]) => point(i, r * reach));
      for (const [x, y] of corners) disc.push(x, y, fade(x, y));
    }
  }
  const count = Math.floor(reach / cell), parts = 12;
  for (let k = -count; k <= count; k++) {
    const at = k * cell, half = Math.sqrt(Math.max(0, reach * reach - at * at)), strength = k % 5 === 0 ? 1 : 0.45;
    for (let i = 0; i < parts; i++) {
      const [u, v] = [i, i + 1].map((n) => half * ((2 * n) / parts - 1));
      for (const [x, y] of [[at, u], [at, v], [u, at], [v, at]]) lines.push(x, y, strength * fade(x, y));
    }
  }
  return { disc: new Float32Array(disc), lines: new Float32Array(lines) };
}

/** A coarse copy of a mesh for its shadow: corners in one cell of a grid become one. */
export function coarseMesh({ corners, indices }, cells = 7) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], place = new Uint32Array(corners.length / 6), known = new Map(), found = [];
  for (let k = 0; k < corners.length; k += 6) for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], corners[k + i]); high[i] = Math.max(high[i], corners[k + i]); }
  const edge = Math.max(1e-9, ...high.map((v, i) => v - low[i])) / cells;
  for (let k = 0; k < place.length; k++) {
    const p = corners.subarray(6 * k, 6 * k + 3), key = [0, 1, 2].map((i) => Math.round((p[i] - low[i]) / edge)).join();
    if (!known.has(key)) { known.set(key, found.length / 6); found.push(p[0], p[1], p[2], 0, 0, 1); }
    place[k] = known.get(key);
  }
  const order = [];
  for (let k = 0; k < indices.length; k += 3) {
    const [a, b, c] = [place[indices[k]], place[indices[k + 1]], place[indices[k + 2]]];
    if (a !== b && b !== c && c !== a) order.push(a, b, c);
  }
  return { corners: new Float32Array(found), indices: Uint32Array.from(order) };
}
