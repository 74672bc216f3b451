// Scales of plots: ranges, ticks, thinning of long histories.

/** Ticks at 1, 2 or 5 times a power of ten within a range. @returns {number[]} */
export function niceTicks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9), found = [];
  for (let k = first; k <= last; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** The range of finite values with a margin; a range about a constant. @returns {[number, number]} */
export function paddedRange(values, margin = 0.06) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  if (low > high) return [0, 1];
  const span = high - low, floor = 1e-9 * Math.max(1, Math.abs(low), Math.abs(high));
  const pad = span > floor ? margin * span : Math.max(0.5 * Math.abs(high), 0.5);
  return [low - pad, high + pad];
}

/** A linear map of a range to pixels. */
export function linearScale([low, high], [from, to]) {
  const factor = (to - from) / (high - low || 1);
  const map = (v) => from + (v - low) * factor;
  map.back = (x) => low + (x - from) / factor;
  return map;
}

/** The index of the last time that is not after t; 0 before the first. */
export function indexAtTime(times, t) {
  let low = 0, high = times.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const m = (low + high + 1) >> 1;
    if (times[m] <= t) low = m; else high = m - 1;
  }
  return low;
}

/** Points of a history thinned to two for each pixel: the lowest and the highest value there. */
export function thinHistory(times, values, first, last, most) {
  const count = last - first + 1;
  if (count <= 2 * most) return Array.from({ length: Math.max(0, count) }, (_, k) => [times[first + k], values[first + k]]);
  const found = [], size = count / most;
  for (let b = 0; b < most; b++) {
    const from = first + Math.floor(b * size), to = Math.min(last, first + Math.floor((b + 1) * size) - 1);
    let low = from, high = from;
    for (let k = from; k <= to; k++) { if (values[k] < values[low]) low = k; if (values[k] > values[high]) high = k; }
    for (const k of low < high ? [low, high] : [high, low]) found.push([times[k], values[k]]);
  }
  return found;
}
