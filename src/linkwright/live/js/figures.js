// A plot on the page: choose histories, hover a time, zoom, save as PNG, SVG or CSV.
import { linesOn, themed, THEMES } from "./planar.js";
import { CanvasPen, drawPlot, drawPlotFile, lineLook, seriesAsCsv, SvgPen } from "./plots.js";
import { indexAtTime } from "./scales.js";
import { formatNumber, prettyName, prettyUnit } from "./units.js";

/** Make an element with attributes and children; text is never read as HTML. */
export function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") found.className = value;
    else if (key.startsWith("on")) found.addEventListener(key.slice(2), value);
    else if (value === true) found.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) found.setAttribute(key, value);
  }
  found.append(...children);
  return found;
}

/** Give a file to the user. */
export function saveFile(name, content, kind) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const FILE_WIDTH = 760;
const QUANTITIES = { q: "coordinates", qd: "velocities", energy: "energies" };

/** A plot of histories with its choices. */
export class HistoryFigure {
  /** @param {object} scene @param {() => {live, recorded}} source histories @param {{hovered(t), left()}} acts */
  constructor(scene, source, acts) {
    this.scene = scene; this.source = source; this.acts = acts;
    this.kind = "q"; this.window = null; this.hidden = new Set(); this.time = null;
    scene.coordinates.slice(7).forEach((one) => this.hidden.add(`q ${one.name}`));
    scene.velocities.slice(7).forEach((one) => this.hidden.add(`qd ${one.name}`));
    this.canvas = make("canvas", { tabindex: 0, role: "img", "aria-label": "plot over time; arrow keys move the time, plus and minus zoom" });
    this.choices = make("div", { class: "lw-choices", role: "group", "aria-label": "histories" });
    this.readout = make("output", { class: "lw-readout" });
    const kinds = make("select", { "aria-label": "plotted quantity", onchange: () => { this.kind = kinds.value; this.refill(); } },
      ...Object.entries(QUANTITIES).map(([value, word]) => make("option", { value }, word)));
    const button = (word, act, label) => make("button", { type: "button", "aria-label": label, onclick: act }, word);
    this.root = make("div", { class: "lw-plot" },
      make("div", { class: "lw-row" }, kinds, button("All", () => this.zoomOut(), "show all times"), button("PNG", () => this.savePng(), "save the plot as PNG"),
        button("SVG", () => this.saveSvg(), "save the plot as SVG"), button("CSV", () => this.saveCsv(), "save the numbers as CSV")),
      this.canvas, this.readout, this.choices);
    this.#listen();
    this.refill();
  }

  /** The series that are shown. */
  series() {
    const { live: now, recorded } = this.source(), live = recorded && now.t.length < 2 ? null : now, names = this.kind === "q" ? this.scene.coordinates : this.kind === "qd" ? this.scene.velocities : null;
    const found = [], add = (history, name, unit, values, k, isRecorded) => {
      const look = lineLook(k);
      if (history && history.t.length) found.push({ name: isRecorded ? `${prettyName(name)}, recorded` : prettyName(name), plain: isRecorded ? `${name}, recorded` : name, times: history.t, values, unit, recorded: isRecorded, color: look.color, dash: isRecorded ? [2, 3] : look.dash });
    };
    if (names) {
      names.forEach((one, k) => {
        if (this.hidden.has(`${this.kind} ${one.name}`)) return;
        for (const [history, isRecorded] of [[recorded, true], [live, false]]) if (history) add(history, one.name, one.unit, column(history, this.kind, k), k, isRecorded);
      });
    } else {
      for (const [history, isRecorded] of [[recorded, true], [live, false]]) {
        if (!history) continue;
        const total = history.kinetic.map((v, k) => v + history.potential[k]);
        [["kinetic", history.kinetic], ["potential", history.potential], ["total", total]].forEach(([name, values], k) => {
          if (!this.hidden.has(`energy ${name}`)) add(history, name, "J", values, k, isRecorded);
        });
      }
    }
    return found;
  }

  /** Build the boxes by which histories are chosen. */
  refill() {
    const entries = this.kind === "q" ? this.scene.coordinates : this.kind === "qd" ? this.scene.velocities : ["kinetic", "potential", "total"].map((name) => ({ name }));
    this.swatches = [];
    this.choices.replaceChildren(...entries.map((one, k) => {
      const key = `${this.kind} ${one.name}`, box = make("input", { type: "checkbox", checked: !this.hidden.has(key), onchange: () => { if (box.checked) this.hidden.delete(key); else this.hidden.add(key); this.draw(); } });
      const swatch = make("span", { class: "lw-swatch" });
      this.swatches.push([swatch, lineLook(k).color]);
      return make("label", {}, box, swatch, this.kind === "qd" ? `d${prettyName(one.name)}/dt` : prettyName(one.name));
    }));
    this.draw();
  }

  /** Show a time by a line, and the values there. */
  mark(t) { this.time = t; this.draw(); }

  zoomOut() { this.window = null; this.draw(); }

