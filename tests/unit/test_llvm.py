"""The LLVM reading: every operation, every layout of arrays, every batch length, both types."""

from __future__ import annotations

import subprocess
import sys
import warnings

import casadi as ca
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright import readings
from linkwright.program.sine_cosine import MAX_FAST_ARGUMENT
from linkwright.readings.llvm import compile_tape
from linkwright.readings.llvm.code_table import LoadedCodeTable
from linkwright.readings.llvm.shared_ir import shared_functions_ir
from linkwright.readings.llvm.tape_module import emit_tape_module
from linkwright.readings.llvm.target import MachineTarget
from linkwright.readings.llvm.threads import MIN_WORK_PER_THREAD
from linkwright.tape import Op, Tape, record_tape
from tests.tapes import every_operation, run
from tests.targets import TARGETS, target


@pytest.mark.parametrize("level", TARGETS)
def test_every_operation(level: str | None) -> None:
    tape, states = every_operation()
    assert set(Op) - set(tape.ops.tolist()) <= {Op.FMA}, "the tape should use all operations"
    function = compile_tape(tape, target=target(level))
    (wanted,) = run(tape, states)
    np.testing.assert_allclose(function(states), wanted, rtol=3e-15, atol=1e-15)
    single = function(states.astype(np.float32))
    assert single.dtype == np.float32
    (wanted32,) = run(tape, states.astype(np.float32).astype(float))
    np.testing.assert_allclose(single, wanted32, rtol=3e-5, atol=3e-6)


def trig(level: str | None = None) -> np.ufunc:
    x = ca.SX.sym("x")
    return compile_tape(
        record_tape(ca.Function("f", [x], [ca.sin(x), ca.cos(x)])), target=target(level)
    )


def ulps(found: np.ndarray, argument: np.ndarray, exact) -> float:
    """The largest error in units of the last place of the exact value."""
    worst = 0.0
    with mpmath.workprec(1200):
        for x, y in zip(argument.tolist(), found.tolist(), strict=True):
            true = exact(mpmath.mpf(x))
            size = np.spacing(abs(float(true)))
            worst = max(worst, float(abs(mpmath.mpf(y) - true) / mpmath.mpf(float(size))))
    return worst


def awkward_angles() -> np.ndarray:
    """Random ones of all sizes, and doubles next to multiples of π/2, where sin or cos vanish."""
    rng = np.random.default_rng(1)
    near = np.concatenate(
        [np.arange(1, 300), rng.integers(1, int(MAX_FAST_ARGUMENT / 1.6), 600)]
    ) * (np.pi / 2)
    parts = [
        rng.uniform(-10, 10, 500), rng.uniform(-1e6, 1e6, 500), near, np.nextafter(near, 0),
        np.nextafter(near, 1e9), 10.0 ** rng.uniform(-300, 0, 200), [0.0, 1e-320, 0.785398163397],
    ]  # fmt: skip
    return np.concatenate(parts)


@pytest.mark.parametrize("level", TARGETS)
def test_sines_and_cosines_are_right_to_2_ulp(level: str | None) -> None:
    x = awkward_angles()
    x = x[np.abs(x) < 1e6]
    s, c = trig(level)(x[:, None])
    assert ulps(s[:, 0], x, mpmath.sin) <= 2.0
    assert ulps(c[:, 0], x, mpmath.cos) <= 2.0


def test_huge_angles_are_right_too() -> None:
    x = 10.0 ** np.random.default_rng(2).uniform(6, 308, 200) * np.random.default_rng(3).choice(
        [-1, 1], 200
    )
    s, c = trig()(x[:, None])
    assert ulps(s[:, 0], x, mpmath.sin) <= 1.0
    assert ulps(c[:, 0], x, mpmath.cos) <= 1.0


def test_float32_angles() -> None:
    x = awkward_angles().astype(np.float32)
    x = x[np.abs(x) < 1e6]
    s, c = trig()(x[:, None])
    with mpmath.workprec(200):
        for found, exact in ((s, mpmath.sin), (c, mpmath.cos)):
            for a, y in zip(x.tolist(), found[:, 0], strict=True):
                true = float(exact(mpmath.mpf(a)))
                assert abs(float(y) - true) <= 1.01 * float(np.spacing(np.float32(abs(true))))


def test_signs_infinities_and_nans() -> None:
    f = trig()
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf])
    with np.errstate(invalid="ignore"):
        s, c = f(x[:, None])
    assert not np.signbit(s[0, 0])
    assert np.signbit(s[1, 0])
    assert np.isnan(s[2:]).all()
    assert np.isnan(c[2:]).all()
    assert (c[:2] == 1).all()


