"""A call for one state goes to the loop itself, and does what the gufunc does."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.readings.llvm.direct_call import has_known_array_layout, make_direct_call_record
from linkwright.readings.llvm.ufunc import direct_call_record

FUNCTIONS = ("gravity", "mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
MODEL = lw.compile(lw.gallery("six-axis"), threads=1)

pytestmark = pytest.mark.skipif(not has_known_array_layout(), reason="it needs x86-64")


def states(count: int, *shape: int) -> list[np.ndarray]:
    return list(np.random.default_rng(count).uniform(-1, 1, (count, *shape, 6)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_direct_call_returns_what_the_gufunc_returns(name: str) -> None:
    function, ufunc = getattr(MODEL, name), MODEL.ufunc(name)
    assert function.direct is not None
    given = states(ufunc.nin)
    found = function(*given)
    np.testing.assert_array_equal(found, ufunc(*given))
    assert type(found) is np.ndarray
    assert found.flags.owndata
    assert found.flags.writeable


class Wrapped(np.ndarray):
    """A subclass of arrays, which a gufunc returns."""


def variants() -> dict[str, list[object]]:
    q, qd, qdd = states(3)
    read_only = q.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + q.tobytes(), np.uint8)[1:].view(np.float64)
    return {
        "read-only": [read_only, qd, qdd],
        "strided": [np.repeat(q, 2)[::2], qd, qdd],
        "reversed": [q[::-1], qd, qdd],
        "unaligned": [unaligned, qd, qdd],
        "list": [list(q), qd, qdd],
        "float32": [x.astype(np.float32) for x in (q, qd, qdd)],
        "mixed precision": [q.astype(np.float32), qd, qdd],
        "integers": [np.arange(6), qd, qdd],
        "big-endian": [q.astype(">f8"), qd, qdd],
        "subclass": [q.view(Wrapped), qd, qdd],
        "batch": [*states(3, 4)],
        "batch with one state": [q, qd, states(1, 4)[0]],
        "empty batch": [np.empty((0, 6)), qd, qdd],
    }


@pytest.mark.parametrize("kind", list(variants()))
def test_other_arguments_take_the_gufunc(kind: str) -> None:
    given = variants()[kind]
    found, expected = MODEL.inverse_dynamics(*given), MODEL.ufunc("inverse_dynamics")(*given)
    assert (type(found), found.dtype) == (type(expected), expected.dtype)
    np.testing.assert_array_equal(found, expected)


def test_out_and_wrong_lengths_are_as_before() -> None:
    q, qd, qdd = states(3)
    out = np.empty(6)
    assert MODEL.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, MODEL.inverse_dynamics(q, qd, qdd))
    for wrong in ([q[:5], qd, qdd], [q, qd], [q, qd, qdd[:, None]]):
        with pytest.raises(LinkwrightError):
            MODEL.inverse_dynamics(*wrong)


def test_floating_point_errors_are_reported_as_numpy_is_told() -> None:
    q, qd, qdd = states(3)
    q[0] = np.inf
    q[1] = np.inf
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        MODEL.inverse_dynamics(q, qd, qdd)
    with np.errstate(invalid="ignore"):
        assert np.isnan(MODEL.inverse_dynamics(q, qd, qdd)).any()
    with np.errstate(all="raise"):  # nothing is left over for a good state
        MODEL.inverse_dynamics(*states(3))


def test_direct_calls_leak_nothing() -> None:
    given, dtype = states(3), np.dtype(np.float64)
    MODEL.inverse_dynamics(*given)
    gc.collect()
    before = [sys.getrefcount(x) for x in (*given, dtype)]
    for _ in range(10_000):
        MODEL.inverse_dynamics(*given)
    after = [sys.getrefcount(x) for x in (*given, dtype)]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 10


def test_only_gufuncs_of_ours_with_one_array_as_output_are_called_directly() -> None:
    assert direct_call_record(np.add) is None
    assert direct_call_record(np.linalg._umath_linalg.det) is None
    assert direct_call_record(len) is None
    assert MODEL.inverse_dynamics_derivatives.direct is None  # three outputs
    assert MODEL.kinetic_energy.direct is None  # a number
    assert isinstance(MODEL.kinetic_energy(*states(2)), float)
    assert make_direct_call_record(",".join(["(1)"] * 9) + "->(1)", 0, 0) is None


def test_guarded_functions_of_loops_are_not_called_directly() -> None:
    model = lw.compile(lw.gallery("four-bar"), threads=1)
    assert model.forward_dynamics.direct is None
