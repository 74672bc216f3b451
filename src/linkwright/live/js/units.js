// Numbers that people type and read: "30 deg", "12,5 cm", "3/4", "1.2e-3".

/** Factors to SI units, and dimensions as exponents of (kg, m, s). */
const UNIT_TABLE = {
  kg: [1, 1, 0, 0], g: [1e-3, 1, 0, 0], mg: [1e-6, 1, 0, 0], t: [1000, 1, 0, 0], lb: [0.45359237, 1, 0, 0],
  m: [1, 0, 1, 0], km: [1000, 0, 1, 0], dm: [0.1, 0, 1, 0], cm: [0.01, 0, 1, 0], mm: [1e-3, 0, 1, 0],
  um: [1e-6, 0, 1, 0], "µm": [1e-6, 0, 1, 0], inch: [0.0254, 0, 1, 0], ft: [0.3048, 0, 1, 0],
  s: [1, 0, 0, 1], ms: [1e-3, 0, 0, 1], us: [1e-6, 0, 0, 1], min: [60, 0, 0, 1], h: [3600, 0, 0, 1],
  N: [1, 1, 1, -2], kN: [1000, 1, 1, -2], mN: [1e-3, 1, 1, -2], Nm: [1, 1, 2, -2], J: [1, 1, 2, -2],
  W: [1, 1, 2, -3], Hz: [1, 0, 0, -1], rad: [1, 0, 0, 0], mrad: [1e-3, 0, 0, 0], percent: [0.01, 0, 0, 0],
  "%": [0.01, 0, 0, 0], deg: [Math.PI / 180, 0, 0, 0], "°": [Math.PI / 180, 0, 0, 0],
  rev: [2 * Math.PI, 0, 0, 0], rpm: [Math.PI / 30, 0, 0, -1],
};

/** Read a unit such as `N*m/rad` or `kg m^2`. @returns {number[] | null} factor and exponents */
export function parseUnit(text) {
  const found = [1, 0, 0, 0];
  let sign = 1;
  const words = text.replace(/²/g, "^2").replace(/³/g, "^3").replace(/·/g, "*").match(/[A-Za-zµ%°]+(?:\^-?\d+)?|[*/]|\s+|1|./g) ?? [];
  const outer = []; // signs before the brackets that are open: J/(kg m)
  for (const word of words) {
    if (/^\s+$/.test(word) || word === "*" || word === "1") continue;
    if (word === "(") { outer.push(sign); sign = 1; continue; }
    if (word === ")") { if (!outer.length) return null; outer.pop(); sign = 1; continue; }
    if (word === "/") { sign = -1; continue; }
    const [name, power] = word.split("^");
    const one = Object.hasOwn(UNIT_TABLE, name) ? UNIT_TABLE[name] : null;
    if (!one) return null;
    const n = outer.reduce((product, one) => product * one, sign) * Number(power ?? 1);
    found[0] *= one[0] ** n;
    for (let k = 1; k < 4; k++) found[k] += n * one[k];
    sign = 1;
  }
  return outer.length ? null : found;
}

/** The unit in which a number is shown and typed: the file's own, degrees for angles.
 *  @returns {{unit: string, scale: number}} its text, and its factor to the SI unit */
export function shownUnit(one) {
  if (one.shown) return { unit: one.shown === "deg" ? "°" : one.shown, scale: one.scale };
  if (one.unit === "rad") return { unit: "°", scale: Math.PI / 180 };
  return { unit: one.unit && one.unit !== "1" ? one.unit : "", scale: 1 };
}

/** A value as it is shown: 350 mm, 30°. */
export function formatShown(value, one, digits = 4) {
  const { unit, scale } = shownUnit(one), text = formatNumber(value / scale, digits);
  return `${text}${unit && unit !== "°" ? " " : ""}${prettyUnit(unit)}`;
}

/** Read a number with an optional unit.
 *  @param {string} text what somebody typed @param {string} unit the SI unit that is meant, such as "rad"
 *  @param {number} bare the factor of a number without a unit; one with π is a multiple of the SI unit if that is rad
 *  @param {string} usual the unit that a message names
 *  @returns {{value: number} | {problem: string}} the value in SI units, or what is wrong */
export function parseQuantity(text, unit, bare = 1, usual = unit) {
  const tidy = text.trim().replace(/−/g, "-").replace(/(\d),(\d)/g, "$1.$2");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\s*\/\s*(\d+\.?\d*))?\s*(pi|π)?\s*(?:\/\s*(\d+\.?\d*))?\s*(.*)$/i.exec(tidy)
    ?? /^([+-]?)()(pi|π)\s*(?:\/\s*(\d+\.?\d*))?\s*(.*)$/i.exec(tidy);
  if (!match) return { problem: `“${text.trim()}” is not a number` };
  const head = match[1] === "" || match[1] === "+" ? 1 : match[1] === "-" ? -1 : Number(match[1]);
  let value = head * (match[3] ? Math.PI : 1) / Number(match[2] || 1) / Number(match[4] || 1);
  const written = match[5].trim();
  if (written) {
    const own = parseUnit(written), meant = parseUnit(unit);
    if (!own) return { problem: `“${written}” is not a unit` };
    if (meant && own.slice(1).some((n, k) => n !== meant[k + 1])) {
      return { problem: `${written} does not fit; use ${prettyUnit(usual) || "a number without unit"}` };
    }
    value *= own[0] / (meant ? meant[0] : 1);
  } else if (unit !== "rad" || !/pi|π/i.test(tidy)) value *= bare;
  return Number.isFinite(value) ? { value } : { problem: "the number is too large" };
}

/** A number in a few digits: 0.125, 1.2e-7, −3.4. */
export function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size < 1e-13) return "0"; // what rounding leaves of zero
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace(/\.?0+e/, "e").replace("e+", "e").replaceAll("-", "−");
}

/** A unit as people write it: m/s², kg m². */
export function prettyUnit(unit) { return unit.replace(/\^2/g, "²").replace(/\^3/g, "³"); }

/** A name as people write it: theta1 → θ₁, q2 → q₂; other names stay. */
export function prettyName(name) {
  const greek = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", theta: "θ", lambda: "λ", mu: "μ", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", psi: "ψ", omega: "ω" };
  const match = /^([A-Za-z]+?)_?(\d*)$/.exec(name);
  if (!match || (match[1].length > 1 && !Object.hasOwn(greek, match[1]))) return name;
  const letter = Object.hasOwn(greek, match[1]) ? greek[match[1]] : match[1];
  return letter + match[2].replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]);
}
