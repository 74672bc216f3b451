"""Ctrl-C that is not lost.

Python discards exceptions that are raised while an object is finalized, for example in the callback
of a weak reference during a garbage collection. If Ctrl-C is handled there, its `KeyboardInterrupt`
disappears, and a long computation goes on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def lost_interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises `KeyboardInterrupt` if one was raised in the block and lost.

    A loop calls it after each step. It does nothing outside the main thread and where the program
    handles Ctrl-C without an exception.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):
        yield lambda: None
        return
    raised: list[KeyboardInterrupt] = []

    def note_interrupt(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt as interrupt:
            raised.append(interrupt)
            raise

    def raise_lost() -> None:
        if raised:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note_interrupt)
    try:
        yield raise_lost
    finally:
        if signal.getsignal(signal.SIGINT) is note_interrupt:
            signal.signal(signal.SIGINT, before)
