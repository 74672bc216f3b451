"""LLVM IR of outputs that are the same for all states: few are stored one by one, many come from a table."""

from __future__ import annotations

from collections.abc import Sequence

MAX_UNROLLED_CONSTANTS = 32
"""The largest number of constant outputs that each get an instruction; a large matrix of zeros would take LLVM
seconds."""


def emit_constant_outputs(constants: Sequence[tuple[int, str]], lanes: int, scalar: str) -> str:
    """The function `@constants` that writes literals into their slots of a context."""
    vector = f"<{lanes} x {scalar}>"
    if len(constants) > MAX_UNROLLED_CONSTANTS:
        table, body = _constant_table(constants, lanes, scalar, vector)
    else:
        table, body = "", _constant_stores(constants, scalar, vector)
    return f"{table}\ndefine internal void @constants(ptr %ctx) noinline {{\n{body}  ret void\n}}\n"


def _constant_stores(constants: Sequence[tuple[int, str]], scalar: str, vector: str) -> str:
    """One store for each constant."""
    return "".join(
        f"  %s{at} = getelementptr {vector}, ptr %ctx, i64 {at}\n"
        f"  store {vector} splat ({scalar} {literal}), ptr %s{at}\n"
        for at, literal in constants
    )


def _constant_table(
    constants: Sequence[tuple[int, str]], lanes: int, scalar: str, vector: str
) -> tuple[str, str]:
    """The table of slots and constants, and the loop that writes it."""
    n = len(constants)
    slots = ", ".join(f"i32 {at}" for at, _ in constants)
    values = ", ".join(f"{scalar} {literal}" for _, literal in constants)
    table = f"""
@constant.slots = internal constant [{n} x i32] [{slots}]
@constant.values = internal constant [{n} x {scalar}] [{values}]
"""
    body = f"""entry:
  br label %each
each:
  %k = phi i64 [0, %entry], [%next, %each]
  %slot.at = getelementptr i32, ptr @constant.slots, i64 %k
  %slot = load i32, ptr %slot.at
  %value.at = getelementptr {scalar}, ptr @constant.values, i64 %k
  %value = load {scalar}, ptr %value.at
  %first = insertelement {vector} poison, {scalar} %value, i32 0
  %all = shufflevector {vector} %first, {vector} poison, <{lanes} x i32> zeroinitializer
  %place = getelementptr {vector}, ptr %ctx, i32 %slot
  store {vector} %all, ptr %place
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, {n}
  br i1 %more, label %each, label %done
done:
"""
    return table, body
