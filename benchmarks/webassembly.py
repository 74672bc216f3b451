"""Modules in Node: forward dynamics and steps of Runge–Kutta: `make bench`.

    python benchmarks/webassembly.py [--names elbow four-bar …]

Each mechanism runs in a fresh process of Node, because engines share code between modules of equal
bytes. "first call" is the time to compile the module and call it once. Forward dynamics is called
on numbers that lie in the module's memory; its time is the best (and the median) of 301
repetitions, each of which is short enough for a busy machine.
Steps have a projection onto the constraints where there are some. The error is the largest
difference to the compiled model, as a share of the largest acceleration.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import linkwright as lw
from robots import path_of

NAMES = ("elbow", "four-bar", "six-axis", "panda", "stewart", "talos", "talos, free base")
URDFS = {"panda": "/panda.urdf", "talos": "/talos_reduced.urdf"}
FINGERS = {"panda_finger_joint1": 0, "panda_finger_joint2": 0}
STEP = 1e-4
"""The length of steps, s: stable for all mechanisms, also without controllers."""

WARM_SECONDS = 3.0
"""How long functions run before they are timed, s: engines replace their first code by better."""

SCRIPT = """
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const now = () => Number(process.hrtime.bigint());
const { readFileSync } = require("fs");
(async () => {
  const { load, table } = await import("file://" + given.wrapper);
  const bytes = readFileSync(given.wrapper.replace(/mjs$/, "wasm"));
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
  const short = Math.ceil(given.count / 50);
  const times = Array.from({ length: 301 }, () => repeat(short)).sort((a, b) => a - b);
  const [q, qd, tau] = given.inputs;
  const steps = Math.ceil(given.count / 400);
  const walk = () => {
    const start = now();
    const made = m.run_rk4({ q, qd, tau, dt: given.step, steps }).steps;
    return (made / (now() - start)) * 1e9;
  };
  await warm(walk);
  const rates = Array.from({ length: 101 }, walk).sort((a, b) => b - a);
  const found = qdd instanceof Float64Array ? qdd : Object.values(qdd)[0];
  console.log(JSON.stringify({
    first, best: times[0], median: times[150], rate: rates[0], qdd: Array.from(found),
    operations: one.operations, bytes: bytes.length,
  }));
})();
"""


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


def measure(name: str, folder: Path) -> dict[str, float]:
    """The figures of a mechanism."""
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
    count = max(2000, 20_000_000 // len(model.tape("forward_dynamics")))
    given = {
        "wrapper": str(wrapper), "inputs": [x.tolist() for x in inputs], "count": count,
        "step": STEP, "warm": WARM_SECONDS,
    }  # fmt: skip
    done = subprocess.run(
        ["node", "-e", SCRIPT], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    wanted = np.ravel(model.forward_dynamics(*inputs))
    found["error"] = float(np.abs(np.array(found["qdd"]) - wanted).max() / np.abs(wanted).max())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", default=NAMES)
    if shutil.which("node") is None:
        sys.exit("Node is not installed: no figures of WebAssembly")
    print(
        "mechanism          operations     bytes  first call, ms  forward dynamics, ns"
        "   RK4 steps/s    error"
    )
    for name in parser.parse_args().names:
        with tempfile.TemporaryDirectory() as folder:
            one = measure(name, Path(folder))
        print(
            f"{name:18} {one['operations']:10,} {one['bytes']:9,} {one['first']:15.1f} "
            f"{one['best']:13.0f} ({one['median']:5.0f}) {one['rate']:13,.0f} {one['error']:8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