  draw(theme = this.theme) {
    if (!theme || !this.canvas.clientWidth) { this.theme = theme; return; }
    this.theme = theme;
    for (const [swatch, color] of this.swatches) swatch.style.background = themed(color, theme);
    const ratio = window.devicePixelRatio || 1, wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(high * ratio)) { this.canvas.width = Math.round(wide * ratio); this.canvas.height = Math.round(high * ratio); }
    const context = linesOn(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    const series = this.series(), pen = new CanvasPen(context);
    this.scales = drawPlot(pen, wide, high, series, this.window, theme, this.#unit());
    if (this.time === null) { this.readout.textContent = ""; return; }
    const { x, frame, window: span } = this.scales;
    if (this.time >= span[0] && this.time <= span[1]) pen.line([[x(this.time), frame.top], [x(this.time), frame.bottom]], theme.gray, 1, [3, 3]);
    this.readout.textContent = [`t = ${this.time.toFixed(3)} s`, ...series.filter((one) => one.times.length > 1 && this.time <= one.times[one.times.length - 1] + 1e-9).slice(0, 8).map((one) => `${one.name} = ${formatNumber(valueAt(one, this.time))}${one.unit && one.unit !== "1" ? ` ${prettyUnit(one.unit)}` : ""}`)].join(" · ");
  }

  #unit() {
    const names = this.kind === "q" ? this.scene.coordinates : this.kind === "qd" ? this.scene.velocities : [{ unit: "J" }];
    return [...new Set(names.map((one) => one.unit))].join(", ");
  }

  #listen() {
    let from = null;
    const timeAt = (event) => this.scales?.x.back(event.clientX - this.canvas.getBoundingClientRect().left);
    this.canvas.addEventListener("pointermove", (event) => { const t = timeAt(event); if (t !== undefined && from === null) this.acts.hovered(t); });
    this.canvas.addEventListener("pointerleave", () => this.acts.left());
    this.canvas.addEventListener("pointerdown", (event) => { from = timeAt(event); this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointerup", (event) => {
      const to = timeAt(event);
      if (from !== null && Math.abs(this.scales.x(to) - this.scales.x(from)) > 8) { this.window = [Math.min(from, to), Math.max(from, to)]; this.draw(); }
      from = null;
    });
    this.canvas.addEventListener("dblclick", () => this.zoomOut());
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== this.canvas) return;
      event.preventDefault();
      this.#zoom(Math.exp((event.deltaY || event.deltaX) / 400), timeAt(event));
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const [a, b] = this.scales.window, t = this.time ?? a;
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.acts.hovered(Math.min(b, Math.max(a, t + ((event.key === "ArrowLeft" ? -1 : 1) * (b - a)) / 100)));
      else if (event.key === "+" || event.key === "=") this.#zoom(0.7, t);
      else if (event.key === "-") this.#zoom(1.4, t);
      else if (event.key === "Escape") { this.acts.left(); this.zoomOut(); } else return;
      event.preventDefault();
    });
  }

  #zoom(factor, t) {
    const [a, b] = this.scales.window;
    this.window = [t - (t - a) * factor, t + (b - t) * factor];
    this.draw();
  }

  /** A file with the plot in the colours of paper, whatever the page's are. */
  #file(begin, width) { return drawPlotFile(begin, FILE_WIDTH, this.series(), this.window, THEMES.light, this.#unit(), width); }

  saveSvg() {
    const pen = this.#file((high) => new SvgPen(FILE_WIDTH, high, THEMES.light.paper), (text) => 6.3 * text.length);
    saveFile(`${this.#stem()}.svg`, pen.finish(), "image/svg+xml");
  }

  savePng() {
    const canvas = make("canvas"), context = canvas.getContext("2d"), ratio = 2;
    this.#file((high) => {
      canvas.width = ratio * FILE_WIDTH; canvas.height = ratio * high;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = THEMES.light.paper; context.fillRect(0, 0, FILE_WIDTH, high);
      return new CanvasPen(context);
    }, (text) => { context.font = "11px sans-serif"; return context.measureText(text).width; });
    canvas.toBlob((content) => saveFile(`${this.#stem()}.png`, content, "image/png"));
  }

  saveCsv() { saveFile(`${this.#stem()}.csv`, seriesAsCsv(this.series()), "text/csv"); }

  #stem() { return `${this.scene.name.replace(/[^\w-]+/g, "-") || "mechanism"}-${QUANTITIES[this.kind]}`; }
}

/** The value of a series at a time, on the line between its samples. */
function valueAt({ times, values }, t) {
  const k = indexAtTime(times, t), m = Math.min(k + 1, times.length - 1), s = m > k ? Math.min(1, Math.max(0, (t - times[k]) / (times[m] - times[k]))) : 0;
  return (1 - s) * values[k] + s * values[m];
}

/** One entry of a history over time, kept while the history does not grow. */
function column(history, kind, k) {
  history.columns ??= new Map();
  const key = `${kind} ${k}`, kept = history.columns.get(key), rows = history[kind];
  if (kept && kept.source === rows && kept.values.length <= rows.length) {
    for (let i = kept.values.length; i < rows.length; i++) kept.values.push(rows[i][k]);
    return kept.values;
  }
  const values = rows.map((row) => row[k]);
  history.columns.set(key, { source: rows, values });
  return values;
}
