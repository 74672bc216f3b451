"""LLVM IR that copies the rows of a block between arrays of any strides and contiguous rows.

Rows that are missing in an incomplete block repeat the last one, so that they raise no other
floating-point flags than it does; they are not copied back.
"""

from __future__ import annotations

ROW_COPY_DECLARATIONS = """
declare void @gather.rows(ptr, i64, i64, i64, i64, i64, i64, ptr)
declare void @scatter.rows(ptr, i64, i64, i64, i64, i64, i64, ptr)
"""


def row_copies_ir(scalar: str, item_bytes: int, lanes: int) -> str:
    """The IR of `@gather.rows` (array to contiguous rows) and `@scatter.rows` (back)."""
    return _copy_function("gather.rows", scalar, item_bytes, str(lanes)) + _copy_function(
        "scatter.rows", scalar, item_bytes, "%count"
    )


def _copy_function(name: str, scalar: str, item_bytes: int, rows: str) -> str:
    """A function that copies rows × size entries; entry k is at (k / cols, k % cols) of a matrix."""
    source, target = ("%place", "%own") if name == "gather.rows" else ("%own", "%place")
    return f"""
define void @{name}(ptr %array, i64 %stride, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count, ptr %rows) {{
entry:
  %last = sub i64 %count, 1
  br label %row
row:
  %n = phi i64 [0, %entry], [%n1, %row.end]
  %exists = icmp ult i64 %n, %count
  %m = select i1 %exists, i64 %n, i64 %last
  %jump = mul i64 %m, %stride
  %base = getelementptr i8, ptr %array, i64 %jump
  %begin = mul i64 %n, %size
  br label %each
each:
  %k = phi i64 [0, %row], [%k1, %each]
  %i = udiv i64 %k, %cols
  %j = urem i64 %k, %cols
  %oi = mul i64 %i, %s0
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %place = getelementptr i8, ptr %base, i64 %o
  %at = add i64 %begin, %k
  %own = getelementptr {scalar}, ptr %rows, i64 %at
  %x = load {scalar}, ptr {source}, align 1
  store {scalar} %x, ptr {target}, align 1
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %size
  br i1 %more, label %each, label %row.end
row.end:
  %n1 = add i64 %n, 1
  %more.rows = icmp ult i64 %n1, {rows}
  br i1 %more.rows, label %row, label %done
done:
  ret void
}}
"""
