"""Compiled code has an owner: equal functions share it, and it goes with its last user."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.readings import llvm
from linkwright.readings.llvm import CompiledStepLoop, code_loader, compile_step_loop, compile_tape
from linkwright.readings.llvm.code_loader import LoadedCode
from linkwright.readings.llvm.code_table import LoadedCodeTable
from linkwright.readings.llvm.ir_compiler import compile_ir
from linkwright.simulation.fixed_steps.compiled_steps import CompiledStep
from linkwright.tape import Tape, record_tape

needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="counts mappings")


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoadedCodeTable]:
    """A table without the code of other tests."""
    fresh = LoadedCodeTable()
    monkeypatch.setattr(llvm, "LOADED_CODES", fresh)
    return fresh


def scaling(factor: float) -> Tape:
    x = ca.SX.sym("x", 3)
    return record_tape(ca.Function("f", [x], [factor * x], ["x"], ["y"]))


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def reuse_freed_memory() -> None:
    """Writes over whatever was given back: pages and blocks of code that somebody still needs."""
    gc.collect()
    kept = [compile_tape(scaling(-7.0 - k)) for k in range(5)]
    filled = [np.full(size, 0xCC, np.uint8) for size in (64, 512, 4096, 1 << 16) for _ in range(50)]
    assert len(kept) + len(filled) == 205


# -- memory ------------------------------------------------------------------------------


@needs_proc
@pytest.mark.parametrize("times", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_compiling_100_functions_again_and_again_leaves_memory_flat(
    times: int, table: LoadedCodeTable
) -> None:
    """In turn, so that each is loaded anew from the cache; then each many times in a row."""
    tapes = [scaling(k + 1.0) for k in range(100)]
    x = np.linspace(-1, 1, 3)
    for tape in [*tapes, *tapes]:  # the second time they are warm
        compile_tape(tape, "what it does")(x)
    pages, maps = resident_pages(), mappings()
    for _ in range(times):
        for tape in tapes:
            compile_tape(tape, "what it does")(x)
    for tape in tapes:
        function = compile_tape(tape)
        for _ in range(times):
            function = compile_tape(tape)
        assert len(table) == 1
        function(x)
    del function
    assert len(table) == 0
    assert mappings() <= 1.05 * maps
    assert resident_pages() <= 1.05 * pages


@needs_proc
def test_models_and_simulations_leave_mappings_flat(table: LoadedCodeTable) -> None:
    def work() -> None:
        lw.compile(lw.gallery("elbow")).inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
        model = lw.compile(lw.gallery("slider-crank"))
        model.forward_dynamics(model.home(), np.zeros(3), np.zeros(3))
        lw.simulate(lw.gallery("elbow"), 0.01)

    work()
    gc.collect()
    before, maps = len(table), mappings()
    for _ in range(8):
        work()
    gc.collect()
    assert len(table) == before  # of the simulation alone, which is kept for the next one
    assert mappings() <= 1.05 * maps


@pytest.mark.parametrize("name", ["elbow", "slider-crank"])
def test_code_of_a_model_is_freed_without_the_garbage_collector(
    name: str, table: LoadedCodeTable
) -> None:
    gc.collect()
    gc.disable()
    try:
        model = lw.compile(lw.gallery(name))
        q, rest = model.home(), np.zeros(model.nv)
        model.mass_matrix(q=q)
        model.forward_dynamics(q, rest, rest, check=True)
        model.gravity(q.astype(np.float32))
        with pytest.raises(lw.LinkwrightError, match="q has 5 numbers"):
            model.gravity([1, 2, 3, 4, 5])
        model.jacobian(model.body_names[-1])(q)
        assert len(table) >= 5
        del model
        assert len(table) <= 2, "gravity may be in the traceback that pytest keeps"
    finally:
        gc.enable()


def test_code_by_llvms_own_loader_is_freed_too(
    table: LoadedCodeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm, "load_object_code", code_loader.load_code_by_llvm)
    tape, x = scaling(2.0), np.linspace(-1, 1, 3)
    compile_tape(tape)(x)
    maps = mappings() if Path("/proc/self/maps").exists() else 0
    for _ in range(100):
        function = compile_tape(tape)
        np.testing.assert_array_equal(function(x), 2 * x)
        assert len(table) == 1
        del function
        assert len(table) == 0
    assert maps == 0 or mappings() <= 1.05 * maps


# -- users -------------------------------------------------------------------------------


def taken_functions(model: Any) -> dict[str, Callable[[], Any]]:
    """What a user may take out of a model, ready to be called."""
    q, qd = model.home(), np.full(model.nv, 0.1)
    single = [x.astype(np.float32) for x in (q, qd, qd)]
    raw, frame = model.ufunc("mass_matrix"), model.jacobian(model.body_names[-1])
    return {
        "raw ufunc": lambda: raw(q),
        "raw ufunc, compiled for float32 now": partial(model.ufunc("gravity"), single[0]),
        "function": partial(model.coriolis_matrix, q, qd),
        "partial of a ufunc": partial(model.ufunc("kinetic_energy"), q, qd),
        "function of a frame": lambda: frame(q),
        "bound method": partial(model.potential_energy.ufunc.__call__, q),
    }


@pytest.mark.parametrize("name", ["elbow", "slider-crank"])
def test_functions_work_after_their_model_is_gone(name: str, table: LoadedCodeTable) -> None:
    model = lw.compile(lw.gallery(name))
    wanted = {key: function() for key, function in taken_functions(model).items()}
    functions = taken_functions(lw.compile(lw.gallery(name)))
    del model
    reuse_freed_memory()
    for key, function in functions.items():
        np.testing.assert_array_equal(function(), wanted[key], err_msg=key)
    del functions, function
    gc.collect()
    assert len(table) == 0


def test_a_guarded_function_solves_weak_states_after_its_model_is_gone() -> None:
    """There it asks other functions of the model."""
    model = lw.compile(lw.gallery("slider-crank"))
    q, zeros = model.home(), np.zeros(3)
    pivot = model.ufunc("forward_dynamics")(q, zeros, zeros)[-1]
    function = model.forward_dynamics
    wanted = function(q, zeros, zeros)
    del model
    reuse_freed_memory()
    np.testing.assert_array_equal(function(q, zeros, zeros), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linkwright.model.guard.MIN_PIVOT_SHARE", 2 * abs(float(pivot)))
        np.testing.assert_allclose(function(q, zeros, zeros), wanted, rtol=1e-9, atol=1e-12)


def test_compiled_steps_work_after_the_object_of_their_step_is_gone(table: LoadedCodeTable) -> None:
    def step_and_loop() -> tuple[np.ufunc, np.ufunc]:
        compiled = CompiledStep(lw.derive(lw.gallery("elbow"), parameters="numeric"), "rk4")
        return compiled.single_step, compiled.step_loop

    state = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    tau, times = np.zeros((3, 2)), np.arange(3) * 0.01

    def walked(loop: np.ufunc) -> Any:
        ends = np.empty((1, 3, 2)), np.empty((1, 3, 2))
        return loop(*state, tau[None], times[None], 0.01, out=ends)

    one = walked(step_and_loop()[1])
    step, loop = step_and_loop()
    reuse_freed_memory()
    q, qd = state
    for k in range(3):
        q, qd = step(q, qd, tau[k], times[k], 0.01)
    many = walked(loop)
    np.testing.assert_array_equal(many, one)
    np.testing.assert_allclose([x[0, -1] for x in many], [q, qd], rtol=1e-15)


def test_a_march_owns_its_code(table: LoadedCodeTable) -> None:
    x, u = ca.SX.sym("x"), ca.SX.sym("u")
    tape = record_tape(ca.Function("f", [x, u], [x + u], ["x", "u"], ["x_end"]))
    march = compile_step_loop(tape, CompiledStepLoop(1, 1, ()))
    reuse_freed_memory()
    out = np.empty((1, 4, 1))
    march(np.zeros((1, 1)), np.ones((1, 4, 1)), out=out)
    np.testing.assert_array_equal(out.ravel(), [1, 2, 3, 4])
    del march
    assert len(table) == 0


def test_code_stays_while_a_call_of_it_runs(table: LoadedCodeTable) -> None:
    """The only reference to the function is that of the call itself, on another thread."""
    x = np.tile(np.linspace(-1, 1, 3), (200_000, 1))
    tape, inside = scaling(3.0), threading.Event()

    def call() -> Any:
        inside.set()
        return compile_tape(tape, threads=2)(x)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call)
        inside.wait()
        while not running.done():
            reuse_freed_memory()
    np.testing.assert_array_equal(running.result(), 3 * x)


# -- sharing -----------------------------------------------------------------------------


def test_equal_models_share_code_and_a_changed_one_has_its_own(table: LoadedCodeTable) -> None:
    mechanism, state = lw.gallery("elbow"), ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    one, other = lw.compile(mechanism), lw.compile(lw.gallery("elbow"), threads=3)
    np.testing.assert_array_equal(one.inverse_dynamics(*state), other.inverse_dynamics(*state))
    assert len(table) == 1
    changed = lw.compile(mechanism.with_parameters(m1=2))
    assert not np.array_equal(one.inverse_dynamics(*state), changed.inverse_dynamics(*state))
    assert len(table) == 2
    kept = lw.compile(mechanism, parameters=["m1"])
    np.testing.assert_allclose(
        kept.inverse_dynamics(*state, [2.0]), changed.inverse_dynamics(*state)
    )
    assert len(table) == 3
    del one
    gc.collect()
    assert np.isfinite(other.inverse_dynamics(*state)).all()
    assert len(table) == 3


def test_threads_that_compile_equal_models_at_once_share_one_code(
    table: LoadedCodeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    assembled, assemble, barrier = [], llvm.assemble_tape_object_code, threading.Barrier(4)

    def count(*arguments: Any) -> bytes:
        assembled.append(arguments)
        return assemble(*arguments)

    monkeypatch.setattr(llvm, "assemble_tape_object_code", count)

    def compile_one(_: int) -> Any:
        model = lw.compile(lw.gallery("elbow"))
        barrier.wait(30)
        return model.mass_matrix

    with ThreadPoolExecutor(4) as pool:
        functions = list(pool.map(compile_one, range(4)))
    assert len(assembled) == len(table) == 1
    results = [function([0.1, 0.2]) for function in functions]
    assert all(np.array_equal(result, results[0]) for result in results)


def test_code_that_cannot_be_made_leaves_nothing_behind(table: LoadedCodeTable) -> None:
    """Whoever asks next tries again, also while the first attempt fails."""
    content, support = llvm.assemble_tape_object_code(scaling(2.0), 8), llvm.shared_object_code(8)
    waiting, barrier = threading.Event(), threading.Barrier(2)

    def fail() -> LoadedCode:
        barrier.wait(30)
        waiting.wait(0.1)
        raise RuntimeError("no compiler")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(table.get_or_load, "key", fail)
        barrier.wait(30)
        code = table.get_or_load("key", lambda: code_loader.load_object_code(content, support))
        with pytest.raises(RuntimeError, match="no compiler"):
            first.result()
    assert len(table) == 1
    assert code.address
    del code
    assert len(table) == 0


FORKING = """
import os, signal, threading
import casadi as ca, numpy as np
from linkwright.readings import llvm
from linkwright.tape import record_tape

