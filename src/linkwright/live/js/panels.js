// Panels of sliders: coordinates, parameters, efforts and gains, with typed values and limits.
import { make } from "./figures.js";
import { formatNumber, parseQuantity, prettyName, prettyUnit, shownUnit } from "./units.js";

/** A slider with a field for a typed value.
 *  @param {{name, unit, lower, upper, value, limited?, spoken?}} one `spoken` is its name for screen readers @param {(value: number) => void} act */
export class SliderRow {
  constructor(one, act) {
    this.one = one;
    this.act = act;
    const label = prettyName(one.name), spoken = one.spoken ?? one.name, { unit, scale } = shownUnit(one), words = unit === "°" ? "degrees" : unit, example = { "°": "30 deg", m: "120 mm" }[unit] ?? `2 ${unit}`;
    this.scale = scale; this.unit = unit; this.words = words;
    this.slider = make("input", { type: "range", min: one.lower, max: one.upper, step: "any", value: one.value, "aria-label": `${spoken}${unit ? `, ${words}` : ""}` });
    this.field = make("input", { type: "text", inputmode: "text", autocomplete: "off", spellcheck: "false", "aria-label": `${spoken}, value with unit`, title: `a number with or without a unit${unit ? `, such as ${example}` : ""}` });
    this.limits = make("small", { class: "lw-limits" }, this.#limitText());
    this.root = make("div", { class: "lw-slider" }, make("span", { class: "lw-name", title: one.name }, ...label.split(/(?<=[_.])/).flatMap((part) => [part, make("wbr")])), this.slider, this.field, make("span", { class: "lw-unit" }, prettyUnit(unit)), this.limits);
    this.slider.addEventListener("input", () => this.act(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
      if (!way) return;
      event.preventDefault();
      this.slider.value = Number(this.slider.value) + (way * (one.upper - one.lower)) / 200;  // before the next key
      this.act(Number(this.slider.value));
    });
    this.field.addEventListener("change", () => this.#typed());
    this.field.addEventListener("keydown", (event) => { if (event.key === "Enter") this.#typed(); if (event.key === "Escape") this.#settle(); });
    this.field.addEventListener("blur", () => this.#settle());
    this.show(one.value);
  }

  #limitText() {
    const { lower, upper, limited } = this.one, show = (v) => formatNumber(v / this.scale, 3);
    if (limited && !limited[0] && !limited[1]) return "";
    return `${limited && !limited[0] ? "" : show(lower)} … ${limited && !limited[1] ? "" : show(upper)}`;
  }

  #typed() {
    if (this.field.value === this.text) return;
    let found = parseQuantity(this.field.value, this.one.unit ?? "", this.scale, this.unit);
    if (found.value < this.one.least) found = { problem: "it must not be negative" };
    this.field.setCustomValidity(found.problem ?? "");
    this.field.setAttribute("aria-invalid", String("problem" in found));
    if ("problem" in found) { this.field.reportValidity(); return; }
    this.field.setAttribute("aria-invalid", "false");
    if (found.value < Number(this.slider.min)) this.slider.min = found.value;
    if (found.value > Number(this.slider.max)) this.slider.max = found.value;
    this.typed = found.value;
    this.isSettled = true; // what is reached replaces what was typed
    this.act(found.value);
  }

  /** Show the present value instead of what is being typed. */
  #settle() { this.field.value = this.text; this.field.setCustomValidity(""); this.field.setAttribute("aria-invalid", "false"); }

  /** Show a value; one that was typed keeps its digits. */
  show(value) {
    this.slider.value = value;
    const { upper, lower } = this.one, grain = 10 ** Math.floor(Math.log10(Math.max(1e-12, (upper - lower) / 1e4))), seen = Math.round(value / grain) * grain;
    const text = value === this.typed ? formatNumber(value / this.scale, 8) : formatNumber(seen / this.scale);
    const isEdited = this.field.getRootNode().activeElement === this.field && this.field.value !== this.text && !this.isSettled;
    this.text = text; this.isSettled = false;
    if (!isEdited) { if (this.field.value !== text) this.field.value = text; this.field.setAttribute("aria-invalid", "false"); }
    this.slider.setAttribute("aria-valuetext", `${text} ${this.words}`);
  }
}

/** A folded group of sliders; long ones get a filter. */
export class SliderPanel {
  /** @param {string} title @param {object[]} entries @param {(k: number, value: number) => void} act @param {() => void} reset */
  constructor(title, entries, act, reset, open = false) {
    this.rows = entries.map((one, k) => new SliderRow(one, (value) => act(k, value)));
    const body = make("div", { class: "lw-sliders" }, ...this.rows.map((row) => row.root));
    const longest = Math.max(0, ...entries.map((one) => prettyName(one.name).length));
    body.style.setProperty("--lw-name", `${Math.min(10, Math.max(2.4, 0.6 * longest))}em`);
    const units = Math.max(...entries.map((one) => prettyUnit(shownUnit(one).unit).length), 0);
    if (units > 5) body.style.setProperty("--lw-units", `${Math.min(6.5, 0.58 * units)}em`);
    const tools = make("div", { class: "lw-row" }, make("button", { type: "button", onclick: reset, "aria-label": `reset ${title.toLowerCase()}` }, "Reset"));
    if (entries.length > 10) {
      const filter = make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${title}` });
      filter.addEventListener("input", () => this.rows.forEach((row) => { row.root.hidden = !row.one.name.toLowerCase().includes(filter.value.toLowerCase()); }));
      tools.append(filter);
    }
    this.root = make("details", { class: "lw-panel", open }, make("summary", {}, `${title} (${entries.length})`), tools, body);
  }

  /** Show values. */
  show(values) { if (this.root.open) this.rows.forEach((row, k) => row.show(values[k])); }
}
