"""The compiled code of this process by its key: equal functions share one copy.

The table itself keeps nothing alive: code goes with its last user.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakValueDictionary

from .code_loader import LoadedCode


class _KeyLock:
    """Held by the thread that loads the code of one key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finalizer may run anywhere, and compile


class CodeTable:
    """Loaded code by key. Threads that ask for one key at once wait for the first of them."""

    def __init__(self) -> None:
        self._codes: WeakValueDictionary[str, LoadedCode] = WeakValueDictionary()
        self.renew_locks()

    def renew_locks(self) -> None:
        """Makes new locks, for a child process: the threads that held the old ones stayed behind."""
        self._guard = threading.RLock()
        self._locks: WeakValueDictionary[str, _KeyLock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._codes)

    def get_or_load(self, key: str, load_code: Callable[[], LoadedCode]) -> LoadedCode:
        """The code of a key; `load_code` loads it where nobody uses it yet."""
        found = self._codes.get(key)
        if found is not None:
            return found
        key_lock = self._key_lock(key)
        with key_lock.lock:
            found = self._codes.get(key)
            if found is None:
                found = self._codes[key] = load_code()
            return found

    def _key_lock(self, key: str) -> _KeyLock:
        with self._guard:
            found = self._locks.get(key)
            if found is None:
                found = self._locks[key] = _KeyLock()
            return found


LOADED_CODES = CodeTable()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOADED_CODES.renew_locks)
