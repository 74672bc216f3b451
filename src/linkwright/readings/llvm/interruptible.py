"""Long calls into C that Ctrl-C can interrupt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STACK_BYTES = 64 << 20
"""Bytes: LLVM recurses deeper than the small stacks of threads on some systems allow."""


def call_llvm_interruptibly(work: Callable[[], T]) -> T:
    """The result of `work`, a long call into C without the interpreter's lock.

    The main thread waits for another thread that does the work, so that Ctrl-C interrupts the wait; the work then ends
    unused.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    failures: list[BaseException] = []

    def run_llvm_in_thread() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    before = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=run_llvm_in_thread, name="linkwright-llvm")
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
