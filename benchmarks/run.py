"""Linkwright beside Pinocchio and MuJoCo, in one run: `make bench`.

    python benchmarks/run.py [--seconds 1] [--growth] [--write]

Every figure is the best of many measurements on one thread, unless stated otherwise; candidates
take turns.
Before anything is timed, the results are compared. `--growth` adds chains of 2 to 200 links;
`--write` puts the tables into README.md and docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from floors import BATCH_BYTES, floor_table
from timing import best, repeated

import linkwright as lw
from linkwright.formulations import derive_uncached
from linkwright.ports import Port
from linkwright.quantities import quantity_ports
from linkwright.readings.llvm.code_loader import load_object_code
from linkwright.readings.llvm.ir_compiler import compile_ir
from linkwright.readings.llvm.target import host_target
from linkwright.readings.llvm.ufunc import make_gufunc
from robots import Robot, long_chain, robots

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from loops import NAMES, cell  # noqa: E402 - it uses what the tests have

BATCH, BYTES = 16384, BATCH_BYTES["4 MiB"]


@dataclass
class Table:
    """Rows by name, a cell for each robot."""

    columns: list[str]
    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, row: str, cell: str) -> None:
        self.rows.setdefault(row, []).append(cell)

    def text(self) -> str:
        head = ["", *self.columns]
        lines = [head, ["---"] * len(head)]
        for name, cells in self.rows.items():
            lines.append([name, *cells, *[""] * (len(self.columns) - len(cells))])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Arrays:
    """Random states of one function of a robot, and room for its results."""

    def __init__(
        self, robot: Robot, name: str, model: lw.Model | None = None, size: int = BYTES
    ) -> None:
        self.function = getattr(model or robot.model, name)
        inputs, outputs = quantity_ports(robot.model.names, name)
        most = size // (8 * sum(port.size for port in (*inputs, *outputs)))
        self.batch = max(8, min(BATCH, most) // 8 * 8)
        rng = np.random.default_rng(0)
        self.inputs = [rng.uniform(-1, 1, (self.batch, *port.shape)) for port in inputs]
        self.outputs = [np.empty((self.batch, *port.shape)) for port in outputs]

    def __call__(self) -> None:
        self.function(*self.inputs, *self.outputs)

    def fill(self) -> None:
        for output in self.outputs:
            output.fill(1.0)


def agree(one: np.ndarray, other: np.ndarray, what: str) -> None:
    error = np.abs(one - other).max() / np.abs(other).max()
    if not error < 1e-8:
        raise SystemExit(f"{what}: the results differ by {error:.1e}; nothing was timed")


def batch_row(
    table: Table, robot: Robot, name: str, peer: Callable[..., object], seconds: float
) -> None:
    """A function against Pinocchio's loop over the same batch."""
    ours = Arrays(robot, name)
    columns = [robot.to_pin(array) for array in ours.inputs]
    result = np.zeros_like(columns[0])
    pool = pin.ModelPool(robot.pin, 1)

    def theirs() -> None:
        peer(1, pool, *columns, result)

    ours()
    theirs()
    agree(robot.to_pin(ours.outputs[0]), result, f"{robot.name}, {name}")
    one, other = (1e9 * t / ours.batch for t in best(ours, theirs, seconds=seconds))
    table.add(_title(name, peer), f"{one:.1f} ns, **{other / one:.0f}×**")


def call_row(
    table: Table, robot: Robot, name: str, peer: Callable[..., object], seconds: float
) -> None:
    """A function on large and small batches against one of Pinocchio's for one state."""
    ours = Arrays(robot, name)
    cached = Arrays(robot, name, size=BATCH_BYTES["in cache"])
    state = [robot.to_pin(array[:1]).ravel() for array in ours.inputs]
    data = robot.pin.createData()
    theirs = repeated(peer, robot.pin, data, *state)
    ours()
    peer(robot.pin, data, *state)
    found = [data.M] if name == "mass_matrix" else [data.dtau_dq, data.dtau_dv, data.M]
    for one, other in zip(ours.outputs, found, strict=True):
        upper = np.triu if other is data.M else np.asarray
        agree(upper(robot.matrix_to_pin(one[0])), upper(other), f"{robot.name}, {name}")
    one, near, other = best(ours, cached, theirs, seconds=seconds)
    one, near, other = 1e9 * one / ours.batch, 1e9 * near / cached.batch, 1e6 * other
    cell = f"{one:.1f} ns, **{other / one:.0f}×** (in cache {near:.1f} ns, {other / near:.0f}×)"
    table.add(_title(name, peer), cell)


