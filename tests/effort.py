"""How much a call costs, counted instead of timed: Python calls made, and memory taken."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any


def calls_of(action: Callable[[], Any]) -> int:
    """Number of calls of Python and C functions that an action makes, whatever it raises."""
    count = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    except Exception:
        pass
    finally:
        sys.setprofile(before)
    return count


def memory_of(action: Callable[[], Any]) -> int:
    """Peak of the bytes that an action allocates."""
    tracemalloc.start()
    try:
        action()
    except Exception:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak
