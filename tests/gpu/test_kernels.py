"""Kernels: NVRTC compiles every source, and a C build of the same source agrees with the balls."""

from __future__ import annotations

import math
import shutil
from itertools import product

import numpy as np
import pytest

import linkwright as lw
from linkwright.gpu.cubin_compiler import compile_by_nvcc, compile_by_nvrtc, find_nvrtc
from linkwright.readings.cuda.cuda_options import SHARED_BYTES, CudaOptions
from linkwright.readings.cuda.state_function import CudaFunction
from linkwright.readings.cuda.tape_kernels import plan_row_staging, write_cuda_source
from linkwright.tape import Op, Port, Tape
from linkwright.tape.writer import TapeWriter
from linkwright.writers.reference_values import draw_reference_inputs, evaluate_tape_exactly

from ..operation_tapes import OPERATIONS, operation_tape, quarters, reference
from .processor_device import ProcessorModule, build_for_processor, leave_few_registers

TOLERANCES = {"float": 1e-5, "double": 1e-12}
"""Errors allowed, as shares of the largest entry (issue 22)."""

needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="needs nvidia-cuda-nvrtc")


def tape_of(name: str, function: str) -> tuple[lw.Model, Tape]:
    model = lw.compile(lw.gallery(name))
    return model, model.tape(function)


def run_kernel(
    tape: Tape, states: list[list[list[float]]], count: int, layout: str, options: CudaOptions
) -> list[np.ndarray]:
    """Outputs, one row a state; they are NaN before, and a guard zone behind them stays NaN."""
    function = CudaFunction("kernel", tape)
    module = ProcessorModule()
    module.load(build_for_processor(write_cuda_source([function], options)))
    kind = np.float32 if options.precision == "float" else np.float64
    given = []
    for k, port in enumerate(tape.inputs):
        rows = np.array([states[i % len(states)][k] for i in range(count)], kind)
        rows = rows.reshape(count, port.size)
        given.append(np.ascontiguousarray(rows.T if layout == "columns" else rows))
    outputs = [np.full(count * port.size + 64, np.nan, kind) for port in tape.outputs]
    staging = plan_row_staging(function, options)
    block = function.block(options) if layout == "columns" else staging.block
    launch = module.get_function(f"kernel_{layout}")
    launch((math.ceil(count / block),), (block,), (np.int64(count), *given, *outputs))
    found = []
    for port, whole in zip(tape.outputs, outputs, strict=True):
        assert np.isnan(whole[count * port.size :]).all(), "written behind the end"
        own = whole[: count * port.size]
        shaped = own.reshape(port.size, count).T if layout == "columns" else own.reshape(count, -1)
        found.append(shaped.astype(float))
    return found


MECHANISMS = [
    ("elbow", "inverse_dynamics"),
    ("puma560", "inverse_dynamics"),
    ("puma560", "forward_dynamics"),
    ("puma560", "mass_matrix"),
    ("cart-pole", "forward_dynamics"),
    ("rolling-disk", "forward_dynamics"),
    ("four-bar", "forward_dynamics"),
    ("puma560", "regressor"),
]


@pytest.mark.parametrize(("name", "function"), MECHANISMS)
@pytest.mark.parametrize("precision", ["float", "double"])
def test_kernels_agree_with_the_balls(name: str, function: str, precision: str) -> None:
    """In rows and columns, with tails, at states that float32 holds exactly."""
    model, tape = tape_of(name, function)
    generator = np.random.default_rng(7)
    states = [
        [
            np.float32(x).astype(float).tolist()
            for x in draw_reference_inputs(model, tape, generator)
        ]
        for _ in range(3)
    ]
    wanted = [evaluate_tape_exactly(tape, state) for state in states]
    condition = 1.0
    if function == "forward_dynamics" and not model.names.constraints:
        condition = max(np.linalg.cond(model.mass_matrix(state[0])) for state in states)
    elif function == "forward_dynamics":
        condition = 100.0  # elimination of constraints, whose pivots are above 0.01
    options = CudaOptions(precision, block=64)
    for layout, count in product(("rows", "columns"), (1, 64, 131)):
        found = run_kernel(tape, states, count, layout, options)
        for output, rows in enumerate(found):
            for k in range(count):
                exact = np.array(wanted[k % 3][output])
                error = np.abs(rows[k] - exact).max() / max(np.abs(exact).max(), 1e-30)
                assert error <= TOLERANCES[precision] * condition, (layout, count, k)


