"""Numbers and arrays of users: accepted as they are meant, refused with what is wrong in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkwright.errors import LinkwrightError
from linkwright.number_checks import (
    check_finite_array,
    check_number,
    check_number_list,
    check_number_table,
    check_positive,
    check_scalar_or_vector,
    check_vector,
    check_vector_rows,
    check_whole_number,
    read_number_array,
)

nan, inf = float("nan"), float("inf")
NAMES = [f"q{k}" for k in range(1, 7)]


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_every_kind_of_real_number_is_one(value: Any) -> None:
    assert check_number(value, "x") == check_positive(value, "x") == 2.0
    assert type(check_number(value, "x")) is float


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_number(nan, "t"), "t is nan, which is not a finite number; give one, in SI units"),
        (lambda: check_number("1", "t"), "t is '1', which is not a finite number"),
        (lambda: check_number(True, "t"), "t is True, which is not a finite number"),
        (lambda: check_number(1j, "t"), "t is 1j, which is not a finite number"),
        (lambda: check_positive(0, "rtol"), "rtol cannot be 0; give a number above 0, in SI units"),
        (lambda: check_positive(inf, "rtol"), "rtol cannot be inf"),
        (lambda: check_positive(nan, "rtol", or_infinite=True), "rtol cannot be nan"),
        (lambda: check_whole_number(2.5, "steps"), "steps cannot be 2.5; give a whole number from 0"),
        (lambda: check_whole_number(0, "starts", 1), "starts cannot be 0; give a whole number from 1"),
        (lambda: check_number_table([1], "q0"), "q0 is not a table; give numbers by name"),
        (lambda: check_number_table({"q1": nan}, "q0"), "q0 of 'q1' is nan"),
        (lambda: check_finite_array([[1, inf]], "q0"), "q0 has entries that are not finite"),
        (lambda: check_finite_array([1j], "q0"), "q0 is not an array of numbers"),
        (lambda: check_finite_array([[1, 2], [3]], "q0"), "q0 is not an array of numbers"),
        (lambda: check_number_list([[1]], "the start"), "the start is not a list of finite numbers"),
        (lambda: check_number_list([], "the start"), "the start is not a list of finite numbers"),
        (lambda: check_vector([1] * 5, 6, "q", NAMES), "q is not 6 finite numbers; give 6: q1 … q6"),
        (lambda: check_vector([[1, 2]], 2, "q", where="elbow"), "elbow: q is not 2 finite numbers; give 2"),
        (lambda: check_vector([1, nan], 2, "q"), "q is not 2 finite numbers"),
        (lambda: check_vector("ab", 2, "π", remedy="give 10 for each body"), "π is not 2 finite numbers; give 10 for each body"),
        (lambda: check_vector_rows(np.zeros((3, 5)), 6, "q", NAMES), "q is not 6 finite numbers; give 6: q1 … q6"),
        (lambda: check_vector_rows(1.0, 1, "q"), "q is not 1 finite numbers"),
        (lambda: check_scalar_or_vector([1, 2, 3], 2, "kp"), "kp must be 1 or 2 finite numbers (got [1, 2, 3])"),
        (lambda: check_scalar_or_vector(inf, 2, "kp"), "kp must be 1 or 2 finite numbers (got inf)"),
        (lambda: check_scalar_or_vector(nan, 2, "speed", or_infinite=True), "speed must be 1 or 2 numbers (got nan)"),
        (lambda: check_scalar_or_vector("x" * 99, 2, "kp"), f"kp must be 1 or 2 finite numbers (got '{'x' * 38}…)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(check: Any, message: str) -> None:
    with pytest.raises(LinkwrightError) as caught:
        check()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_good_arrays_come_back_as_floats() -> None:
    given = np.array([1, 2], dtype=np.float64)
    vector = check_vector(given, 2, "q")
    vector[0] = 7
    assert given[0] == 1, "a vector is the caller's own"
    assert check_vector_rows(np.zeros((4, 3, 2), np.float32), 2, "q").dtype == np.float64
    np.testing.assert_array_equal(check_scalar_or_vector(3, 2, "kp"), [3, 3])
    np.testing.assert_array_equal(
        check_scalar_or_vector([1, inf], 2, "v", or_infinite=True), [1, inf]
    )
    np.testing.assert_array_equal(check_number_list(5, "x"), [5])
    assert check_number_table({"q1": 1, 2: 3}, "q") == {"q1": 1.0, "2": 3.0}
    assert check_positive(inf, "max_step", or_infinite=True) == inf
    assert check_whole_number(np.int32(3), "n") == 3
    assert read_number_array("abc") is None