x = ca.SX.sym("x")
tape, other = (record_tape(ca.Function("f", [x], [k * ca.sin(x)])) for k in (2, 3))
shared, content = llvm.compile_tape(tape), llvm.assemble_tape_object_code(other, 8)
loading, done = threading.Event(), threading.Event()

def wait_for_the_fork():
    loading.set()
    done.wait(60)
    return llvm.load_object_code(content, llvm.shared_object_code(8))

thread = threading.Thread(target=llvm.LOADED_CODES.get_or_load, args=("key", wait_for_the_fork))
thread.start()
loading.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(20)
    llvm.LOADED_CODES.get_or_load("key", lambda: llvm.load_object_code(content, llvm.shared_object_code(8)))
    good = np.all(shared([1.0]) == 2 * np.sin(1.0)) and np.all(llvm.compile_tape(tape)([0.5]))
    del shared
    os._exit(0 if good and len(llvm.LOADED_CODES) == 0 else 1)
done.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(shared([1.0])[0] / np.sin(1.0)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_compiles_while_a_thread_of_its_parent_does() -> None:
    """The thread that holds the lock of a key does not exist in the child; code of both lives."""
    command = [sys.executable, "-W", "ignore", "-c", FORKING]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["0", "2.0"], run.stderr


# -- what the loader cannot load ---------------------------------------------------------


def test_a_table_entry_of_an_own_symbol_is_refused() -> None:
    """Only functions outside of an object file have slots; the loader must not invent one."""
    from linkwright.readings.llvm.target import generic_x86_target

    text = "define void @other() {\n  ret void\n}\ndefine ptr @loop() {\n  ret ptr @other\n}\n"
    content = compile_ir(text, generic_x86_target("sse2"))
    with pytest.raises(AssertionError, match="no slot"):
        code_loader._ElfCodeImage(content, {}).load_code()
