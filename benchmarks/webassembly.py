"""Modules in Node and Chromium: forward dynamics and steps of Runge–Kutta: `make bench`.

    python benchmarks/webassembly.py [--names elbow four-bar …] [--engines node chromium]

Each mechanism runs in a fresh process of each engine, because engines share code between modules of
equal bytes. "first call" is the time to compile the module and call it once. Forward dynamics is
called on numbers that lie in the module's memory; its time is the best (and the median) of 101
repetitions of some 10 ms, since the clock of a browser is coarse. Engines of different age differ:
that of Node 20 needs up to 2.3 times as long as that of Chromium 156 for the same module.
Steps have a projection onto the constraints where there are some. The error is the largest
difference to the compiled model, as a share of the largest acceleration.
"""

from __future__ import annotations

import argparse
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

import linkwright as lw
from robots import path_of

NAMES = ("elbow", "four-bar", "six-axis", "panda", "stewart", "talos", "talos, free base")
URDFS = {"panda": "/panda.urdf", "talos": "/talos_reduced.urdf"}
FINGERS = {"panda_finger_joint1": 0, "panda_finger_joint2": 0}
STEP = 1e-4
"""The length of steps, s: stable for all mechanisms, also without controllers."""

WARM_SECONDS = 2.0
"""How long functions run before they are timed, s: engines replace their first code by better."""

MEASUREMENT = """
const measure = async (given, load, table, bytes) => {
  const now = () => performance.now() * 1e6;
  const begin = now();
  const m = await load(bytes);
  const qdd = m.forward_dynamics(...given.inputs);
  const first = (now() - begin) / 1e6;
  const one = table.functions.forward_dynamics, run = m.exports.forward_dynamics;
  const places = [...one.inputs, ...one.outputs].map(port => port.at);
  const repeat = (count) => {
    const start = now();
    for (let k = 0; k < count; ++k) run(...places);
    return (now() - start) / count;
  };
  const warm = async (work) => {  // engines optimize in the background what is called often
    const start = now();
    while (now() - start < given.warm * 1e9) {
      work();
      await new Promise((done) => setTimeout(done, 1));
    }
  };
  await warm(() => repeat(given.count));
  const times = Array.from({ length: 101 }, () => repeat(given.count)).sort((a, b) => a - b);
  const [q, qd, tau] = given.inputs;
  const steps = Math.ceil(given.count / 4);
  const walk = () => {
    const start = now();
    const made = m.run_rk4({ q, qd, tau, dt: given.step, steps }).steps;
    return (made / (now() - start)) * 1e9;
  };
  await warm(walk);
  const rates = Array.from({ length: 31 }, walk).sort((a, b) => b - a);
  const found = qdd instanceof Float64Array ? qdd : Object.values(qdd)[0];
  return JSON.stringify({
    first, best: times[0], median: times[50], rate: rates[0], qdd: Array.from(found),
    operations: one.operations, bytes: bytes.length,
  });
};
"""

NODE_SCRIPT = (
    MEASUREMENT
    + """
const { readFileSync } = require("fs");
const given = JSON.parse(readFileSync(0, "utf8"));
(async () => {
  const { load, table } = await import("file://" + given.wrapper);
  const bytes = readFileSync(given.wrapper.replace(/mjs$/, "wasm"));
  console.log(await measure(given, load, table, bytes));
})();
"""
)

PAGE_SCRIPT = (
    MEASUREMENT
    + """
const given = GIVEN, name = given.wrapper.split("/").pop();
const { load, table } = await import("./" + name);
const answer = await fetch(name.replace(/mjs$/, "wasm"));
const bytes = new Uint8Array(await answer.arrayBuffer());
await fetch("/found", { method: "POST", body: await measure(given, load, table, bytes) });
"""
)

CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
ENGINES = ("node", "chromium")


def load_mechanism(name: str) -> lw.Mechanism:
    """A mechanism of the table, without what peers ignore."""
    base, _, free = name.partition(", ")
    if base not in URDFS:
        return lw.gallery(base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = lw.load(path_of(URDFS[base]), base="free" if free else None)
    mechanism = mechanism.without("friction", "damping")
    return mechanism.reduced(lock=FINGERS) if base == "panda" else mechanism


def run_in_node(given: dict[str, object]) -> str:
    """What the measurement prints in a new process of Node."""
    done = subprocess.run(
        ["node", "-e", NODE_SCRIPT],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


class _Server(SimpleHTTPRequestHandler):
    """Serves the files of a folder, and takes what the page has found."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}
    found: queue.Queue[str] = queue.Queue()

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Take the figures."""
        self.found.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200)
        self.end_headers()


def run_in_chromium(given: dict[str, object]) -> str:
    """What the measurement finds in a new process of Chromium."""
    folder = Path(str(given["wrapper"])).parent
    script = PAGE_SCRIPT.replace("GIVEN", json.dumps(given))
    (folder / "measure.html").write_text(f'<script type="module">{script}</script>')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Server, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        address = f"http://127.0.0.1:{server.server_port}/measure.html"
        browser = subprocess.Popen(
            [*CHROMIUM, f"--user-data-dir={profile}", address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return _Server.found.get(timeout=120)
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()


def measure(name: str, engine: str, folder: Path) -> dict[str, float]:
    """The figures of a mechanism in an engine."""
    mechanism = load_mechanism(name)
    model = lw.compile(mechanism, threads=1)
    rng = np.random.default_rng(0)
    q = (
        model.home()
        if model.names.constraints
        else model.integrate(model.neutral(), rng.uniform(-0.3, 0.3, model.nv))
    )
    inputs = [np.asarray(q), np.zeros(model.nv), rng.uniform(-1, 1, model.nv)]
    quantities = ["forward_dynamics", "step_rk4"]
    written = lw.export(mechanism, to="wasm", quantities=quantities).save(folder)
    wrapper = next(p for p in written if p.suffix == ".mjs" and "_check" not in p.name)
    count = max(2000, 40_000_000 // len(model.tape("forward_dynamics")))
    given: dict[str, object] = {
        "wrapper": str(wrapper), "inputs": [x.tolist() for x in inputs], "count": count,
        "step": STEP, "warm": WARM_SECONDS,
    }  # fmt: skip
    found: dict[str, float] = json.loads(
        run_in_node(given) if engine == "node" else run_in_chromium(given)
    )
    wanted = np.ravel(model.forward_dynamics(*inputs))
    found["error"] = float(np.abs(np.array(found["qdd"]) - wanted).max() / np.abs(wanted).max())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    options = parser.parse_args()
    engines = [engine for engine in options.engines if shutil.which(engine)]
    if not engines:
        sys.exit("neither Node nor Chromium is installed: no figures of WebAssembly")
    print(
        "mechanism          engine    operations     bytes  first call, ms  forward dynamics, ns"
        "   RK4 steps/s    error"
    )
    for name in options.names:
        for engine in engines:
            with tempfile.TemporaryDirectory() as folder:
                one = measure(name, engine, Path(folder))
            print(
                f"{name:18} {engine:8} {one['operations']:11,} {one['bytes']:9,} "
                f"{one['first']:15.1f} {one['best']:13.0f} ({one['median']:5.0f}) "
                f"{one['rate']:13,.0f} {one['error']:8.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
