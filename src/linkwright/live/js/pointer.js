// Mouse, touch and keyboard on the picture: turn, shift, zoom, pick and drag bodies.

/** Connect a picture with its camera and with the bodies in it.
 *  @param {HTMLElement} stage the element that gets the events
 *  @param {Camera} camera
 *  @param {{changed, pick, grab, drag, release, key}} acts what the viewer does
 *  @returns {() => void} disconnects */
export function connectPointer(stage, camera, acts) {
  const fingers = new Map(), controller = new AbortController(), on = (name, act, more = {}) => stage.addEventListener(name, act, { signal: controller.signal, ...more });
  let held = false, spread = 0, moved = 0, several = false;
  const place = (event) => { const box = stage.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

  on("pointerdown", (event) => {
    if (event.target.closest?.("button,select,input,a")) return;
    stage.focus({ preventScroll: true });
    stage.setPointerCapture?.(event.pointerId);
    const [x, y] = place(event);
    fingers.set(event.pointerId, [x, y]);
    moved = 0;
    several = fingers.size > 1;
    if (fingers.size === 2) { spread = distance(fingers); if (held) { acts.release(); held = false; } return; }
    held = event.button === 0 && !event.shiftKey && !event.altKey && acts.grab(x, y);
  });
  on("pointermove", (event) => {
    const before = fingers.get(event.pointerId), [x, y] = place(event);
    if (!before) { acts.hover?.(x, y); return; }
    const dx = x - before[0], dy = y - before[1];
    moved += Math.abs(dx) + Math.abs(dy);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const now = distance(fingers);
      camera.shift(dx / 2, dy / 2);
      if (spread > 0) camera.zoomBy(now / spread, ...fingerMiddle(fingers));
      spread = now;
    } else if (held) { acts.drag(x, y); return; }
    else if (camera.planar || event.shiftKey || event.buttons === 2 || event.buttons === 4) camera.shift(dx, dy);
    else camera.turn(dx / 160, dy / 160);
    acts.changed();
  });
  const end = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (held) { acts.release(); held = false; }
    if (moved < 4 && !several) acts.pick(...place(event));
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("contextmenu", (event) => event.preventDefault());
  on("dblclick", (event) => { if (!event.target.closest?.("button,select,input,a")) { camera.reset(); acts.changed(); } });
  on("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey && document.activeElement !== stage) return;
    event.preventDefault();
    camera.zoomBy(Math.exp(-(event.deltaY || event.deltaX) / 500), ...place(event));
    acts.changed();
  }, { passive: false });
  on("keydown", (event) => {
    if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
    if (cameraKey(camera, event)) acts.changed(); else if (!acts.key(event)) return;
    event.preventDefault();
  });
  return () => controller.abort();
}

/** The distance between two fingers. */
function distance(fingers) {
  const [a, b] = [...fingers.values()];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** The point between two fingers. */
function fingerMiddle(fingers) {
  const [a, b] = [...fingers.values()];
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

/** Let a key move the camera. @returns {boolean} whether it did */
export function cameraKey(camera, event) {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const zoom = { "+": 1.25, "=": 1.25, "-": 0.8, "−": 0.8 }[event.key];
  if (way) { if (camera.planar || event.shiftKey) camera.shift(-30 * way[0], -30 * way[1]); else camera.turn(0.1 * way[0], 0.1 * way[1]); return true; }
  if (zoom) { camera.zoomBy(zoom); return true; }
  if (event.key === "Home") { camera.reset(); return true; }
  return false;
}
