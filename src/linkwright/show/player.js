// Draws a recorded motion on a canvas: play, pause, scrub, turn by dragging, zoom; in print a row of pictures.
(function (root, data) {
  "use strict";
  const canvas = root.querySelector("canvas"), pen = canvas.getContext("2d");
  const button = root.querySelector("button"), slider = root.querySelector("input");
  const clock = root.querySelector("output"), rate = root.querySelector("select");
  const end = data.times[data.times.length - 1], first = data.times[0];
  const view = { right: data.right.slice(), up: data.up.slice(), zoom: 1 };
  const family = getComputedStyle(root).fontFamily, digits = end - first < 1 ? 3 : 2;
  const paths = data.traces.map(traced);
  let now = first, playing = false, last = 0, printing = false;

  function cross(a, b) {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  }
  function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  // A pose is a position and a unit quaternion (w, x, y, z).
  function carry(pose, p) {
    if (!pose) return p;
    const [x, y, z, w, a, b, c] = pose, u = [a, b, c], t = cross(u, p).map((v) => 2 * v);
    const s = cross(u, t);
    return [x + p[0] + w * t[0] + s[0], y + p[1] + w * t[1] + s[1], z + p[2] + w * t[2] + s[2]];
  }
  function compose(a, b) {
    if (!a) return b;
    const [w, x, y, z] = a.slice(3), [e, f, g, h] = b.slice(3);
    return carry(a, b).concat([
      w * e - x * f - y * g - z * h, w * f + x * e + y * h - z * g,
      w * g - x * h + y * e + z * f, w * h + x * g - y * f + z * e,
    ]);
  }
  // A link's motion from its coordinates, which begin at index k: a turn or a slide about or along z, or a body's own.
  function motion(link, q) {
    const k = link.q;
    if (link.kind === "ball" || link.kind === "free") {
      const free = link.kind === "free", p = free ? q.slice(k, k + 3) : [0, 0, 0], u = q.slice(free ? k + 3 : k);
      const size = Math.hypot(u[0], u[1], u[2], u[3]) || 1;
      return p.concat(u.slice(0, 4).map((v) => v / size));
    }
    const turn = link.kind === "slide" ? 0 : (q[k] + link.offset) / 2;
    const along = link.kind === "slide" ? q[k] : link.kind === "screw" ? link.pitch * q[k] : 0;
    return [0, 0, link.shift + along, Math.cos(turn), 0, 0, Math.sin(turn)];
  }
  // Joint coordinates between two key frames are cubics; the links follow from them one after the other.
  function posesAt(t) {
    let k = 0, high = data.times.length - 1;
    while (high - k > 1) { const m = (k + high) >> 1; if (data.times[m] <= t) k = m; else high = m; }
    const span = data.times[high] - data.times[k], s = span > 0 ? (t - data.times[k]) / span : 0, r = 1 - s;
    const a = data.joints[k], b = data.joints[high], da = data.rates[k], db = data.rates[high];
    const q = a.map((v, i) => r * r * ((1 + 2 * s) * v + s * span * da[i]) + s * s * ((1 + 2 * r) * b[i] - r * span * db[i]));
    const poses = [];
    for (const link of data.links) poses.push(compose(compose(poses[link.parent], link.at), motion(link, q)));
    return poses;
  }
  // The path of a point: halved between key frames until no chord is off by more than a fifth of a pixel.
  function traced(p) {
    const at = (t) => ({ t, p: carry(posesAt(t)[p.link], p.point) }), found = [at(first)];
    function add(a, b, depth) {
      const m = at((a.t + b.t) / 2), bow = Math.hypot(...m.p.map((v, k) => v - (a.p[k] + b.p[k]) / 2));
      if (depth < 1 || (bow > 0.2 * data.pixel && depth < 8)) { add(a, m, depth + 1); add(m, b, depth + 1); } else found.push(b);
    }
    for (let k = 0; k + 1 < data.times.length; k++) add(found[found.length - 1], at(data.times[k + 1]), 0);
    return found;
  }

  function sized(ratio) {
    const wide = canvas.clientWidth, high = canvas.clientHeight;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio);
    }
    return [wide, high];
  }
  function fitted(wide, high) {
    const room = [wide, high].map((size) => Math.max(0, size - 24));
    const scale = view.zoom * Math.min(room[0] / data.extent[0], room[1] / data.extent[1]);
    const toward = cross(view.right, view.up), mid = data.middle;
    return {
      wide, high, scale, toward,
      flat: (p) => {
        const d = [p[0] - mid[0], p[1] - mid[1], p[2] - mid[2]];
        return [wide / 2 + scale * dot(d, view.right), high / 2 - scale * dot(d, view.up)];
      },
    };
  }
  function hull(points) {
    const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]), half = (list) => {
      const kept = [];
      for (const p of list) {
        while (kept.length > 1) {
          const [a, b] = kept.slice(-2);
          if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
          kept.pop();
        }
        kept.push(p);
      }
      return kept.slice(0, -1);
    };
    return half(sorted).concat(half(sorted.reverse()));
  }
  function path(points, closed) {
    pen.beginPath();
    points.forEach((p, k) => (k ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1])));
    if (closed) pen.closePath();
  }
  function disc(p, radius) { pen.beginPath(); pen.arc(p[0], p[1], radius, 0, 2 * Math.PI); }
  function stroke(colour, width) { pen.strokeStyle = colour; pen.lineWidth = width; pen.stroke(); }
  function fill(colour) { pen.fillStyle = colour; pen.fill(); }

  const INK = "#202020", painters = {
    line(s, p) { path(p); stroke("#ffffff", 6); path(p); stroke(s.colour, 3.5); },
    plate(s, p) { path(p, true); fill(s.colour + "2e"); stroke(s.colour, 2.5); },
    wheel(s, p) { path(p); stroke(s.colour, 3); },
    spoke(s, p) { path(p); stroke(s.colour, 1); },
    coil(s, p) { path(p); stroke(INK, 1); },
    blade(s, p) { path(p); stroke(INK, 5); },
    base(s, p) { path(p, true); fill("#f2f2f2"); stroke(INK, 1); },
    edge(s, p) { path(p); stroke(INK, 1.2); },
    floor(s, p) { path(p, true); fill("#f7f7f7"); stroke("#8a8a8a", 0.8); },
    axis(s, p) { path(p); stroke(s.colour, 1.4); },
    hull(s, p) { path(hull(p), true); fill("#ffffff"); stroke(s.colour, 1.2); },
    ball(s, p, f) { disc(p[0], 1.15 * data.sign * f.scale); fill("#bfbfbf"); stroke(s.colour, 1.2); },
    dot(s, p) { disc(p[0], 2); fill(INK); },
    center(s, p, f) {
      const r = Math.max(3, 0.62 * data.sign * f.scale), [x, y] = p[0];
      disc(p[0], r); fill("#ffffff"); stroke(INK, 0.8);
      for (const a of [0, Math.PI]) {
        pen.beginPath(); pen.moveTo(x, y); pen.arc(x, y, r, a - Math.PI / 2, a); pen.closePath(); fill(INK);
      }
    },
  };
  function pairs(s, p) {
    const [colour, width] = { hatch: [INK, 0.8], grid: ["#dddddd", 0.8] }[s.kind] || [s.colour, 1];
    for (let k = 0; k + 1 < p.length; k += 2) { path([p[k], p[k + 1]]); stroke(colour, width); }
  }
  function tie(t, a, b, f) {
    if (t.kind === "rail" || t.kind === "rod") {
      path([a, b]); stroke(t.colour, t.kind === "rail" ? 2.4 : 1.6); return;
    }
    const d = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(d[0], d[1]) || 1;
    const w = 1.2 * data.sign * f.scale, across = [(-d[1] / length) * w, (d[0] / length) * w];
    for (const part of data.patterns[t.kind]) {
      path(part.map(([x, y]) => [a[0] + x * d[0] + y * across[0], a[1] + x * d[1] + y * across[1]]));
      stroke(INK, 1.2);
    }
  }

  function draw() {
    if (printing) return;
    const ratio = window.devicePixelRatio || 1, [wide, high] = sized(ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, wide, high);
    compass(scene(wide, high));
    slider.value = now; clock.textContent = now.toFixed(digits) + " s";
    root.dataset.time = now.toFixed(4);
  }
  // Six pictures at equal times, sharp on paper; the time stands on each.
  function strip() {
    const ratio = 2, [wide, high] = sized(ratio), kept = now, [columns, rows] = [3, 2];
    printing = true;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, wide, high);
    for (let k = 0; k < columns * rows; k++) {
      const w = wide / columns, h = high / rows, x = (k % columns) * w, y = Math.floor(k / columns) * h;
      now = first + ((end - first) * k) / (columns * rows - 1);
      pen.save(); pen.beginPath(); pen.rect(x, y, w, h); pen.clip(); pen.translate(x, y);
      scene(w, h); pen.fillStyle = INK; pen.font = "12px " + family;
      pen.fillText(now.toFixed(digits) + " s", 8, 16); pen.restore();
    }
    now = kept;
  }
  function scene(wide, high) {
    const f = fitted(wide, high), poses = posesAt(now), jobs = [];
    pen.lineCap = pen.lineJoin = "round";
    for (const s of data.shapes) {
      const world = s.points.map((p) => carry(poses[s.link], p)), flat = world.map(f.flat);
      const depth = world.reduce((sum, p) => sum + dot(p, f.toward), 0) / world.length;
      jobs.push({ layer: s.layer, depth: s.deep ? depth : 0, go: () =>
        (painters[s.kind] || pairs)(s, flat, f) });
    }
    for (const t of data.ties) {
      const [a, b] = [0, 1].map((k) => f.flat(carry(poses[t.links[k]], t.points[k])));
      jobs.push({ layer: t.layer, depth: 0, go: () => tie(t, a, b, f) });
    }
    paths.forEach((points, k) => {
      const seen = points.filter((one) => one.t <= now).map((one) => f.flat(one.p));
      seen.push(f.flat(carry(poses[data.traces[k].link], data.traces[k].point)));
      jobs.push({ layer: 2.5, depth: 0, go: () => { path(seen); stroke("#8a8a8a", 1); } });
    });
    jobs.sort((a, b) => a.layer - b.layer || a.depth - b.depth).forEach((job) => job.go());
    return f;
  }
  function compass(f) {
    const [x, y] = [34, f.high - 30]; pen.font = "italic 12px " + family; pen.fillStyle = "#8a8a8a";
    ["x", "y", "z"].forEach((name, k) => {
      const e = [0, 0, 0]; e[k] = 1;
      const d = [dot(e, view.right), -dot(e, view.up)];
      if (Math.hypot(d[0], d[1]) < 0.12) return;
      path([[x, y], [x + 20 * d[0], y + 20 * d[1]]]); stroke("#8a8a8a", 1.2);
      pen.fillText(name, x + 28 * d[0] - 3, y + 28 * d[1] + 4);
    });
  }

  function step(stamp) {
    if (!playing) return;
    now += last ? ((stamp - last) / 1000) * Number(rate.value) : 0;
    last = stamp;
    if (now >= end) now = first;
    draw(); requestAnimationFrame(step);
  }
  function toggle() {
    playing = !playing; last = 0;
    button.textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame(step);
  }
  function turn(dx, dy) {
    const about = (v, axis, a) => {
      const c = Math.cos(a), s = Math.sin(a), w = cross(axis, v), d = dot(axis, v) * (1 - c);
      return v.map((x, k) => x * c + w[k] * s + axis[k] * d);
    };
    view.right = about(view.right, data.vertical, -dx); view.up = about(view.up, data.vertical, -dx);
    view.up = about(view.up, view.right, -dy); draw();
  }
  function zoom(times) { view.zoom = Math.min(20, Math.max(0.2, view.zoom * times)); draw(); }
  let held = null;
  button.onclick = toggle;
  slider.oninput = () => { now = Number(slider.value); draw(); };
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId); held = [event.clientX, event.clientY];
  };
  canvas.onpointerup = canvas.onpointercancel = () => { held = null; };
  canvas.onpointermove = (event) => {
    if (!held) return;
    turn((event.clientX - held[0]) / 120, (event.clientY - held[1]) / 120);
    held = [event.clientX, event.clientY];
  };
  canvas.ondblclick = () => { view.right = data.right.slice(); view.up = data.up.slice(); view.zoom = 1; draw(); };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault(); zoom(Math.exp(-event.deltaY / 400));
  }, { passive: false });
  canvas.onkeydown = (event) => {
    const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
    if (event.key === " ") toggle(); else if (turns) turn(...turns); else if (zooms) zoom(zooms); else return;
    event.preventDefault();
  };
  root.posesAt = posesAt; root.paths = paths;
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", strip);
  window.addEventListener("afterprint", () => { printing = false; draw(); });
  draw();
  if (data.autoplay && !matchMedia("(prefers-reduced-motion: reduce)").matches) toggle();
})
