// Plots over time, drawn by a pen that writes a canvas or an SVG; hover, zoom, choose, export.
import { themed } from "./planar.js";
import { indexAtTime, linearScale, niceTicks, paddedRange, thinHistory } from "./scales.js";
import { formatNumber } from "./units.js";

/** Okabe and Ito's colours, which colour-blind people tell apart. */
export const LINE_COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f"];
const DASHES = [[], [6, 4], [2, 3]];

/** Writes the same strokes as a canvas pen, as SVG. */
export class SvgPen {
  constructor(wide, high, paper) { this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}"><rect width="${wide}" height="${high}" fill="${paper}"/>`]; }

  line(points, color, width, dash = []) {
    if (points.length < 2) return;
    const d = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
    this.parts.push(`<polyline points="${d}" fill="none" stroke="${color}" stroke-width="${width}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
  }

  text(words, x, y, color, align = "start") {
    const safe = String(words).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
    this.parts.push(`<text x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" fill="${color}" font-family="sans-serif" font-size="11" text-anchor="${align}">${safe}</text>`);
  }

  finish() { return `${this.parts.join("")}</svg>`; }
}

/** The same interface on a canvas. */
export class CanvasPen {
  constructor(context) { this.context = context; context.font = "11px sans-serif"; context.lineJoin = "round"; }

  line(points, color, width, dash = []) {
    const c = this.context;
    c.beginPath();
    points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.strokeStyle = color; c.lineWidth = width; c.setLineDash(dash); c.stroke(); c.setLineDash([]);
  }

  text(words, x, y, color, align = "start") {
    const c = this.context;
    c.fillStyle = color; c.textAlign = align === "middle" ? "center" : align; c.textBaseline = "middle"; c.fillText(words, x, y);
  }
}

/** The frame of a plot in a picture of some size. */
export function plotFrame(wide, high) { return { left: 58, right: wide - 10, top: 10, bottom: high - 32 }; }

/** Draw series over time.
 *  @param {{name, times, values, color, dash, unit}[]} series @param {[number, number] | null} window times that are seen
 *  @returns {{x, y, window}} the scales */
export function drawPlot(pen, wide, high, series, window, theme, unit = "") {
  const frame = plotFrame(wide, high), shown = series.filter((one) => one.times.length);
  const ends = shown.flatMap((one) => [one.times[0], one.times[one.times.length - 1]]);
  const [first, last] = window ?? [Math.min(...ends, Infinity), Math.max(...ends, -Infinity)];
  const span = Number.isFinite(first) && last > first ? [first, last] : [0, 1];
  const values = [];
  for (const one of shown) {
    const a = indexAtTime(one.times, span[0]), b = Math.min(one.times.length - 1, indexAtTime(one.times, span[1]) + 1);
    for (let k = a; k <= b; k++) values.push(one.values[k]);
  }
  const range = paddedRange(values), x = linearScale(span, [frame.left, frame.right]), y = linearScale(range, [frame.bottom, frame.top]);
  for (const v of niceTicks(...range, Math.max(2, Math.floor((frame.bottom - frame.top) / 36)))) {
    pen.line([[frame.left, y(v)], [frame.right, y(v)]], theme.faint, 1);
    pen.text(formatNumber(v), frame.left - 6, y(v), theme.ink, "end");
  }
  for (const v of niceTicks(...span, Math.max(2, Math.floor((frame.right - frame.left) / 70)))) {
    pen.line([[x(v), frame.bottom], [x(v), frame.bottom + 4]], theme.ink, 1);
    pen.text(formatNumber(v), x(v), frame.bottom + 13, theme.ink, "middle");
  }
  pen.line([[frame.left, frame.top], [frame.left, frame.bottom], [frame.right, frame.bottom]], theme.ink, 1);
  pen.text("t / s", frame.right, high - 8, theme.ink, "end");
  if (unit) pen.text(unit, 4, high - 8, theme.ink);
  for (const one of shown) {
    const a = indexAtTime(one.times, span[0]), b = Math.min(one.times.length - 1, indexAtTime(one.times, span[1]) + 1);
    const points = thinHistory(one.times, one.values, a, b, Math.max(50, wide)).map(([t, v]) => [Math.max(frame.left, Math.min(frame.right, x(t))), y(v)]);
    pen.line(points, themed(one.color, theme), one.recorded ? 1.5 : 1.8, one.dash);
  }
  return { x, y, window: span, frame };
}

/** Colour and dash of line k. */
export function lineLook(k) { return { color: LINE_COLORS[k % LINE_COLORS.length], dash: DASHES[Math.floor(k / LINE_COLORS.length) % DASHES.length] }; }

const LEGEND_LINE = 18, LEGEND_MARK = 24;

/** A picture of a plot with its legend, for a file.
 *  @param {(high: number) => object} begin makes a pen for a picture of this height @param {(text: string) => number} width of a text */
export function drawPlotFile(begin, wide, series, window, theme, unit, width) {
  let x = 14, row = 0;
  const plotted = 400, places = series.map((one) => {
    const needed = LEGEND_MARK + width(one.name) + 18;
    if (x > 14 && x + needed > wide - 10) { x = 14; row += 1; }
    const place = [x, plotted + 8 + LEGEND_LINE * row];
    x += needed;
    return place;
  });
  const pen = begin(plotted + LEGEND_LINE * (row + 1));
  drawPlot(pen, wide, plotted, series, window, theme, unit);
  series.forEach((one, k) => {
    const [left, y] = places[k];
    pen.line([[left, y], [left + LEGEND_MARK - 5, y]], themed(one.color, theme), 2, one.dash);
    pen.text(one.name, left + LEGEND_MARK, y, theme.ink);
  });
  return pen;
}

/** Series as one table of comma-separated values: series of the same times share a column of times; shorter ones end with empty cells. */
export function seriesAsCsv(series) {
  const quoted = (text) => (/[",\n\r]/.test(text) || /^[=+\-@]/.test(text) ? `"${text.replace(/^([=+\-@])/, "'$1").replace(/"/g, '""')}"` : text);
  const live = series.filter((one) => one.times.length), groups = [];
  for (const one of live) {
    const group = groups.find((g) => g.times === one.times);
    if (group) group.list.push(one); else groups.push({ times: one.times, list: [one] });
  }
  const head = groups.flatMap(({ list }, k) => [k ? `t ${list[0].recorded ? "recorded" : "live"} (s)` : "t (s)", ...list.map((one) => quoted(`${one.plain ?? one.name}${one.unit ? ` (${one.unit})` : ""}`))]);
  const rows = Array.from({ length: Math.max(0, ...groups.map((one) => one.times.length)) }, (_, i) => groups.flatMap(({ times, list }) => [times[i] ?? "", ...list.map((one) => (i < times.length ? one.values[i] : ""))]).join(","));
  return [head.join(","), ...rows, ""].join("\r\n");
}
