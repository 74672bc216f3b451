"""Long calls into C that Ctrl-C need not wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STACK_BYTES = 64 << 20
"""Bytes: LLVM recurses deeper than the small stacks of threads on some systems allow."""


def call_interruptibly(work: Callable[[], T]) -> T:
    """The result of work that sits in C without the interpreter's lock. The main thread lets
    another one do it, and hears Ctrl-C meanwhile; the work then ends by itself, unheeded."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    failures: list[BaseException] = []

    def keep_result() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    before = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=keep_result, name="linkwright-llvm")
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
