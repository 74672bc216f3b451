"""The compiled code of this process by its key, so that equal functions share one copy.

The table keeps no code alive: code is freed with its last user.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakValueDictionary

from .code_loader import LoadedCode


class _KeyLock:
    """The lock that a thread holds while it loads the code of one key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finalizer may run anywhere, and compile


class LoadedCodeTable:
    """Loaded code by key; threads that request one key at the same time load it once."""

    def __init__(self) -> None:
        self._codes: WeakValueDictionary[str, LoadedCode] = WeakValueDictionary()
        self.renew_locks()

    def renew_locks(self) -> None:
        """Makes new locks for a child process, where no thread can release the old ones."""
        self._guard = threading.RLock()
        self._locks: WeakValueDictionary[str, _KeyLock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._codes)

    def get_or_load(self, key: str, load_code: Callable[[], LoadedCode]) -> LoadedCode:
        """The code of a key; `load_code` loads it if no function uses it yet."""
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
        """The lock of a key."""
        with self._guard:
            found = self._locks.get(key)
            if found is None:
                found = self._locks[key] = _KeyLock()
            return found


LOADED_CODES = LoadedCodeTable()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOADED_CODES.renew_locks)