def test_nan_stays_in_its_own_state() -> None:
    model = lw.compile(lw.gallery("elbow"))
    q = np.zeros((9, 2))
    q[4, 1] = np.nan
    out = model.inverse_dynamics(q, 0 * q + 1, 0 * q)
    assert np.isnan(out[4]).any()
    assert np.isfinite(np.delete(out, 4, axis=0)).all()


def test_idle_lanes_raise_no_flags() -> None:
    x = ca.SX.sym("x", 2)
    f = compile_tape(record_tape(ca.Function("f", [x], [1 / x[0] + ca.sqrt(x[1]) + ca.log(x[1])])))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for n in range(1, 20):
            f(np.full((n, 2), 2.0))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        f(np.zeros((3, 2)))


MODEL = lw.compile(lw.gallery("six-axis"))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 70), st.integers(0, 2**20))
def test_batches_of_any_length_are_bit_for_bit_the_single_states(count: int, seed: int) -> None:
    q, v, a = np.random.default_rng(seed).uniform(-4, 4, (3, count, 6))
    together = MODEL.inverse_dynamics(q, v, a)
    assert together.shape == (count, 6)
    for k in range(0, count, 7):
        assert (MODEL.inverse_dynamics(q[k], v[k], a[k]) == together[k]).all()
    order = np.random.default_rng(seed).permutation(count)
    assert (MODEL.inverse_dynamics(q[order], v[order], a[order]) == together[order]).all()


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize("function", ["inverse_dynamics", "inverse_dynamics_derivatives"])
def test_short_and_long_functions_do_not_depend_on_the_place_of_a_state(
    level: str | None, function: str
) -> None:
    """A short function is one block from rows to rows, a long one goes through a context."""
    compute = getattr(lw.compile(lw.gallery("six-axis"), target=target(level)), function)
    states = np.random.default_rng(5).uniform(-4, 4, (3, 43, 6))

    def results(given: np.ndarray) -> np.ndarray:
        found = compute(*given)
        arrays = found if isinstance(found, tuple) else (found,)
        return np.concatenate([x.reshape(given.shape[1], -1) for x in arrays], axis=1)

    together = results(states)
    for count in (1, 2, 3, 5, 8, 11, 16, 17):
        place = slice(40 - count, 40)
        np.testing.assert_array_equal(results(states[:, place]), together[place])


def test_a_huge_angle_changes_no_bit_of_other_states() -> None:
    q, v, a = np.random.default_rng(6).uniform(-4, 4, (3, 16, 6))
    wanted = MODEL.inverse_dynamics(q, v, a)
    q[5, 3] = 2.0**30 + 0.25
    found = MODEL.inverse_dynamics(q, v, a)
    assert (np.delete(found, 5, axis=0) == np.delete(wanted, 5, axis=0)).all()
    with mpmath.workdps(40):
        q[5, 3] = float(mpmath.fmod(mpmath.mpf(q[5, 3]), 2 * mpmath.pi))
    near = MODEL.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(found[5], near[5], rtol=0, atol=1e-13 * abs(near[5]).max())


LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: np.asfortranarray(x),
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "every second": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "inside": lambda x: np.pad(x, ((1, 2), (3, 4)))[1:-2, 3:-4],
    "unaligned": lambda x: (
        np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_strides(layout: str, dtype: type) -> None:
    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, 21, 6)).astype(dtype)
    wanted = MODEL.inverse_dynamics(q, v, a)
    odd = LAYOUTS[layout]
    assert (MODEL.inverse_dynamics(odd(q), odd(v), odd(a)) == wanted).all()
    matrix = MODEL.mass_matrix(q)
    assert (MODEL.mass_matrix(odd(q)) == matrix).all()
    out = np.full((21, 12, 12), np.nan, dtype)[:, ::2, ::-2]
    assert MODEL.mass_matrix(q, out=out) is out
    assert (out == matrix).all()


def test_broadcasting_casting_and_out() -> None:
    q = np.random.default_rng(0).uniform(-2, 2, (5, 1, 3, 6))
    v = np.random.default_rng(1).uniform(-2, 2, (4, 1, 6))
    found = MODEL.bias(q, v)
    assert found.shape == (5, 4, 3, 6)
    assert (found[2, 3, 1] == MODEL.bias(q[2, 0, 1], v[3, 0])).all()
    assert MODEL.gravity([0, 0, 0, 0, 0, 0]).dtype == np.float64
    assert MODEL.gravity(np.zeros(6, np.int32)).dtype == np.float64
    assert MODEL.gravity(np.zeros(6, np.float16)).dtype == np.float32
    out = np.empty((5, 4, 3, 6))
    assert MODEL.bias(q, v, out=out) is out
    assert (out == found).all()
    with pytest.raises(ValueError, match="q has 5 numbers; six-axis has 6: q1 … q6"):
        MODEL.gravity(np.zeros(5))
    assert MODEL.mass_matrix.signature == "(6)->(6,6)"
    assert MODEL.inverse_dynamics_derivatives.nout == 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("level", TARGETS)
