// Programs of WebGL2: shaded solids, their shadow on the ground, picking, the ground's grid.

/** Solids: a corner is carried by its instance (or not) and by its link, whose placement is a row of a texture. */
export const SOLID_VERTEX = `#version 300 es
precision highp float;
uniform mat4 camera; uniform sampler2D links; uniform vec4 ground; uniform vec3 light; uniform float flatten;
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in vec4 color;
layout(location = 3) in float link; layout(location = 4) in mat4 instance;
out vec3 toEye; out vec3 facing; out vec4 paint; flat out float owner;
void main() {
  int row = int(link + 1.5);
  vec4 x = texelFetch(links, ivec2(0, row), 0), y = texelFetch(links, ivec2(1, row), 0), z = texelFetch(links, ivec2(2, row), 0);
  vec4 inner = instance * vec4(position, 1.0);
  vec3 p = vec3(dot(x, inner), dot(y, inner), dot(z, inner));
  mat3 scaling = mat3(instance);
  vec3 n = vec3(dot(scaling[0], scaling[0]), dot(scaling[1], scaling[1]), dot(scaling[2], scaling[2]));
  vec3 turned = scaling * (normal / max(n, vec3(1e-20)));
  facing = vec3(dot(x.xyz, turned), dot(y.xyz, turned), dot(z.xyz, turned));
  if (flatten > 0.5) p -= light * ((dot(ground.xyz, p) - ground.w) / dot(ground.xyz, light));
  paint = color; owner = link; toEye = p;
  gl_Position = camera * vec4(p, 1.0);
}`;

const FRAGMENT_START = `#version 300 es
precision highp float;
uniform vec3 light, eye, up, shade; uniform float lit;
in vec3 toEye; in vec3 facing; in vec4 paint; flat in float owner; out vec4 seen;
`;

/** Solids as they are seen, the colour of their shadow, and links as colours: a program each, because
 *  a branch for all three takes long where there is no graphics card. */
export const SOLID_FRAGMENTS = {
  seen: `${FRAGMENT_START}void main() {
  vec3 view = normalize(eye - toEye), n = normalize(facing);
  if (dot(n, view) < 0.0) n = -n;
  float sky = 0.5 + 0.5 * dot(n, up), sun = max(0.0, dot(n, light));
  float glance = max(0.0, dot(n, normalize(light + view)));
  glance *= glance; glance *= glance; glance *= glance;  // to the power 40
  float squared = glance * glance;
  vec3 base = paint.rgb;
  if (abs(owner - lit) < 0.5) base = mix(base, vec3(1.0, 0.78, 0.1), 0.6);
  seen = vec4(base * (0.34 + 0.28 * sky + 0.52 * sun) + 0.22 * squared * squared * glance, 1.0);
}`,
  shadow: `${FRAGMENT_START}void main() { seen = vec4(shade, 1.0); }`,
  link: `${FRAGMENT_START}void main() {  // the second number tells blended edges from links
  float id = owner + 2.0, low = mod(id, 256.0);
  seen = vec4(low, mod(low * 97.0, 256.0), floor(id / 256.0), 255.0) / 255.0;
}`,
};

/** The ground and its grid: corners with colours, which fade out into the paper. What sinks through the ground is
 *  seen pale below it. */
export const GROUND_VERTEX = `#version 300 es
precision highp float;
uniform mat4 camera; uniform vec3 origin, right, ahead, paper, line;
layout(location = 0) in vec3 corner; out vec3 paint;
void main() {
  paint = mix(paper, line, corner.z);
  gl_Position = camera * vec4(origin + right * corner.x + ahead * corner.y, 1.0);
}`;

export const GROUND_FRAGMENT = `#version 300 es
precision mediump float;
in vec3 paint; out vec4 seen;
void main() { seen = vec4(paint, 0.7); }`;

/** Compile a program; throw what is wrong with it. */
export function compileProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "no shader");
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
  const places = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
  for (let k = 0; k < count; k++) { const { name } = gl.getActiveUniform(program, k); places[name] = gl.getUniformLocation(program, name); }
  return { program, places };
}
