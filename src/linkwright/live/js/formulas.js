// Equations beside the picture: hover a symbol, its body lights up; values at the present state.
import { make } from "./figures.js";
import { formatNumber, formatQuantity, prettyName } from "./units.js";

const MATH_TAGS = new Set(["math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mspace", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom"]);
const MATH_ATTRIBUTES = new Set(["display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "accent", "width", "data-symbol", "columnalign", "linethickness", "form"]);

/** Copy a formula, element by element, with nothing but formula elements: no text of a file becomes code. */
export function safeMath(text) {
  const parsed = new DOMParser().parseFromString(text, "application/xml").documentElement, space = "http://www.w3.org/1998/Math/MathML";
  const copy = (node) => {
    if (node.nodeType === 3) return document.createTextNode(node.data);
    if (node.nodeType !== 1) return null;
    const tag = MATH_TAGS.has(node.localName) ? node.localName : "mrow", found = document.createElementNS(space, tag);
    for (const one of node.attributes) if (MATH_ATTRIBUTES.has(one.name)) found.setAttribute(one.name, one.value);
    for (const child of node.childNodes) { const inner = copy(child); if (inner) found.append(inner); }
    return found;
  };
  return parsed.localName === "math" ? copy(parsed) : null;
}

/** The panel of equations. */
export class FormulaPanel {
  /** @param {object} scene @param {{light(links), dark()}} acts */
  constructor(scene, acts) {
    this.scene = scene;
    this.values = make("table", { class: "lw-values" });
    this.rows = [];
    const items = scene.equations.map((one) => {
      const formula = safeMath(one.mathml);
      if (formula) this.#connect(formula, acts);
      return make("div", { class: "lw-formula" }, make("h4", {}, one.title), make("div", { class: "lw-scroll", tabindex: 0, role: "region", "aria-label": one.title }, formula ?? ""));
    });
    for (const [name, one] of Object.entries(scene.symbols)) this.#row(name, one, acts);
    this.root = make("details", { class: "lw-panel" }, make("summary", {}, scene.equations.length ? "Equations" : "Symbols"), ...items, make("p", { class: "lw-note" }, "Point at a symbol: the bodies that it belongs to light up."), this.values);
  }

  #row(name, one, acts) {
    const cell = make("td", {}), row = make("tr", { tabindex: 0, "data-symbol": name }, make("th", { scope: "row" }, prettyName(name)), cell, make("td", {}, one.kind));
    for (const event of ["pointerenter", "focus"]) row.addEventListener(event, () => acts.light(one.links));
    for (const event of ["pointerleave", "blur"]) row.addEventListener(event, () => acts.dark());
    this.rows.push({ name, cell });
    this.values.append(row);
  }

  #connect(formula, acts) {
    for (const node of formula.querySelectorAll("[data-symbol]")) {
      const name = node.getAttribute("data-symbol"), one = Object.hasOwn(this.scene.symbols, name) ? this.scene.symbols[name] : null;
      if (!one) continue;
      node.setAttribute("class", "lw-symbol");
      node.addEventListener("pointerenter", () => { acts.light(one.links); });
      node.addEventListener("pointerleave", () => acts.dark());
    }
  }

  /** Fill in the values at the present state. */
  show(state) {
    if (!this.root.open) return;
    const { coordinates, parameters, velocities } = this.scene;
    for (const { name, cell } of this.rows) {
      const q = coordinates.findIndex((one) => one.name === name), p = parameters.findIndex((one) => one.name === name), v = velocities.findIndex((one) => one.name === name);
      const rate = v >= 0 ? `, rate ${formatNumber(state.qd[v])}` : "";
      if (q >= 0) cell.textContent = formatQuantity(state.q[q], coordinates[q].unit) + rate;
      else if (p >= 0) cell.textContent = formatQuantity(state.p[p], parameters[p].unit);
      else cell.textContent = v >= 0 ? formatNumber(state.qd[v]) : "follows from others";
    }
  }
}
