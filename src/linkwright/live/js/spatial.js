// Draws mechanisms in space by WebGL2: few draw calls, whatever the number of bodies.
import { addScaled, cross, dot, normalTo, scaled, subtract, unit } from "./vectors.js";
import { isSoftware } from "./planar.js";
import { compileProgram, GROUND_FRAGMENT, GROUND_VERTEX, SOLID_FRAGMENTS, SOLID_VERTEX } from "./shaders.js";
import { coarseMesh, colorNumbers, connectorSolids, glyphSolids, gridCell, groundGeometry, sceneMeshes, shapeSolids, unitPrimitives } from "./solids.js";

const FLOATS_PER_INSTANCE = 21;

/** Draws the solids of a scene on a canvas. */
export class SpatialPicture {
  /** @param {HTMLCanvasElement} canvas @throws where WebGL2 is missing */
  constructor(canvas, state) {
    const gl = canvas.getContext("webgl2", { antialias: !isSoftware(), alpha: false });
    if (!gl) throw new Error("WebGL2 is missing");
    this.gl = gl; this.canvas = canvas; this.state = state;
    this.solids = Object.fromEntries(Object.entries(SOLID_FRAGMENTS).map(([kind, text]) => [kind, compileProgram(gl, SOLID_VERTEX, text)]));
    this.floor = compileProgram(gl, GROUND_VERTEX, GROUND_FRAGMENT);
    this.primitives = Object.fromEntries(Object.entries(unitPrimitives()).map(([name, data]) => [name, this.#primitive(data)]));
    this.links = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.links);
    for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
    this.load();
  }

  /** Build the buffers of meshes and shapes: once for a scene. */
  load() {
    const { scene } = this.state;
    this.covered = new Set([...scene.shapes.map((one) => one.link), ...(scene.meshes?.parts ?? []).map((one) => one.link)]);
    const meshes = sceneMeshes(scene), { view } = scene;
    this.meshes = this.#triangles(meshes);
    this.shadowMeshes = this.#triangles(meshes.map((one) => ({ ...one, mesh: coarseMesh(one.mesh) })));
    const reach = 3.2 * Math.max(view.size, ...view.extent);
    this.cell = gridCell(reach);
    const ground = groundGeometry(reach, this.cell);
    this.disc = this.#flat(ground.disc);
    this.grid = this.#flat(ground.lines);
    this.fixedSolids = shapeSolids(scene);
    this.floorHeight = this.#lowestPoint();
    this.anchoredAt = -1;
  }

  /** The height of the ground: under everything that is drawn at home. */
  #lowestPoint() {
    const { scene } = this.state, up = scene.view.vertical;
    if (scene.shapes.some((one) => one.kind === "plane" && one.link < 0)) return dot(up, scene.shapes.find((one) => one.kind === "plane").point);
    let low = Math.min(0, scene.view.floor - 2 * scene.view.sign);
    for (const contact of scene.contacts) if (contact.plane.link < 0) return dot(up, contact.plane.point);
    const poses = this.state.poses;
    for (const part of scene.meshes?.parts ?? []) {
      for (let c = 0; c < 8; c++) {
        const p = [0, 1, 2].map((k) => part.low[k] + ((c >> k) & 1) * 65535 * part.step[k]), o = 12 * part.link;
        const x = part.link < 0 ? p : [0, 4, 8].map((r) => poses[o + r] * p[0] + poses[o + r + 1] * p[1] + poses[o + r + 2] * p[2] + poses[o + r + 3]);
        low = Math.min(low, dot(up, x));
      }
    }
    return low;
  }

  #primitive(data) {
    const gl = this.gl, corners = gl.createBuffer(), instances = gl.createBuffer(), array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    for (const [at, offset] of [[0, 0], [1, 12]]) { gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 24, offset); }
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    const stride = 4 * FLOATS_PER_INSTANCE;
    for (const [at, size, offset] of [[2, 4, 0], [3, 1, 16], [4, 4, 20], [5, 4, 36], [6, 4, 52], [7, 4, 68]]) {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(at, 1);
    }
    return { array, instances, corners: data.length / 6, count: 0 };
  }

  /** A buffer of the ground: x, y and strength. */
  #flat(data) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
    return { array, count: data.length / 3 };
  }

  /** One buffer of the meshes of many links. */
  #triangles(parts) {
    const total = parts.reduce((sum, part) => sum + part.mesh.corners.length / 6, 0), count = parts.reduce((sum, part) => sum + part.mesh.indices.length, 0);
    if (!count) return null;
    const gl = this.gl, data = new Float32Array(11 * total), order = new Uint32Array(count);
    let at = 0, next = 0;
    for (const { link, color, mesh } of parts) {
      const first = at / 11;
      for (const k of mesh.indices) order[next++] = first + k;
      for (let k = 0; k < mesh.corners.length; k += 6) { data.set(mesh.corners.subarray(k, k + 6), at); data.set(color, at + 6); data[at + 10] = link; at += 11; }
    }
    const array = gl.createVertexArray(), buffer = gl.createBuffer(), indices = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.STATIC_DRAW);
    for (const [place, size, offset] of [[0, 3, 0], [1, 3, 12], [2, 4, 24], [3, 1, 40]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 44, offset);
    }
    gl.bindVertexArray(null);
    return { array, buffer, indices, count };
  }

  /** Fill the buffers of instances with the solids of the present state. */
  #fill(look) {
    const gl = this.gl, covered = look.shapes ? this.covered : new Set();
    const solids = [...glyphSolids(this.state, covered), ...connectorSolids(this.state), ...(look.shapes ? this.fixedSolids : [])];
    for (const [name, primitive] of Object.entries(this.primitives)) {
      const own = solids.filter((one) => one.shape === name), data = new Float32Array(FLOATS_PER_INSTANCE * own.length);
      own.forEach((one, k) => { data.set([...one.color, one.link, ...one.matrix], FLOATS_PER_INSTANCE * k); });
      gl.bindBuffer(gl.ARRAY_BUFFER, primitive.instances);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      primitive.count = own.length;
    }
    if (this.plates) { gl.deleteBuffer(this.plates.buffer); gl.deleteBuffer(this.plates.indices); gl.deleteVertexArray(this.plates.array); }
    this.plates = this.#triangles(solids.filter((one) => one.shape === "triangles"));
  }

  #refresh(look) {
    const key = `${this.state.p.join()}|${look.shapes}`;
    if (key !== this.filledFor || this.state.scene.connectors.length) { this.#fill(look); this.filledFor = key; }
    const gl = this.gl, rows = this.state.linkCount + 1, data = new Float32Array(12 * rows);
    data.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);
    data.set(this.state.poses, 12);
    gl.bindTexture(gl.TEXTURE_2D, this.links);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 3, rows, 0, gl.RGBA, gl.FLOAT, data);
  }

  #drawSolids(look, meshes = this.meshes) {
    const gl = this.gl;
    for (const primitive of Object.values(this.primitives)) {
      if (!primitive.count) continue;
      gl.bindVertexArray(primitive.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, primitive.corners, primitive.count);
    }
    for (const mesh of [look.shapes ? meshes : null, this.plates]) {
      if (!mesh) continue;
      gl.bindVertexArray(mesh.array);
      gl.vertexAttrib4f(4, 1, 0, 0, 0); gl.vertexAttrib4f(5, 0, 1, 0, 0); gl.vertexAttrib4f(6, 0, 0, 1, 0); gl.vertexAttrib4f(7, 0, 0, 0, 1);
      gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    }
  }

  #useSolids(kind, camera, theme, lit = -9) {
    const gl = this.gl, { program, places } = this.solids[kind], up = this.state.scene.view.vertical;
    const light = unit(addScaled(addScaled(scaled(up, 1.6), this.firstRight ??= camera.first.right, -0.5), cross(up, camera.first.right), -0.7));
    gl.useProgram(program);
    gl.uniformMatrix4fv(places.camera, false, camera.matrix);
    gl.uniform3fv(places.light, light);
    gl.uniform3fv(places.eye, camera.eye);
    gl.uniform3fv(places.up, up);
    gl.uniform4f(places.ground, ...up, this.floorHeight + 1e-3 * this.state.scene.view.size);
    gl.uniform3fv(places.shade, colorNumbers(theme.faint).slice(0, 3).map((v) => 0.86 * v));
    gl.uniform1f(places.flatten, kind === "shadow" ? 1 : 0);
    gl.uniform1f(places.lit, lit);
    gl.uniform1i(places.links, 0);
  }

  #drawGround(camera, theme) {
    const gl = this.gl, { program, places } = this.floor, { view } = this.state.scene, up = view.vertical, right = normalTo(up), ahead = cross(up, right);
    const way = subtract(camera.middle, view.middle), fives = (axis) => 5 * this.cell * Math.round(dot(way, axis) / (5 * this.cell));
    const under = addScaled(addScaled(view.middle, right, fives(right)), ahead, fives(ahead)), origin = addScaled(under, up, this.floorHeight - dot(under, up));
    gl.useProgram(program);
    gl.uniformMatrix4fv(places.camera, false, camera.matrix);
    gl.uniform3fv(places.right, right);
    gl.uniform3fv(places.ahead, ahead);
    gl.uniform3fv(places.paper, colorNumbers(theme.paper).slice(0, 3));
    for (const [part, mode, color, lift] of [[this.grid, gl.LINES, theme.faint, 5e-4], [this.disc, gl.TRIANGLES, theme.base, 0]]) {
      gl.uniform3fv(places.origin, addScaled(origin, up, lift * view.size));
      gl.uniform3fv(places.line, colorNumbers(color).slice(0, 3));
      gl.bindVertexArray(part.array);
      gl.drawArrays(mode, 0, part.count);
    }
  }

  /** Draw the present state. */
  draw(camera, look, theme) {
    const gl = this.gl;
    this.#refresh(look);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...colorNumbers(theme.paper));
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.#useSolids("seen", camera, theme, look.lit.find((link) => link >= 0));
    this.#drawSolids(look);
    if (dot(camera.eye, this.state.scene.view.vertical) <= this.floorHeight) return;
    if (look.shadow) { this.#useSolids("shadow", camera, theme); this.#drawSolids(look, this.shadowMeshes); }
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 8);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.#drawGround(camera, theme);
    gl.disable(gl.BLEND);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /** The link under a pixel. @returns {number} −2 where there is nothing, −1 for ground */
  pick(camera, look, x, y, theme) {
    const gl = this.gl, ratio = this.canvas.width / camera.wide;
    this.#refresh(look);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    this.#useSolids("link", camera, theme);
    this.#drawSolids(look);
    const pixel = new Uint8Array(4);
    gl.readPixels(Math.round(x * ratio), Math.round(this.canvas.height - 1 - y * ratio), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return pixel[0] === 0 || pixel[1] !== (pixel[0] * 97) % 256 ? -2 : pixel[0] + 256 * pixel[2] - 2;
  }

  /** Wait until the picture is drawn. */
  finish() { this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4)); }

  /** Free the memory of the graphics card. */
  dispose() { this.gl.getExtension("WEBGL_lose_context")?.loseContext(); }
}
