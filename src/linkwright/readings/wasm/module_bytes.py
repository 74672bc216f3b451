"""The binary format of WebAssembly: numbers, instructions, and the sections of a module.

All names of instructions and their codes are those of the WebAssembly core specification.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

I32, F64 = b"\x7f", b"\x7c"
"""Types of values: 32-bit integers (also addresses and truth values), 64-bit floats."""

END, ELSE, RETURN, DROP, SELECT = b"\x0b", b"\x05", b"\x0f", b"\x1a", b"\x1b"
BLOCK, LOOP, IF = b"\x02\x40", b"\x03\x40", b"\x04\x40"
"""Blocks without a result."""

PAGE_BYTES = 65536

_MAGIC = b"\x00asm\x01\x00\x00\x00"


def encode_unsigned(value: int) -> bytes:
    """Return an unsigned number in LEB128."""
    found = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        found.append(low | (0x80 if value else 0))
        if not value:
            return bytes(found)


def encode_signed(value: int) -> bytes:
    """Return a signed number in LEB128."""
    found = bytearray()
    while True:
        low = value & 0x7F
        value >>= 7
        if (value == 0 and not low & 0x40) or (value == -1 and low & 0x40):
            found.append(low)
            return bytes(found)
        found.append(low | 0x80)


def encode_vector(items: Sequence[bytes]) -> bytes:
    """Return a list of items, with their number in front."""
    return encode_unsigned(len(items)) + b"".join(items)


def encode_name(name: str) -> bytes:
    """Return a name in UTF-8, with its length in front."""
    text = name.encode()
    return encode_unsigned(len(text)) + text


# -- instructions ----------------------------------------------------------------------------------


def float_constant(value: float) -> bytes:
    """Push a float."""
    return b"\x44" + struct.pack("<d", value)


def int_constant(value: int) -> bytes:
    """Push an integer."""
    return b"\x41" + encode_signed(value)


def get_local(index: int) -> bytes:
    """Push a local variable or parameter."""
    return b"\x20" + encode_unsigned(index)


def set_local(index: int) -> bytes:
    """Pop a value into a local variable."""
    return b"\x21" + encode_unsigned(index)


def get_global(index: int) -> bytes:
    """Push a global variable."""
    return b"\x23" + encode_unsigned(index)


def set_global(index: int) -> bytes:
    """Pop a value into a global variable."""
    return b"\x24" + encode_unsigned(index)


def call_function(index: int) -> bytes:
    """Call a function with the values on the stack."""
    return b"\x10" + encode_unsigned(index)


def branch(depth: int) -> bytes:
    """Leave `depth` blocks, and the one around them (or go back to the head of that loop)."""
    return b"\x0c" + encode_unsigned(depth)


def branch_if(depth: int) -> bytes:
    """Leave blocks as `branch` does, if the integer on the stack is not zero."""
    return b"\x0d" + encode_unsigned(depth)


def load_float(offset: int) -> bytes:
    """Replace an address by the float `offset` bytes behind it."""
    return b"\x2b\x03" + encode_unsigned(offset)


def store_float(offset: int) -> bytes:
    """Pop a float and an address, and store the float `offset` bytes behind it."""
    return b"\x39\x03" + encode_unsigned(offset)


def load_int(offset: int) -> bytes:
    """Replace an address by the integer `offset` bytes behind it."""
    return b"\x28\x02" + encode_unsigned(offset)


def store_int(offset: int) -> bytes:
    """Pop an integer and an address, and store the integer `offset` bytes behind it."""
    return b"\x36\x02" + encode_unsigned(offset)


# -- modules ---------------------------------------------------------------------------------------


@dataclass
class WasmModule:
    """A module under construction: imported functions of `Math`, own functions, one memory.

    Imports come before all functions, so they are given first. Functions with equal bodies are one
    function.
    """

    imports: dict[str, int]
    """Functions of JavaScript's `Math` by name, with the number of their arguments."""
    types: list[bytes] = field(default_factory=list)
    functions: list[tuple[int, bytes]] = field(default_factory=list)
    exports: list[bytes] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)

    def type_index(self, parameters: Sequence[bytes], results: Sequence[bytes]) -> int:
        """Return the number of a type of functions."""
        one = b"\x60" + encode_vector(parameters) + encode_vector(results)
        if one not in self.types:
            self.types.append(one)
        return self.types.index(one)

    def import_index(self, name: str) -> int:
        """Return the number of an imported function."""
        return list(self.imports).index(name)

    def add_function(
        self,
        parameters: Sequence[bytes],
        results: Sequence[bytes],
        variables: Sequence[tuple[int, bytes]],
        code: bytes,
    ) -> int:
        """Add a function with groups (count, type) of local variables; return its number."""
        groups = [encode_unsigned(count) + kind for count, kind in variables if count]
        body = encode_vector(groups) + code + END
        one = (self.type_index(parameters, results), encode_unsigned(len(body)) + body)
        if one not in self.functions:
            self.functions.append(one)
        return len(self.imports) + self.functions.index(one)

    def export_function(self, name: str, index: int) -> None:
        """Let JavaScript call a function by a name."""
        self.exports.append(encode_name(name) + b"\x00" + encode_unsigned(index))

    def place_data(self, address: int, content: bytes) -> None:
        """Let the memory contain bytes when the module is loaded."""
        place = b"\x00" + int_constant(address) + END
        self.data.append(place + encode_unsigned(len(content)) + content)

    def finish(self, memory_bytes: int, stack_start: int) -> bytes:
        """Return the bytes of the module; its only global is the address of the stack's end."""
        imported = [
            encode_name("Math")
            + encode_name(name)
            + b"\x00"
            + encode_unsigned(self.type_index([F64] * count, [F64]))
            for name, count in self.imports.items()
        ]
        pages = -(-memory_bytes // PAGE_BYTES)
        stack = I32 + b"\x01" + int_constant(stack_start) + END
        sections = {
            1: encode_vector(self.types),
            2: encode_vector(imported),
            3: encode_vector([encode_unsigned(kind) for kind, _ in self.functions]),
            5: encode_vector([b"\x00" + encode_unsigned(pages)]),
            6: encode_vector([stack]),
            7: encode_vector([encode_name("memory") + b"\x02\x00", *self.exports]),
            10: encode_vector([body for _, body in self.functions]),
            11: encode_vector(self.data),
        }
        parts = (
            bytes([number]) + encode_unsigned(len(content)) + content
            for number, content in sections.items()
        )
        return _MAGIC + b"".join(parts)
