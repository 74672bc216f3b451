"""Compiled code on disk, so that the second start of a program compiles nothing.

An entry is a file in a folder that only its owner may enter. Its name is a hash of all that
the code depends on; it begins with a checksum, and it appears whole or not at all. Whatever is
wrong with an entry or with the folder, the answer is the same: as if nothing were stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import stat
import tempfile
from functools import cache
from pathlib import Path

MAX_CACHE_BYTES = 256 << 20
"""Bytes that the folder may hold; the entries that were used longest ago go first."""

_ENTRY_SUFFIX, _UNFINISHED_SUFFIX = ".lwc", ".lwc-part"


def cache_key(*parts: object) -> str:
    """A name for what depends on `parts`, on our sources, and on the compiler's version."""
    text = json.dumps([_sources_hash(), _compiler_versions(), *map(repr, parts)])
    return hashlib.sha256(text.encode()).hexdigest()


def read_cache_entry(name: str) -> bytes | None:
    """Read the entry of a key, if it exists and is sound."""
    folder = _cache_folder()
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
    return content if checksum == _entry_checksum(name, content) else None


def write_cache_entry(name: str, content: bytes) -> None:
    """Stores content under a key; nothing happens where that is impossible."""
    folder = _cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(
            _UNFINISHED_SUFFIX, dir=folder
        )  # readable by its owner alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_entry_checksum(name, content) + b"\n" + content)
            os.replace(temporary, folder / (name + _ENTRY_SUFFIX))
        except OSError:
            os.unlink(temporary)
            raise
        if _is_scan_due(folder, len(content)):
            _prune_cache(folder)


def _entry_checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).hexdigest().encode()


def _cache_folder() -> Path | None:
    """The folder, made if need be; None if it is switched off or open to others."""
    named = os.environ.get("LINKWRIGHT_CACHE")
    if named == "off" or not _sources_hash():
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


def _is_scan_due(folder: Path, size: int) -> bool:
    """Whether a scan is due: at the first entry, and after each 64th part of the limit, since a scan takes
    longer than storing one."""
    written = _bytes_written.get(folder, MAX_CACHE_BYTES) + size
    is_due = written > MAX_CACHE_BYTES // 64
    _bytes_written[folder] = 0 if is_due else written
    return is_due


def _prune_cache(folder: Path) -> None:
    """Removes entries, and what an interrupted writer left; never anybody else's files."""
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
def _sources_hash() -> str:
    """A hash of this package's own sources; nothing where they cannot be read (a zip file)."""
    package = Path(__file__).parents[2]
    total = hashlib.sha256()
    paths = sorted(package.rglob("*.py"))
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest() if paths else ""


@cache
def _compiler_versions() -> list[str]:
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
    """The features that tell this CPU from others, without asking LLVM."""
    named = [platform.system(), platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
        kept = ("model name", "flags", "cpu family", "model", "stepping", "Features", "CPU part")
        named += [line for line in first.splitlines() if line.split("\t")[0].strip(" :") in kept]
    return "\n".join(named)
