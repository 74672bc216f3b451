"""Compiled code on disk, so that a program compiles nothing when it starts again.

An entry is a file in a folder that only its owner may enter. Its name is a hash of everything that the code depends on;
it begins with a checksum, and it is written atomically. A damaged entry or an unsafe folder counts as an empty cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MAX_CACHE_BYTES = 256 << 20
"""Bytes that the folder may hold; the entries that were used longest ago go first."""

_ENTRY_SUFFIX, _UNFINISHED_SUFFIX = ".lwc", ".lwc-part"


def code_cache_key(*parts: object) -> str:
    """The key of code that depends on `parts`, on our sources, and on the versions of the compiler."""
    text = json.dumps([_code_generator_sources_hash(), _compiler_versions(), *map(repr, parts)])
    return hashlib.sha256(text.encode()).hexdigest()


def read_code_cache_entry(name: str) -> bytes | None:
    """The content of the entry of a key; None if there is none or it is damaged."""
    folder = _code_cache_folder()
    if folder is None:
        return None
    path = folder / (name + _ENTRY_SUFFIX)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would never answer
            return None
        checksum, content = path.read_bytes().split(b"\n", 1)
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):  # it was used now; a cache that only can be read is fine
        os.utime(path)
    return content if checksum == _code_cache_checksum(name, content) else None


def write_code_cache_entry(name: str, content: bytes) -> None:
    """Stores content under a key; does nothing where that is impossible."""
    folder = _code_cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(
            _UNFINISHED_SUFFIX, dir=folder
        )  # readable by its owner alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_code_cache_checksum(name, content) + b"\n" + content)
            os.replace(temporary, folder / (name + _ENTRY_SUFFIX))
        except OSError:
            os.unlink(temporary)
            raise
        if _is_code_cache_scan_due(folder, len(content)):
            _prune_code_cache(folder)


@contextlib.contextmanager
def lock_code_cache(name: str) -> Iterator[None]:
    """Let one process at a time prepare what `name` stands for: the others find its code in the cache.

    Processes that end release their lock. Without a cache, or without locks of files, nothing is locked.
    """
    folder = _code_cache_folder()
    if folder is None:
        yield
        return
    try:
        import fcntl

        handle = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _code_cache_checksum(name: str, content: bytes) -> bytes:
    """The checksum of an entry and its key."""
    return hashlib.sha256(name.encode() + content).hexdigest().encode()


def _code_cache_folder() -> Path | None:
    """The folder of the cache, created if needed; None if it is switched off or others can enter it."""
    named = os.environ.get("LINKWRIGHT_CACHE")
    if named == "off" or not _code_generator_sources_hash():
        return None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(base) if base else Path.home() / ".cache"
        folder = Path(named) if named else home / "linkwright"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return None
    if hasattr(os, "getuid"):
        private = found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
        return folder if private else None
    return folder


_bytes_written: dict[Path, int] = {}
"""Bytes that this process has put into a folder since it last looked at the folder's size."""


def _is_code_cache_scan_due(folder: Path, size: int) -> bool:
    """Whether the folder's size must be scanned again.

    That is the case at the first entry and after each 64th part of the limit, since a scan takes longer than writing an
    entry.
    """
    written = _bytes_written.get(folder, MAX_CACHE_BYTES) + size
    is_due = written > MAX_CACHE_BYTES // 64
    _bytes_written[folder] = 0 if is_due else written
    return is_due


def _prune_code_cache(folder: Path) -> None:
    """Removes the oldest entries and unfinished files until the cache is within its limit."""
    entries = []
    for entry in os.scandir(folder):
        if not entry.name.endswith((_ENTRY_SUFFIX, _UNFINISHED_SUFFIX)):
            continue
        with contextlib.suppress(OSError):  # another process may have removed it
            found = entry.stat()
            entries.append((found.st_mtime, found.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= MAX_CACHE_BYTES:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size


@cache
def _code_generator_sources_hash() -> str:
    """A hash of the sources of this package; empty if they cannot be read (in a zip file)."""
    package = Path(__file__).parents[2]
    total = hashlib.sha256()
    paths = sorted(package.rglob("*.py"))
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest() if paths else ""


@cache
def _compiler_versions() -> list[str]:
    """The versions of CasADi and llvmlite."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for package in ("casadi", "llvmlite"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("unknown")
    return found


@cache
def cpu_identity() -> str:
    """The features that distinguish this CPU from others, read without LLVM."""
    named = [platform.system(), platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
        kept = ("model name", "flags", "cpu family", "model", "stepping", "Features", "CPU part")
        named += [line for line in first.splitlines() if line.split("\t")[0].strip(" :") in kept]
    return "\n".join(named)
