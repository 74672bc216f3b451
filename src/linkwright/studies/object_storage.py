"""Where a study keeps its objects: a folder, an address of fsspec, or memory.

An object is written whole or not at all, as far as the place allows it: a folder by a hidden file
that is renamed, an object store by its own put. What is read is checked by its checksum, so that a
place without such promises costs a block that is made again, never a wrong number.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a disk without space, or without quota."""


class StorageError(FileError):
    """A place that cannot be read or written: no design is the reason, and a study ends."""


class StorageFullError(StorageError):
    """A place without space; all finished blocks are kept."""


class ObjectStorage(Protocol):
    """Objects by their keys, with / between the parts of a key."""

    @property
    def address(self) -> str:
        """Where the objects are."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes reach the objects."""

    def read(self, key: str) -> bytes | None:
        """Return an object, None if there is none."""

    def write(self, key: str, content: bytes) -> None:
        """Write an object as a whole."""

    def write_new(self, key: str, content: bytes) -> None:
        """Write an object as a whole, unless there is one."""

    def list_names(self, folder: str) -> list[str]:
        """Return the names of the objects of a folder."""

    def remove(self, key: str) -> None:
        """Remove an object, if there is one."""


def storage_error(error: Exception, address: str, what: str = "written") -> StorageError:
    """Return our sentence for an error of the system."""
    if getattr(error, "errno", None) in _FULL:
        return StorageFullError(
            "no space is left",
            where=address,
            remedy="free some; all finished blocks are kept, and "
            f"'linkwright study resume {address}' continues",
        )
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return StorageError(f"cannot be {what}: {' '.join(str(why).split())}", where=address)


@dataclass(frozen=True)
class FolderStorage:
    """Objects in a folder of this machine, or of a file system that machines share."""

    folder: Path

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def is_shared(self) -> bool:
        """Whether other processes reach the objects: a folder is there for all."""
        return True

    def read(self, key: str) -> bytes | None:
        """Return an object, None if there is none."""
        try:
            return (self.folder / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise storage_error(error, self.address, "read") from None

    def write(self, key: str, content: bytes) -> None:
        """Write an object as a whole: another process sees it completely or not at all."""
        self._place(key, content, os.replace)

    def write_new(self, key: str, content: bytes) -> None:
        """Write an object as a whole, unless there is one."""
        self._place(key, content, _link_new)

    def _place(self, key: str, content: bytes, name_it: Callable[[Path, Path], None]) -> None:
        """Write a hidden file, and give it its name when it is whole."""
        target = self.folder / key
        name = f".{target.name}.{uuid.uuid4().hex}.part"  # machines that share it have equal pids
        partial = target.with_name(name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(content)
            name_it(partial, target)
        except OSError as error:
            raise storage_error(error, self.address) from None
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()

    def list_names(self, folder: str) -> list[str]:
        """Return the names of the objects of a folder."""
        try:
            return [one for one in os.listdir(self.folder / folder) if not one.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise storage_error(error, self.address, "read") from None

    def remove(self, key: str) -> None:
        """Remove an object, if there is one."""
        with contextlib.suppress(OSError):
            (self.folder / key).unlink()


def _link_new(partial: Path, target: Path) -> None:
    """Name a file, unless the name is taken."""
    try:
        os.link(partial, target)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not target.exists():
            os.replace(partial, target)


@dataclass(frozen=True)
class AddressStorage:
    """Objects at an address of fsspec: s3://…, gs://…, memory://…"""

    address: str
    system: AbstractFileSystem
    root: str

    @property
    def is_shared(self) -> bool:
        """Whether other processes reach the objects; those of memory:// end with their process."""
        from fsspec.implementations.memory import MemoryFileSystem

        system = self.system
        while (inner := getattr(system, "fs", None)) is not None:  # caches, parts of a system
            system = inner
        return not isinstance(system, MemoryFileSystem)

    def _path(self, key: str) -> str:
        return f"{self.root.rstrip('/')}/{key}"

    def read(self, key: str) -> bytes | None:
        """Return an object, None if there is none."""
        try:
            found: bytes = self.system.cat_file(self._path(key))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, KeyError):
            return None
        except Exception as error:  # packages of object stores raise their own
            raise storage_error(error, self.address, "read") from None
        return found

    def write(self, key: str, content: bytes) -> None:
        """Write an object by one put; systems with folders may need one first."""
        path = self._path(key)
        try:
            try:
                self.system.pipe_file(path, content)
            except FileNotFoundError:
                self.system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
                self.system.pipe_file(path, content)
        except Exception as error:  # packages of object stores raise their own
            raise storage_error(error, self.address) from None

    def write_new(self, key: str, content: bytes) -> None:
        """Write an object, unless there is one, as far as the place can tell."""
        try:
            self.system.pipe_file(self._path(key), content, mode="create")
        except FileExistsError:
            return
        except Exception:  # a folder must be made first, or it has no such mode
            self.write(key, content)

    def list_names(self, folder: str) -> list[str]:
        """Return the names of the objects of a folder."""
        try:
            self.system.invalidate_cache()
            found = self.system.ls(self._path(folder), detail=False)
        except (FileNotFoundError, NotADirectoryError, KeyError):
            return []
        except Exception as error:  # packages of object stores raise their own
            raise storage_error(error, self.address, "read") from None
        return [str(one).rstrip("/").rsplit("/", 1)[-1] for one in found]

    def remove(self, key: str) -> None:
        """Remove an object, if there is one."""
        with contextlib.suppress(OSError, KeyError):
            self.system.rm_file(self._path(key))


@dataclass(frozen=True, eq=False)
class MemoryStorage:
    """Objects in this process."""

    objects: dict[str, bytes] = field(default_factory=dict)
    address: str = "memory"
    is_shared: bool = False

    def read(self, key: str) -> bytes | None:
        """Return an object, None if there is none."""
        return self.objects.get(key)

    def write(self, key: str, content: bytes) -> None:
        """Write an object."""
        self.objects[key] = content

    def write_new(self, key: str, content: bytes) -> None:
        """Write an object, unless there is one."""
        self.objects.setdefault(key, content)

    def list_names(self, folder: str) -> list[str]:
        """Return the names of the objects of a folder."""
        head = f"{folder}/"
        return [key[len(head) :] for key in self.objects if key.startswith(head)]

    def remove(self, key: str) -> None:
        """Remove an object, if there is one."""
        self.objects.pop(key, None)


def open_storage(address: str | Path) -> ObjectStorage:
    """Return the storage of a folder, or of an address with a protocol."""
    text = str(address)
    if "://" not in text:
        folder = Path(text)
        if folder.exists() and not folder.is_dir():
            raise FileError("is not a folder", where=text, remedy="name another one")
        return FolderStorage(folder.absolute())
    try:
        import fsspec
        from fsspec.implementations.local import LocalFileSystem
    except ImportError:
        raise MissingExtraError(
            f"addresses such as {text.split('://')[0]}:// need fsspec, which is not installed",
            remedy="install linkwright[studies], or name a folder",
        ) from None
    try:
        system, root = fsspec.core.url_to_fs(text)
    except (ImportError, ValueError) as error:
        raise FileError(f"cannot be opened: {error}", where=text) from None
    if isinstance(system, LocalFileSystem):  # it writes in place, a folder renames
        return open_storage(Path(root))
    return AddressStorage(text, system, root)
