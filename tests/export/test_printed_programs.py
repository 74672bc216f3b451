"""Programs in C and WebAssembly: the bits of Python, and of machine code without fused products."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.integrators import StepMethod, integrate_trajectories, integrate_with_sizes
from linkwright.program import Procedure, Program, read_program
from linkwright.program.sine_cosine import sine_and_cosine
from linkwright.program.syntax import Kind, Memory
from linkwright.readings.llvm.code_loader import load_object_code
from linkwright.readings.llvm.program_code import (
    CompiledProgram,
    assemble_procedure,
    assemble_program,
)
from linkwright.readings.llvm.target import generic_x86_target, host_target
from linkwright.readings.targets.c_programs import C_PROGRAM_HEAD, CProgramPrinter
from linkwright.readings.wasm import WasmWriter
from linkwright.simulation.exported_motion import ExportedMotion
from linkwright.tape import Tape, record_expression_tape
from linkwright.writers.reference_values import evaluate_tape_exactly
from tests.node import NodeCall, call_module, needs_node
from tests.program.test_integrators import (
    COLUMNS,
    METHODS,
    Batch,
    in_python,
    pendulum_tape,
    signals_tape,
)

START = np.array([[1.0, 0.5]])
SIZES = {
    "states": 2, "parameters": 1, "signals": 3, "first_speed": 1, "end_speed": 2,
    "event_columns": 5, "event_capacity": 40, "first_hold": 0,
}  # fmt: skip
ABSENT = {"project": None, "margins": None, "jacobian": None}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C_TAPES = """
static void rates(const double *t, const double *y, const double *p, double *rate, double *margin)
{ (void)t; rate[0] = y[1]; rate[1] = -(p[0] * sin(y[0])); margin[0] = 1.0; }
static void signals(const double *t, const double *y, const double *p, double *s)
{ (void)p; s[0] = y[0] - 0.2; s[1] = y[1]; s[2] = sin(9 * t[0]) - 0.5; }
"""
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def sized_program(method: StepMethod) -> Program:
    return read_program(integrate_with_sizes, method=method, functions=ABSENT, sizes=SIZES)


def watched_batch() -> Batch:
    """A pendulum with events of three signals, and samples."""
    return Batch(START, 5.0, columns=COLUMNS)


def assert_same_bits(found: Batch, wanted: Batch) -> None:
    np.testing.assert_array_equal(found.found, wanted.found)
    np.testing.assert_array_equal(found.progress, wanted.progress)
    np.testing.assert_array_equal(found.log, wanted.log)
    assert len(found.events(0)) > 5


def quotients_tape() -> Tape:
    """Rates with a common divisor, as pivots are; machine code computes its reciprocal once."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    divisor = 1 + 0.1 * y[1] * y[1]
    rates = ca.vertcat(y[1] / divisor, -p * ca.sin(y[0]) / divisor)
    return record_expression_tape(
        "quotients",
        [("t", t, (1,)), ("y", y, (2,)), ("p", p, (1,))],
        [("rate", rates, (2,)), ("margin", ca.SX(1), (1,))],
    )


def module_program(
    method: StepMethod, make_rates: Callable[[], Tape] = pendulum_tape
) -> Callable[..., None]:
    """The integrator in Node, which changes its arrays."""
    tapes = make_rates(), signals_tape()
    writer = WasmWriter(tapes)
    rates, signals = (writer.add_tape(tape) for tape in tapes)
    index = writer.add_program(
        sized_program(method), {"functions.rates": rates, "functions.signals": signals}
    )
    writer.module.export_function("integrate", index)
    module = writer.module.finish(1 << 20, 1 << 19)

    def run(*arrays: np.ndarray) -> None:
        at, places = 1024, {}
        for array in arrays:
            own = array.astype(np.int32) if array.dtype == np.int64 else array
            places[at] = own
            at += own.nbytes // 8 * 8 + 16
        (found,) = call_module(module, [NodeCall("integrate", list(places), places, places)])
        for array, values in zip(arrays, found, strict=True):
            array[...] = values

    return run


@needs_node
@each_method
@pytest.mark.parametrize("make_rates", [pendulum_tape, quotients_tape])
def test_modules_have_the_bits_of_machine_code_without_fused_products(
    monkeypatch: pytest.MonkeyPatch, method: StepMethod, make_rates: Callable[[], Tape]
) -> None:
    """Steps, dense output, events and sines."""
    if "x86" not in host_target().triple:
        pytest.skip("this processor has fused products in its basic instructions")
    target = generic_x86_target("sse2")
    monkeypatch.setattr("linkwright.readings.llvm.target.host_target", lambda: target)
    program = read_program(integrate_trajectories, method=method, functions=ABSENT)
    code = CompiledProgram(load_object_code(assemble_program(program, is_single=True)))
    tapes = tuple(
        load_object_code(assemble_procedure(tape(), is_single=True))
        for tape in (make_rates, signals_tape)
    )
    wanted = watched_batch().run(code, tapes, method)
    module = module_program(method, make_rates)
    assert_same_bits(watched_batch().run(module, (), method), wanted)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@each_method