@pytest.mark.parametrize("shared", [SHARED_BYTES, 5120])
@pytest.mark.parametrize("precision", ["float", "double"])
def test_values_in_homes_agree_with_the_balls(
    precision: str, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, with 20 values in registers: others wait in shared memory, if it has room."""
    leave_few_registers(monkeypatch, shared, 20 if precision == "float" else 40)
    code = CudaFunction("kernel", tape_of("puma560", "forward_dynamics")[1]).state_code(precision)
    assert (code.homes > 0) == (shared == SHARED_BYTES)
    test_kernels_agree_with_the_balls("puma560", "forward_dynamics", precision)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc, which reports spills")
def test_kernels_with_homes_do_not_spill() -> None:
    """186 values of the quadruped wait at a time; registers hold 125 doubles."""
    function = CudaFunction("kernel", tape_of("quadruped", "forward_dynamics")[1])
    assert function.state_code("double").homes > 0
    _, report = compile_by_nvcc(write_cuda_source([function], CudaOptions("double")), "sm_90")
    assert report.count("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") == 2


@needs_nvrtc
@pytest.mark.parametrize(("name", "function"), MECHANISMS[:6:2])
@pytest.mark.parametrize("sines", ["polynomial", "special", "library"])
def test_nvrtc_compiles_kernels(name: str, function: str, sines: str) -> None:
    _, tape = tape_of(name, function)
    precisions = ["float"] if sines == "special" else ["float", "double"]
    for precision in precisions:
        source = write_cuda_source(
            [CudaFunction("kernel", tape)], CudaOptions(precision, sines=sines)
        )
        cubin = compile_by_nvrtc(source, "sm_90")
        assert cubin[:4] == b"\x7fELF"
        assert b"kernel_rows" in cubin
        assert b"kernel_columns" in cubin


@pytest.mark.parametrize("precision", ["float", "double"])
def test_every_operation_means_the_same(precision: str) -> None:
    """All operations of tapes, against mpmath, at quarters, which float32 holds exactly."""
    functions = {op: operation_tape(op, 1) for op in OPERATIONS}
    states = quarters(12)
    for op, tape in functions.items():
        given = [[row.tolist()] for row in np.asarray(states).reshape(len(states), -1)]
        (found, *_) = run_kernel(tape, given, len(given), "rows", CudaOptions(precision))
        exact = np.asarray(reference(tape, states), float).reshape(found.shape)
        finite = np.isfinite(exact)
        scale = np.maximum(1.0, np.abs(exact))
        error = (np.abs(found - exact) / scale)[finite]
        assert error.max(initial=0) < (2e-5 if precision == "float" else 1e-13), op


@needs_nvrtc
def test_nvrtc_compiles_every_operation() -> None:
    functions = [CudaFunction(f"f{op.value}", operation_tape(op, 1)) for op in OPERATIONS]
    for precision in ("float", "double"):
        assert compile_by_nvrtc(write_cuda_source(functions, CudaOptions(precision)), "sm_90")


def sine_tape() -> Tape:
    writer = TapeWriter()
    angle = writer.write_instruction(Op.INPUT, 0, 0)
    results = [np.array([writer.write_instruction(Op.SIN, angle)], np.int32)]
    return writer.finish_tape("sine", (Port("x", (1,)),), (Port("y", (1,)),), results)


@pytest.mark.parametrize(("precision", "limit"), [("float", 2.0**21), ("double", 2.0**49)])
def test_sines_are_accurate_up_to_their_limit_and_nan_beyond(precision: str, limit: float) -> None:
    """Reduction keeps its digits: the errors are those of the result's last bits."""
    tape = sine_tape()
    kind = np.float32 if precision == "float" else np.float64
    generator = np.random.default_rng(0)
    sizes = 10.0 ** generator.uniform(-6, np.log10(limit), 400)
    angles = kind(np.concatenate([sizes, -sizes, [0.0, limit / 2, np.pi, 1e5]]))
    angles = angles[np.abs(angles) < limit]
    (found,) = run_kernel(
        tape, [[[float(x)]] for x in angles], len(angles), "rows", CudaOptions(precision)
    )
    exact = np.array([evaluate_tape_exactly(tape, [[float(x)]])[0][0] for x in angles])
    assert np.abs(found[:, 0] - exact).max() < (2e-7 if precision == "float" else 4e-16)
    (beyond,) = run_kernel(
        tape, [[[x]] for x in (limit, np.inf, np.nan)], 3, "rows", CudaOptions(precision)
    )
    assert np.isnan(beyond).all()


def test_rows_of_large_functions_are_staged_in_smaller_blocks() -> None:
    """Rows of a regressor do not fit into shared memory at once; the largest port is left out."""
    _, tape = tape_of("puma560", "regressor")
    small = plan_row_staging(CudaFunction("kernel", tape), CudaOptions("double", block=256))
    assert small.block == 32
    assert small.is_staged == (True, True, True, False)
    _, arm = tape_of("puma560", "inverse_dynamics")
    assert plan_row_staging(CudaFunction("kernel", arm), CudaOptions()).block == 128
