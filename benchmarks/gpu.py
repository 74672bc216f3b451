"""Kernels on a GPU: checks and times all of them, and prints one table.

    python benchmarks/gpu.py prepare out/gpu      # here: needs Linkwright, and a compiler of CUDA
    python gpu.py run out/gpu                     # on the machine with the GPU: NumPy and CuPy

`prepare` writes sources, cubins and reference values, a copy of this script and the runtime. With
`--variants`, it also compiles the inverse and forward dynamics with other choices of kernels
(block, registers, sines), which `run` times in the same call.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

STATES = 1 << 22
TRAJECTORIES, STEPS = 1 << 20, 100
TOLERANCES = {"float": 1e-5, "double": 1e-12}
TARGETS = {
    ("ur5", "inverse_dynamics", "columns"): 30e9,
    ("panda", "inverse_dynamics", "columns"): 20e9,
    ("ur5", "inverse_dynamics", "rows"): 0.85 * 30e9,
    ("panda", "inverse_dynamics", "rows"): 0.85 * 20e9,
    ("ur5", "forward_dynamics", "columns"): 20e9,
    ("panda", "forward_dynamics", "columns"): 11e9,
    ("talos", "inverse_dynamics", "columns"): 3.5e9,
    ("ur5", "rk4", "columns"): 8e9,
    ("panda", "rk4", "columns"): 4e9,
}
"""States or steps each second in float32 on one H200 (issue 22); 0.3 of these in float64."""

FLOORS = """
template <class T> __device__ void multiply_add(T *out, int trials)
{
    T x[8], a = (T)0.999, b = (T)1e-4, sum = 0;
    for (int k = 0; k < 8; ++k) x[k] = (T)(threadIdx.x + k)*(T)1e-3;
    for (int r = 0; r < trials; ++r)
        _Pragma("unroll") for (int u = 0; u < 16; ++u)
            _Pragma("unroll") for (int k = 0; k < 8; ++k) x[k] = x[k]*a + b;
    for (int k = 0; k < 8; ++k) sum += x[k];
    out[blockIdx.x*(long long)blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void copy(long long n, const float4 *a, float4 *b)
{
    const long long i = blockIdx.x*(long long)blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i];
}
extern "C" __global__ void rate_float(float *out, int n) { multiply_add<float>(out, n); }
extern "C" __global__ void rate_double(double *out, int n) { multiply_add<double>(out, n); }
"""

# -- here: prepare ---------------------------------------------------------------------------------


def prepare(folder: Path, variants: bool, compiler: str) -> None:
    """Write all kernels with their reference values."""
    import linkwright.gpu.preparation as preparation
    from linkwright.gpu.cubin_compiler import compile_by_nvcc, compile_by_nvrtc
    from robots import robots

    def compile_source(source: str, architecture: str = "sm_90") -> bytes:
        if compiler == "nvcc":
            return compile_by_nvcc(source, architecture)[0]
        return compile_by_nvrtc(source, architecture)

    preparation.compile_cubin = compile_source
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "floors.cubin").write_bytes(compile_source(FLOORS))
    facts: dict[str, Any] = {"functions": {}, "rollouts": {}, "variants": {}}
    for robot in robots()[:3]:
        name = robot.name.split()[0].lower()
        quantities = ["inverse_dynamics", "forward_dynamics"]
        own = preparation.prepare_kernels(
            robot.model, folder / name, quantities, states=24, rollouts=["rk4"]
        )
        for quantity in quantities:
            facts["functions"][f"{name} {quantity}"] = count_work(robot.model.tape(quantity))
            if variants:
                facts["variants"] |= prepare_variants(folder, robot, name, quantity)
        facts["rollouts"][name] = prepare_rollout(robot, own)
    write_text(folder / "facts.json", json.dumps(facts, indent=1))
    shutil.copy(__file__, folder / "gpu.py")
    shutil.copytree(
        own / preparation.RUNTIME_NAME, folder / preparation.RUNTIME_NAME, dirs_exist_ok=True
    )


def count_work(tape: Any) -> dict[str, Any]:
    """Count floating-point instructions and numbers that a state needs at least.

    A fused multiply–add is one instruction; a pair of sine and cosine counts as the polynomials.
    """
    from linkwright.readings.llvm.fused_multiply_add import find_machine_fused_multiply_adds
    from linkwright.tape import Op, share_tape_reciprocals

    own = share_tape_reciprocals(tape)
    free = (Op.CONSTANT, Op.INPUT, Op.NEG, Op.SIN, Op.COS)
    _, gone = find_machine_fused_multiply_adds(own)
    plain = sum(op not in free for op in own.operations) - len(gone)
    angles = {own.operands[k][0] for k, op in enumerate(own.operations) if op in (Op.SIN, Op.COS)}
    used = sum(op is Op.INPUT for op in own.operations)
    outputs = sum(port.size for port in tape.outputs)
    return {
        "float": plain + 17 * len(angles),
        "double": plain + 22 * len(angles),
        "columns": used + outputs,
        "rows": sum(port.size for port in tape.inputs) + outputs,
    }


def prepare_variants(folder: Path, robot: Any, name: str, quantity: str) -> dict[str, str]:
    """Write kernels with other choices; return their folders by name."""
    import linkwright.gpu.preparation as preparation
    from linkwright.gpu import CudaOptions

    found = {}
    for block, resident, sines in [
        (32, 0, "polynomial"), (64, 0, "polynomial"), (256, 0, "polynomial"),
        (128, 4, "polynomial"), (128, 0, "special"), (128, 0, "library"),
    ]:  # fmt: skip
        key = f"{name}_{quantity}_{block}_{resident}_{sines}"
        options = CudaOptions(block=block, resident_blocks=resident, sines=sines)
        preparation.prepare_kernels(
            robot.model, folder / key, [quantity], precisions=["float"], options=options, states=3
        )
        found[key] = f"{name} {quantity}"
    return found


def prepare_rollout(robot: Any, folder: Path) -> dict[str, Any]:
    """Write trajectories by machine code in double precision; return the work of a step."""
    import linkwright as lw
    from linkwright.simulation.fixed_steps.rollouts import cached_step

    rng = np.random.default_rng(3)
    dt = float(np.float32(1e-3))
    q0, qd0, tau = (np.float32(rng.uniform(-1, 1, (61, robot.model.nv))) for _ in range(3))
    given = [x.astype(float) for x in (q0, qd0, tau)]
    q, qd = lw.rollout(robot.model, *given, dt=dt, steps=50)
    np.savez(folder / "rk4.npz", q0=q0, qd0=qd0, tau=tau, q=q, qd=qd)
    step = cached_step(robot.model, "rk4", None)
    return {"n": robot.model.nv, "dt": dt, **count_work(step.tape)}


def write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


# -- there: run ------------------------------------------------------------------------------------


def run(folder: Path) -> int:
    """Check and time everything; return the number of failures."""
    import cupy as cp

    sys.path.insert(0, str(folder))
    import linkwright_cuda as runtime

    facts = json.loads((folder / "facts.json").read_text("utf-8"))
    floors = measure_floors(cp, folder)
    print(f"copy {floors['copy'] / 1e12:.2f} TB/s, multiply-adds {floors['float'] / 1e12:.1f}e12/s "
          f"in float32, {floors['double'] / 1e12:.1f}e12/s in float64\n")  # fmt: skip
    head = ["robot", "function", "type", "layout", "1e9/s", "target", "memory floor"]
    head += ["arithmetic floor", "share of floor", "registers", "local bytes", "error"]
    rows, failures = [], 0
    for name in facts["rollouts"]:
        kernels = runtime.load_prepared_kernels(folder / name)
        errors = kernels.check()
        for quantity in kernels.manifest["functions"]:
            work = facts["functions"][f"{name} {quantity}"]
            for precision in TOLERANCES:
                for layout in ("columns", "rows"):
                    kind = "float32" if precision == "float" else "float64"
                    error = errors[f"{quantity} {kind} {layout}"]
                    function = kernels.function(quantity)
                    speed = time_function(cp, function, precision, layout)
                    facts_of = entry_facts(cp, function, precision, layout)
                    rates = rate_row(name, quantity, precision, layout, speed, work, floors)
                    rows.append([name, quantity, kind, layout, *rates, *facts_of, f"{error:.0e}"])
                    failures += not error <= TOLERANCES[precision]
        for precision in TOLERANCES:
            own = facts["rollouts"][name]
            row, error = run_rollout(cp, kernels, name, own, precision, floors)
            rows.append(row)
            failures += not error <= (1e-5 if precision == "float" else 1e-11)
    print_table(head, rows)
    for key, of in facts["variants"].items():
        name, quantity = of.split()
        function = runtime.load_prepared_kernels(folder / key).function(quantity)
        speeds = [
            time_function(cp, function, "float", layout) / 1e9 for layout in ("columns", "rows")
        ]
        registers, local = entry_facts(cp, function, "float", "columns")
        text = f"columns {speeds[0]:.2f}, rows {speeds[1]:.2f}, {registers} registers"
        print(f"{key}: {text}, {local} local bytes")
    print(f"\n{failures} failures")
    return failures


def rate_row(
    name: str, quantity: str, precision: str, layout: str, speed: float, work: Any, floors: Any
) -> list[str]:
    """Speed, target, the two floors as speeds, and the share of the lower one that is reached."""
    target = TARGETS.get((name, quantity, layout), 0.0) * (1.0 if precision == "float" else 0.3)
    memory = floors["copy"] / (work[layout] * (4 if precision == "float" else 8))
    arithmetic = floors[precision] / work[precision]
    mark = "" if not target else f"{target / 1e9:.1f} {'met' if speed >= target else 'MISSED'}"
    return [f"{speed / 1e9:.2f}", mark, f"{memory / 1e9:.1f}", f"{arithmetic / 1e9:.1f}",
            f"{speed / min(memory, arithmetic):.0%}"]  # fmt: skip


def median_time(cp: Any, call: Any, trials: int = 15) -> float:
    """The median time of a call, by events, after two calls that warm up."""
    call(), call()
    times = []
    for _ in range(trials):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) * 1e-3)
    return float(np.median(times))


def measure_floors(cp: Any, folder: Path) -> dict[str, float]:
    """Bytes each second of a copy, read and written, and multiply–adds each second."""
    module = cp.cuda.function.Module()
    module.load((folder / "floors.cubin").read_bytes())
    n = 1 << 27
    a = cp.random.rand(4 * n, dtype=cp.float32)
    b = cp.empty_like(a)
    copy = module.get_function("copy")
    time = median_time(cp, lambda: copy((n // 256,), (256,), (np.int64(n), a, b)))
    found = {"copy": 32 * n / time}
    for precision, kind in (("float", cp.float32), ("double", cp.float64)):
        out, trials = cp.empty(132 * 16 * 256, kind), 400
        kernel = module.get_function(f"rate_{precision}")
        given = (out, np.int32(trials))
        time = median_time(cp, lambda k=kernel, x=given: k((132 * 16,), (256,), x))
        found[precision] = out.size * trials * 128 / time
    return found


def time_function(cp: Any, function: Any, precision: str, layout: str) -> float:
    """States each second, on random states."""
    kind = cp.float32 if precision == "float" else cp.float64
    random = cp.random.RandomState(0)
    arrays = []
    for k, (_, shape) in enumerate([*function.inputs, *function.outputs]):
        whole = (*shape, STATES) if layout == "columns" else (STATES, *shape)
        if k < len(function.inputs):
            arrays.append(random.rand(*whole, dtype=kind) * 4 - 2)
        else:
            arrays.append(cp.empty(whole, kind))
    return STATES / median_time(cp, lambda: function.launch(layout, precision, STATES, arrays))


def entry_facts(cp: Any, function: Any, precision: str, layout: str) -> list[str]:
    """Registers of a thread, and bytes of local memory (spills)."""
    entry = function.entry(precision, f"{function.record['kernels'][precision]['entry']}_{layout}")
    return kernel_facts(cp, entry)


def kernel_facts(cp: Any, entry: Any) -> list[str]:
    ask = cp.cuda.driver.funcGetAttribute
    return [str(ask(4, entry.ptr)), str(ask(3, entry.ptr))]


def run_rollout(
    cp: Any, kernels: Any, name: str, facts: Any, precision: str, floors: Any
) -> tuple[list[str], float]:
    """The row of a rollout by RK4: final states, forces constant in each trajectory."""
    kind = np.float32 if precision == "float" else np.float64
    known = np.load(kernels.folder / "rk4.npz")
    given = [cp.asarray(known[key].astype(kind)) for key in ("q0", "qd0", "tau")]
    found = kernels.rollout(*given, dt=facts["dt"], steps=50)
    error = max(
        float(np.abs(x.get() - y).max() / np.abs(y).max())
        for x, y in zip(found, (known["q"], known["qd"]), strict=True)
    )
    count = TRAJECTORIES if facts["n"] < 16 else TRAJECTORIES // 8
    many = [cp.random.rand(facts["n"], count).astype(kind) for _ in range(3)]
    options = {"dt": facts["dt"], "steps": STEPS, "layout": "columns"}
    time = median_time(cp, lambda: kernels.rollout(*many, **options), 5)
    speed = count * STEPS / time
    own = {**facts, "columns": facts["columns"] / STEPS}
    rates = rate_row(name, "rk4", precision, "columns", speed, own, floors)
    record = kernels.manifest["rollouts"]["rk4"]
    entry = kernel_facts(cp, kernels._step_entry(record, precision))
    kind_name = "float32" if precision == "float" else "float64"
    return [name, "RK4 step", kind_name, "columns", *rates, *entry, f"{error:.0e}"], error


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print(
            "| " + " | ".join(x.ljust(width) for x, width in zip(row, widths, strict=True)) + " |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["prepare", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--compiler", choices=["nvrtc", "nvcc"], default="nvrtc")
    given = parser.parse_args()
    if given.command == "prepare":
        prepare(given.folder, given.variants, given.compiler)
    else:
        sys.exit(run(given.folder) != 0)


if __name__ == "__main__":
    main()
