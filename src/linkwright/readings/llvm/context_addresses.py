"""Addresses of vectors in a context, near bases: x86 then encodes their distance in one byte instead of four.

In instructions on vectors of 64 bytes, a byte is a distance of -128 to 127 vectors. Code of long tapes comes from the
second cache more slowly than it is executed, so its length counts.
"""

from __future__ import annotations

_VECTORS_PER_BASE = 256
"""The vectors that a byte reaches on both sides of a base."""

NEAR_VECTOR_BYTES = 64
"""Vectors of this size have distances that count vectors; in other instructions a byte counts bytes."""

ALIAS_SCOPES_IR = """!1 = distinct !{!1, !"context"}
!2 = distinct !{!2, !1, !"values that are loaded"}
!3 = !{!2}
"""
"""What the marks of loads and stores mean; `!0` are weights of branches."""


class ContextAddressWriter:
    """Writes the addresses of slots of `%ctx` in one function, and the bases that they need.

    LLVM no longer sees that addresses near different bases differ. So loads and stores have marks: the function never
    loads a slot that it stores.
    """

    def __init__(self, vector: str, *, has_bases: bool) -> None:
        self.v = vector
        self.has_bases = has_bases
        self.load_mark = ", !alias.scope !3" if has_bases else ""
        self.store_mark = ", !noalias !3" if has_bases else ""
        self.bases: set[int] = set()

    def write_address(self, slot: int) -> str:
        """The instruction that gives the address of a slot."""
        if not self.has_bases:
            return f"getelementptr {self.v}, ptr %ctx, i64 {slot}"
        n = slot // _VECTORS_PER_BASE
        self.bases.add(n)
        return f"getelementptr {self.v}, ptr %base{n}, i64 {slot - _base_slot(n)}"

    def write_bases(self) -> list[str]:
        """The bases; the empty assembly keeps LLVM from adding distances to `%ctx` again."""
        lines = []
        for n in sorted(self.bases):
            lines += [
                f"  %near{n} = getelementptr {self.v}, ptr %ctx, i64 {_base_slot(n)}",
                f'  %base{n} = call ptr asm "", "=r,0"(ptr %near{n})',
            ]
        return lines


def _base_slot(n: int) -> int:
    """The slot in the middle of those that base `n` reaches."""
    return _VECTORS_PER_BASE * n + _VECTORS_PER_BASE // 2
