"""Loads object code into memory without LLVM, with the few ELF relocations that our code has.

On systems other than Linux with x86-64, LLVM's own loader does this.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Booleans, Bytes, Integers

_SECTION_HEADER = np.dtype([
    ("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
    ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8"),
])  # fmt: skip
_SYMBOL_ENTRY = np.dtype([
    ("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
    ("size", "<u8"),
])  # fmt: skip
_RELOCATION_ENTRY = np.dtype([
    ("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8"),
])  # fmt: skip

_ALLOCATED_FLAG = 2
_SYMBOL_TABLE_TYPE, _RELOCATIONS_TYPE, _NO_BITS_TYPE = 2, 4, 8  # types of sections
_ABSOLUTE_RELOCATIONS, _RELATIVE_RELOCATIONS, _TABLE_RELOCATIONS = (
    [1],
    [2, 4],
    [9, 41, 42],
)  # types of relocations, x86-64
_RELOCATION_TYPES = 64  # more than these; larger numbers count as the last
_SLOT_BYTES = 16  # jmp *8(%rip), then the address


_SHARED_CODE: list[mmap.mmap] = []
"""The memory of shared functions, which stays for the life of the process."""


@dataclass(frozen=True, eq=False)
class LoadedCode:
    """The function `loop` of an object file in memory.

    `memory` owns the code: a mapping, or an engine of LLVM. A caller of the code at `address` must keep this object;
    the memory is freed with the last reference to it.
    """

    address: int
    memory: object


def load_object_code(content: bytes, support: bytes = b"") -> LoadedCode:
    """Load an object file into memory of its own. `support` is the object file of the functions
    that it calls but does not contain, if there are any; it is loaded once, and kept."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return _ElfCodeImage(
            content, _load_shared_object_code(support) if support else {}
        ).load_code()
    return load_code_by_llvm(content, support)


@cache
def _load_shared_object_code(content: bytes) -> dict[str, int]:
    """The addresses of the shared functions by name, loaded once for each precision and target."""
    memory, addresses = _ElfCodeImage(content, {}).map_into_memory()
    _SHARED_CODE.append(memory)
    return addresses


def load_code_by_llvm(content: bytes, support: bytes = b"") -> LoadedCode:
    """Load an object file by LLVM's own loader."""
    import llvmlite.binding as llvm

    from .target import host_target

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host_target().target_machine())
    for part in filter(None, (support, content)):
        engine.add_object_file(llvm.ObjectFileRef.from_data(part))
    engine.finalize_object()
    return LoadedCode(int(engine.get_function_address("loop")), engine)


@dataclass(frozen=True)
class _ElfSymbols:
    """The symbol table of an object file, and the names in it."""

    names: list[str]
    table: NDArray[Any]