def single_row(table: Table, robot: Robot, seconds: float) -> None:
    """One state from Python, in fresh arrays, as `pin.rnea` returns them."""
    ours = Arrays(robot, "inverse_dynamics")
    rows = [array[0].copy() for array in ours.inputs]
    state = [robot.to_pin(array[:1]).ravel() for array in ours.inputs]
    data = robot.pin.createData()
    result = ours.function(*rows)[robot.order]
    agree(result, pin.rnea(robot.pin, data, *state), f"{robot.name}, one state")
    ufunc = robot.model.ufunc("inverse_dynamics")
    one, raw, nothing, other = best(
        repeated(ours.function, *rows),
        repeated(ufunc, *rows),
        repeated(empty_gufunc(ufunc), *rows),
        repeated(pin.rnea, robot.pin, data, *state),
        seconds=seconds,
    )
    title = "one state, one call from Python; share of `pin.rnea`'s time"
    table.add(title, f"{1e6 * one:.0f} ns, **{one / other:.2f}**")
    table.add("the same through the raw gufunc", f"{1e6 * raw:.0f} ns, {raw / other:.2f}")
    title = "a gufunc of that signature that does nothing"
    table.add(title, f"{1e6 * nothing:.0f} ns, {nothing / other:.2f}")


def empty_gufunc(ufunc: np.ufunc) -> np.ufunc:
    """A gufunc of the same signature whose loop does nothing: NumPy's own part of a call."""
    text = "define void @loop(ptr %a, ptr %b, ptr %c, ptr %d) {\n  ret void\n}\n"
    code = load_object_code(compile_ir(text, host_target()))
    sides = [
        tuple(
            Port(f"x{k}", tuple(int(size) for size in part.split(",") if size))
            for k, part in enumerate(re.findall(r"\(([^()]*)\)", side))
        )
        for side in str(ufunc.signature).split("->")
    ]
    return make_gufunc("empty", "", sides[0], sides[1], code, lambda: code, threads=1)


def operations_row(table: Table, robot: Robot) -> None:
    counts = [robot.model.operations(f"{way}_dynamics") for way in ("inverse", "forward")]
    table.add("operations, inverse / forward dynamics", f"{counts[0]} / {counts[1]}")


def regressor_row(table: Table, robot: Robot, seconds: float) -> None:
    ours = Arrays(robot, "regressor")
    one, fill = best(ours, ours.fill, seconds=seconds)
    table.add(
        "regressor, share of the bandwidth of a plain fill",
        f"{1e9 * one / ours.batch:.0f} ns, **{100 * fill / one:.0f} %**",
    )


def mujoco_row(table: Table, robot: Robot, seconds: float) -> None:
    data = mujoco.MjData(robot.mujoco)
    rng = np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, (2, robot.mujoco.nv))
    for way, ours in (("inverse", "inverse"), ("forward", "forward")):
        arrays = Arrays(robot, f"{ours}_dynamics")
        peer = getattr(mujoco, f"mj_{way}")
        calls = repeated(peer, robot.mujoco, data, times=200)
        one, other = best(arrays, calls, seconds=seconds / 2)
        ratio = (other / 200) / (one / arrays.batch)
        table.add(f"{way} dynamics vs `mj_{way}` called from Python", f"{ratio:.0f}×")


def threads_row(table: Table, robot: Robot, seconds: float) -> None:
    two = lw.compile(robot.mechanism, threads=2)
    cells = []
    for way in ("inverse", "forward"):
        alone = Arrays(robot, f"{way}_dynamics")
        both = Arrays(robot, f"{way}_dynamics", two)
        one, other = best(alone, both, seconds=seconds / 2)
        cells.append(f"{one / other:.2f}×")
    table.add("two threads, inverse / forward dynamics", " / ".join(cells))


_START = """
import pickle, sys, time
import linkwright as lw
mechanism = pickle.load(open(sys.argv[1], "rb"))
start = time.perf_counter()
model = lw.compile(mechanism)
rest = [0.0] * model.nv
model.inverse_dynamics(model.neutral(), rest, rest)
print(time.perf_counter() - start, "casadi" in sys.modules, "llvmlite" in sys.modules)
"""


def start_rows(table: Table, robot: Robot) -> None:
    """In new processes: with an empty cache, and again."""
    import pickle

    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "mechanism"
        recipe.write_bytes(pickle.dumps(robot.mechanism))
        cold, warm = [], []
        for trial in range(3):
            environment = os.environ | {"LINKWRIGHT_CACHE": f"{folder}/{trial}"}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have theirs
            for times in (cold, warm):
                command = [sys.executable, "-c", _START, str(recipe)]
                run = subprocess.run(
                    command, capture_output=True, text=True, check=True, env=environment
                )
                seconds, *loaded = run.stdout.split()
                times.append(float(seconds))
        if "True" in loaded:
            raise SystemExit("the second start has loaded CasADi or LLVM")
    table.add("derive + compile, inverse dynamics, cold", f"{min(cold):.2f} s")
    table.add("the same from the cache, second start", f"{min(warm):.3f} s")


def growth(seconds: float) -> str:
    """Cost of chains of more and more links."""
    sizes = [2, 5, 10, 20, 50, 100, 200]
    table = Table([str(n) for n in sizes])
    for n in sizes:
        robot = Robot(f"chain {n}", long_chain(n))
        for way in ("inverse", "forward"):
            arrays = Arrays(robot, f"{way}_dynamics")
            (one,) = best(arrays, seconds=seconds / 2)
            operations = robot.model.operations(f"{way}_dynamics")
            table.add(f"{way} dynamics, operations", str(operations))
            ns = 1e9 * one / arrays.batch
            table.add(f"{way} dynamics, ns a state", f"{ns:.1f}")
            table.add(f"{way} dynamics, operations a ns", f"{operations / ns:.1f}")
    return table.text()