def test_large_outputs_begin_anywhere(level: str | None, dtype: type) -> None:
    """Tiles follow cache lines, wherever the rows begin; nothing beside them is touched."""
    x = ca.SX.sym("x", 16)
    Y = ca.SX.zeros(16, 16)
    Y[:, 5], Y[3, :], Y[12:, 12:] = x, 2 * x.T, 7
    function = compile_tape(record_tape(ca.Function("f", [x], [Y])), target=target(level))
    states = np.random.default_rng(0).uniform(-1, 1, (35, 16)).astype(dtype)
    wanted = np.array([function(state) for state in states])
    for lead in range(17):
        room = np.full(wanted.size + 64, 9, dtype)
        out = room[lead : lead + wanted.size].reshape(wanted.shape)
        function(states, out)
        np.testing.assert_array_equal(out, wanted)
        assert (np.delete(room, np.s_[lead : lead + wanted.size]) == 9).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [5, 300])
def test_constant_outputs_one_by_one_and_from_a_table(count: int, dtype: type) -> None:
    """A band of values among few and many constants, which are not all alike."""
    x, wanted = ca.SX.sym("x"), np.arange(count) % 7 / 8 - 0.25
    column = ca.SX(wanted)
    column[count // 2] = 3 * x
    function = compile_tape(record_tape(ca.Function("f", [x], [column])))
    found = function(np.array([[1.0], [2.0], [5.0]], dtype))
    assert found.dtype == dtype
    for row, state in zip(found, (1.0, 2.0, 5.0), strict=True):
        wanted[count // 2] = 3 * state
        np.testing.assert_array_equal(row, wanted)


def test_outputs_may_be_the_inputs() -> None:
    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, 40, 6))
    wanted = MODEL.inverse_dynamics(q, v, a)
    assert (MODEL.inverse_dynamics(q, v, a, out=a) == wanted).all()


@pytest.mark.parametrize("level", TARGETS)
def test_widths_agree(level: str | None) -> None:
    arm = lw.gallery("six-axis")
    q, v, a = np.random.default_rng(3).uniform(-2, 2, (3, 19, 6))
    other = lw.compile(arm, target=target(level))
    wanted = MODEL.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(
        other.inverse_dynamics(q, v, a), wanted, rtol=0, atol=1e-12 * abs(wanted).max()
    )


@pytest.mark.parametrize(
    ("triple", "cpu"),
    [("aarch64-unknown-linux-gnu", "generic"), ("arm64-apple-darwin", "apple-m1")],
)
def test_arm64_compiles(triple: str, cpu: str) -> None:
    """Code for arm64 can be made anywhere; it runs in a test only on arm64 itself."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    tape, _ = every_operation()
    arm = MachineTarget(triple, cpu, "+neon", 16, True)
    texts = (emit_tape_module(tape, arm), shared_functions_ir(arm, "double", 8))
    own, shared = (arm.target_machine().emit_assembly(llvm.parse_assembly(text)) for text in texts)
    assert "fsqrt" in own
    assert "fmla" in shared


def test_two_threads_may_call_at_once() -> None:
    """The loops hold no state, and NumPy lets go of the interpreter's lock."""
    from concurrent.futures import ThreadPoolExecutor

    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, 5000, 6))
    wanted = MODEL.inverse_dynamics(q, v, a)
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: MODEL.inverse_dynamics(q, v, a), range(16))
        assert all((r == wanted).all() for r in results)
    float32 = MODEL.coriolis_matrix  # its float32 loop is compiled by the first of the threads
    x = np.zeros((10, 6), np.float32)
    with ThreadPoolExecutor(4) as pool:
        assert len({r.tobytes() for r in pool.map(lambda _: float32(x, x + 1), range(8))}) == 1


def sums_of_pairs(count: int) -> Tape:
    """x[k] + x[k + 1]: as many values as entries go through contexts."""
    x = ca.SX.sym("x", count)
    return record_tape(ca.Function("f", [x], [x + ca.vertcat(x[1:], x[0])]))