def test_c_has_the_bits_of_python(tmp_path: Path, method: StepMethod) -> None:
    """Compiled without warnings; C's sine is that of Python."""
    program, printer = sized_program(method), CProgramPrinter()
    name = printer.add_program(
        program, {"functions.rates": "rates", "functions.signals": "signals"}
    )
    buffers = [p for p in program.parameters if isinstance(p, Memory)]
    kinds = ["int64_t" if p.kind is Kind.INT else "double" for p in buffers]
    head = ", ".join(f"{kind} *b{k}" for k, kind in enumerate(kinds))
    call = ", ".join(f"b{k}" for k in range(len(kinds)))
    entry = f"void run({head});\nvoid run({head})\n{{\n    {name}({call});\n}}\n"
    (tmp_path / "run.c").write_text(C_PROGRAM_HEAD + C_TAPES + printer.text() + entry)
    flags = ["-std=c99", "-O2", *WARNINGS, "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run(
        ["gcc", *flags, "run.c", "-o", "run.so", "-lm"], check=True, cwd=tmp_path, timeout=120
    )
    library = ctypes.CDLL(str(tmp_path / "run.so"))

    def run(*arrays: np.ndarray) -> None:
        library.run(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))

    codes = (
        Procedure(
            pendulum_tape(),
            lambda t, y, p: (np.array([y[1], -(p[0] * math.sin(y[0]))]), np.ones(1)),
        ),
        Procedure(
            signals_tape(),
            lambda t, y, p: np.array([y[0] - 0.2, y[1], math.sin(9 * t[0]) - 0.5]),
        ),
    )
    wanted = watched_batch().run(in_python(method), codes, method)
    assert_same_bits(watched_batch().run(run, (), method), wanted)


def test_the_sine_of_programs_is_that_of_mathematics() -> None:
    rng = np.random.default_rng(2)
    for x in [0.0, -0.0, 1e-300, *(rng.choice([-1, 1], 400) * 2.0 ** rng.uniform(-30, 19.9, 400))]:
        sine, cosine = sine_and_cosine(float(x))
        assert sine == pytest.approx(math.sin(x), rel=5e-16, abs=1e-320)
        assert cosine == pytest.approx(math.cos(x), rel=5e-16)
        assert math.copysign(1.0, sine) == math.copysign(1.0, math.sin(x))


MAIN = """
#include "four_bar_motion.h"
#include <stdio.h>
int main(void)
{
    four_bar_motion m;
    four_bar_motion_start(&m);
    m.buffers_states[3] = 0.0;
    m.buffers_parameters[0] = 0.5;
    four_bar_motion_changed(&m);
    const int end = four_bar_motion_advance(&m, 0.3, 1e-9, 1e-10)
        + four_bar_motion_advance(&m, 1.0, 1e-9, 1e-10);
    printf("%d %.17g", end, m.buffers_clock[0]);
    for (int k = 0; k < 6; ++k)
        printf(" %.17g", m.buffers_states[k]);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_motion_in_c_is_that_of_simulate(tmp_path: Path) -> None:
    bar = lw.gallery("four-bar")
    lw.export(bar, to="c", quantities=["simulate", "gravity"]).save(tmp_path)
    assert (tmp_path / "four_bar.c").exists()
    assert "four_bar_motion_start(&m);" in (tmp_path / "four_bar_motion.h").read_text()
    words = ["four_bar_motion.c", "four_bar_motion_check.c", "-o", "check", "-lm"]
    subprocess.run(["gcc", "-std=c99", *WARNINGS, *words], check=True, cwd=tmp_path, timeout=120)
    assert subprocess.check_output([str(tmp_path / "check")], text=True) == "motion: ok\n"
    (tmp_path / "main.c").write_text(MAIN)
    sources = ["main.c", "four_bar_motion.c", "-o", "main", "-lm"]
    subprocess.run(["gcc", "-std=c99", *WARNINGS, *sources], check=True, cwd=tmp_path, timeout=120)
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True)
    end, t, *y = map(float, done.stdout.split())
    assert (end, t) == (0, 1)
    model = lw.compile(bar)
    start = model.home()
    run = lw.simulate(bar, t=1.0, samples=2, q0=start, qd0=np.zeros(3), torque={"tau1": 0.5})
    np.testing.assert_allclose(y[:3], run.q[-1], atol=1e-8)
    assert np.abs(model.constraint_residual(np.array(y[:3]))).max() < 1e-12


@pytest.mark.parametrize("by", ["lagrange", "newton_euler"])
def test_motions_are_derived_by_the_formulation(by: str) -> None:
    """Their rates cost the operations of that formulation, and are those of the recursive one."""
    bar, y = lw.gallery("four-bar"), [*lw.compile(lw.gallery("four-bar")).home(), 0.4, 0.0, 0.0]
    found, usual = (ExportedMotion(bar, by=name).rates for name in (by, "recursive"))
    assert len(found) != len(usual)
    values = [evaluate_tape_exactly(tape, [[0.0], y, [0.2]])[0] for tape in (found, usual)]
    np.testing.assert_allclose(*values, rtol=1e-12)
    made = lw.export(bar, to="c", quantities=["simulate"], by=by)
    assert f"formulation '{by}'" in str(made.files["four_bar_motion.h"])


def test_motions_are_in_double_precision() -> None:
    with pytest.raises(UnsupportedError, match="simulate cannot be written in the precision float"):
        lw.export(lw.gallery("elbow"), to="c", quantities=["simulate"], precision="float")
