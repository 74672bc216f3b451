
/* The linked view of a study: charts of all designs, and the mechanism of the picked one. */
{
  const data = JSON.parse(document.getElementById("designs").textContent);
  const sceneText = document.getElementById("scene");
  const viewerRoot = document.getElementById("viewer");
  const viewer = sceneText && viewerRoot ? mountViewer(viewerRoot, JSON.parse(sceneText.textContent), {}) : null;
  const byId = (id) => document.getElementById(id);
  const chosen = { x: data.first[0], y: data.first[1], c: data.names.length - 1 };
  const ink = "#1d2733", pale = "#9aa5b1", mark = "#d1495b";
  let picked = -1;

  const ranges = data.columns.map((column) => {
    const known = column.filter((x) => x !== null);
    let low = Infinity, high = -Infinity;
    for (const x of known) { if (x < low) low = x; if (x > high) high = x; }
    if (!known.length) return [0, 1];
    return low < high ? [low, high] : [low - 0.5, high + 0.5];
  });
  /* viridis at five points, interpolated */
  const shades = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [226, 206, 50]];
  const shade = (share) => {
    if (share === null) return pale;
    const place = Math.min(Math.max(share, 0), 1) * 4, k = Math.min(3, Math.floor(place)), rest = place - k;
    return `rgb(${shades[k].map((one, j) => Math.round(one + rest * (shades[k + 1][j] - one))).join(",")})`;
  };
  const share = (name, row) => {
    const value = data.columns[name][row];
    return value === null ? null : (value - ranges[name][0]) / (ranges[name][1] - ranges[name][0]);
  };
  const number = (x) => (x === null ? "none" : String(Number(x.toPrecision(5))));

  function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    pen.font = "12px system-ui, sans-serif";
    return [pen, box.width, box.height];
  }

  function ticks(low, high, count = 5) {
    const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * size).find((one) => one >= raw) ?? raw, found = [];
    for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) found.push(Math.abs(x) < step * 1e-9 ? 0 : x);
    return found;
  }

  const frame = { left: 62, right: 14, top: 12, bottom: 40 };
  function place(row, width, height) {
    const x = share(chosen.x, row), y = share(chosen.y, row);
    if (x === null || y === null) return null;
    return [frame.left + x * (width - frame.left - frame.right), height - frame.bottom - y * (height - frame.top - frame.bottom)];
  }

  function drawScatter() {
    const [pen, width, height] = prepare(byId("scatter"));
    pen.strokeStyle = "#e3e7ec"; pen.fillStyle = ink; pen.lineWidth = 1;
    for (const x of ticks(...ranges[chosen.x])) {
      const at = frame.left + (x - ranges[chosen.x][0]) / (ranges[chosen.x][1] - ranges[chosen.x][0]) * (width - frame.left - frame.right);
      pen.beginPath(); pen.moveTo(at, frame.top); pen.lineTo(at, height - frame.bottom); pen.stroke();
      pen.textAlign = "center"; pen.fillText(number(x), at, height - frame.bottom + 15);
    }
    for (const y of ticks(...ranges[chosen.y])) {
      const at = height - frame.bottom - (y - ranges[chosen.y][0]) / (ranges[chosen.y][1] - ranges[chosen.y][0]) * (height - frame.top - frame.bottom);
      pen.beginPath(); pen.moveTo(frame.left, at); pen.lineTo(width - frame.right, at); pen.stroke();
      pen.textAlign = "right"; pen.fillText(number(y), frame.left - 6, at + 4);
    }
    pen.textAlign = "center"; pen.font = "600 13px system-ui, sans-serif";
    pen.fillText(data.names[chosen.x], frame.left + (width - frame.left - frame.right) / 2, height - 8);
    pen.save(); pen.translate(13, frame.top + (height - frame.top - frame.bottom) / 2); pen.rotate(-Math.PI / 2);
    pen.fillText(data.names[chosen.y], 0, 0); pen.restore();
    const size = data.designs.length > 1000 ? 2 : 3.2;
    for (let row = 0; row < data.designs.length; row += 1) {
      const at = place(row, width, height);
      if (!at) continue;
      pen.fillStyle = shade(share(chosen.c, row));
      pen.beginPath(); pen.arc(at[0], at[1], size, 0, 2 * Math.PI); pen.fill();
    }
    const at = picked < 0 ? null : place(picked, width, height);
    if (at) { pen.strokeStyle = mark; pen.lineWidth = 2.5; pen.beginPath(); pen.arc(at[0], at[1], 8, 0, 2 * Math.PI); pen.stroke(); }
  }

  const side = { left: 34, right: 34, top: 26, bottom: 34 };
  const axisPlace = (k, width) => side.left + (data.names.length < 2 ? 0.5 : k / (data.names.length - 1)) * (width - side.left - side.right);
  const lineHeight = (k, row, height) => { const y = share(k, row); return y === null ? null : height - side.bottom - y * (height - side.top - side.bottom); };
  function drawLine(pen, row, width, height) {
    pen.beginPath();
    for (let k = 0; k < data.names.length; k += 1) { const y = lineHeight(k, row, height); if (y !== null) pen.lineTo(axisPlace(k, width), y); }
    pen.stroke();
  }
  function drawParallel() {
    const [pen, width, height] = prepare(byId("parallel"));
    const most = 1500, step = Math.max(1, Math.ceil(data.designs.length / most));
    pen.lineWidth = 0.7; pen.globalAlpha = data.designs.length > 300 ? 0.35 : 0.7;
    for (let row = 0; row < data.designs.length; row += step) { pen.strokeStyle = shade(share(chosen.c, row)); drawLine(pen, row, width, height); }
    pen.globalAlpha = 1;
    for (let k = 0; k < data.names.length; k += 1) {
      const x = axisPlace(k, width);
      pen.strokeStyle = pale; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x, side.top); pen.lineTo(x, height - side.bottom); pen.stroke();
      pen.textAlign = k === 0 ? "left" : k === data.names.length - 1 ? "right" : "center";
      const edge = k === 0 ? x - side.left + 4 : k === data.names.length - 1 ? x + side.right - 4 : x;
      pen.fillStyle = ink; pen.font = "600 12px system-ui, sans-serif"; pen.fillText(data.names[k], edge, height - 6);
      pen.font = "11px system-ui, sans-serif"; pen.fillStyle = "#5a6675";
      pen.fillText(number(ranges[k][1]), edge, side.top - 8); pen.fillText(number(ranges[k][0]), edge, height - side.bottom + 13);
    }
    if (picked >= 0) { pen.strokeStyle = mark; pen.lineWidth = 2.5; drawLine(pen, picked, width, height); }
  }
  function draw() { drawScatter(); drawParallel(); }

  /* motions that the study has computed, if the view cannot compute them: times, coordinates, velocities */
  const stored = data.motions && new Float32Array(Uint8Array.from(atob(data.motions.numbers), (one) => one.charCodeAt(0)).buffer);
  function motionOf(row, count) {
    const at = stored ? data.motions.rows.indexOf(row) : -1, run = { t: [], q: [], qd: [] };
    if (at < 0) return null;
    const { frames, width } = data.motions;
    for (let k = 0; k < frames; k += 1) {
      const numbers = Array.from(stored.subarray((at * frames + k) * width, (at * frames + k + 1) * width));
      if (!numbers.every(Number.isFinite)) break;
      run.t.push(numbers[0]); run.q.push(numbers.slice(1, 1 + count)); run.qd.push(numbers.slice(1 + count));
    }
    return run;
  }

  function pick(row) {
    if (row < 0) return;
    picked = row;
    const values = data.names.map((name, k) => `${name} = ${number(data.columns[k][row])}`);
    byId("picked").textContent = `Design ${data.designs[row]}: ${values.join(", ")}`;
    draw();
    if (!viewer) return;
    const tables = { parameters: {}, torque: { ...data.torque } };
    data.targets.forEach(([name, table, key]) => { if (tables[table]) tables[table][key] = data.columns[data.names.indexOf(name)][row]; });
    viewer.ready.then(() => {
      const first = JSON.parse(sceneText.textContent), motion = motionOf(row, first.coordinates.length);
      if (stored) viewer.record(motion, tables.parameters);
      if (motion) { viewer.play(); return; }
      viewer.pause(); viewer.reset();
      const home = Object.fromEntries(first.parameters.map((one) => [one.name, one.value]));
      viewer.set({ parameters: { ...home, ...tables.parameters } });
      const start = (rows) => rows[Math.min(row, rows.length - 1)], choice = {};
      for (const key of ["q", "qd"]) if (start(data[key])?.every((x) => x !== null)) choice[key] = start(data[key]);
      if (Object.keys(tables.torque).length) choice.efforts = tables.torque;
      if (Object.keys(choice).length) viewer.set(choice);
      if (!stored) viewer.play();
    });
  }

  byId("scatter").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 20 ** 2;
    for (let row = 0; row < data.designs.length; row += 1) {
      const at = place(row, box.width, box.height);
      if (!at) continue;
      const gap = (at[0] - x) ** 2 + (at[1] - y) ** 2;
      if (gap < least) { least = gap; best = row; }
    }
    pick(best);
  });
  byId("parallel").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let left = 0;
    while (left < data.names.length - 2 && axisPlace(left + 1, box.width) < x) left += 1;
    const right = Math.min(left + 1, data.names.length - 1), span = axisPlace(right, box.width) - axisPlace(left, box.width) || 1;
    let best = -1, least = 14;
    for (let row = 0; row < data.designs.length; row += 1) {
      const a = lineHeight(left, row, box.height), b = lineHeight(right, row, box.height);
      if (a === null || b === null) continue;
      const gap = Math.abs(a + (b - a) * (x - axisPlace(left, box.width)) / span - y);
      if (gap < least) { least = gap; best = row; }
    }
    pick(best);
  });
  byId("scatter").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !data.designs.length) return;
    event.preventDefault();
    pick((picked + step + data.designs.length) % data.designs.length);
  });
  for (const [key, id] of [["x", "axis-x"], ["y", "axis-y"], ["c", "axis-c"]]) {
    const list = byId(id);
    data.names.forEach((name, k) => { const one = document.createElement("option"); one.value = String(k); one.textContent = name; list.append(one); });
    list.value = String(chosen[key]);
    list.addEventListener("change", () => { chosen[key] = Number(list.value); draw(); });
  }
  for (const one of document.querySelectorAll("button.design")) {
    one.addEventListener("click", () => { pick(data.designs.indexOf(Number(one.dataset.design))); byId("scatter").scrollIntoView({ block: "nearest" }); });
  }
  byId("shown").textContent = data.designs.length < data.total ? `${data.designs.length} of ${data.total} designs are drawn.` : "";
  if (!data.names.length || !data.designs.length) byId("picked").textContent = "No design has measures that are numbers.";
  else { new ResizeObserver(draw).observe(byId("scatter")); draw(); }
  window.linkedStudy = { pick, get picked() { return picked; }, viewer };
}