class _ElfCodeImage:
    """An object file laid out in memory: its allocated sections, then a slot for each external function.

    An external function is one whose address is `known`, or one of the C library.
    """

    def __init__(self, content: bytes, known: Mapping[str, int]) -> None:
        self.content = content
        self.known = known
        start = int.from_bytes(content[40:48], "little")
        count = int.from_bytes(content[60:62], "little")
        self.sections = np.frombuffer(content, _SECTION_HEADER, count, start)
        self.symbols = self.read_symbols()
        self.section_offsets: dict[int, int] = {}
        end = 0
        for index, section in enumerate(self.sections):
            if section["flags"] & _ALLOCATED_FLAG:
                align = max(1, int(section["align"]))
                self.section_offsets[index] = -(-end // align) * align
                end = self.section_offsets[index] + int(section["size"])
        undefined = (self.symbols.table["section"] == 0).nonzero()[0]
        self.external = [int(k) for k in undefined if self.symbols.names[k]]
        self.slots = -(-end // _SLOT_BYTES) * _SLOT_BYTES
        self.size = max(1, self.slots + _SLOT_BYTES * len(self.external))

    def read_symbols(self) -> _ElfSymbols:
        """The symbol table of the object file."""
        (which,) = (self.sections["type"] == _SYMBOL_TABLE_TYPE).nonzero()[0]
        section = self.sections[which]
        strings = self.section_bytes(self.sections[section["link"]])
        table = np.frombuffer(self.section_bytes(section), _SYMBOL_ENTRY)
        names = [strings[n : strings.index(b"\0", n)].decode() for n in table["name"].tolist()]
        return _ElfSymbols(names, table)

    def section_bytes(self, section: np.void) -> bytes:
        """The content of a section of the object file."""
        start, size = int(section["offset"]), int(section["size"])
        return self.content[start : start + size]

    def load_code(self) -> LoadedCode:
        """Maps the image into memory; its function is `loop`."""
        memory, addresses = self.map_into_memory()
        return LoadedCode(addresses["loop"], memory)

    def map_into_memory(self) -> tuple[mmap.mmap, dict[str, int]]:
        """Maps the image into memory; the memory, and the addresses of its functions by name."""
        private, writable = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE
        memory = mmap.mmap(-1, self.size, flags=private, prot=writable)
        image = np.frombuffer(memory, np.uint8)
        base = int(image.ctypes.data)
        for index, place in self.section_offsets.items():
            section = self.sections[index]
            if section["type"] != _NO_BITS_TYPE:
                data = np.frombuffer(self.section_bytes(section), np.uint8)
                image[place : place + len(data)] = data
        for k, symbol in enumerate(self.external):
            slot = bytes.fromhex("ff25020000000000") + self.external_address(
                self.symbols.names[symbol]
            )
            image[self.slots + _SLOT_BYTES * k :][:_SLOT_BYTES] = np.frombuffer(slot, np.uint8)
        values = self.symbol_offsets()
        self.relocate_symbols(image, base, values)
        _make_machine_code_executable(base, self.size)
        addresses = zip(self.symbols.names, values.tolist(), strict=True)
        return memory, {name: base + value for name, value in addresses if name}

    def external_address(self, name: str) -> bytes:
        """The address of a function outside the image, as eight bytes."""
        found = self.known.get(name)
        return (_c_function_address(name) if found is None else found).to_bytes(8, "little")

    def symbol_offsets(self) -> Integers:
        """The offset of each symbol in the image; an external symbol is at its slot."""
        table = self.symbols.table
        starts = np.zeros(1 << 16, np.int64)  # by section, also the numbers kept for special ones
        starts[list(self.section_offsets)] = list(self.section_offsets.values())
        values: Integers = starts[table["section"]] + table["value"].astype(np.int64)
        values[self.external] = self.slots + _SLOT_BYTES * np.arange(len(self.external))
        return values

    def relocate_symbols(self, image: Bytes, base: int, values: Integers) -> None:
        """Writes the addresses of symbols, at offsets `values`, to the places that refer to them."""
        for section in self.sections[self.sections["type"] == _RELOCATIONS_TYPE]:
            if int(section["info"]) not in self.section_offsets:
                continue
            entries = np.frombuffer(self.section_bytes(section), _RELOCATION_ENTRY)
            where = self.section_offsets[int(section["info"])] + entries["offset"].astype(np.int64)
            what = values[entries["symbol"]] + entries["addend"]
            kind = entries["type"]
            via_table = _is_elf_relocation_type(kind, _TABLE_RELOCATIONS)
            relative = _is_elf_relocation_type(kind, _RELATIVE_RELOCATIONS) | via_table
            absolute = _is_elf_relocation_type(kind, _ABSOLUTE_RELOCATIONS)
            if not (relative | absolute).all():
                raise AssertionError(f"relocations of types {sorted(set(kind.tolist()))}")
            if self.symbols.table["section"][entries["symbol"][via_table]].any():
                raise AssertionError("a symbol inside of the object file has no slot")
            shift = (what + 8 * via_table - where)[relative].astype("<i4")
            _patch_machine_code(image, where[relative], shift.view(np.uint8).reshape(-1, 4))
            address = (what + base)[absolute].astype("<i8")
            _patch_machine_code(image, where[absolute], address.view(np.uint8).reshape(-1, 8))


def _is_elf_relocation_type(kind: NDArray[np.uint32], types: list[int]) -> Booleans:
    """Whether each relocation has one of the types; ten times as fast as `np.isin`."""
    marks = np.zeros(_RELOCATION_TYPES, bool)
    marks[types] = True
    chosen: Booleans = marks[np.minimum(kind, _RELOCATION_TYPES - 1)]
    return chosen


def _patch_machine_code(image: Bytes, where: Integers, new: Bytes) -> None:
    """Writes new bytes at the given offsets of the image."""
    image[where[:, None] + np.arange(new.shape[1])] = new


@cache
def _c_function_address(name: str) -> int:
    """The address of a function of the C library or the mathematics library."""
    for library in (None, "libm.so.6"):
        found = getattr(ctypes.CDLL(library), name, None)
        if found is not None:
            return ctypes.cast(found, ctypes.c_void_p).value or 0
    raise AssertionError(f"no function {name}")


@cache
def _mprotect_function() -> Any:
    """The C function mprotect with its argument types."""
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function


def _make_machine_code_executable(address: int, size: int) -> None:
    """Makes memory readable and executable, and no longer writable."""
    if _mprotect_function()(address, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "memory cannot be made executable")
