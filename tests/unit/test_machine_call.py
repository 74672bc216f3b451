"""Calls in machine code do what the same call in Python does."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

from linkwright.readings.llvm.machine_call import FallbackCall, call_in_machine_code

KINDS = {"Python": FallbackCall, "machine code": call_in_machine_code(FallbackCall)}


def record(*arguments: object, **options: object) -> Any:
    return arguments, options


def refuse(*arguments: object, **options: object) -> Any:
    raise ValueError("refused")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_refused_call_goes_to_the_fallback(kind: type[FallbackCall]) -> None:
    assert kind(record, refuse, (ValueError,))(1, 2, a=3) == ((1, 2), {"a": 3})
    assert kind(refuse, record, (TypeError, ValueError))(1, a=3) == ((1,), {"a": 3})
    assert kind(record, refuse, ())() == ((), {})
    with pytest.raises(ValueError, match="refused"):
        kind(refuse, record, (TypeError,))(1)
    with pytest.raises(ValueError, match="refused") as caught:
        kind(refuse, refuse, (ValueError,))(1)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_calls_keep_no_references(kind: type[FallbackCall]) -> None:
    given = object()
    call = kind(record, refuse, (ValueError,))
    again = kind(refuse, record, (ValueError,))
    before = sys.getrefcount(given), sys.getrefcount(record)
    for _ in range(1000):
        call(given)
        again(given)
    assert (sys.getrefcount(given), sys.getrefcount(record)) == before


def test_the_garbage_collector_frees_cycles_of_calls() -> None:
    class Named(FallbackCall):
        """It has a `__dict__` and can be referred to weakly."""

    call = call_in_machine_code(Named)(record, refuse, (ValueError,))
    call.function = call.fallback = call
    seen = weakref.ref(call)
    del call
    gc.collect()
    assert seen() is None
