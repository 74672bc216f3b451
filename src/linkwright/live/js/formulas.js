// Equations beside the picture: hover a symbol, its body lights up; values at the present state.
import { make } from "./figures.js";
import { formatNumber, formatShown, prettyName, prettyUnit } from "./units.js";

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
    this.scene = scene; this.acts = acts;
    this.values = make("table", { class: "lw-values" });
    this.rows = []; this.filled = [];
    const items = scene.equations.map((one) => this.#equation(one));
    for (const [name, one] of Object.entries(scene.symbols)) this.#row(name, one, acts);
    this.root = make("details", { class: "lw-panel" }, make("summary", {}, items.length ? "Equations" : "Symbols"), ...items, make("p", { class: "lw-note" }, "Point at a symbol: the bodies that it belongs to light up."), this.values);
  }

  /** An equation: its title, a note, the whole formula if there is one, and its entries. */
  #equation(one) {
    const whole = one.mathml ? this.#formula(one.mathml) : null;
    const filled = [], entries = one.entries.map((entry) => this.#entry(entry, one.quantity, filled));
    const inner = [one.note ? make("p", { class: "lw-note" }, one.note) : "", whole ? this.#region(one.title, whole) : "", ...entries];
    if (!whole && !entries.length) return make("div", { class: "lw-formula" }, make("h4", {}, one.title), ...inner);
    const root = make("details", { class: "lw-formula", open: whole !== null || one.entries.length <= 12 }, make("summary", {}, one.title), ...inner);
    if (filled.length) this.filled.push({ root, quantity: one.quantity, filled });
    root.addEventListener("toggle", () => this.acts.changed?.());
    return root;
  }

  #region(name, ...inner) { return make("div", { class: "lw-scroll", tabindex: 0, role: "region", "aria-label": name }, ...inner); }

  /** An entry: in one line with its value; folded if it is long; its value alone if it is too long. */
  #entry(entry, quantity, filled) {
    const label = this.#formula(entry.label), value = make("output", { class: "lw-value" });
    if (quantity && entry.index >= 0) filled.push({ value, index: entry.index });
    if (!entry.formula) {
      if (!entry.characters) return make("span", { class: "lw-entry lw-bare" }, label, value);
      return make("div", { class: "lw-entry" }, label, value, make("span", { class: "lw-note" }, `formula of ${entry.characters} characters`));
    }
    if (!entry.is_folded) return this.#region(label.textContent, label, make("span", { class: "lw-equals" }, "="), this.#formula(entry.formula), value);
    const place = this.#region(label.textContent), root = make("details", { class: "lw-entry" }, make("summary", {}, label, value), place);
    root.addEventListener("toggle", () => { if (root.open && !place.firstChild) place.append(make("span", { class: "lw-equals" }, "="), this.#formula(entry.formula)); });
    return root;
  }

  #formula(text) {
    const found = safeMath(text);
    if (found) this.#connect(found, this.acts);
    return found ?? "";
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
    this.#fill(state);
    const { coordinates, parameters, velocities } = this.scene;
    for (const { name, cell } of this.rows) {
      const q = coordinates.findIndex((one) => one.name === name), p = parameters.findIndex((one) => one.name === name), v = velocities.findIndex((one) => one.name === name);
      const rate = v >= 0 ? `, rate ${formatNumber(state.qd[v])} ${prettyUnit(velocities[v].unit)}` : "";
      if (q >= 0) cell.textContent = formatShown(state.q[q], coordinates[q]) + rate;
      else if (p >= 0) cell.textContent = formatShown(state.p[p], parameters[p]);
      else cell.textContent = v >= 0 ? formatNumber(state.qd[v]) : "follows from others";
    }
  }

  /** Fill in the values of entries at the present state. */
  #fill(state) {
    for (const { root, quantity, filled } of this.filled) {
      const numbers = root.open ? state.quantity(quantity) : null;
      if (numbers) for (const { value, index } of filled) value.textContent = `= ${formatNumber(numbers[index])}`;
    }
  }
}