@pytest.mark.parametrize("count", [2400, 3000])
def test_large_functions_do_not_need_a_large_stack(count: int) -> None:
    """Contexts of 300 KiB are on the stack, those of 375 KiB on the heap; threads often have small stacks."""
    import threading

    function = compile_tape(sums_of_pairs(count), threads=1)
    x, found = np.random.default_rng(0).uniform(-1, 1, (9, count)), list[np.ndarray]()
    size = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(function(x)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    np.testing.assert_array_equal(found[0], x + np.roll(x, -1, axis=1))


def test_compiled_code_outlives_its_model() -> None:
    code = (
        "import linkwright as lw, gc\n"
        "f = lw.compile(lw.gallery('elbow')).gravity\n"
        "gc.collect()\n"
        "assert abs(f([0.0, 0.0])[0] - 19.62) < 1e-12\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["six-axis", "quadruped"])
def test_threads_do_not_change_a_bit(name: str) -> None:
    """Large enough to be split; odd, so that the last share is short."""
    mechanism = lw.gallery(name)
    one, several = (lw.compile(mechanism, threads=n) for n in (1, 3))
    rng = np.random.default_rng(0)
    assert 30_011 * len(one.tape("inverse_dynamics")) > 3 * MIN_WORK_PER_THREAD
    q, v, a = (rng.uniform(-1, 1, (30_011, n)) for n in (one.nq, one.nv, one.nv))
    wanted = one.inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(several.inverse_dynamics(q, v, a), wanted)
    np.testing.assert_array_equal(several.inverse_dynamics(q[::2], v[::2], a[::2]), wanted[::2])


@pytest.mark.parametrize("function", ["inverse_dynamics", "regressor", "forward_dynamics"])
def test_llvms_loader_and_ours_run_the_same_code(function: str) -> None:
    """Our loader applies relocations itself; LLVM's is what other systems use."""
    from linkwright.readings.llvm import (
        assemble_tape_object_code,
        code_loader,
        shared_object_code,
        ufunc,
    )

    tape = lw.compile(lw.gallery("quadruped")).tape(function)
    content = assemble_tape_object_code(tape, 8)
    rng = np.random.default_rng(0)
    states = [rng.uniform(-1, 1, (19, *port.shape)) for port in tape.inputs]
    results = []
    for load in (code_loader.load_object_code, code_loader.load_code_by_llvm):
        code = load(content, shared_object_code(8))
        made = ufunc.make_gufunc(
            "f", "", tape.inputs, tape.outputs, code, lambda code=code: code, threads=1
        )
        results.append(made(*states))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), RuntimeError("no compiler")])
def test_a_float32_loop_that_cannot_be_compiled_is_an_error(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is compiled inside of the first call, which raises the error and writes nothing."""
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    monkeypatch.setattr(readings.llvm, "LOADED_CODES", LoadedCodeTable())
    function = lw.compile(lw.gallery("six-axis")).mass_matrix
    out = np.full((3, 6, 6), 7, np.float32)

    def fails(*_: object) -> bytes:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(readings.llvm, "assemble_tape_object_code", fails)
        with pytest.raises(type(error), match=str(error)):
            function(np.zeros((3, 6), np.float32), out)
        with pytest.raises(type(error), match=str(error)):
            function.ufunc(np.zeros((3, 6), np.float32), out)
    assert (out == 7).all(), "what was not computed does not look like a result"
    assert np.isfinite(function(np.zeros((3, 6), np.float32))).all(), "the next call tries again"


def test_floating_point_flags_of_all_threads_reach_the_caller() -> None:
    """The bad state is the last: in the share of a thread, where the batch is long enough for one."""
    rng = np.random.default_rng(0)
    for threads in (1, 3):
        model = lw.compile(lw.gallery("six-axis"), threads=threads)
        assert 60_000 * len(model.tape("inverse_dynamics")) > 3 * MIN_WORK_PER_THREAD
        q = rng.uniform(-1, 1, (60_000, 6))
        q[-1] = np.inf
        with pytest.warns(RuntimeWarning, match="invalid value"):
            model.inverse_dynamics(q, q[0], q[0])


def test_without_memory_the_stack_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    from linkwright.readings.llvm import code_loader

    asked: list[int] = []
    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(asked.append)
    address = ctypes.cast(nothing, ctypes.c_void_p).value
    assert address is not None
    found = code_loader._c_function_address
    monkeypatch.setattr(readings.llvm, "LOADED_CODES", LoadedCodeTable())
    monkeypatch.setattr(
        code_loader,
        "_c_function_address",
        lambda name: address if name == "malloc" else found(name),
    )
    x = np.random.default_rng(1).uniform(-1, 1, (9, 3000))
    made = compile_tape(sums_of_pairs(3000), threads=1)(x)
    assert asked, "no memory was wanted"
    np.testing.assert_array_equal(made, x + np.roll(x, -1, axis=1))