def lagrange_times() -> str:
    """M, C and g of planar chains by Lagrange, beside the polynomial of Virgala et al. (2016)."""
    sizes = [6, 30, 100]
    table = Table([str(n) for n in sizes])
    for n in sizes:
        chain = lw.gallery(f"chain-{n}")
        for parameters in ("numeric", "symbolic"):
            least = float("inf")
            for _ in range(3):
                start = time.perf_counter()
                eqs = derive_uncached(chain, by="lagrange", parameters=parameters)
                _ = eqs.M, eqs.C, eqs.g
                least = min(least, time.perf_counter() - start)
            table.add(f"derived by `lagrange`, {parameters}", f"{least:.2f} s")
        paper = 0.0191 * n**3 - 0.1025 * n**2 + 0.3757 * n - 0.3647
        table.add("fit of Virgala et al., Matlab 2013", f"{paper:.0f} s")
    return table.text()


def loops(seconds: float) -> str:
    """Forward dynamics under constraints."""
    table = Table(list(NAMES))
    for name in NAMES:
        time_and_ratio, operations = cell(name, seconds)
        table.add("forward dynamics vs `pin.constraintDynamics`", time_and_ratio)
        table.add("operations", operations)
    return table.text()


def _title(name: str, peer: Callable[..., object]) -> str:
    return f"{name.replace('_', ' ')} vs `pin.{peer.__name__}`"


def measured(seconds: float) -> tuple[str, str]:
    """The table of ratios, and what stands beside it."""
    chosen = robots()
    ratios, beside = (Table([robot.name for robot in chosen]) for _ in range(2))
    for robot in chosen:
        print(f"… {robot.name}", file=sys.stderr, flush=True)
        batch_row(ratios, robot, "inverse_dynamics", pin.rneaInParallel, seconds)
        batch_row(ratios, robot, "forward_dynamics", pin.abaInParallel, seconds)
        if robot.model.nv < 50:
            call_row(ratios, robot, "mass_matrix", pin.crba, seconds)
            derivatives = pin.computeRNEADerivatives
            call_row(ratios, robot, "inverse_dynamics_derivatives", derivatives, seconds)
            regressor_row(ratios, robot, seconds)
        single_row(ratios, robot, seconds)
        operations_row(ratios, robot)
        start_rows(ratios, robot)
        mujoco_row(beside, robot, seconds)
        threads_row(beside, robot, seconds)
    return ratios.text(), beside.text()


def machine() -> str:
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        name = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), name)
        if any("avx512f" in line for line in lines):
            name += ", AVX-512"
    versions = f"Pinocchio {pin.__version__}, MuJoCo {mujoco.__version__}"
    return f"{name}, {os.cpu_count()} cores; {versions}"


README_ROWS = (
    "|  |",
    "| ---",
    "| inverse dynamics vs",
    "| forward",
    "| mass",
    "| one state",
    "| derive",
)
"""The beginnings of the rows that the README shows."""


def shorten_table(text: str) -> str:
    """The rows of the table for the README."""
    return "\n".join(line for line in text.splitlines() if line.startswith(README_ROWS))


def write(path: Path, tag: str, text: str) -> None:
    """Replaces what stands between two marks."""
    page = path.read_text(encoding="utf-8")
    start, end = f"<!-- {tag} -->\n", f"<!-- /{tag} -->"
    head, rest = page.split(start, 1)
    _, tail = rest.split(end, 1)
    path.write_text(f"{head}{start}{text}\n{end}{tail}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    parser.add_argument("--growth", action="store_true", help="chains of 2 to 200 links")
    parser.add_argument("--write", action="store_true", help="into README.md and docs/")
    options = parser.parse_args()
    ratios, beside = measured(options.seconds)
    where = f"({machine()}; one thread, float64, rows (B, n), best of many)"
    print(f"{where}\n\n{ratios}\n\n{beside}")
    floors = floor_table(options.seconds / 2)
    print(f"\n{floors}")
    lagrange = lagrange_times()
    print(f"\n{lagrange}")
    closed = loops(options.seconds)
    print(f"\n{closed}")
    chains = growth(options.seconds) if options.growth or options.write else ""
    if chains:
        print(f"\n{chains}")
    if options.write:
        write(ROOT / "README.md", "bench", f"{shorten_table(ratios)}\n\n{where}")
        write(ROOT / "docs/explanation/performance.md", "bench", f"{where}\n\n{ratios}\n\n{beside}")
        write(ROOT / "docs/explanation/performance.md", "floors", floors)
        write(ROOT / "docs/explanation/performance.md", "growth", chains)
        write(ROOT / "docs/explanation/performance.md", "loops", closed)
        write(ROOT / "docs/explanation/formulations.md", "lagrange", lagrange)


if __name__ == "__main__":
    main()
